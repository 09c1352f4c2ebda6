"""Exports for assessors elsewhere: case 26, the round trip of every text."""

import csv
import io
import json
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import read_assessor_judgments
from normastcu.collection.pool_export import (
    ExportSettings,
    assessment_sheet,
    csv_lines,
    doccano_examples,
    doccano_labels,
    json_array,
    json_lines,
    label_studio_config,
    label_studio_tasks,
)
from normastcu.collection.pool_schemas import AssessmentSheet
from normastcu.collection.settings import AssessorFormat, GradeScale

SCALE = GradeScale(
    grades=[
        {"grade": 0, "name": "irrelevant"},
        {"grade": 1, "name": "partially relevant"},
        {"grade": 2, "name": "relevant"},
    ]
)
AWKWARD = 'Art. 5º, "caput";\n\t<b onclick="x()">não</b> &amp; \\n \r\n\u2028 fim \x85 😀'
DOCUMENT_TYPES = dict.fromkeys(
    ("doc_id", "title", "subject", "status", "in_force_since", "text", "html"), "str"
)
DOCUMENTS = typed_frame(
    [
        ("d1", "Título", None, "VIGENTE", "01/02/2003", None, "<p></p>"),
        ("00123", AWKWARD, AWKWARD, None, None, AWKWARD, AWKWARD),
        ("1e5", "unused", None, None, None, "unused", None),
    ],
    DOCUMENT_TYPES,
)
QUERIES = typed_frame([("1", AWKWARD), ("01", "férias?")], {"query_id": "str", "text": "str"})
POOL = typed_frame(
    [("1", "00123", 1, "filled"), ("1", "d1", 2, "manual"), ("01", "00123", 1, "intersection")],
    {"query_id": "str", "doc_id": "str", "rank": "Int64", "reason": "str"},
)
SHOWN = {
    "query_id": "1",
    "query": AWKWARD,
    "doc_id": "00123",
    "title": AWKWARD,
    "subject": AWKWARD,
    "status": "",
    "in_force_since": "",
    "text": AWKWARD,
}


@pytest.fixture(scope="module")
def sheet():
    return assessment_sheet(POOL, QUERIES, DOCUMENTS)


class TestSheet:
    def test_the_texts_of_each_pair_in_the_order_of_the_pool(self, sheet):
        AssessmentSheet.validate(sheet)
        assert sheet[["query_id", "doc_id"]].values.tolist() == [
            ["1", "00123"],
            ["1", "d1"],
            ["01", "00123"],
        ]
        assert sheet.iloc[0].to_dict() == SHOWN | {"annotator": "", "grade": ""}
        assert sheet.iloc[1, 3:8].tolist() == ["Título", "", "VIGENTE", "01/02/2003", ""]

    def test_nothing_tells_how_a_document_came_into_the_pool(self, sheet):
        assert not {"reason", "rank", "filled_at", "note"} & set(sheet.columns)

    def test_documents_with_fewer_columns(self):
        sheet = assessment_sheet(POOL, QUERIES, DOCUMENTS[["doc_id", "text"]])

        assert sheet["title"].tolist() == ["", "", ""]

    def test_an_empty_pool(self):
        sheet = assessment_sheet(POOL.head(0), QUERIES, DOCUMENTS)

        AssessmentSheet.validate(sheet)
        assert "".join(json_array(label_studio_tasks(sheet))) == "[]\n"

    def test_round_trip_through_a_csv(self, sheet):
        text = "".join(csv_lines(sheet))

        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert rows == sheet.to_dict("records")
        again = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
        assert again.to_dict("records") == sheet.to_dict("records")

    def test_a_filled_in_csv_is_a_file_of_judgments(self, sheet, raw_file):
        filled = sheet.assign(annotator="A_1", grade=["2", "", "0"])
        file = raw_file("filled.csv", "".join(csv_lines(filled)), encoding="utf-8-sig")

        read = read_assessor_judgments(file, AssessorFormat(), SCALE.values, {"1", "01"}).table

        cells = read[["query_id", "doc_id", "annotator", "grade"]].astype(object)
        assert cells.fillna("none").values.tolist() == [
            ["1", "00123", "A_1", 2],
            ["1", "d1", "A_1", "none"],
            ["01", "00123", "A_1", 0],
        ]

    @pytest.mark.parametrize(
        ("pair", "message"),
        [
            (("1", "D1"), "the document 'D1', which the collection lacks"),
            (("2", "d1"), "the query '2', which the collection lacks"),
        ],
    )
    def test_a_pair_that_the_collection_lacks(self, pair, message):
        pool = typed_frame([pair], {"query_id": "str", "doc_id": "str"})

        with pytest.raises(CollectionError, match=message):
            assessment_sheet(pool, QUERIES, DOCUMENTS)


