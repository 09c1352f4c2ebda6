"""Run files: TREC's format and CSV, read strictly, and written so that trec_eval agrees."""

import gzip
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from normastcu.collection.delimited import (
    check_id,
    find_encoding,
    find_layout,
    open_text,
    read_records,
)
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.run_order import RUN_TYPES, order_run
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile

SUFFIX = ".run"
RUN_PRESETS = (
    {"query_id": "QUERY_KEY", "doc_id": "DOC_KEY", "rank": "RANK", "score": "SCORE"},
    {"query_id": "QUERY_ID", "doc_id": "DOC_ID", "rank": "RANK", "score": "SCORE"},
    {"query_id": "query_id", "doc_id": "doc_id", "rank": "rank", "score": "score"},
)
"""Names of the columns of a CSV; it has a rank, a score, or both."""

_CSV_SUFFIXES = (".csv", ".tsv")
_PACKED_SUFFIX = ".gz"
_TREC_FIELDS = 6
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST = float(np.finfo(np.float32).max)
_RANK = re.compile(r"\d{1,15}(\.0*)?", re.ASCII)


@dataclass(frozen=True)
class ReadRun:
    """A run that was read, and what there is to say about it.

    Attributes
    ----------
    table
        system, query_id, doc_id, rank (from 1, by the rule of `order_run`), score (as in the file;
        missing throughout where it has none), in the order of the file's queries and by rank.
    n_tied
        Documents that share their score, in single precision, with another one of the query.
    n_misranked
        Documents that the file's ranks put in another place than its scores, which count.
    """

    table: pd.DataFrame
    n_tied: int
    n_misranked: int


def read_run(
    file: RawFile,
    system: str,
    columns: Mapping[str, str] | None = None,
    documents: Collection[str] | None = None,
) -> ReadRun:
    """Read the run of one system.

    Parameters
    ----------
    file
        ``.csv`` or ``.tsv``: with the columns of one of `RUN_PRESETS` or declared ones. Any other
        suffix: TREC's six fields (query, Q0, document, rank, score, tag), separated by blanks or
        tabs; the tag is not looked at. Either may be packed (``.gz``).
    system
        The name of the system.
    columns
        Canonical name (query_id, doc_id, rank, score) to the CSV's column; None or empty goes by
        the header.
    documents
        The doc_ids of the collection: a document that is not among them is an error. None accepts
        any.

    Raises
    ------
    CollectionError
        For a line with another number of fields; an id that is none; a rank that is no whole
        number; a score that is no number, or that single precision can't hold; a document or, in
        a file without scores, a rank twice in a query; an unknown document; a file without rows.
        The message names file and line.
    """
    with _unpacked(file) as plain:
        rows = _checked_rows(plain, _entries(plain, columns or {}), documents)
    table = typed_frame(rows, RUN_TYPES | {"line": "int64"}).assign(system=system)
    table = table.astype({"system": "str"})
    if table["score"].isna().all():
        _refuse_repeated_ranks(file, table)
    ordered = order_run(table)
    scores = table.set_index(["query_id", "doc_id"])["score"]
    pairs = pd.MultiIndex.from_frame(ordered[["query_id", "doc_id"]])
    return ReadRun(
        ordered.assign(score=scores.reindex(pairs).array),
        n_tied=_count_tied(table),
        n_misranked=_count_misranked(table, ordered),
    )


def restrict_run(run: pd.DataFrame, documents: Collection[str]) -> tuple[pd.DataFrame, int]:
    """Take documents out that a collection lacks; those below move up.

    Parameters
    ----------
    run : DataFrame
        The columns of `RUN_TYPES`, by rank within each query.
    documents
        The doc_ids of the collection.

    Returns
    -------
    tuple
        The run, and how many rows were taken out.

    Raises
    ------
    CollectionError
        Where no row is left.
    """
    kept = run[run["doc_id"].isin(set(documents))]
    if len(run) and kept.empty:
        first = run.iloc[0]
        raise CollectionError(
            f"The collection has no document of the run {first['system']!r}; the first is "
            f"{first['doc_id']!r}. Ids are compared letter by letter: is it a run over another "
            "corpus?"
        )
    ranks = kept.groupby(["system", "query_id"], sort=False).cumcount() + 1
    moved = kept.assign(rank=ranks.astype("Int64")).reset_index(drop=True)
    return moved, len(run) - len(kept)


