"""Judgments of assessors and labels of judges: reading outside formats, writing them again."""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from normastcu.collection.delimited import (
    check_declared,
    check_id,
    find_encoding,
    find_layout,
    open_text,
)
from normastcu.collection.delimited import read_records as read_delimited
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import AssessorFormat, JudgeLabelFormat, JudgmentFormat
from normastcu.collection.sources import RawFile

ASSESSOR_COLUMNS = ("query_id", "doc_id", "annotator", "grade", "origin")
LABEL_COLUMNS = ("query_id", "doc_id", "annotator", "grade")
RELEASED_JUDGMENTS = {
    "query_id": "QUERY_KEY",
    "doc_id": "DOC_KEY",
    "annotator": "USUARIO_AVALIADOR",
    "grade": "AVALIACAO",
}
ASSESSOR_PRESETS = (RELEASED_JUDGMENTS, {name: name for name in ASSESSOR_COLUMNS})
LABEL_PRESETS = (
    {"query_id": "QUERY_KEY", "doc_id": "DOC_KEY", "grade": "SCORE"},
    {name: name for name in LABEL_COLUMNS},
)
SUFFIX_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".qrels": "trec",
    ".qrel": "trec",
    ".trec": "trec",
    ".txt": "trec",
}
JUDGMENT_TYPES = dict.fromkeys(ASSESSOR_COLUMNS, "str") | {"grade": "Int64"}
COUNTS = ("n_rows", "n_duplicates", "n_without_grade")
FILE_TYPES = dict.fromkeys(
    ("file", "kind", "location", "revision", "sha256", "annotators"), "str"
) | dict.fromkeys(COUNTS, "int64")
ORIGINS = ("pool", "suggested")
REFERENCE = "reference"
"""The name of the qrels that people's mean grades make."""
WITHOUT = "without_"
"""What the name of the qrels begins with that all but one person's grades make."""
TREC_FIELDS = 4
MOST_PROBLEMS = 20


FileRecord = dict[str, str | int]


@dataclass(frozen=True)
class Entry:
    """One judgment as it stands in a file: where, and its texts by canonical column."""

    where: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Imported:
    """What was read from judgment files.

    Attributes
    ----------
    table
        query_id, doc_id, annotator, grade (missing: no grade) and, for assessors, origin.
    files
        One record a file, see `file_record`.
    """

    table: pd.DataFrame
    files: tuple[FileRecord, ...]


def read_assessor_judgments(
    file: RawFile,
    settings: AssessorFormat,
    scale: Sequence[int] | None = None,
    queries: Collection[str] | None = None,
) -> Imported:
    """Read the judgments of people.

    An empty grade is *cannot judge*; the released format has no such rows.

    Parameters
    ----------
    file
        A CSV with the released columns (QUERY_KEY, DOC_KEY, AVALIACAO, USUARIO_AVALIADOR), the
        canonical ones (query_id, doc_id, annotator, grade and perhaps origin) or declared ones;
        or JSON lines with the same fields.
    settings
        Format, the known assessors, the meaning of a negative grade.
    scale
        The grades of the collection; None accepts any whole number from 0.
    queries
        The query_ids of the collection; None accepts any.

    Raises
    ------
    CollectionError
        If a row can't be read, its grade is not of the scale, its assessor is not among the
        listed ones, its query is not of the collection, or one assessor judged a pair twice with
        different grades.
    """
    rules = _Rules(scale, settings.negative, queries, settings.assessors)
    entries = _entries(file, settings, ASSESSOR_PRESETS, optional=("origin",))
    judgments = _Judgments(rules)
    record = judgments.add(file, entries)
    if record["n_rows"] == record["n_without_grade"]:
        raise CollectionError(
            f"{file.name}: none of the {record['n_rows']} judgments has a grade, so that there is "
            "no reference. Add grades."
        )
    return Imported(judgments.frame(ASSESSOR_COLUMNS), (record,))