class TestLabelStudio:
    def test_tasks_round_trip_as_an_array_and_as_lines(self, sheet):
        expected = [{"data": record} for record in sheet.iloc[:, :8].to_dict("records")]

        array = "".join(json_array(label_studio_tasks(sheet)))
        lines = "".join(json_lines(label_studio_tasks(sheet)))

        assert json.loads(array) == expected
        # splitlines also cuts at the line ends of Unicode that the texts hold.
        assert [json.loads(line) for line in lines.splitlines()] == expected
        assert expected[0] == {"data": SHOWN}

    def test_accents_stay_readable(self, sheet):
        assert "férias?" in "".join(json_lines(label_studio_tasks(sheet)))

    def test_the_screen_has_the_choices_in_their_order_and_none_selected(self):
        view = ElementTree.fromstring(label_studio_config(SCALE, ExportSettings()))

        choices = [choice.attrib for choice in view.iter("Choice")]
        assert choices == [
            {"value": "relevant", "alias": "2"},
            {"value": "partially relevant", "alias": "1"},
            {"value": "irrelevant", "alias": "0"},
            {"value": "cannot judge", "alias": "cannot judge"},
        ]
        control = view.find("Choices")
        assert control.attrib["choice"] == "single-radio"
        assert control.attrib["required"] == "true"

    def test_the_screen_shows_what_the_tasks_hold_as_text(self, sheet):
        view = ElementTree.fromstring(label_studio_config(SCALE, ExportSettings()))

        task = next(label_studio_tasks(sheet))["data"]
        texts = {text.attrib["name"]: text.attrib for text in view.iter("Text")}
        assert {text["value"] for text in texts.values()} <= {f"${name}" for name in task}
        assert {text["valueType"] for text in texts.values()} == {"text"}
        assert view.find("Choices").attrib["toName"] in texts
        assert not {element.tag for element in view.iter()} & {"HyperText", "HyperTextLabels"}

    def test_names_with_quotes_and_angle_brackets(self):
        scale = GradeScale(
            grades=[{"grade": 0, "name": 'não "é" <1>'}, {"grade": 1, "name": "sim & sim"}]
        )

        view = ElementTree.fromstring(label_studio_config(scale, ExportSettings()))

        names = [choice.attrib["value"] for choice in view.iter("Choice")]
        assert names == ["sim & sim", 'não "é" <1>', "cannot judge"]


class TestDoccano:
    def test_the_parts_stand_under_their_headings_and_the_ids_beside_them(self, sheet):
        headings = {"query": "Consulta", "title": "Título", "text": "Texto"}

        examples = list(doccano_examples(sheet, ExportSettings(headings=headings)))

        assert examples[1] == {
            "text": f"Consulta\n{AWKWARD}\n\nTítulo\nTítulo\n\nStatus\nVIGENTE\n\n"
            "In force since\n01/02/2003",
            "label": [],
            "query_id": "1",
            "doc_id": "d1",
        }
        assert f"\n\nTexto\n{AWKWARD}" in examples[0]["text"]

    def test_examples_round_trip_as_lines(self, sheet):
        examples = list(doccano_examples(sheet, ExportSettings()))

        lines = "".join(json_lines(examples))

        assert [json.loads(line) for line in lines.splitlines()] == examples

    def test_the_labels(self):
        labels = doccano_labels(SCALE, ExportSettings(cannot_judge="não sei"))

        assert [(label["text"], label["suffix_key"]) for label in labels] == [
            ("relevant", "2"),
            ("partially relevant", "1"),
            ("irrelevant", "0"),
            ("não sei", None),
        ]
        assert len({label["background_color"] for label in labels}) == 4


class TestSettings:
    @pytest.mark.parametrize(
        ("names", "cannot_judge"),
        [(("yes", "yes"), "-"), (("no", "yes"), "yes"), (("1", "yes"), "-"), (("no", "yes"), "0")],
    )
    def test_choices_that_could_be_two_grades(self, names, cannot_judge):
        scale = GradeScale(grades=[{"grade": g, "name": name} for g, name in enumerate(names)])

        with pytest.raises(CollectionError, match="could be two grades"):
            label_studio_config(scale, ExportSettings(cannot_judge=cannot_judge))

    def test_an_unknown_heading(self):
        with pytest.raises(ValidationError, match="titel"):
            ExportSettings(headings={"titel": "Titel"})


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
        min_size=1,
        max_size=4,
    )
)
def test_every_text_round_trips(texts):
    ids = [f"d{number}" for number in range(len(texts))]
    pool = pd.DataFrame({"query_id": "q", "doc_id": ids}, dtype="str")
    documents = pd.DataFrame({"doc_id": ids, "text": texts}, dtype="str")
    sheet = assessment_sheet(pool, QUERIES.assign(query_id=["q", "p"]).astype("str"), documents)

    lines = "".join(json_lines(label_studio_tasks(sheet)))
    table = "".join(csv_lines(sheet))

    assert [json.loads(line)["data"]["text"] for line in lines.splitlines()] == texts
    assert [row["text"] for row in csv.DictReader(io.StringIO(table, newline=""))] == texts