def write_run(run: pd.DataFrame, path: Path) -> None:
    """Write the run of one system as a TREC file that every tool reads in the same order.

    Parameters
    ----------
    run : DataFrame
        system, query_id, doc_id, and score or rank or both, of one system. Scores are written as
        `order_run` makes them, strictly falling in single precision, with all their digits.
    path
        The file; an existing one is replaced.

    Raises
    ------
    CollectionError
        For rows of several systems, an id with a blank, and what `order_run` refuses.
    """
    systems = run["system"].unique().tolist()
    if len(systems) > 1:
        raise CollectionError(
            f"{path.name} would hold the runs of {', '.join(map(str, systems))}: write one file a "
            "system."
        )
    for column in ("system", "query_id", "doc_id"):
        for value in run[column].unique():
            check_id(value, column, f"The run for {path.name}")
    ordered = order_run(run)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(
            f"{query_id} Q0 {doc_id} {rank} {score!r} {system}\n"
            for system, query_id, doc_id, rank, score in zip(
                *(ordered[column].tolist() for column in RUN_TYPES), strict=True
            )
        )


class _Entry(NamedTuple):
    """One document of a run as it stands in a file; an empty text is none.

    The ids hold no white space: those of a CSV are checked, a TREC line is split at it.
    """

    line: int
    query_id: str
    doc_id: str
    rank: str
    score: str


@contextmanager
def _unpacked(file: RawFile) -> Iterator[RawFile]:
    """Yield the file, or a temporary unpacked one that goes by the same name."""
    if file.path.suffix.lower() != _PACKED_SUFFIX:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, file.path.stem)
        try:
            with gzip.open(file.path) as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        except (OSError, EOFError) as error:
            raise CollectionError(
                f"{file.name} can't be unpacked ({error}). Pack it again with gzip, or give the "
                "plain file."
            ) from error
        yield RawFile(path, file.name, file.provenance)


def _entries(file: RawFile, columns: Mapping[str, str]) -> Iterator[_Entry]:
    if file.path.suffix.lower() in _CSV_SUFFIXES:
        return _csv_entries(file, columns)
    if columns:
        raise CollectionError(
            f"{file.name} is read as a TREC run, which has no named columns: take `columns` out, "
            f"or give the file the suffix {' or '.join(_CSV_SUFFIXES)}."
        )
    return _trec_entries(file)


def _csv_entries(file: RawFile, columns: Mapping[str, str]) -> Iterator[_Entry]:
    settings = TableFormat(columns=dict(columns))
    layout = find_layout(file, settings, RUN_PRESETS, optional=("rank", "score"))
    if not {"rank", "score"} & set(layout.columns):
        raise CollectionError(
            f"{file.name}, line 1: neither a rank nor a score is among the columns "
            f"{', '.join(layout.header)}. Name one RANK or SCORE, or declare it under `columns`."
        )
    for record in read_records(file, layout):
        cells = dict(zip(layout.columns, record.cells, strict=True))
        where = f"{file.name}, line {record.line}"
        yield _Entry(
            record.line,
            check_id(cells["query_id"], "query_id", where),
            check_id(cells["doc_id"], "doc_id", where),
            cells.get("rank", "").strip(),
            cells.get("score", "").strip(),
        )


def _trec_entries(file: RawFile) -> Iterator[_Entry]:
    with open_text(file.path, find_encoding(file, "utf-8")) as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != _TREC_FIELDS:
                raise CollectionError(
                    f"{file.name}, line {number}: {len(fields)} fields where a line of a TREC run "
                    f"has {_TREC_FIELDS}: query, Q0, document, rank, score, tag, separated by "
                    "blanks or tabs."
                )
            query_id, _, doc_id, rank, score, _ = fields
            yield _Entry(number, query_id, doc_id, rank, score)


_Row = tuple[str, str, str, int | None, float | None, int]


