"""Judgments made in Label Studio or doccano, taken back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import pandas as pd

from normastcu.collection.delimited import check_id, find_encoding, open_text
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import JUDGMENT_TYPES, LABEL_COLUMNS
from normastcu.collection.pool_export import GRADE_CONTROL, ExportSettings, grade_choices
from normastcu.collection.settings import GradeScale
from normastcu.collection.sources import RawFile


@dataclass(frozen=True)
class _Judgment:
    where: str
    query_id: str
    doc_id: str
    annotator: str
    grade: int | None


def read_label_studio(
    file: RawFile,
    scale: GradeScale,
    settings: ExportSettings,
    annotators: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read the annotations that Label Studio exports as JSON.

    Skipped (cancelled) annotations and those in which nothing was chosen are no judgments.

    Parameters
    ----------
    file
        Label Studio's export in its format JSON (not JSON_MIN, not CSV) of tasks made by
        `pool_export.label_studio_tasks`.
    scale, settings
        As when the tasks were made.
    annotators
        Label Studio's number or e-mail address of a person to the annotator's name; who is not
        listed keeps that number or address as the name.

    Returns
    -------
    DataFrame
        query_id, doc_id, annotator, grade (missing: *cannot judge*), sorted; identical judgments
        once.

    Raises
    ------
    CollectionError
        If the file is no such export, a choice is no grade's, more than one was chosen, or one
        annotator judged a pair twice with different grades.
    """
    names = annotators or {}
    grades = _grades(scale, settings)
    judgments = []
    for where, task in _tasks(file):
        for annotation in task["annotations"]:
            chosen = _chosen(annotation, where)
            if chosen and not annotation.get("was_cancelled"):
                who = _who(annotation, where)
                judgments.append(
                    _judgment(
                        task["data"], names.get(who, who), _grade(chosen, grades, where), where
                    )
                )
    return _table(judgments)


def read_doccano(
    file: RawFile, annotator: str, scale: GradeScale, settings: ExportSettings
) -> pd.DataFrame:
    """Read the labels of one annotator that doccano exports as JSONL.

    Where annotators work on their own, doccano exports one file for each, named after the person.
    An example without a label is no judgment.

    Parameters
    ----------
    file
        doccano's export (JSONL) of examples made by `pool_export.doccano_examples`.
    annotator
        Whose labels they are.
    scale, settings
        As when the examples were made.

    Returns and errors are those of `read_label_studio`.
    """
    grades = _grades(scale, settings)
    judgments = []
    with open_text(file.path, find_encoding(file, "utf-8")) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                where = f"{file.name}, line {number}"
                example = _json(line, where)
                if not isinstance(example, dict) or not isinstance(example.get("label"), list):
                    raise CollectionError(
                        f"{where}: an example of doccano with the list `label` is expected. "
                        "Export the project as JSONL."
                    )
                if example["label"]:
                    grade = _grade(example["label"], grades, where)
                    judgments.append(_judgment(example, annotator, grade, where))
    return _table(judgments)


def _tasks(file: RawFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where each task of Label Studio's export stands, and the task."""
    with open_text(file.path, find_encoding(file, "utf-8")) as stream:
        tasks = _json(stream.read(), file.name)
    if not isinstance(tasks, list):
        _refuse_task(file.name)
    for number, task in enumerate(tasks, start=1):
        where = f"{file.name}, task {number}"
        if (
            not isinstance(task, dict)
            or not isinstance(task.get("data"), dict)
            or not isinstance(task.get("annotations"), list)
            or not all(isinstance(annotation, dict) for annotation in task["annotations"])
        ):
            _refuse_task(where)
        yield where, task


def _refuse_task(where: str) -> NoReturn:
    raise CollectionError(
        f"{where}: a list of tasks is expected, each with the object `data` and the list "
        "`annotations`. Export the project from Label Studio in the format JSON."
    )


def _chosen(annotation: Mapping[str, Any], where: str) -> list[Any]:
    """Return what was chosen in the control of the grade."""
    chosen: list[Any] = []
    try:
        for result in annotation.get("result") or []:
            if result["from_name"] == GRADE_CONTROL:
                chosen += result["value"]["choices"]
    except (KeyError, TypeError) as error:
        raise CollectionError(
            f"{where}: an annotation without `from_name` and `value.choices` in its `result`. "
            "Label the tasks with the project's configuration, and export them as JSON."
        ) from error
    return chosen


def _who(annotation: Mapping[str, Any], where: str) -> str:
    """Return the number or the e-mail address of who made an annotation."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email", who.get("id"))
    if who is None or isinstance(who, bool | list):
        raise CollectionError(
            f"{where}: an annotation without `completed_by`: nobody says whose judgment it is."
        )
    return str(who)


def _grades(scale: GradeScale, settings: ExportSettings) -> dict[str, int | None]:
    """Return the grade of every choice, by its name and, where no name takes it, its number."""
    choices = grade_choices(scale, settings)
    return {str(grade): grade for grade in scale.values} | choices


def _grade(chosen: Sequence[Any], grades: Mapping[str, int | None], where: str) -> int | None:
    if len(chosen) != 1:
        raise CollectionError(
            f"{where}: {', '.join(map(str, chosen))} were chosen for one pair. Keep one of them."
        )
    label = chosen[0]
    if not isinstance(label, str) or label not in grades:
        raise CollectionError(
            f"{where}: {label!r} is no grade. Expected one of {', '.join(grades)}; correct the "
            "label, or the collection's `scale`."
        )
    return grades[label]


def _judgment(ids: Mapping[str, Any], annotator: str, grade: int | None, where: str) -> _Judgment:
    pair = []
    for name in ("query_id", "doc_id"):
        value = ids.get(name)
        if not isinstance(value, str):
            raise CollectionError(
                f"{where}: {value!r} can't be the {name}, a text in quotes is expected. Import "
                "the exported pairs as JSON, which keeps the ids as they are."
            )
        pair.append(check_id(value, name, where))
    check_id(annotator, "name of an annotator", where)
    return _Judgment(where, pair[0], pair[1], annotator, grade)


def _table(judgments: Iterable[_Judgment]) -> pd.DataFrame:
    by_key: dict[tuple[str, str, str], _Judgment] = {}
    for judgment in judgments:
        key = (judgment.query_id, judgment.doc_id, judgment.annotator)
        earlier = by_key.setdefault(key, judgment)
        if earlier.grade != judgment.grade:
            raise CollectionError(
                f"{judgment.where}: {judgment.annotator} judged document {judgment.doc_id!r} for "
                f"query {judgment.query_id!r} as {_shown(judgment.grade)}, but as "
                f"{_shown(earlier.grade)} in {earlier.where}. Keep one of the two."
            )
    rows = [(*key, judgment.grade) for key, judgment in sorted(by_key.items())]
    return typed_frame(rows, {column: JUDGMENT_TYPES[column] for column in LABEL_COLUMNS})


def _shown(grade: int | None) -> str:
    return "without a grade" if grade is None else str(grade)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CollectionError(f"{where}: {error}. JSON is expected.") from error
