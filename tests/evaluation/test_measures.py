"""Measures by query: small cases by hand, then pytrec_eval and ir_measures, then published rows."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.evaluation.agreement import mean_grades, round_half_to_even
from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.measures import (
    JUDGED,
    MEASURES,
    measure_runs,
    measures_by_query,
    rank_runs,
)
from normastcu.evaluation.systems import average_measures

TREC_NAMES = {"P@10": "P_10", "R@10": "recall_10", "nDCG@10": "ndcg_cut_10", "MRR": "recip_rank"}
PUBLISHED = {
    # MRR of S_9 is that of the released list, cut at 50.
    "S_9": (0.141304, 0.267714, 0.242242, 0.361496),
    "S_14": (0.150000, 0.336468, 0.297224, 0.385734),
    "S_15": (0.171739, 0.327112, 0.310239, 0.434905),
}


def run_of(rows, system="S"):
    """Make a run from (query, document, score)."""
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    types = {"query_id": "str", "doc_id": "str", "score": "float64"}
    return frame.assign(system=system).astype(types)


def qrels_of(rows, name="reference"):
    """Make a qrels from (query, document, grade)."""
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"])
    types = {"query_id": "str", "doc_id": "str", "grade": "Int64"}
    return frame.assign(qrels=name).astype(types)


def measure(runs, qrels, **settings_):
    return measure_runs(rank_runs(runs), qrels, **settings_)


def value(measured, name, query_id="q", system="S", qrels="reference"):
    values = measured.of(qrels, name)
    return values[measured.systems.index(system), measured.queries.index(query_id)]


def nested(frame, column, kind):
    """Make dictionaries of dictionaries, with numbers of Python's own type."""
    values = {}
    for query_id, doc_id, number in zip(
        frame["query_id"], frame["doc_id"], frame[column], strict=True
    ):
        values.setdefault(query_id, {})[doc_id] = kind(number)
    return values


def trec_values(runs, qrels):
    """Let pytrec_eval measure; queries that the run lacks are absent."""
    judged, run = nested(qrels, "grade", int), nested(runs, "score", float)
    return pytrec_eval.RelevanceEvaluator(judged, set(TREC_NAMES.values())).evaluate(run)


def assert_parity(measured, runs, qrels):
    """Compare every value of every query with pytrec_eval's."""
    for name in measured.qrels:
        own_qrels = qrels[qrels["qrels"] == name]
        for system in measured.systems:
            expected = trec_values(runs[runs["system"] == system], own_qrels)
            for query_id in measured.queries:
                for measure_name, trec_name in TREC_NAMES.items():
                    found = value(measured, measure_name, query_id, system, name)
                    assert found == pytest.approx(
                        expected.get(query_id, {}).get(trec_name, 0.0), rel=0, abs=1e-9
                    ), (name, system, query_id, measure_name)


@pytest.fixture(scope="module")
def real_runs(shared_data):
    """Return the three released runs, by rank."""
    parts = [
        pd.read_csv(path, dtype=str).assign(system=path.stem)
        for path in sorted((shared_data / "normastcu" / "runs").glob("*.csv"))
    ]
    runs = pd.concat(parts, ignore_index=True)
    runs = runs.rename(columns={"QUERY_KEY": "query_id", "DOC_KEY": "doc_id", "RANK": "rank"})
    return runs.astype({"rank": "int64"})


@pytest.fixture(scope="module")
def real_qrels(people, everybody):
    """Return the reference, the four assessors and the six judges."""
    means = mean_grades(people)
    reference = means.assign(qrels="reference", grade=round_half_to_even(means["mean_grade"]))
    own = everybody.rename(columns={"annotator": "qrels"})
    return pd.concat([reference, own])[["qrels", "query_id", "doc_id", "grade"]]


@pytest.fixture(scope="module")
def real(real_runs, real_qrels):
    return measure(real_runs, real_qrels)