class _FaultError(ValueError):
    """What is wrong with a row; where it stands is said by whoever knows."""


def _checked_rows(
    file: RawFile, entries: Iterator[_Entry], documents: Collection[str] | None
) -> list[_Row]:
    """Return system (none yet), query, document, rank, score and line of each entry."""
    known = None if documents is None else set(documents)
    lines: dict[tuple[str, str], int] = {}
    rows: list[_Row] = []
    for entry in entries:
        try:
            _check_ids(entry, lines, known)
            rank, score = _rank(entry.rank), _score(entry.score)
            _check_order(rank, score, rows)
        except _FaultError as fault:
            raise CollectionError(f"{file.name}, line {entry.line}: {fault}") from None
        lines[entry.query_id, entry.doc_id] = entry.line
        rows.append(("", entry.query_id, entry.doc_id, rank, score, entry.line))
    if not rows:
        raise CollectionError(f"{file.name} has no documents: at least one row is expected.")
    return rows


def _check_ids(
    entry: _Entry, lines: Mapping[tuple[str, str], int], known: Collection[str] | None
) -> None:
    """Refuse a pair that stands in the file already, or whose document is unknown."""
    first = lines.get((entry.query_id, entry.doc_id))
    if first is not None:
        raise _FaultError(
            f"document {entry.doc_id!r} for query {entry.query_id!r} stands on line {first} "
            "already. A run has a document once for a query: keep one line."
        )
    if known is not None and entry.doc_id not in known:
        raise _FaultError(
            f"the collection has no document {entry.doc_id!r}. Ids are compared letter by letter: "
            "correct the file, or set `restrict: true` to leave such documents out."
        )


def _check_order(rank: int | None, score: float | None, rows: list[_Row]) -> None:
    """Refuse a row that can't be put in order, alone or among those before it."""
    if rank is None and score is None:
        raise _FaultError("neither a rank nor a score is given. Give one.")
    if rows and (rows[0][4] is None) != (score is None):
        raise _FaultError(
            f"{'no' if score is None else 'a'} score is given, unlike on line {rows[0][5]}. Give "
            "every document of a run a score, or none."
        )


def _rank(text: str) -> int | None:
    if not text:
        return None
    if not _RANK.fullmatch(text):
        raise _FaultError(f"{text!r} is not a rank. A whole number is expected, counted from 1.")
    return int(float(text))


def _score(text: str) -> float | None:
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        hint = " with a decimal point, not a comma" if "," in text else ""
        raise _FaultError(f"{text!r} is not a score. A number is expected{hint}.")
    score = float(text)
    if not abs(score) <= _LARGEST:
        raise _FaultError(
            f"the score {text} is beyond what single precision holds, and trec_eval reads with. "
            "Scale the scores."
        )
    return score


def _refuse_repeated_ranks(file: RawFile, table: pd.DataFrame) -> None:
    repeated = table.duplicated(["query_id", "rank"])
    if repeated.any():
        row = table[repeated].iloc[0]
        raise CollectionError(
            f"{file.name}, line {row['line']}: query {row['query_id']!r} has rank {row['rank']} "
            "twice, and no scores that would tell the order. Give every document its own rank."
        )
    if (table["rank"] < 1).any():
        row = table[table["rank"] < 1].iloc[0]
        raise CollectionError(
            f"{file.name}, line {row['line']}: the rank {row['rank']} is below 1. Count from 1."
        )


def _count_tied(table: pd.DataFrame) -> int:
    single = table["score"].astype("Float32")
    tied = table.assign(score=single).duplicated(["query_id", "score"], keep=False)
    return int((tied & single.notna()).sum())


def _count_misranked(table: pd.DataFrame, ordered: pd.DataFrame) -> int:
    """Count the documents whose place by the file's ranks is not that of the scores."""
    if table["rank"].isna().any():
        return 0
    by_score = ordered.merge(table, on=["query_id", "doc_id"], suffixes=("", "_file"))
    by_rank = by_score.sort_values(["rank_file", "rank"], kind="stable")
    places = by_rank.groupby("query_id").cumcount() + 1
    return int((places != by_rank["rank"]).sum())
