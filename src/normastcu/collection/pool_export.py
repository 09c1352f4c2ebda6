"""A pool for assessors elsewhere: a sheet, tasks for Label Studio, examples for doccano."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

import pandas as pd
from pydantic import Field

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import GradeScale, Settings

SHOWN_OF_DOCUMENT = ("title", "subject", "status", "in_force_since", "text")
SHOWN_COLUMNS = ("query_id", "query", "doc_id", *SHOWN_OF_DOCUMENT)
FILLED_IN = ("annotator", "grade")
SHEET_TYPES = dict.fromkeys((*SHOWN_COLUMNS, *FILLED_IN), "str")
GRADE_CONTROL = "grade"
"""The name of the control of Label Studio's screen that holds the grade."""
LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""Line ends of Unicode, which JSON need not escape, but at which some readers cut lines."""
DOCCANO_COLOURS = ("#b71c1c", "#e65100", "#1b5e20", "#0d47a1", "#4a148c", "#37474f")


class Headings(Settings):
    """What stands above each part of a pair."""

    query: str = "Query"
    title: str = "Title"
    subject: str = "Subject"
    status: str = "Status"
    in_force_since: str = "In force since"
    text: str = "Text"


class ExportSettings(Settings):
    """The words that assessors elsewhere read; the names of the grades are the scale's.

    Attributes
    ----------
    cannot_judge
        The choice that is no grade.
    headings
        What stands above the query and each part of a document.
    """

    cannot_judge: str = Field(default="cannot judge", min_length=1)
    headings: Headings = Headings()


def assessment_sheet(
    pool: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame
) -> pd.DataFrame:
    """Return what an assessor is shown of each pair, with empty cells for annotator and grade.

    Nothing of how a document came into the pool is in it. As a CSV (`csv_lines`), filled in, it is
    a file of judgments that `judgments.read_assessor_judgments` reads.

    Parameters
    ----------
    pool : DataFrame
        `query_id`, `doc_id`, in the order of the sheet.
    queries : DataFrame
        `query_id`, `text`.
    documents : DataFrame
        `doc_id` and, of title, subject, status, in_force_since and text, those at hand.

    Returns
    -------
    DataFrame
        query_id, query, doc_id, title, subject, status, in_force_since, text, annotator, grade:
        texts, exactly as they are in the collection, empty where there is none.

    Raises
    ------
    CollectionError
        Where the collection lacks a query or a document of the pool.
    """
    texts = dict(zip(queries["query_id"], queries["text"], strict=True))
    _check_known(pool["query_id"], texts, "query")
    rows = {doc_id: row for row, doc_id in enumerate(documents["doc_id"])}
    _check_known(pool["doc_id"], rows, "document")
    pooled = documents.iloc[[rows[doc_id] for doc_id in pool["doc_id"]]]
    empty = [""] * len(pool)
    cells: dict[str, Iterable[Any]] = {
        "query_id": pool["query_id"].array,
        "query": [texts[query_id] for query_id in pool["query_id"]],
        "doc_id": pool["doc_id"].array,
    }
    for column in SHOWN_OF_DOCUMENT:
        cells[column] = pooled[column].fillna("").array if column in pooled else empty
    cells |= dict.fromkeys(FILLED_IN, empty)
    return typed_frame(zip(*cells.values(), strict=True), SHEET_TYPES)


def csv_lines(sheet: pd.DataFrame) -> Iterator[str]:
    """Yield the header and the rows of a sheet as CSV, each with its line end.

    Written as UTF-8 with a byte order mark (``utf-8-sig``), spreadsheets show its accents too.

    Parameters
    ----------
    sheet : DataFrame
        See `assessment_sheet`.
    """
    for row in (list(sheet.columns), *sheet.itertuples(index=False)):
        line = io.StringIO(newline="")
        # Quoted as needed, a lone carriage return would stand without quotes and cut the row.
        csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(row)
        yield line.getvalue()


def label_studio_tasks(sheet: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield one task of Label Studio for each pair; the screen is `label_studio_config`.

    Label Studio's import of files takes them as one JSON array (`json_array`); its storages, from
    version 1.20, also one a line (`json_lines`). Its import of CSV would turn ids that look like
    numbers into numbers.

    Parameters
    ----------
    sheet : DataFrame
        See `assessment_sheet`.
    """
    for record in _records(sheet):
        yield {"data": record}