class TestByHand:
    def test_every_measure(self):
        # Grades by rank: 0, 2, not judged, 1; a fourth judged document, grade 2, is not found.
        runs = run_of([("q", "d1", 4), ("q", "d2", 3), ("q", "d3", 2), ("q", "d4", 1)])
        qrels = qrels_of([("q", "d1", 0), ("q", "d2", 2), ("q", "d4", 1), ("q", "d5", 2)])

        measured = measure(runs, qrels, measures=["P@2", "P@10", "R@2", "nDCG@10", "MRR"])

        gain = 2 / np.log2(3) + 1 / np.log2(5)
        ideal = 2 + 2 / np.log2(3) + 1 / 2
        assert value(measured, "P@2") == 1 / 2
        assert value(measured, "P@10") == 2 / 10
        assert value(measured, "R@2") == pytest.approx(1 / 3)
        assert value(measured, "nDCG@10") == pytest.approx(gain / ideal)
        assert value(measured, "MRR") == 1 / 2
        assert value(measured, JUDGED) == 3 / 4

    def test_the_ideal_list_is_cut(self):
        runs = run_of([("q", "d1", 1)])
        qrels = qrels_of([("q", "d1", 1), ("q", "d2", 2), ("q", "d3", 1)])

        measured = measure(runs, qrels, measures=["nDCG@2"])

        assert value(measured, "nDCG@2") == pytest.approx(1 / (2 + 1 / np.log2(3)))

    def test_nothing_relevant_is_zero(self):
        measured = measure(run_of([("q", "d1", 1)]), qrels_of([("q", "d1", 0), ("q", "d2", 1)]))

        assert [value(measured, name) for name in TREC_NAMES] == [0, 0, 0, 0]

    def test_the_threshold_is_for_binary_measures_only(self):
        runs = run_of([("q", "d1", 2), ("q", "d2", 1)])
        qrels = qrels_of([("q", "d1", 1), ("q", "d2", 2)])

        low, high = measure(runs, qrels), measure(runs, qrels, relevance=2)

        assert [value(low, name) for name in ("P@10", "R@10", "MRR")] == [0.2, 1, 1]
        assert [value(high, name) for name in ("P@10", "R@10", "MRR")] == [0.1, 1, 0.5]
        assert value(low, "nDCG@10") == value(high, "nDCG@10")
        assert high.n_relevant.tolist() == [[1]]

    def test_a_threshold_of_zero_is_an_error(self):
        with pytest.raises(ValueError, match="lowest relevant grade is 0"):
            measure(run_of([("q", "d", 1)]), qrels_of([("q", "d", 1)]), relevance=0)


class TestOrderOfRows:
    @settings(deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_changes_nothing(self, seed):
        rng = np.random.default_rng(seed)
        rows = [(f"q{i % 3}", f"d{i}", float(rng.integers(0, 3))) for i in range(20)]
        runs = pd.concat([run_of(rows, "S"), run_of(rows[::2], "T")])
        qrels = qrels_of([(q, d, rng.integers(0, 3)) for q, d, _ in rows[::3]])

        shuffled = measure(runs.sample(frac=1, random_state=seed), qrels[::-1])

        assert np.array_equal(shuffled.values, measure(runs, qrels).values)

    def test_exchanged_ids_exchange_tied_documents(self):
        runs = run_of([("q", "a", 1), ("q", "b", 1)])
        relevant_a, relevant_b = (qrels_of([("q", doc_id, 1)]) for doc_id in "ab")

        assert value(measure(runs, relevant_b), "MRR") == 1
        assert value(measure(runs, relevant_a), "MRR") == 0.5


class TestQueries:
    def test_a_query_that_the_run_lacks_is_zero_and_named(self):
        runs = run_of([("q1", "d", 1), ("q3", "d", 1)])
        qrels = qrels_of([("q1", "d", 1), ("q2", "d", 1)])

        measured = measure(runs, qrels)

        assert measured.queries == ("q1", "q2")
        assert value(measured, "P@10", "q2") == 0
        report = measured.report.iloc[0]
        assert (report["n_queries"], report["n_missing"], report["missing"]) == (2, 1, "q2")
        assert report["n_ignored"] == 1

    def test_ids_that_look_like_numbers_stay_apart(self):
        runs = run_of([("1", "00123", 1), ("01", "1e5", 1)])
        qrels = qrels_of([("1", "123", 1), ("01", "1e5", 1), ("LEI", "d", 1), ("lei", "d", 1)])

        measured = measure(runs, qrels)

        assert measured.queries == ("01", "1", "LEI", "lei")
        assert [value(measured, "MRR", query_id) for query_id in ("1", "01")] == [0, 1]

    def test_all_queries_of_a_collection_can_be_given(self):
        measured = measure(
            run_of([("q", "d", 1)]), qrels_of([("q", "d", 1)]), queries=["r", "q", "p"]
        )

        assert measured.queries == ("p", "q", "r")
        assert measured.with_relevant("reference").tolist() == [False, True, False]
        assert measures_by_query(measured)["query_id"].unique().tolist() == ["q"]

    def test_a_query_outside_the_collection_is_an_error(self):
        with pytest.raises(ValueError, match="query q, which is not among the 1"):
            measure(run_of([("q", "d", 1)]), qrels_of([("q", "d", 1)]), queries=["r"])

    def test_a_run_without_any_judged_document(self):
        measured = measure(run_of([("q", "d", 1)]), qrels_of([("q", "e", 1)]))

        assert not measured.values.any()

    def test_each_qrels_has_its_own_queries(self):
        runs = run_of([("q1", "d", 1), ("q2", "d", 1)])
        qrels = pd.concat([qrels_of([("q1", "d", 1)], "A"), qrels_of([("q2", "d", 0)], "B")])

        table = measures_by_query(measure(runs, qrels, measures=["MRR"]))

        mrr = table[table["measure"] == "MRR"]
        columns = ["qrels", "query_id", "value", "n_relevant"]
        assert mrr[columns].to_numpy().tolist() == [["A", "q1", 1.0, 1], ["B", "q2", 0.0, 0]]
        assert list(table.columns[:5]) == ["qrels", "system", "query_id", "measure", "value"]


class TestLeftOut:
    def test_pairs_are_skipped_on_both_sides(self):
        runs = run_of([("q", "a", 3), ("q", "b", 2), ("q", "c", 1), ("p", "a", 1)])
        qrels = qrels_of([("q", "a", 0), ("q", "b", 2), ("q", "c", 1), ("p", "a", 1)])
        left_out = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "never retrieved"]})

        measured = measure(runs, qrels, measures=["P@1", "MRR", "R@1"], left_out=left_out)

        without = measure(
            runs[~((runs["query_id"] == "q") & (runs["doc_id"] == "a"))],
            qrels[~((qrels["query_id"] == "q") & (qrels["doc_id"] == "a"))],
            measures=["P@1", "MRR", "R@1"],
        )
        assert value(measured, "P@1") == 1
        assert value(measured, "R@1") == 0.5
        assert value(measured, "MRR", "p") == 1
        assert np.array_equal(measured.values, without.values)

    def test_nothing_left_out_changes_nothing(self):
        runs, qrels = run_of([("q", "a", 2), ("q", "b", 1)]), qrels_of([("q", "b", 1)])
        nothing = pd.DataFrame({"query_id": [], "doc_id": []}, dtype="str")

        measured = measure(runs, qrels, left_out=nothing)

        assert np.array_equal(measured.values, measure(runs, qrels).values)

    def test_a_qrels_of_which_nothing_remains_keeps_its_place(self):
        qrels = pd.concat([qrels_of([("q", "a", 1)], "A"), qrels_of([("q", "b", 1)], "B")])
        left_out = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"]})

        measured = measure(run_of([("q", "b", 1)]), qrels, left_out=left_out)

        assert measured.qrels == ("A", "B")
        assert measured.n_judged.tolist() == [[0], [1]]
        assert not measured.values[0].any()


