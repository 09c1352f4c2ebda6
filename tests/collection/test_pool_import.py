"""Judgments made in Label Studio and doccano, in the shapes that these export."""

import json

import pandas as pd
import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.pool_export import ExportSettings
from normastcu.collection.pool_import import read_doccano, read_label_studio
from normastcu.collection.schemas import Judgments
from normastcu.collection.settings import GradeScale

SCALE = GradeScale(
    grades=[
        {"grade": 0, "name": "irrelevant"},
        {"grade": 1, "name": "partially relevant"},
        {"grade": 2, "name": "relevant"},
    ]
)


def rows(table):
    """Return a valid table of judgments as tuples, a missing grade as None."""
    Judgments.validate(table)
    cells = table.astype(object).itertuples(index=False)
    return [tuple(None if pd.isna(cell) else cell for cell in row) for row in cells]


def annotation(*choices, completed_by=7, **more):
    """Return an annotation as Label Studio exports it."""
    value = {"choices": list(choices)}
    result = {"from_name": "grade", "to_name": "query", "type": "choices", "value": value}
    return {"completed_by": completed_by, "was_cancelled": False, "result": [result]} | more


def task(*annotations, query_id="1", doc_id="00123"):
    """Return a task as Label Studio exports it."""
    data = {"query_id": query_id, "doc_id": doc_id, "text": "não"}
    return {"id": 12, "data": data, "annotations": list(annotations), "predictions": []}


class TestLabelStudio:
    @staticmethod
    def read(raw_file, tasks, annotators=None):
        file = raw_file("export.json", json.dumps(tasks))
        return read_label_studio(file, SCALE, ExportSettings(), annotators)

    def test_numbers_names_and_no_grade(self, raw_file):
        table = self.read(
            raw_file,
            [
                task(annotation("2"), annotation("partially relevant", completed_by=8)),
                task(annotation("cannot judge"), doc_id="d1"),
            ],
        )

        assert rows(table) == [
            ("1", "00123", "7", 2),
            ("1", "00123", "8", 1),
            ("1", "d1", "7", None),
        ]

    def test_people_are_called_as_the_settings_say(self, raw_file):
        person = {"id": 8, "email": "ana@example.org"}
        tasks = [task(annotation("0"), annotation("1", completed_by=person))]

        table = self.read(raw_file, tasks, {"7": "A_1", "ana@example.org": "A_2"})

        assert rows(table) == [("1", "00123", "A_1", 0), ("1", "00123", "A_2", 1)]

    def test_skipped_and_empty_annotations_are_no_judgments(self, raw_file):
        nothing = annotation("0") | {"result": []}
        skipped = annotation("2", was_cancelled=True)
        other = annotation("2")
        other["result"][0] |= {"from_name": "comment", "value": {"text": ["hm"]}}

        assert rows(self.read(raw_file, [task(nothing, skipped, other)])) == []

    def test_identical_judgments_count_once(self, raw_file):
        tasks = [task(annotation("2")), task(annotation("relevant"))]

        assert rows(self.read(raw_file, tasks)) == [("1", "00123", "7", 2)]

    @pytest.mark.parametrize(
        ("tasks", "message"),
        [
            ([task(annotation("3"))], "task 1: '3' is no grade. Expected one of 0, 1, 2, relevant"),
            ([task(annotation("0", "1"))], "task 1: 0, 1 were chosen for one pair"),
            (
                [task(annotation("2")), task(annotation("0"))],
                "task 2: 7 judged document '00123' for query '1' as 0, but as 2 in .*task 1",
            ),
            (
                [task(annotation("2")), task(annotation("cannot judge"))],
                "task 2: 7 judged .* as without a grade, but as 2",
            ),
            ([task(annotation("2"), doc_id=123)], "task 1: 123 can't be the doc_id"),
            ([task(annotation("2"), query_id="")], "task 1: '' can't be a query_id"),
            ([task(annotation("2", completed_by=None))], "task 1: .* without `completed_by`"),
            ([task(annotation("2", result=[{"value": 1}]))], "task 1: .* without `from_name`"),
            ({"data": {}}, "export.json: a list of tasks is expected"),
            ([{"data": {}, "grade": "2"}], "task 1: a list of tasks is expected, .* format JSON"),
        ],
    )
    def test_what_is_no_judgment_is_an_error(self, raw_file, tasks, message):
        with pytest.raises(CollectionError, match=message):
            self.read(raw_file, tasks)

    def test_a_name_that_can_name_no_annotator(self, raw_file):
        with pytest.raises(CollectionError, match="'Ana Maria' can't be a name of an annotator"):
            self.read(raw_file, [task(annotation("2"))], {"7": "Ana Maria"})

    def test_a_file_that_is_no_json(self, raw_file):
        with pytest.raises(CollectionError, match=r"export.json: .*JSON is expected"):
            read_label_studio(raw_file("export.json", "id,grade\n"), SCALE, ExportSettings())


class TestDoccano:
    @staticmethod
    def read(raw_file, *examples):
        lines = "".join(f"{json.dumps(example)}\n" for example in examples)
        return read_doccano(raw_file("ana.jsonl", lines), "ana", SCALE, ExportSettings())

    def test_labels_of_one_person(self, raw_file):
        pair = {"id": 1, "text": "…", "query_id": "1", "Comments": []}

        table = self.read(
            raw_file,
            pair | {"doc_id": "d2", "label": ["relevant"]},
            pair | {"doc_id": "d1", "label": ["cannot judge"]},
            pair | {"doc_id": "d3", "label": []},
        )

        assert rows(table) == [("1", "d1", "ana", None), ("1", "d2", "ana", 2)]

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"label": ["Relevant"]}, "line 1: 'Relevant' is no grade"),
            ({"label": ["relevant", "irrelevant"]}, "line 1: relevant, irrelevant were chosen"),
            ({"label": "relevant"}, "line 1: an example of doccano with the list `label`"),
            ({"label": ["relevant"], "doc_id": None}, "line 1: None can't be the doc_id"),
        ],
    )
    def test_what_is_no_judgment_is_an_error(self, raw_file, fields, message):
        with pytest.raises(CollectionError, match=message):
            self.read(raw_file, {"query_id": "1", "doc_id": "d"} | fields)

    def test_one_person_with_two_grades_of_a_pair(self, raw_file):
        pair = {"query_id": "1", "doc_id": "d"}

        with pytest.raises(
            CollectionError, match=r"line 2: ana judged .* as 0, but as 2 in .*line 1"
        ):
            self.read(raw_file, pair | {"label": ["relevant"]}, pair | {"label": ["irrelevant"]})
