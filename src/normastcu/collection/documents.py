"""Reading the corpus in chunks, and its statistics."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import pandas as pd

from normastcu.collection.delimited import Layout, check_id, find_layout, read_records
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.html_text import html_to_text
from normastcu.collection.settings import DocumentFormat
from normastcu.collection.sources import RawFile

logger = logging.getLogger(__name__)

RELEASED_DOCUMENTS = {
    "doc_id": "KEY",
    "authoring_unit": "UNIDADEBASICAAUTORA",
    "origin": "ORIGEM",
    "number": "NUMNORMA",
    "year": "ANONORMA",
    "type": "TIPONORMA",
    "title": "TITULO",
    "subject": "ASSUNTO",
    "html": "TEXTONORMA",
    "in_force_since": "DATAINICIOVIGENCIA",
    "in_force_until": "DATAFIMVIGENCIA",
    "status": "SITUACAO",
    "annex_html": "TEXTOANEXO",
    "theme": "TEMA",
    "tags": "TAGSVCE",
    "related": "NORMARELACIONADA",
}
DOCUMENT_COLUMNS = (*RELEASED_DOCUMENTS, "text")
DOCUMENT_PRESETS = (RELEASED_DOCUMENTS, {name: name for name in RELEASED_DOCUMENTS})
PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)
DATE_FORMAT = "%d/%m/%Y"
DROPPED_TYPES = {"doc_id": "str", "line": "int64", "in_force_since": "str", "reason": "str"}


class DocumentChunks:
    """The documents of a collection as frames of a few hundred rows, read anew by each loop.

    Parameters
    ----------
    make
        Called at the start of each loop; yields frames with the canonical document columns.
    """

    def __init__(self, make: Callable[[], Iterator[pd.DataFrame]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return self._make()


@dataclass(frozen=True)
class Corpus:
    """What a corpus file holds.

    Attributes
    ----------
    chunks
        The documents that belong to the collection.
    dropped
        doc_id, line, in_force_since, reason: the rows left out by the date rule.
    n_rows, n_kept, n_repaired
        Rows in the file, documents kept, dates mended by a known repair.
    """

    chunks: DocumentChunks
    dropped: pd.DataFrame
    n_rows: int
    n_kept: int
    n_repaired: int


def read_corpus(file: RawFile, settings: DocumentFormat) -> Corpus:
    """Check a corpus file from end to end, then offer its documents in chunks.

    The check reads the whole file once, so that nothing is written of a file with an error in
    its last row; the chunks read it again, and clean the HTML.

    Parameters
    ----------
    file
        A CSV with the 16 released columns, the canonical ones, or declared ones: at least
        ``doc_id``, and ``html`` or, for a corpus without markup, ``text``.
    settings
        Columns, encoding, separator, chunk size, the date rule.

    Raises
    ------
    CollectionError
        If a column is missing, a row has another number of fields, a doc_id is empty, holds
        white space or occurs twice (the message names both lines).
    """
    layout = _document_layout(file, settings)
    lines: dict[str, int] = {}
    dropped: list[tuple[str, int, str, str]] = []
    n_repaired = 0
    for line, cells in _rows(file, layout):
        where = f"{file.name}, line {line}"
        doc_id = check_id(cells["doc_id"], "doc_id", where)
        if doc_id in lines:
            raise CollectionError(
                f"{where}: the document {doc_id!r} stands already on line {lines[doc_id]}. Every "
                "document has one row: take one of the two out, or give it its own id."
            )
        lines[doc_id] = line
        written = cells.get("in_force_since", "")
        n_repaired += written in settings.year_repairs
        reason = _reason_to_drop(written, settings)
        if reason:
            dropped.append((doc_id, line, written, reason))
    if not lines:
        raise CollectionError(f"{file.name} has a header and no documents.")
    if len(dropped) == len(lines):
        raise CollectionError(
            f"{file.name}: all {len(lines)} documents are dropped; the first, {dropped[0][0]}, "
            f"because: {dropped[0][3]}. Check `documents.in_force_before` and the dates."
        )
    left_out = {doc_id for doc_id, *_ in dropped}
    corpus = Corpus(
        DocumentChunks(lambda: _chunks(file, layout, settings, left_out)),
        typed_frame(dropped, DROPPED_TYPES),
        len(lines),
        len(lines) - len(dropped),
        n_repaired,
    )
    _report(file, corpus, settings)
    return corpus


def corpus_statistics(documents: DocumentChunks) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute Tables 2 and 3 of the paper: missing values, and percentiles of the length.

    Parameters
    ----------
    documents
        The documents of the collection.

    Returns
    -------
    statistics : pandas.DataFrame
        field (``TEXT``), percentile, with_html, without_html (characters, linear interpolation
        between order statistics as in NumPy and pandas), n_documents (with a text).
    missing : pandas.DataFrame
        column (canonical), released_column, n, share.
    """
    with_html: list[int] = []
    without_html: list[int] = []
    missing = pd.Series(0, index=list(RELEASED_DOCUMENTS))
    n_documents = 0
    for chunk in documents:
        n_documents += len(chunk)
        missing += chunk[list(RELEASED_DOCUMENTS)].isna().sum()
        # A corpus without markup has its text only.
        shown = chunk["html"].fillna(chunk["text"])
        present = shown.notna()
        with_html.extend(shown[present].str.len())
        without_html.extend(chunk.loc[present, "text"].fillna("").str.len())
    if not with_html:
        raise CollectionError(
            f"None of the {n_documents} documents has a text. Check the column that "
            "`documents.columns` declares as html or text."
        )
    statistics = pd.DataFrame(
        {
            "field": "TEXT",
            "percentile": list(PERCENTILES),
            "with_html": np.percentile(with_html, PERCENTILES),
            "without_html": np.percentile(without_html, PERCENTILES),
            "n_documents": len(with_html),
        }
    )
    return statistics, pd.DataFrame(
        {
            "column": list(RELEASED_DOCUMENTS),
            "released_column": list(RELEASED_DOCUMENTS.values()),
            "n": missing.to_numpy(),
            "share": missing.to_numpy() / n_documents,
        }
    )