def read_judge_labels(
    files: Sequence[RawFile],
    settings: JudgeLabelFormat,
    scale: Sequence[int] | None = None,
    queries: Collection[str] | None = None,
) -> Imported:
    """Read the labels of judges made elsewhere, from TREC qrels, CSV or JSON lines.

    A judge's name is its file's `annotator` column where there is one, else its entry in
    `settings.names`, else the file's name without its suffix.

    Parameters and errors are those of `read_assessor_judgments`. Two files may name one judge: a
    pair that both grade is kept once where they agree, else an error.
    """
    rules = _Rules(scale, settings.negative, queries, ())
    judgments = _Judgments(rules)
    records = []
    for file in files:
        judge = settings.names.get(file.path.name, file.path.stem)
        entries = (
            Entry(entry.where, {"annotator": judge} | dict(entry.cells))
            for entry in _entries(file, settings, LABEL_PRESETS, optional=("annotator",))
        )
        records.append(judgments.add(file, entries))
    return Imported(judgments.frame(LABEL_COLUMNS), tuple(records))


def check_annotators(records: Iterable[FileRecord]) -> None:
    """Raise where an annotator's name can't also name a qrels and its file.

    Parameters
    ----------
    records
        Records of files, see `file_record`.
    """
    for record in records:
        for name in str(record["annotators"]).split(", "):
            taken = name == REFERENCE or name.startswith(WITHOUT)
            if taken or name.startswith(".") or {"/", "\\"} & set(name):
                raise CollectionError(
                    f"{record['file']}: {name!r} can't be the name of an annotator. It also names "
                    f"a file of qrels, so it has no slash and no leading dot, and {REFERENCE!r} "
                    f"and {WITHOUT!r}… are taken. Rename the annotator."
                )


def check_judged_documents(judgments: pd.DataFrame, documents: Collection[str]) -> None:
    """Raise where a judged document is not in the collection.

    Parameters
    ----------
    judgments
        Columns query_id, doc_id, annotator.
    documents
        The doc_ids of the collection.
    """
    known = set(documents)
    unknown = judgments[~judgments["doc_id"].isin(known)]
    if len(unknown):
        first = unknown.iloc[0]
        raise CollectionError(
            f"{len(unknown)} judgments are of documents that the collection lacks; the first: "
            f"document {first['doc_id']!r} for query {first['query_id']!r} by "
            f"{first['annotator']}. Ids are compared letter by letter: add the document to the "
            "corpus, or take the judgment out."
        )


