"""The system level of `meta_evaluation` on a tiny world: what it makes, and its edges."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.pipelines.system_level import (
    collection,
    declared_entries,
    lengths_of,
    row_where,
    rows_where,
    run_system_level,
    settings_of,
    systems_of,
)

from normastcu.pipelines.meta_evaluation.systems_pipeline import create_pipeline

FAMILIES = {"S_1": "bm25", "S_2": "bm25", "S_10": "dense"}
DOCUMENTS = [f"d{i}" for i in range(6)]
# Grades of the documents d0 to d5 by query; None: no grade.
PEOPLE = {
    "Ana": {"q1": [2, 1, 0, 0, 0, 0], "q2": [0, 2, 1, 0, 0, 0], "q3": [0, 0, 2, 2, 0, 0]},
    "Bia": {"q1": [2, 2, 0, 0, 0, 0], "q2": [0, 2, 0, 0, 0, 0], "q3": [0, 0, 1, 2, 1, 0]},
}
JUDGES = {
    "like_reference": {
        "q1": [2, 2, 0, 0, 0, 0],
        "q2": [0, 2, 0, 0, 0, 0],
        "q3": [0, 0, 2, 2, 0, 0],
    },
    "with_gaps": {"q1": [2, None, 0, 0, 0, 0], "q2": [None] * 6, "q3": [0, 0, 1, 2, 0, 0]},
}
RANKINGS = {
    "S_1": {"q1": [0, 1, 2, 3], "q2": [1, 2, 0], "q3": [2, 3, 5]},
    "S_2": {"q1": [2, 0, 3], "q2": [0, 1], "q3": [0, 2, 3]},
    "S_10": {"q1": [3, 4, 1], "q2": [5, 4], "q3": [1, 0, 2]},
}


def judgments_of(annotators):
    rows = [
        (query, doc, name, grade, "pool")
        for name, by_query in annotators.items()
        for query, grades in by_query.items()
        for doc, grade in zip(DOCUMENTS, grades, strict=True)
    ]
    columns = ["query_id", "doc_id", "annotator", "grade", "origin"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype(dict.fromkeys(columns, "str") | {"grade": "Int64"})


def runs_of(rankings):
    rows = [
        (system, query, DOCUMENTS[document], rank, -float(rank))
        for system, by_query in rankings.items()
        for query, documents in by_query.items()
        for rank, document in enumerate(documents, start=1)
    ]
    columns = ["system", "query_id", "doc_id", "rank", "score"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype(dict.fromkeys(columns[:3], "str") | {"rank": "Int64", "score": "Float64"})


def world(people=None, judges=None, rankings=None, families=None):
    labels = judgments_of(JUDGES if judges is None else judges).drop(columns="origin")
    return collection(judgments_of(people or PEOPLE), labels) | {
        "runs": runs_of(RANKINGS if rankings is None else rankings),
        "systems": systems_of(FAMILIES if families is None else families),
        "document_lengths": lengths_of({"d0": 10, "d1": 20, "d2": 30, "d3": 40, "d4": 50}),
    }


@pytest.fixture(scope="module")
def results():
    cost = pd.DataFrame({"judge": ["like_reference"], "cost_per_1000_pairs": [0.25]})
    return run_system_level(world() | {"cost": cost.astype({"judge": "str"})})


class TestTables:
    def test_everything_that_is_made_is_declared(self, results):
        assert set(declared_entries()) == set(results) | {"document_lengths"}

    def test_the_averages_are_those_of_the_values_by_query(self, results):
        by_query = results["measures_by_query"]
        measures = rows_where(results["measures"], query_set="per_qrels", measure="nDCG@10")

        for row in measures.to_dict("records"):
            own = rows_where(by_query, qrels=row["qrels"], system=row["system"], measure="nDCG@10")
            kept = own[own["n_relevant"] > 0]
            assert len(kept) == row["n_queries"]
            assert row["value"] == pytest.approx(float(kept["value"].mean()), abs=1e-12)

    def test_every_qrels_is_measured_in_its_order(self, results):
        order = ["reference", "Ana", "Bia", "like_reference", "with_gaps"]
        without = ["without_Ana", "without_Bia"]

        for name in ("measures", "measures_by_query", "run_report"):
            found = results[name]["qrels"].drop_duplicates().tolist()
            assert found == [*order, *without]
            assert results[name]["system"].drop_duplicates().tolist() == list(FAMILIES)
        assert results["rank_correlation"]["qrels"].drop_duplicates().tolist() == order[1:]

    def test_the_common_queries_do_not_depend_on_who_is_left_out(self, results):
        without = results["measures"]["qrels"].str.startswith("without_")
        assert set(results["measures"].loc[without, "query_set"]) == {"per_qrels"}

    def test_the_table_of_systems_by_hand(self, results):
        table = results["table_9"].set_index("system")

        # The reference is 2 2 0 0 0 0, 0 2 0 0 0 0, 0 0 2 2 0 0: half to even.
        assert table["n_queries"].tolist() == [3, 3, 3]
        assert table["P@10"].tolist() == pytest.approx([0.5 / 3, 0.4 / 3, 0.2 / 3])
        assert table["P@10_rank"].tolist() == [1, 2, 3]
        assert table["MRR"].tolist() == pytest.approx([1, 0.5, (1 / 3 + 0 + 1 / 3) / 3])
        assert table["family"].tolist() == ["bm25", "bm25", "dense"]
        assert "Judged@10_rank" not in table

    def test_a_judge_like_the_reference_ranks_like_it(self, results):
        taus = rows_where(results["rank_correlation"], qrels="like_reference", coefficient="tau_b")
        assert taus["value"].dropna().eq(1).all()
        shown = row_where(results["table_13"], qrels="like_reference")
        assert shown["nDCG@10_tau_b"] == shown["nDCG@10_rho"] == 1

    def test_one_system_a_family(self, results):
        sets = results["rank_correlation"].groupby("system_set")["n_systems"].max()
        assert sets.to_dict() == {"all": 3, "one_per_family": 2}

    def test_the_verdict_has_its_cost_and_its_sentence(self, results):
        verdict = results["verdict"]
        assert verdict["verdict"].eq("not enough systems").all()
        cost = verdict.groupby("judge")["cost_per_1000_pairs"].first()
        assert cost["like_reference"] == 0.25
        assert pd.isna(cost["with_gaps"])
        assert verdict["sentence"].str.contains("like_reference|with_gaps").all()
        assert verdict["sentence_pt"].str.contains("de pelo menos 10").all()

    def test_bias_by_group(self, results):
        bias = rows_where(results["judge_bias"], judge="with_gaps")
        assert rows_where(bias, grouping="reference_grade")["group"].tolist() == ["0", "1", "2"]
        assert rows_where(bias, grouping="family")["group"].tolist() == ["bm25", "dense"]
        lengths = rows_where(bias, grouping="document_length")
        assert lengths["group"].tolist()[-1] == "unknown"
        assert lengths["n"].sum() == 18 - 7

    def test_the_winning_rate_says_why_it_is_missing(self, results):
        row = row_where(
            results["system_ceiling"], annotator="like_reference", statistic="winning_rate"
        )
        assert row["undefined"] == "fewer than 30 pairs"
        assert results["replacement_tests"]["n"].tolist() == [18, 18, 11, 11]

    def test_figures(self, results):
        figures = [value for name, value in results.items() if name.startswith("figure_")]
        assert len(figures) == 4
        assert all(isinstance(figure, Figure) for figure in figures)

    def test_same_seed_same_numbers(self, results):
        again = run_system_level(world())
        for name in ("rank_correlation", "significance_agreement", "shrunken_correlation"):
            pd.testing.assert_frame_equal(again[name], results[name])


class TestLeftOut:
    def test_pairs_without_a_grade_are_left_out_on_both_sides(self, results):
        alone = row_where(
            results["rank_correlation"],
            qrels="with_gaps",
            measure="P@10",
            query_set="per_qrels",
            system_set="all",
            coefficient="tau_b",
        )

        # q2 has no grade of the judge at all, so that the reference has none of it either.
        assert alone["n_queries"] == alone["n_queries_reference"] == 2
        assert alone["n_pairs_left_out"] == 7
        by_query = results["measures_by_query"]
        own = rows_where(by_query, qrels="with_gaps", system="S_1", measure="nDCG@10")
        # d1, which S_1 has second, is skipped: d0 remains, at the first rank.
        assert own.set_index("query_id")["value"].to_dict() == {
            "q1": 1.0,
            "q3": pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))),
        }

    def test_the_others_are_compared_on_all_pairs(self, results):
        for name in ("rank_correlation", "rank_shift", "significance_agreement", "measures"):
            column = "judge" if name == "significance_agreement" else "qrels"
            counts = results[name].groupby(column)["n_pairs_left_out"].unique()
            assert counts["with_gaps"].tolist() == [7]
            assert counts.drop("with_gaps").map(list).map(lambda c: c == [0]).all()

    def test_it_changes_nothing_for_the_others(self, results):
        other = {"like_reference": JUDGES["like_reference"]}
        alone = run_system_level(world(judges=other))["rank_correlation"]

        together = results["rank_correlation"]
        shared = together[together["qrels"] != "with_gaps"].reset_index(drop=True)
        pd.testing.assert_frame_equal(alone, shared)

    def test_a_judge_without_any_grade_is_undefined_with_the_reason(self):
        nothing = {"mute": {query: [None] * 6 for query in ("q1", "q2", "q3")}}

        results = run_system_level(world(judges=nothing))

        taus = rows_where(results["rank_correlation"], qrels="mute")
        assert taus["value"].isna().all()
        assert taus["undefined"].str.contains("no query has a relevant document").all()
        assert set(results["verdict"]["n_pairs_left_out"]) == {18}
        report = rows_where(results["run_report"], qrels="mute")
        assert report["n_queries"].tolist() == [0, 0, 0]
        assert report["n_ignored"].tolist() == [3, 3, 3]


class TestEdges:
    def test_an_empty_run_is_0_everywhere_and_named(self):
        results = run_system_level(world(families=FAMILIES | {"S_0": "empty"}))

        report = row_where(results["run_report"], qrels="reference", system="S_0")
        assert (report["n_missing"], report["missing"]) == (3, "q1, q2, q3")
        row = results["table_9"].set_index("system").loc["S_0"]
        assert row[["P@10", "R@10", "nDCG@10", "MRR"]].tolist() == [0, 0, 0, 0]
        assert row["nDCG@10_rank"] == 4

    def test_a_run_of_an_unknown_system_is_an_error(self):
        with pytest.raises(ValueError, match="run of 'S_10', which is not among the 2 systems"):
            run_system_level(world(families={"S_1": "bm25", "S_2": "bm25"}))

    def test_one_system_is_no_ranking(self):
        one = {"S_1": RANKINGS["S_1"]}

        results = run_system_level(world(rankings=one, families={"S_1": "bm25"}))

        assert set(results["rank_correlation"]["undefined"]) >= {"fewer than two systems"}
        assert results["significance_agreement"]["undefined"].notna().all()
        assert results["verdict"]["sentence"].str.contains("tau-b with the reference is unde").all()

    def test_no_system_at_all(self):
        results = run_system_level(world(rankings={}, families={}))

        assert results["measures"].empty
        assert results["verdict"]["n_systems"].eq(0).all()

    def test_one_query_has_no_interval(self):
        people, judges = (
            {name: {"q1": by_query["q1"]} for name, by_query in part.items()}
            for part in (PEOPLE, JUDGES)
        )

        results = run_system_level(world(people, judges))

        taus = rows_where(results["rank_correlation"], qrels="like_reference", coefficient="tau_b")
        assert taus["ci90_low"].isna().all()
        assert taus["ci_method"].str.startswith("none (").all()
        report = row_where(results["run_report"], qrels="reference", system="S_1")
        assert report["n_ignored"] == 2

    def test_all_grades_0_has_no_ranking(self):
        nothing = {name: dict.fromkeys(by_query, [0] * 6) for name, by_query in PEOPLE.items()}

        results = run_system_level(world(people=nothing))

        assert results["rank_correlation"]["value"].isna().all()
        assert results["table_9"]["nDCG@10"].isna().all()
        assert results["verdict"]["undefined"].notna().all()

    def test_a_single_person_cannot_be_left_out(self):
        results = run_system_level(world(people={"Ana": PEOPLE["Ana"]}))

        assert results["system_ceiling"].empty
        assert results["replacement_tests"].empty
        assert results["verdict"]["tau_minus_people"].isna().all()

    def test_without_a_judge(self):
        results = run_system_level(world(judges={}))

        assert results["verdict"].empty
        assert results["judge_bias"].empty
        assert results["rank_correlation"]["qrels"].unique().tolist() == ["Ana", "Bia"]

    def test_families_can_be_chosen(self):
        chosen = {"judge_bias_groups": {"families": ["dense"], "depth": 1}}

        results = run_system_level(world(), changes=chosen)

        bias = rows_where(results["judge_bias"], judge="like_reference", grouping="family")
        # S_10 has d3, d5 and d1 first, all of them 0 in the judge and in the mean.
        assert bias[["group", "n", "me"]].to_numpy().tolist() == [["dense", 3, 0.0]]


def test_the_settings_of_base_are_valid():
    settings = settings_of({})
    assert settings["verdict_rule"].bound == 0.9
    assert settings["system_measures"].names == ("P@10", "R@10", "nDCG@10", "MRR")


def test_without_judging_there_is_no_cost():
    assert "cost" not in create_pipeline(judging=False).inputs()
    assert "cost" in create_pipeline(judging=True).inputs()