def label_studio_config(scale: GradeScale, settings: ExportSettings) -> str:
    """Return the labelling configuration (XML) for the tasks: one choice a grade, none selected.

    The highest grade comes first, *cannot judge* last; every text is shown as text, not as HTML.
    In the exported annotations a choice is the grade as a number.

    Raises
    ------
    CollectionError
        See `grade_choices`.

    Examples
    --------
    >>> scale = GradeScale(grades=[{"grade": 0, "name": "no"}, {"grade": 1, "name": "yes"}])
    >>> '<Choice value="yes" alias="1" />' in label_studio_config(scale, ExportSettings())
    True
    """
    view = ElementTree.Element("View")
    for column, heading in settings.headings.model_dump().items():
        ElementTree.SubElement(view, "Header", value=heading, size="5")
        ElementTree.SubElement(view, "Text", name=column, value=f"${column}", valueType="text")
    choices = ElementTree.SubElement(
        view,
        "Choices",
        name=GRADE_CONTROL,
        toName="query",
        choice="single-radio",
        required="true",
        showInline="true",
    )
    for name, grade in grade_choices(scale, settings).items():
        alias = settings.cannot_judge if grade is None else str(grade)
        ElementTree.SubElement(choices, "Choice", value=name, alias=alias)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def doccano_examples(sheet: pd.DataFrame, settings: ExportSettings) -> Iterator[dict[str, Any]]:
    """Yield one example of a doccano project for text classification for each pair.

    doccano shows one text: the parts of the pair under their headings, empty ones left out. The
    ids stand beside it; doccano keeps them and exports them again. The labels are
    `doccano_labels`; the file is JSONL (`json_lines`).

    Parameters
    ----------
    sheet : DataFrame
        See `assessment_sheet`.
    settings : ExportSettings
        The headings.
    """
    headings = settings.headings.model_dump()
    for record in _records(sheet):
        parts = [
            f"{heading}\n{record[column]}" for column, heading in headings.items() if record[column]
        ]
        yield {
            "text": "\n\n".join(parts),
            "label": [],
            "query_id": record["query_id"],
            "doc_id": record["doc_id"],
        }


def doccano_labels(scale: GradeScale, settings: ExportSettings) -> list[dict[str, Any]]:
    """Return the labels of the doccano project, for its import of labels (`json_array`).

    A grade's key is its digit, where it has one.

    Raises
    ------
    CollectionError
        See `grade_choices`.
    """
    return [
        {
            "text": name,
            "prefix_key": None,
            "suffix_key": str(grade) if grade is not None and grade < 10 else None,
            "background_color": DOCCANO_COLOURS[position % len(DOCCANO_COLOURS)],
            "text_color": "#ffffff",
        }
        for position, (name, grade) in enumerate(grade_choices(scale, settings).items())
    ]


def grade_choices(scale: GradeScale, settings: ExportSettings) -> dict[str, int | None]:
    """Return the names an assessor chooses from and their grades: highest first, then no grade.

    Raises
    ------
    CollectionError
        Where two have the same name, or one is called by the number of another.

    Examples
    --------
    >>> scale = GradeScale(grades=[{"grade": 0, "name": "no"}, {"grade": 1, "name": "yes"}])
    >>> grade_choices(scale, ExportSettings())
    {'yes': 1, 'no': 0, 'cannot judge': None}
    """
    numbers = {str(grade): grade for grade in scale.values}
    choices: dict[str, int | None] = {}
    named = [(name, grade) for grade, name in reversed(scale.names.items())]
    for name, grade in [*named, (settings.cannot_judge, None)]:
        if name in choices or numbers.get(name, grade) != grade:
            raise CollectionError(
                f"The choice {name!r} could be two grades. Give every grade of `scale`, and "
                "`cannot_judge`, a name of its own that is not the number of another grade."
            )
        choices[name] = grade
    return choices


def json_lines(values: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    r"""Yield each value as one line of JSON (UTF-8 when written), with its line end.

    Examples
    --------
    >>> list(json_lines([{"text": "não"}]))
    ['{"text": "não"}\n']
    """
    for value in values:
        yield f"{_json(value)}\n"


def json_array(values: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    r"""Yield the lines of one JSON array, a value a line.

    Examples
    --------
    >>> "".join(json_array([{"a": 1}, {"a": 2}]))
    '[\n{"a": 1},\n{"a": 2}\n]\n'
    """
    before = "[\n"
    for value in values:
        yield f"{before}{_json(value)}"
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False).translate(LINE_ENDS)


def _records(sheet: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Yield what is shown of each pair by column."""
    for cells in zip(*(sheet[column] for column in SHOWN_COLUMNS), strict=True):
        yield dict(zip(SHOWN_COLUMNS, cells, strict=True))


def _check_known(ids: "pd.Series[str]", known: Mapping[str, Any], what: str) -> None:
    unknown = ids[~ids.isin(set(known))]
    if len(unknown):
        raise CollectionError(
            f"The pool names the {what} {unknown.iloc[0]!r}, which the collection lacks: add it, "
            "or make the pool again."
        )