def _document_layout(file: RawFile, settings: DocumentFormat) -> Layout:
    if not settings.columns:
        return find_layout(file, settings, DOCUMENT_PRESETS)
    if not {"html", "text"} & set(settings.columns):
        raise CollectionError(
            f"The setting `documents.columns` for {file.name} lacks html, or text for a corpus "
            "without markup: declare which column it is."
        )
    known = {name: name for name in DOCUMENT_COLUMNS}
    return find_layout(file, settings, (known,), set(known) - {"doc_id", *settings.columns})


def _rows(file: RawFile, layout: Layout) -> Iterator[tuple[int, dict[str, str]]]:
    for record in read_records(file, layout):
        yield record.line, dict(zip(layout.columns, record.cells, strict=True))


def _reason_to_drop(written: str, settings: DocumentFormat) -> str:
    if settings.in_force_before is None:
        return ""
    since = parse_date(settings.year_repairs.get(written, written))
    if since is None:
        return "in_force_since is not a date (day/month/year)"
    if since >= settings.in_force_before:
        return f"not in force before {settings.in_force_before.isoformat()}"
    return ""


def parse_date(text: str) -> date | None:
    """Read a day/month/year date; None where it is none, or its year is before 1800.

    Examples
    --------
    >>> parse_date("04/04/2018")
    datetime.date(2018, 4, 4)
    >>> parse_date("04/04/0208") is None
    True
    """
    try:
        value = datetime.strptime(text.strip(), DATE_FORMAT).date()
    except ValueError:
        return None
    return value if value.year >= 1800 else None


def _chunks(
    file: RawFile, layout: Layout, settings: DocumentFormat, left_out: set[str]
) -> Iterator[pd.DataFrame]:
    rows: list[dict[str, str]] = []
    for _, cells in _rows(file, layout):
        if cells["doc_id"] in left_out:
            continue
        rows.append(cells)
        if len(rows) == settings.chunk_size:
            yield _frame(rows, settings)
            rows = []
    if rows:
        yield _frame(rows, settings)


def _frame(rows: list[dict[str, str]], settings: DocumentFormat) -> pd.DataFrame:
    """Return canonical columns: empty cells are missing, the text of the HTML is added."""
    for cells in rows:
        if "html" in cells:
            cells["text"] = html_to_text(cells["html"])
        since = cells.get("in_force_since", "")
        cells["in_force_since"] = settings.year_repairs.get(since, since)
    columns = {name: [cells.get(name) or None for cells in rows] for name in DOCUMENT_COLUMNS}
    return pd.DataFrame(columns, dtype="str")


def _report(file: RawFile, corpus: Corpus, settings: DocumentFormat) -> None:
    logger.info(
        "%s: %d rows, %d documents kept, %d dropped, %d dates mended.",
        file.name,
        corpus.n_rows,
        corpus.n_kept,
        len(corpus.dropped),
        corpus.n_repaired,
    )
    unreadable = corpus.dropped[corpus.dropped["reason"].str.contains("not a date")]
    for row in unreadable.itertuples():
        logger.warning(
            "%s, line %d: document %s is dropped: %s (%r).",
            file.name,
            row.line,
            row.doc_id,
            row.reason,
            row.in_force_since,
        )
    if settings.expected_count is not None and corpus.n_kept != settings.expected_count:
        logger.warning(
            "%s gives %d documents where %d were published.",
            file.name,
            corpus.n_kept,
            settings.expected_count,
        )
