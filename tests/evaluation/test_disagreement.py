"""Grades side by side: means, leave-one-out, disagreement, disputed pairs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.evaluation.agreement import (
    annotator_grades,
    disagreement,
    leave_one_out,
    mean_grades,
    most_disputed,
    pairs_by_annotators,
    round_half_to_even,
    strong_by_query,
    wide_grades,
)

SCALE = (0, 1, 2)
KEYS = ["query_id", "doc_id"]


def judgments(*rows):
    """Make judgments from (query_id, doc_id, annotator, grade)."""
    frame = pd.DataFrame(rows, columns=[*KEYS, "annotator", "grade"])
    text = dict.fromkeys([*KEYS, "annotator"], "str")
    return frame.astype(text | {"grade": "Int64"})


# q1/d1: 0 0 2 (strong), q1/d2: 1 2 (weak), q2/d1: 1 (single), q2/d3: nobody could judge.
FEW = judgments(
    ("q2", "d1", "B", 1),
    ("q1", "d2", "B", 2),
    ("q1", "d2", "A", 1),
    ("q1", "d1", "C", 2),
    ("q1", "d1", "B", 0),
    ("q1", "d1", "A", 0),
    ("q2", "d3", "A", None),
)

some_judgments = st.dictionaries(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("123"), st.sampled_from("ABCD")),
    st.one_of(st.none(), st.integers(0, 2)),
    min_size=1,
).map(lambda given: judgments(*((*key, grade) for key, grade in given.items())))


def test_grades_side_by_side_are_sorted_and_complete():
    wide = wide_grades(FEW)

    assert list(wide.columns) == ["A", "B", "C"]
    assert list(wide.index) == [("q1", "d1"), ("q1", "d2"), ("q2", "d1"), ("q2", "d3")]
    assert wide["B"].dtype == "Int64"
    assert wide.loc[("q2", "d3")].isna().all()
    np.testing.assert_array_equal(annotator_grades(wide, "A"), [0, 1, np.nan, np.nan])


def test_ids_are_text_and_sorted_as_text():
    frame = judgments(
        ("10", "1", "A", 0), ("9", "01", "A", 1), ("9", "1", "A", 2), ("9", "a", "A", 0)
    )

    wide = wide_grades(frame)

    assert list(wide.index) == [("10", "1"), ("9", "01"), ("9", "1"), ("9", "a")]


def test_two_judgments_of_one_annotator_are_an_error():
    with pytest.raises(ValueError, match="B judged document d1 for query q2 more than once"):
        wide_grades(pd.concat([FEW, judgments(("q2", "d1", "B", 1))]))


def test_an_unknown_annotator_is_named():
    with pytest.raises(ValueError, match=r"no grades by D\. Annotators: A, B, C"):
        annotator_grades(wide_grades(FEW), "D")


def test_means_by_hand():
    means = mean_grades(FEW)

    assert means[KEYS].to_numpy().tolist() == [["q1", "d1"], ["q1", "d2"], ["q2", "d1"]]
    assert means["n_annotators"].tolist() == [3, 2, 1]
    assert means["mean_grade"].tolist() == [2 / 3, 1.5, 1.0]
    assert means["lowest"].tolist() == [0, 1, 1]
    assert means["highest"].tolist() == [2, 2, 1]
    assert means["grades"].tolist() == ["0 0 2", "1 2", "1"]


@settings(max_examples=25, deadline=None)
@given(frame=some_judgments, seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(frame, seed):
    shuffled = frame.sample(frac=1, random_state=seed)

    pd.testing.assert_frame_equal(wide_grades(frame), wide_grades(shuffled))
    pd.testing.assert_frame_equal(mean_grades(frame), mean_grades(shuffled))
    pd.testing.assert_frame_equal(most_disputed(frame), most_disputed(shuffled))


@settings(max_examples=25, deadline=None)
@given(frame=some_judgments)
def test_counts_of_disagreement_add_up_under_any_names_of_the_pairs(frame):
    renamed = frame.assign(
        query_id=frame["query_id"].map({"x": "b", "y": "a", "z": "é"}),
        doc_id="N-" + frame["doc_id"],
    )
    means = mean_grades(frame)

    table = disagreement(means, SCALE)

    assert table["n"].sum() == pairs_by_annotators(means)["n"].sum() == len(means)
    pd.testing.assert_frame_equal(table, disagreement(mean_grades(renamed), SCALE))


def test_no_judgments_give_empty_tables():
    nothing = FEW.iloc[:0]
    means = mean_grades(nothing)

    assert len(means) == len(pairs_by_annotators(means)) == len(most_disputed(nothing)) == 0
    assert len(strong_by_query(means)) == 0
    table = disagreement(means, SCALE)
    assert table["n"].tolist() == [0] * 6
    assert table["share"].isna().all()


@settings(deadline=None)
@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_rounding_is_pythons(counts):
    means = pd.Series([sum(counts[:i]) / i for i in range(1, len(counts) + 1)])

    assert round_half_to_even(means).tolist() == [round(mean) for mean in means]


def test_halves_go_to_the_even_grade_and_missing_stays_missing():
    rounded = round_half_to_even(pd.Series([0.5, 1.5, 2.5, 0.75, None]))

    assert rounded.dtype == "Int64"
    assert rounded[:4].tolist() == [0, 2, 2, 1]
    assert rounded.isna().tolist() == [False] * 4 + [True]


def test_leave_one_out_by_hand():
    means = leave_one_out(FEW, "B")

    assert means[KEYS].to_numpy().tolist() == [["q1", "d1"], ["q1", "d2"]]
    assert means["mean_grade"].tolist() == [1.0, 1.0]


def test_leaving_out_nobody_is_an_error():
    with pytest.raises(ValueError, match="Can't leave out D, who has no judgment"):
        leave_one_out(FEW, "D")


def test_disagreement_by_hand():
    table = disagreement(mean_grades(FEW), SCALE)

    assert table[["category", "grades", "n"]].to_numpy().tolist() == [
        ["consensus", "0", 0],
        ["consensus", "1", 1],
        ["consensus", "2", 0],
        ["weak", "0-1", 0],
        ["weak", "1-2", 1],
        ["strong", "0-2", 1],
    ]
    assert table["share"].tolist() == pytest.approx([0, 1 / 3, 0, 0, 1 / 3, 1 / 3])


def test_disagreement_lists_every_range_of_a_longer_scale():
    table = disagreement(mean_grades(FEW), (0, 1, 2, 3))

    assert table["grades"].tolist() == [
        *("0", "1", "2", "3"),
        *("0-1", "1-2", "2-3"),
        *("0-2", "0-3", "1-3"),
    ]


def test_disagreement_refuses_a_grade_outside_the_scale():
    with pytest.raises(ValueError, match="grade 2 is not on the scale 0, 1"):
        disagreement(mean_grades(FEW), (0, 1))


def test_pairs_by_number_of_grades():
    assert pairs_by_annotators(mean_grades(FEW)).to_numpy().tolist() == [
        [3, "consensus", 0],
        [3, "weak", 0],
        [3, "strong", 1],
        [2, "consensus", 0],
        [2, "weak", 1],
        [2, "strong", 0],
        [1, "consensus", 1],
    ]


def test_strong_disagreements_by_query():
    table = strong_by_query(mean_grades(FEW))

    assert table.to_numpy().tolist() == [["q1", 2, 1, 0.5], ["q2", 1, 0, 0.0]]


def test_most_disputed_pairs_by_hand():
    table = most_disputed(FEW)

    assert table[KEYS].to_numpy().tolist() == [["q1", "d1"], ["q1", "d2"]]
    assert table["grades"].tolist() == ["0 0 2", "1 2"]
    assert table["range"].tolist() == [2, 1]
    # Variance of 0 0 2 about 2/3: (4/9 + 4/9 + 16/9) / 3.
    assert table["variance"].tolist() == pytest.approx([8 / 9, 0.25])
    assert table["given"].tolist() == ["A 0, B 0, C 2", "A 1, B 2"]
    assert len(most_disputed(FEW, limit=1)) == 1


def test_most_disputed_pairs_of_equal_range_go_by_variance_then_ids():
    frame = judgments(
        *(("q", "few", name, grade) for name, grade in zip("ABCD", (0, 0, 0, 2), strict=True)),
        *(("q", "half", name, grade) for name, grade in zip("ABCD", (0, 0, 2, 2), strict=True)),
        *(("a", "half", name, grade) for name, grade in zip("ABCD", (2, 0, 2, 0), strict=True)),
    )

    assert most_disputed(frame)[KEYS].to_numpy().tolist() == [
        ["a", "half"],
        ["q", "half"],
        ["q", "few"],
    ]


class TestNormasTCU:
    """The numbers that the paper prints."""

    def test_means_are_the_released_ones(self, people, released_means):
        ours = mean_grades(people).set_index(KEYS)["mean_grade"]
        released = released_means.set_index(KEYS)["grade"].astype("float64")

        assert len(ours) == len(released) == 812
        assert (ours == released.reindex(ours.index)).all()

    def test_reference_grades(self, people):
        grades = round_half_to_even(mean_grades(people)["mean_grade"])

        assert grades.value_counts().to_dict() == {0: 513, 1: 145, 2: 154}

    def test_disagreement(self, people):
        assert disagreement(mean_grades(people), SCALE)["n"].tolist() == [360, 11, 66, 135, 90, 150]

    def test_pairs_by_number_of_assessors(self, people):
        table = pairs_by_annotators(mean_grades(people))

        assert table.groupby("n_assessors")["n"].sum().to_dict() == {4: 675, 3: 82, 2: 47, 1: 8}
        assert table.groupby("category")["n"].sum().to_dict() == {
            "consensus": 437,
            "weak": 225,
            "strong": 150,
        }

    def test_strong_disagreements_by_query_and_disputed_pairs(self, people):
        table = strong_by_query(mean_grades(people))
        disputed = most_disputed(people)

        assert (len(table), table["n"].sum(), table["n_strong"].sum()) == (46, 812, 150)
        assert disputed["range"].value_counts().to_dict() == {1: 225, 2: 150}
        assert disputed["range"].is_monotonic_decreasing
