"""Measures of annotators that left pairs out, beside those of the others."""

import numpy as np
import pandas as pd
import pytest

from normastcu.evaluation.measures import measure_runs, rank_runs
from normastcu.evaluation.system_measures import measure_systems, restrict

MEASURES = ("P@2", "MRR")


def frame(rows, columns):
    return pd.DataFrame(rows, columns=columns).astype(
        {name: "str" for name in columns if name not in ("grade", "rank")}
    )


RUNS = frame(
    [("S", "q1", "a", 1), ("S", "q1", "b", 2), ("S", "q2", "c", 1), ("T", "q1", "b", 1)],
    ["system", "query_id", "doc_id", "rank"],
)
QRELS = frame(
    [
        ("reference", "q1", "a", 1),
        ("reference", "q1", "b", 1),
        ("reference", "q2", "c", 1),
        ("whole", "q1", "a", 0),
        ("whole", "q1", "b", 1),
        ("whole", "q2", "c", 1),
        ("part", "q1", "b", 1),
    ],
    ["qrels", "query_id", "doc_id", "grade"],
)
GAPS = frame([("q1", "a"), ("q2", "c")], ["query_id", "doc_id"])


@pytest.fixture
def measured():
    return measure_systems(
        RUNS,
        ["S", "T"],
        QRELS,
        references=["reference"],
        left_out={"whole": GAPS[:0], "part": GAPS},
        queries=["q1", "q2"],
        measures=MEASURES,
    )


def test_the_whole_is_what_the_measures_say(measured):
    expected = measure_runs(rank_runs(RUNS), QRELS, measures=MEASURES)
    np.testing.assert_array_equal(measured.whole.values, expected.values)
    assert measured.whole.qrels == expected.qrels == ("part", "reference", "whole")


def test_only_who_left_pairs_out_stands_apart(measured):
    assert dict(measured.n_left_out) == {"part": 2}
    alone = measured.apart["part"]
    assert alone.qrels == ("part", "reference")
    # Without a, S has b first; without c, nobody has anything for q2.
    assert alone.of("part", "MRR").tolist() == [[1, 0], [1, 0]]
    assert alone.of("reference", "MRR").tolist() == [[1, 0], [1, 0]]
    assert alone.with_relevant("reference").tolist() == [True, False]


def test_together_each_is_measured_by_itself(measured):
    together = measured.together(["whole", "reference", "part"])

    assert together.of("reference", "MRR").tolist() == [[1, 1], [1, 0]]
    assert together.of("part", "MRR").tolist() == [[1, 0], [1, 0]]
    assert together.n_judged.tolist() == [[1, 0], [2, 1], [2, 1]]
    report = together.report.set_index(["qrels", "system"])["n_queries"]
    assert report["part", "S"] == 1
    assert len(report) == 6
    assert measured.whole.of("part", "MRR").tolist() == [[0.5, 0], [1, 0]]


def test_comparisons_come_with_those_that_graded_everything_first(measured):
    found = [
        (names, part.qrels) for names, part in measured.beside(["reference"], ["part", "whole"])
    ]
    assert found == [(["whole"], ("reference", "whole")), (["part"], ("part", "reference"))]


def test_a_qrels_without_a_grade_keeps_its_place():
    measured = measure_systems(
        RUNS,
        ["S", "T"],
        QRELS[QRELS["qrels"] == "reference"],
        references=["reference"],
        left_out={"mute": QRELS.loc[QRELS["qrels"] == "reference", ["query_id", "doc_id"]]},
        queries=["q1", "q2"],
        measures=MEASURES,
    )

    assert measured.apart["mute"].qrels == ("mute", "reference")
    assert not measured.apart["mute"].values.any()
    report = measured.together(["mute"]).report
    assert report[["system", "n_queries", "n_missing", "n_ignored"]].to_numpy().tolist() == [
        ["S", 0, 0, 2],
        ["T", 0, 0, 1],
    ]


def test_a_system_without_a_run_has_a_place():
    measured = measure_systems(
        RUNS,
        ["T", "R", "S"],
        QRELS,
        references=["reference"],
        left_out={},
        queries=["q1", "q2"],
        measures=MEASURES,
    )

    assert measured.whole.systems == ("R", "S", "T")
    assert measured.whole.of("reference", "MRR").tolist() == [[0, 0], [1, 1], [1, 0]]
    report = measured.whole.report.set_index(["qrels", "system"])["missing"]
    assert report["reference", "R"] == "q1, q2"


def test_a_run_of_an_unknown_system_is_an_error():
    with pytest.raises(ValueError, match="a run of 'T', which is not among the 1 systems"):
        measure_systems(
            RUNS, ["S"], QRELS, references=["reference"], left_out={}, queries=["q1", "q2"]
        )


def test_restricting_to_an_unknown_qrels_is_an_error(measured):
    with pytest.raises(ValueError, match="no qrels 'other'"):
        restrict(measured.whole, ["reference", "other"])