class TestNothing:
    def test_no_qrels(self):
        measured = measure(run_of([("q", "d", 1)]), qrels_of([]), queries=["q"])

        assert measured.values.shape == (0, 5, 1, 1)
        assert len(measures_by_query(measured)) == len(measured.report) == 0

    def test_no_runs(self):
        measured = measure(run_of([]), qrels_of([("q", "d", 1)]))

        assert measured.values.shape == (1, 5, 0, 1)
        assert len(measures_by_query(measured)) == len(measured.report) == 0


class TestErrors:
    def test_a_document_twice_in_a_qrels(self):
        qrels = qrels_of([("q", "d", 1), ("q", "d", 1)])
        with pytest.raises(ValueError, match="qrels reference has document d more than once"):
            measure(run_of([("q", "d", 1)]), qrels)

    @pytest.mark.parametrize("grade", [-1, None, 1.5])
    def test_a_grade_that_is_none(self, grade):
        qrels = qrels_of([("q", "d", 1)]).assign(grade=pd.array([grade], dtype="Float64"))
        with pytest.raises(ValueError, match="document d for query q the grade"):
            measure(run_of([("q", "d", 1)]), qrels)

    def test_ids_as_numbers(self):
        runs = run_of([("1", "2", 1)])
        with pytest.raises(ValueError, match="doc_id holds int64, not text"):
            measure(runs, qrels_of([("1", "2", 1)]).astype({"doc_id": "int64"}))

    @pytest.mark.parametrize("name", ["nDCF@10", "P@0", "AP(", "", "BPM@10"])
    def test_an_unknown_measure(self, name):
        with pytest.raises(ValueError, match="There is no measure"):
            measure(run_of([("q", "d", 1)]), qrels_of([("q", "d", 1)]), measures=[name])

    def test_a_measure_that_nobody_computes_here(self):
        with pytest.raises(ValueError, match="can't compute all of"):
            measure(
                run_of([("q", "d", 1)]),
                qrels_of([("q", "d", 1)]),
                measures=["nDCG(dcg='exp-log2')"],
            )

    def test_an_unknown_qrels_or_measure_is_named(self):
        measured = measure(run_of([("q", "d", 1)]), qrels_of([("q", "d", 1)]))
        with pytest.raises(ValueError, match="no qrels 'A'"):
            measured.of("A", "MRR")
        with pytest.raises(ValueError, match="no measure 'AP'"):
            measured.of("reference", "AP")