def ordered(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return distinct names: those of `first` that occur, in its order, then the others sorted.

    Examples
    --------
    >>> ordered(["b", "c", "a", "b"], first=["c", "x"])
    ['c', 'a', 'b']
    """
    present = set(names)
    head = [name for name in first if name in present]
    return head + sorted(present.difference(head))


def to_released_format(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return judgments in the released columns; *cannot judge* rows have no place there.

    Parameters
    ----------
    judgments
        query_id, doc_id, annotator, grade.

    Returns
    -------
    pandas.DataFrame
        QUERY_KEY, DOC_KEY, AVALIACAO, USUARIO_AVALIADOR; one row a graded judgment.
    """
    graded = judgments.dropna(subset=["grade"]).rename(columns=RELEASED_JUDGMENTS)
    return graded[["QUERY_KEY", "DOC_KEY", "AVALIACAO", "USUARIO_AVALIADOR"]]


def file_record(
    file: RawFile,
    n_rows: int,
    n_duplicates: int = 0,
    n_without_grade: int = 0,
    annotators: str = "",
) -> FileRecord:
    """Return where a file came from and what was read from it.

    The keys are those of `FILE_TYPES`: `annotators` are who judged in it, separated by commas,
    `n_duplicates` the identical judgments that were dropped.
    """
    origin = file.provenance
    return {
        "file": file.name,
        "kind": origin.kind,
        "location": origin.location,
        "revision": origin.revision,
        "sha256": origin.sha256,
        "annotators": annotators,
        "n_rows": n_rows,
        "n_duplicates": n_duplicates,
        "n_without_grade": n_without_grade,
    }


@dataclass(frozen=True)
class _Rules:
    """What a judgment must keep to."""

    scale: Sequence[int] | None
    negative: str
    queries: Collection[str] | None
    annotators: Collection[str]


@dataclass(frozen=True)
class _Judgment:
    where: str
    grade: int | None
    origin: str | None


class _Judgments:
    """Judgments by (query, document, annotator), each checked as it is added."""

    def __init__(self, rules: _Rules) -> None:
        self._rules = rules
        self._by_key: dict[tuple[str, str, str], _Judgment] = {}

    def add(self, file: RawFile, entries: Iterable[Entry]) -> FileRecord:
        """Add the entries of one file; return its record."""
        n_rows = n_duplicates = n_without_grade = 0
        annotators: dict[str, None] = {}
        problems: list[str] = []
        for entry in entries:
            n_rows += 1
            try:
                key, judgment = self._key(entry), self._judgment(entry)
                n_duplicates += self._put(key, judgment)
            except CollectionError as error:
                problems.append(str(error))
                continue
            annotators[key[2]] = None
            n_without_grade += judgment.grade is None
        if problems:
            raise CollectionError(_listed(problems))
        if not n_rows:
            raise CollectionError(f"{file.name} has no judgments: at least one row is expected.")
        return file_record(file, n_rows, n_duplicates, n_without_grade, ", ".join(annotators))

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the judgments with canonical columns and types."""
        rows = [(*key, j.grade, j.origin) for key, j in self._by_key.items()]
        return typed_frame(rows, JUDGMENT_TYPES)[list(columns)]

    def _key(self, entry: Entry) -> tuple[str, str, str]:
        query_id = check_id(entry.cells["query_id"], "query_id", entry.where)
        doc_id = check_id(entry.cells["doc_id"], "doc_id", entry.where)
        annotator = check_id(entry.cells["annotator"], "name of an annotator", entry.where)
        if self._rules.queries is not None and query_id not in self._rules.queries:
            raise CollectionError(
                f"{entry.where}: the query {query_id!r} is not in the collection's queries. Ids "
                "are compared letter by letter: add the query, or take the judgment out."
            )
        if self._rules.annotators and annotator not in self._rules.annotators:
            raise CollectionError(
                f"{entry.where}: the assessor {annotator!r} is not among the listed ones "
                f"({', '.join(sorted(self._rules.annotators))}). Add the name to "
                "`assessor_judgments.assessors`, or mend the file."
            )
        return query_id, doc_id, annotator

    def _judgment(self, entry: Entry) -> _Judgment:
        rules = self._rules
        grade = read_grade(entry.cells["grade"], rules.scale, rules.negative, entry.where)
        return _Judgment(entry.where, grade, _read_origin(entry))

    def _put(self, key: tuple[str, str, str], judgment: _Judgment) -> bool:
        """Keep a judgment; tell whether it repeats an earlier one."""
        earlier = self._by_key.setdefault(key, judgment)
        if earlier.grade != judgment.grade:
            query_id, doc_id, annotator = key
            raise CollectionError(
                f"{judgment.where}: {annotator} judged document {doc_id!r} for query {query_id!r} "
                f"as {_shown(judgment.grade)}, but as {_shown(earlier.grade)} in {earlier.where}. "
                "Keep one of the two."
            )
        return earlier is not judgment


def read_grade(text: str, scale: Sequence[int] | None, negative: str, where: str) -> int | None:
    """Read one grade as it stands in a file.

    Parameters
    ----------
    text
        A whole number (``2`` or ``2.0``), or nothing where no grade was given.
    scale
        The grades that exist; None accepts any whole number from 0.
    negative
        ``unjudged``: a negative number is no grade; ``error``: it is an error.
    where
        File and line, for the message.

    Returns
    -------
    int or None
        The grade; None where nothing was given or the pair counts as not judged.

    Examples
    --------
    >>> read_grade("2.0", (0, 1, 2), "error", "f.csv, line 2")
    2
    >>> read_grade("-1", (0, 1, 2), "unjudged", "f.csv, line 2") is None
    True
    """
    text = text.strip()
    if not text:
        return None
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not value.is_integer():
        raise CollectionError(
            f"{where}: {text!r} is not a grade. A whole number is expected, or nothing where there "
            "is no grade."
        )
    if value < 0 and negative == "unjudged":
        return None
    if value < 0:
        raise CollectionError(
            f"{where}: the grade {text} is negative. If it means that the pair was not judged, "
            "set `negative: unjudged`; else mend the file."
        )
    if scale is not None and value not in scale:
        raise CollectionError(
            f"{where}: the grade {text} is not on the scale {list(scale)}. Mend the file, or set "
            "the collection's `scale`."
        )
    return int(value)


def _read_origin(entry: Entry) -> str | None:
    origin = entry.cells.get("origin", "").strip()
    if origin and origin not in ORIGINS:
        raise CollectionError(
            f"{entry.where}: the origin {origin!r} is unknown. Expected: {' or '.join(ORIGINS)}, "
            "or nothing."
        )
    return origin or None


def _listed(problems: Sequence[str]) -> str:
    """Return one problem as it is, several as a list that names how many are left out."""
    if len(problems) == 1:
        return problems[0]
    shown = "\n".join(f"- {problem}" for problem in problems[:MOST_PROBLEMS])
    rest = len(problems) - MOST_PROBLEMS
    return f"{len(problems)} judgments can't be taken:\n{shown}" + (
        f"\n- and {rest} more" if rest > 0 else ""
    )


def _shown(grade: int | None) -> str:
    return "without a grade" if grade is None else str(grade)


def _entries(
    file: RawFile,
    settings: JudgmentFormat,
    presets: Sequence[Mapping[str, str]],
    optional: Sequence[str],
) -> Iterator[Entry]:
    """Read a file's entries, whatever its format."""
    file_format: str = settings.file_format
    if file_format == "auto":
        suffix = file.path.suffix.lower()
        if suffix not in SUFFIX_FORMATS:
            raise CollectionError(
                f"{file.name}: the suffix {suffix!r} tells no format. Expected one of "
                f"{', '.join(SUFFIX_FORMATS)}; or set `file_format` to csv, jsonl or trec."
            )
        file_format = SUFFIX_FORMATS[suffix]
    if file_format == "csv":
        yield from _csv_entries(file, settings, presets, optional)
    elif file_format == "jsonl":
        yield from _jsonl_entries(file, settings, presets, optional)
    else:
        yield from _trec_entries(file, settings)


def _csv_entries(
    file: RawFile,
    settings: JudgmentFormat,
    presets: Sequence[Mapping[str, str]],
    optional: Sequence[str],
) -> Iterator[Entry]:
    layout = find_layout(file, settings, presets, optional)
    for record in read_delimited(file, layout):
        cells = dict(zip(layout.columns, record.cells, strict=True))
        yield Entry(f"{file.name}, line {record.line}", cells)


def _lines(file: RawFile, settings: JudgmentFormat) -> Iterator[tuple[str, str]]:
    """Yield (where, text) for every line that is not blank."""
    with open_text(file.path, find_encoding(file, settings.encoding)) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield f"{file.name}, line {number}", line.strip()


def _trec_entries(file: RawFile, settings: JudgmentFormat) -> Iterator[Entry]:
    for where, line in _lines(file, settings):
        fields = line.split()
        if len(fields) != TREC_FIELDS:
            raise CollectionError(
                f"{where}: {len(fields)} fields where a TREC qrels line has {TREC_FIELDS}: "
                "query, iteration, document, grade, separated by blanks or tabs."
            )
        query_id, _, doc_id, grade = fields
        yield Entry(where, {"query_id": query_id, "doc_id": doc_id, "grade": grade})


def _jsonl_entries(
    file: RawFile,
    settings: JudgmentFormat,
    presets: Sequence[Mapping[str, str]],
    optional: Sequence[str],
) -> Iterator[Entry]:
    check_declared(file, settings.columns, presets, optional)
    namings = [settings.columns] if settings.columns else list(presets)
    for where, line in _lines(file, settings):
        fields = _json_object(line, where)
        for naming in namings:
            if all(field in fields or name in optional for name, field in naming.items()):
                cells = {n: fields[f] for n, f in naming.items() if f in fields}
                yield Entry(where, {n: _json_text(v, n, where) for n, v in cells.items()})
                break
        else:
            raise CollectionError(
                f"{where}: the fields {', '.join(fields)} hold no judgment. Expected: "
                f"{' or '.join(', '.join(naming.values()) for naming in namings)}; declare other "
                "names under `columns`."
            )


def _json_object(line: str, where: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise CollectionError(f"{where}: a field stands there twice. Keep one.")
        return dict(pairs)

    try:
        value = json.loads(line, object_pairs_hook=unique)
    except CollectionError:
        raise
    except ValueError as error:
        raise CollectionError(f"{where}: {error}. Every line must be one JSON object.") from error
    if not isinstance(value, dict):
        raise CollectionError(f"{where}: one JSON object a line is expected, not {line[:40]!r}.")
    return value


def _json_text(value: Any, name: str, where: str) -> str:
    """Return a JSON value as the text that a CSV cell would hold."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and name == "grade":
        return repr(value)
    raise CollectionError(
        f"{where}: {value!r} can't be the {name}. Ids are texts in quotes, a grade is a whole "
        "number or null."
    )
