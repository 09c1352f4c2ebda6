"""Reading judgments: cases 1, 7, 8, 10, 25, 26 and 27 of the files that broke other tools."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.collection.errors import CollectionError
from normastcu.collection.judgments import (
    RELEASED_JUDGMENTS,
    check_annotators,
    check_judged_documents,
    ordered,
    read_assessor_judgments,
    read_grade,
    read_judge_labels,
    to_released_format,
)
from normastcu.collection.settings import AssessorFormat, JudgeLabelFormat

ASSESSOR_COLUMNS_DECLARED = dict(RELEASED_JUDGMENTS)
SCALE = (0, 1, 2)
QUERIES = {"1", "2", "LEI", "lei", "00123"}
RELEASED = "QUERY_KEY,DOC_KEY,AVALIACAO,USUARIO_AVALIADOR\n"
OWN = "query_id,doc_id,annotator,grade,origin\n"


def people(file, **settings):
    """Read judgments of people on the scale and queries above."""
    return read_assessor_judgments(file, AssessorFormat(**settings), SCALE, QUERIES)


def labels(*files, **settings):
    """Read labels of judges on the scale and queries above."""
    return read_judge_labels(files, JudgeLabelFormat(**settings), SCALE, QUERIES)


def rows(imported):
    """Return the table as tuples, a missing value as None."""
    table = imported.table.astype(object)
    return [tuple(None if pd.isna(c) else c for c in row) for row in table.itertuples(index=False)]


def test_the_released_format(raw_file):
    read = people(raw_file("h.csv", RELEASED + "1,D-1,2,A_1\n1,D-1,0,A_2\n"))
    assert rows(read) == [("1", "D-1", "A_1", 2, None), ("1", "D-1", "A_2", 0, None)]


def test_the_own_format_keeps_cannot_judge_as_an_answer_without_a_grade(raw_file):
    read = people(raw_file("h.csv", OWN + "1,D-1,A_1,,pool\n1,D-2,A_1,2,suggested\n"))
    assert rows(read) == [("1", "D-1", "A_1", None, "pool"), ("1", "D-2", "A_1", 2, "suggested")]
    assert [file["n_without_grade"] for file in read.files] == [1]


def test_the_released_format_drops_cannot_judge_when_written(raw_file):
    read = people(raw_file("h.csv", OWN + "1,D-1,A_1,,pool\n1,D-2,A_1,2,suggested\n"))
    released = to_released_format(read.table).to_csv(index=False)
    assert released == RELEASED + "1,D-2,2,A_1\n"
    assert rows(people(raw_file("again.csv", released))) == [("1", "D-2", "A_1", 2, None)]


def test_declared_columns_and_json_lines(raw_file):
    lines = [
        {"q": "1", "d": "D-1", "who": "A_1", "g": 2},
        {"q": "2", "d": "é", "who": "B", "g": None},
    ]
    file = raw_file("h.jsonl", "\n".join(map(json.dumps, lines)))
    columns = {"query_id": "q", "doc_id": "d", "annotator": "who", "grade": "g"}
    assert rows(people(file, columns=columns)) == [
        ("1", "D-1", "A_1", 2, None),
        ("2", "é", "B", None, None),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "1 0 D-1 2\n2 0 D-2 0\n",
        "1\t0\tD-1\t2\n2\t0\tD-2\t0\n",
        "\ufeff1 0 D-1 2\r\n2 0 D-2 0\r\n",
        "1 0 D-1 2\n\n2 0 D-2 0",
    ],
)
def test_trec_qrels_read_the_same_in_every_dress(raw_file, content):
    assert rows(labels(raw_file("judge.qrels", content))) == [
        ("1", "D-1", "judge", 2),
        ("2", "D-2", "judge", 0),
    ]


def test_a_judge_is_called_by_its_file_a_mapping_or_a_column(raw_file):
    one = raw_file("one.csv", "QUERY_KEY,DOC_KEY,SCORE\n1,D,0\n")
    two = raw_file("two.qrels", "1 0 D 1\n")
    three = raw_file("many.csv", "query_id,doc_id,annotator,grade\n1,D,x,2\n1,D,y,1\n")
    read = labels(one, two, three, names={"two.qrels": "second"})
    assert read.table["annotator"].tolist() == ["one", "second", "x", "y"]
    assert [file["annotators"] for file in read.files] == ["one", "second", "x, y"]


def test_identical_duplicates_are_kept_once_and_counted(raw_file):
    read = labels(raw_file("j.qrels", "1 0 d1 2\n1 0 d1 2\n1 0 d2 0\n"))
    assert rows(read) == [("1", "d1", "j", 2), ("1", "d2", "j", 0)]
    assert [file["n_duplicates"] for file in read.files] == [1]


def test_differing_duplicates_name_both_lines(raw_file):
    with pytest.raises(CollectionError) as error:
        labels(raw_file("j.qrels", "1 0 d1 2\n1 0 d1 0\n"))
    assert "j.qrels, line 2" in str(error.value)
    assert "'d1' for query '1' as 0, but as 2 in j.qrels, line 1" in str(error.value)


def test_two_files_under_one_name_can_not_differ(raw_file):
    one, two = raw_file("one.qrels", "1 0 d 2\n"), raw_file("two.qrels", "1 0 d 1\n")
    with pytest.raises(CollectionError, match=r"two\.qrels, line 1.*one\.qrels, line 1"):
        labels(one, two, names={"one.qrels": "j", "two.qrels": "j"})


def test_a_negative_grade_is_an_error_or_not_judged(raw_file):
    file = raw_file("j.qrels", "1 0 d1 -1\n1 0 d2 1\n")
    with pytest.raises(CollectionError, match=r"j\.qrels, line 1: the grade -1 is negative"):
        labels(file)
    read = labels(file, negative="unjudged")
    assert rows(read) == [("1", "d1", "j", None), ("1", "d2", "j", 1)]
    assert [file["n_without_grade"] for file in read.files] == [1]


def test_every_problem_of_a_file_is_listed(raw_file):
    with pytest.raises(CollectionError) as error:
        labels(raw_file("j.qrels", "1 0 d1 -1\n1 0 d2 1\n1 0 d3 7\n"))
    assert str(error.value).startswith("2 judgments can't be taken:")
    assert "line 1: the grade -1" in str(error.value)
    assert "line 3: the grade 7 is not on the scale [0, 1, 2]" in str(error.value)


def test_ids_are_text_and_stay_as_they_are(raw_file):
    read = people(raw_file("h.csv", RELEASED + "00123,1e5,1,A_1\nLEI,1,1,A_1\nlei,01,1,A_1\n"))
    assert [row[:2] for row in rows(read)] == [("00123", "1e5"), ("LEI", "1"), ("lei", "01")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,D,3,A_1", "the grade 3 is not on the scale"),
        ("1,D,1.5,A_1", "'1.5' is not a grade"),
        ("1,D,nan,A_1", "'nan' is not a grade"),
        ("1,D,inf,A_1", "'inf' is not a grade"),
        ("1,D,1_0,A_1", "'1_0' is not a grade"),
        ("1,D,２,A_1", "'２' is not a grade"),
        ("1,D,dois,A_1", "'dois' is not a grade"),
        ("9,D,1,A_1", "the query '9' is not in the collection"),
        ("1,D,1,A_9", "the assessor 'A_9' is not among the listed ones"),
        ("1,D 1,1,A_1", "'D 1' can't be a doc_id"),
        (",D,1,A_1", "'' can't be a query_id"),
    ],
)
def test_an_impossible_judgment_names_file_and_line(raw_file, row, message):
    with pytest.raises(CollectionError) as error:
        people(raw_file("h.csv", RELEASED + row + "\n"), assessors=("A_1", "A_2"))
    assert str(error.value).startswith("h.csv, line 2: ")
    assert message in str(error.value)


def test_a_judgment_given_twice_is_kept_once_or_an_error(raw_file):
    twice = people(raw_file("h.csv", RELEASED + "1,D,1,A_1\n1,D,1,A_1\n"))
    assert rows(twice) == [("1", "D", "A_1", 1, None)]
    with pytest.raises(CollectionError, match="as 2, but as 1"):
        people(raw_file("h.csv", RELEASED + "1,D,1,A_1\n1,D,2,A_1\n"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("j.qrels", "1 0 D 1\n1 0 D\n", "line 2: 3 fields where a TREC qrels line has 4"),
        ("j.qrels", "1 0 D 1 x\n", "line 1: 5 fields"),
        ("j.qrels", "", "has no judgments"),
        ("j.csv", "QUERY_KEY,DOC_KEY,SCORE\n", "has no judgments"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D", "grade": 1', "line 1: "),
        ("j.jsonl", '["1", "D", 1]', "one JSON object a line"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D"}', "hold no judgment"),
        ("j.jsonl", '{"query_id": 1, "doc_id": "D", "grade": 1}', "1 can't be the query_id"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D", "grade": true}', "True can't be the grade"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D", "grade": NaN}', "'nan' is not a grade"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D", "grade": 1e999}', "'inf' is not a grade"),
        ("j.jsonl", '{"query_id": "1", "doc_id": "D", "grade": %s}' % ("9" * 5000), "line 1: "),
        ("j.jsonl", '{"query_id": "1", "query_id": "2", "doc_id": "D", "grade": 1}', "twice"),
        ("j.xlsx", "", "the suffix '.xlsx' tells no format"),
    ],
)
def test_an_unreadable_file_says_where_and_why(raw_file, name, content, message):
    with pytest.raises(CollectionError) as error:
        labels(raw_file(name, content))
    assert name in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["reference", "without_A", "../../evil", ".hidden", "a/b", "a\\b"])
def test_a_name_that_can_not_name_a_file_of_qrels_is_an_error(raw_file, name):
    read = people(raw_file("h.csv", RELEASED + f"1,D,1,{name}\n"))
    with pytest.raises(CollectionError, match=r"h\.csv: .* can't be the name of an annotator"):
        check_annotators(read.files)


def test_judgments_without_any_grade_are_an_error(raw_file):
    with pytest.raises(CollectionError, match="none of the 2 judgments has a grade"):
        people(raw_file("h.csv", OWN + "1,D,A_1,,\n1,E,A_1,,\n"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query_id": "QUERY_KEY", "doc_id": "DOC_KEY"}, "lacks annotator, grade"),
        (ASSESSOR_COLUMNS_DECLARED | {"grades": "AVALIACAO"}, "names grades"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_wrong_declaration_of_columns_is_an_error(raw_file, columns, message, suffix):
    file = raw_file(f"h.{suffix}", RELEASED + "1,D,1,A_1\n")
    with pytest.raises(CollectionError, match=f"`columns` for h.{suffix} {message}"):
        people(file, columns=columns)


def test_an_unknown_origin_is_an_error(raw_file):
    with pytest.raises(CollectionError, match="the origin 'box' is unknown"):
        people(raw_file("h.csv", OWN + "1,D,A_1,1,box\n"))


def test_a_judged_document_that_the_corpus_lacks_is_named():
    judgments = pd.DataFrame({"query_id": ["1"], "doc_id": ["d"], "annotator": ["A_1"]})
    check_judged_documents(judgments, ["d", "D"])
    with pytest.raises(CollectionError, match="document 'd' for query '1' by A_1"):
        check_judged_documents(judgments, ["D"])


def test_no_file_gives_an_empty_table_with_its_types():
    read = labels()
    assert read.table.dtypes.astype(str).to_dict() == {
        "query_id": "str",
        "doc_id": "str",
        "annotator": "str",
        "grade": "Int64",
    }


def test_real_labels_of_which_two_were_not_read(shared_data, raw_file):
    name = "llm_labels_first_pass_sabiazinho-4_simple.csv"
    file = raw_file(name, (shared_data / "normastcu" / name).read_bytes())
    negative = [
        number
        for number, line in enumerate(file.path.read_text("utf-8").splitlines(), start=1)
        if line.endswith(",-1")
    ]
    with pytest.raises(CollectionError) as error:
        read_judge_labels([file], JudgeLabelFormat())
    assert len(negative) == 2
    assert all(f"{name}, line {number}: the grade -1" in str(error.value) for number in negative)
    read = read_judge_labels([file], JudgeLabelFormat(negative="unjudged"))
    assert (len(read.table), int(read.table["grade"].count())) == (812, 810)


@given(st.integers(0, 2), st.sampled_from(["{}", "{}.0", " {} "]))
def test_every_spelling_of_a_whole_grade_is_read(grade, spelling):
    assert read_grade(spelling.format(grade), SCALE, "error", "f") == grade


@given(st.text())
def test_no_text_gives_a_grade_off_the_scale(text):
    try:
        grade = read_grade(text, SCALE, "unjudged", "f")
    except CollectionError:
        return
    assert grade in (None, *SCALE)


def test_names_are_ordered_as_asked_then_sorted():
    assert ordered(["b", "a", "c", "a"], ["c", "z"]) == ["c", "a", "b"]