@st.composite
def collections(draw):
    """Draw runs of two systems and two qrels, with ties, negative scores and missing queries."""
    ids = st.text("aB1é-", min_size=1, max_size=2)
    queries = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    documents = draw(st.lists(ids, min_size=1, max_size=15, unique=True))
    pairs = [(query_id, doc_id) for query_id in queries for doc_id in documents]
    some_pairs = st.lists(st.sampled_from(pairs), min_size=1, unique=True)
    scores = st.sampled_from([-1.5, -1.0, 0.0, 0.1, 0.1 + 1e-12, 2.0, 1e30])
    runs = [
        run_of([(q, d, draw(scores)) for q, d in draw(some_pairs)], system) for system in ("S", "T")
    ]
    qrels = [
        qrels_of([(q, d, draw(st.integers(0, 3))) for q, d in draw(some_pairs)], name)
        for name in ("reference", "A")
    ]
    return pd.concat(runs, ignore_index=True), pd.concat(qrels, ignore_index=True)


class TestOtherTools:
    @settings(deadline=None, max_examples=150)
    @given(collections())
    def test_random_runs_measure_as_in_trec_eval(self, collection):
        runs, qrels = collection
        measured = measure(runs, qrels)

        assert_parity(measured, runs, qrels)
        assert ((measured.values >= 0) & (measured.values <= 1)).all()

    @settings(deadline=None, max_examples=30)
    @given(collections(), st.integers(1, 3))
    def test_other_measures_are_those_of_ir_measures(self, collection, relevance):
        runs, qrels = collection
        names = ["AP", "RBP(p=0.8)", "P(rel=2)@10", "nDCG@20", "Judged@10", "RR@5"]
        asked = [
            ir_measures.AP(rel=relevance),
            ir_measures.RBP(p=0.8, rel=relevance),
            ir_measures.P(rel=2) @ 10,
            ir_measures.nDCG @ 20,
            ir_measures.Judged @ 10,
            ir_measures.RR(rel=relevance) @ 5,
        ]

        measured = measure(runs, qrels, measures=names, relevance=relevance)

        ranked = rank_runs(runs)
        for system in measured.systems:
            own = ranked.systems[ranked.system] == system
            run = pd.DataFrame(
                {
                    "query_id": ranked.queries[ranked.query[own]],
                    "doc_id": ranked.documents[ranked.document[own]],
                    "score": -ranked.rank[own].astype(float),
                }
            )
            for name in measured.qrels:
                judged = [
                    ir_measures.Qrel(row.query_id, row.doc_id, int(row.grade))
                    for row in qrels[qrels["qrels"] == name].itertuples()
                ]
                for found in ir_measures.iter_calc(asked, judged, run):
                    ours = value(
                        measured, names[asked.index(found.measure)], found.query_id, system, name
                    )
                    assert ours == pytest.approx(found.value, rel=0, abs=1e-9)


class TestRealData:
    def test_every_qrels_and_query_as_in_trec_eval(self, real, real_runs, real_qrels):
        assert len(real.qrels) == 11
        by_score = real_runs.assign(score=-real_runs["rank"].astype(float))

        assert_parity(real, by_score, real_qrels)

    def test_published_rows(self, real):
        table = average_measures(real, resample_indices(46, 100, seed=1))
        rows = table[(table["qrels"] == "reference") & (table["query_set"] == "per_qrels")]
        values = rows.pivot(index="system", columns="measure", values="value")

        for system, published in PUBLISHED.items():
            assert values.loc[system, list(TREC_NAMES)].tolist() == pytest.approx(
                published, rel=0, abs=5e-7
            )
        assert values[JUDGED].astype(float).round(2).between(0.17, 0.20).all()

    def test_queries_with_a_relevant_document(self, real):
        n_kept = {name: int(real.with_relevant(name).sum()) for name in real.qrels}

        assert n_kept["reference"] == 46
        assert [n_kept[f"A_{i}"] for i in (1, 2, 3, 4)] == [44, 40, 44, 41]
        assert (real.n_relevant > 0).all(axis=0).sum() == 35

    def test_long_lists_and_grades_to_3_as_in_trec_eval(self, shared_data):
        folder = shared_data / "juristcu"
        names = {"QUERY_ID": "query_id", "DOC_ID": "doc_id", "SCORE": "grade", "RANK": "rank"}
        runs = pd.concat(
            pd.read_csv(folder / "runs" / f"{system}.csv.gz", dtype=str).assign(system=system)
            for system in ("bm25", "sts")
        ).rename(columns=names)
        runs = runs.assign(score=-runs["rank"].astype(float)).drop(columns="rank")
        qrels = pd.read_csv(folder / "qrel.csv", dtype=str).rename(columns=names)
        qrels = qrels.assign(qrels="reference", grade=qrels["grade"].astype("Int64"))

        measured = measure(runs, qrels)

        assert len(measured.queries) == 150
        assert measured.measures == MEASURES
        assert_parity(measured, runs, qrels)
