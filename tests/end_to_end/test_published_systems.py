"""Rankings of real systems under real qrels, beside trec_eval, SciPy and the published numbers."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from scipy import stats
from tests.pipelines.system_level import (
    collection,
    lengths_of,
    row_where,
    rows_where,
    run_system_level,
    systems_of,
)

from normastcu.collection.settings import GradeScale
from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.systems import average_measures
from normastcu.judging.lexical import lexical_grades
from normastcu.judging.settings import LexicalSettings
from normastcu.reporting.system_tables import system_table

TREC_NAMES = {"P@10": "P_10", "R@10": "recall_10", "nDCG@10": "ndcg_cut_10", "MRR": "recip_rank"}
RELEASED = {
    "QUERY_KEY": "query_id",
    "DOC_KEY": "doc_id",
    "QUERY_ID": "query_id",
    "DOC_ID": "doc_id",
    "AVALIACAO": "grade",
    "SCORE": "grade",
    "USUARIO_AVALIADOR": "annotator",
    "RANK": "rank",
}
PEOPLE = ("A_1", "A_2", "A_3", "A_4")
JUDGES = tuple(
    f"{model}_{prompt}"
    for prompt in ("simple", "rationale")
    for model in ("deepseek-3.2", "gpt-5-mini", "sabiazinho-4")
)
FAMILIES = {"S_9": "dense", "S_14": "reranked", "S_15": "reranked"}
SCIPYS = {"tau_b": stats.kendalltau, "rho": stats.spearmanr}
B = 400
SEED = 20260

# P@10, R@10, nDCG@10 and MRR of S_1 to S_15 as published, and the ranks that follow from them.
PUBLISHED = """
0.186957 0.382181 0.373450 0.538517    3  2  2  2
0.171739 0.343490 0.344428 0.525087    6  5  5  4
0.186957 0.354155 0.349561 0.483200    3  4  4  6
0.171739 0.324681 0.316056 0.461796    6  9  7  7
0.191304 0.398465 0.388022 0.549781    1  1  1  1
0.180435 0.357704 0.355897 0.530317    5  3  3  3
0.191304 0.337450 0.334672 0.454058    1  6  6  8
0.160870 0.295744 0.291792 0.427426   10 11 11 11
0.141304 0.267714 0.242242 0.362980   13 15 15 14
0.139130 0.311147 0.272743 0.356024   14 10 13 15
0.136957 0.275269 0.269147 0.410344   15 14 14 12
0.165217 0.289119 0.307034 0.510808    9 12  9  5
0.158696 0.285903 0.279769 0.430464   11 13 12 10
0.150000 0.336468 0.297224 0.385734   12  7 10 13
0.171739 0.327112 0.310239 0.434905    6  8  8  9
"""


def read(path):
    frame = pd.read_csv(path, dtype="str").rename(columns=RELEASED)
    whole = [name for name in ("grade", "rank") if name in frame]
    return frame.astype(dict.fromkeys(whole, "Int64"))


def trec_values(runs, qrels):
    """Let pytrec_eval measure every run under one qrels, system -> query -> measure."""
    judged = {
        query: dict(zip(own["doc_id"], own["grade"].astype(int), strict=True))
        for query, own in qrels.groupby("query_id")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(TREC_NAMES.values()))
    return {
        system: evaluator.evaluate(
            {
                query: dict(zip(of_query["doc_id"], -of_query["rank"].astype(float), strict=True))
                for query, of_query in own.groupby("query_id")
            }
        )
        for system, own in runs.groupby("system")
    }


@pytest.fixture(scope="module")
def normastcu(shared_data):
    folder = shared_data / "normastcu"
    labels = [read(path).assign(annotator=path.stem) for path in folder.glob("llm_labels/*.csv")]
    judgments = read(folder / "raw_human_eval.csv").assign(origin="pool")
    runs = [read(folder / "runs" / f"{name}.csv").assign(system=name) for name in FAMILIES]
    everything = pd.concat(labels, ignore_index=True).astype({"annotator": "str"})
    return collection(judgments, everything, assessors=PEOPLE, judges=JUDGES) | {
        "runs": pd.concat(runs, ignore_index=True).astype({"system": "str"}),
        "systems": systems_of(FAMILIES),
        "document_lengths": lengths_of({}),
    }


@pytest.fixture(scope="module")
def real(normastcu):
    return run_system_level(normastcu)


class TestNormasTCU:
    def test_every_qrels_and_query_as_in_trec_eval(self, normastcu, real):
        labels = normastcu["grades"].rename(columns={"annotator": "qrels"})
        judges = labels[labels["qrels"].isin(JUDGES)]
        qrels = pd.concat([normastcu["human_qrels"], judges])
        by_query = real["measures_by_query"]

        assert set(by_query["qrels"]) == {
            *("reference", *PEOPLE, *JUDGES),
            *(f"without_{person}" for person in PEOPLE),
        }
        for name, own in by_query.groupby("qrels"):
            trec = trec_values(normastcu["runs"], qrels[qrels["qrels"] == name])
            ours = own[own["measure"].isin(TREC_NAMES)]
            expected = [
                trec[system][query][TREC_NAMES[measure]]
                for system, query, measure in zip(
                    ours["system"], ours["query_id"], ours["measure"], strict=True
                )
            ]
            np.testing.assert_allclose(ours["value"].astype(float), expected, rtol=0, atol=1e-9)
            n_queries = qrels.loc[qrels["qrels"] == name, "query_id"].nunique()
            assert len(ours) == len(FAMILIES) * n_queries * len(TREC_NAMES)

    def test_queries_that_each_qrels_keeps(self, real):
        shown = rows_where(real["measures"], query_set="per_qrels", measure="MRR", system="S_9")
        kept = shown.set_index("qrels")["n_queries"]

        assert kept["reference"] == 46
        assert kept[list(PEOPLE)].tolist() == [44, 40, 44, 41]
        assert kept[list(JUDGES)].tolist() == [45, 46, 46, 46, 46, 46]
        common = rows_where(real["measures"], query_set="common")
        assert set(common["n_queries"]) == {35}

    def test_published_measures(self, real):
        table = real["table_9"].set_index("system")

        published = dict(zip(range(1, 16), PUBLISHED.split("\n")[1:], strict=False))
        for system in FAMILIES:
            values = [float(text) for text in published[int(system[2:])].split()[:4]]
            # The published MRR of S_9 needs the list below the 50th document.
            last = 3 if system == "S_9" else 4
            found = table.loc[system, list(TREC_NAMES)].tolist()[:last]
            assert found == pytest.approx(values[:last], rel=0, abs=5e-7)
        assert table["Judged@10"].astype(float).round(2).between(0.17, 0.20).all()

    @pytest.mark.parametrize("query_set", ["per_qrels", "common"])
    @pytest.mark.parametrize("coefficient", SCIPYS)
    def test_rank_correlations_are_scipys(self, real, coefficient, query_set):
        by_query = real["measures_by_query"]
        wide = by_query.pivot(
            index=["qrels", "measure", "query_id"], columns="system", values="value"
        ).astype(float)
        relevant = by_query.groupby(["qrels", "query_id"])["n_relevant"].first()
        kept = {
            name: set(own[own > 0].index.droplevel(0)) for name, own in relevant.groupby(level=0)
        }
        rows = rows_where(
            real["rank_correlation"],
            query_set=query_set,
            system_set="all",
            coefficient=coefficient,
        )

        assert len(rows) == len(TREC_NAMES) * (len(PEOPLE) + len(JUDGES))
        for row in rows.to_dict("records"):
            queries = {name: kept[name] for name in (row["qrels"], "reference")}
            if query_set == "common":
                queries = dict.fromkeys(queries, kept[row["qrels"]] & kept["reference"])
            means = [
                wide.loc[name, row["measure"]].loc[sorted(own)].mean().round(12)
                for name, own in queries.items()
            ]
            assert row["n_queries"] == len(queries[row["qrels"]])
            assert row["value"] == pytest.approx(
                SCIPYS[coefficient](*means).statistic, rel=0, abs=1e-11
            )

    def test_three_systems_give_no_verdict(self, real):
        verdict = real["verdict"]
        assert verdict["judge"].drop_duplicates().tolist() == list(JUDGES)
        assert verdict["verdict"].eq("not enough systems").all()
        assert verdict["n_systems"].eq(3).all()

    def test_the_winning_rate_is_the_share_of_people_who_can_be_replaced(self, real):
        rates = rows_where(real["system_ceiling"], statistic="winning_rate")
        assert len(rates) == len(JUDGES)
        tests = real["replacement_tests"].set_index(["annotator", "person"])
        assert len(tests) == len(JUDGES) * len(PEOPLE)
        for row in rates.to_dict("records"):
            assert row["value"] == tests.loc[row["annotator"], "won"].mean()

    def test_judges_that_grade_high_do_so_where_systems_look(self, real):
        """The published mean errors, split by the reference's grade: too high at 0."""
        bias = rows_where(real["judge_bias"], grouping="reference_grade", group="0")
        me = bias.set_index("judge")["me"]
        assert bias["n"].eq(513).all()
        assert me["gpt-5-mini_simple"] > me["deepseek-3.2_simple"] > 0


class TestPublishedTable:
    def test_the_ranks_follow_from_the_published_values(self):
        """Three systems share rank 6 by P@10; noise has the paper print 7, 7 and 6."""
        numbers = np.array([line.split() for line in PUBLISHED.strip().split("\n")], dtype=float)
        names = [f"S_{number}" for number in range(1, 16)]
        order = np.argsort(names)
        measured = QueryMeasures(
            qrels=("reference",),
            measures=tuple(TREC_NAMES),
            systems=tuple(np.array(names)[order]),
            queries=("q",),
            values=numbers[order, :4].T[np.newaxis, :, :, np.newaxis],
            n_judged=np.array([[1]]),
            n_relevant=np.array([[1]]),
            report=pd.DataFrame(),
        )

        table = system_table(
            average_measures(measured, resample_indices(1, 100, SEED)),
            dict.fromkeys(names, "all"),
        )

        ranks = table[[f"{measure}_rank" for measure in TREC_NAMES]].to_numpy(dtype=int)
        np.testing.assert_array_equal(ranks, numbers[:, 4:].astype(int))
        shared = table.set_index("system").loc[["S_2", "S_4", "S_15"], "P@10_rank"]
        assert shared.tolist() == [6, 6, 6]


def moved(grades, share, seed):
    """Move a share of the grades by one, within 0 to 3."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(grades))[: round(share * len(grades))]
    steps = rng.choice([-1, 1], len(chosen))
    steps = np.select([grades[chosen] == 0, grades[chosen] == 3], [1, -1], steps)
    result = grades.copy()
    result[chosen] += steps
    return result


def fused(runs, first, second):
    """Merge two runs by reciprocal rank, so that there are enough systems to rank."""
    both = runs[runs["system"].isin([first, second])]
    both = both.assign(score=1 / (60 + both["rank"].astype(float)))
    summed = both.groupby(["query_id", "doc_id"], as_index=False)["score"].sum()
    return summed.assign(system=f"{first}+{second}")


@pytest.fixture(scope="module")
def juristcu(shared_data):
    """Return five real systems and their fusions; the LLM's grades are the reference."""
    folder = shared_data / "juristcu"
    documents = read(folder / "doc.csv").rename(columns={"ID": "doc_id", "ENUNCIADO": "text"})
    queries = read(folder / "query.csv").rename(columns={"ID": "query_id", "TEXT": "text"})
    reference = read(folder / "qrel.csv")
    runs = pd.concat(
        [
            read(path).assign(system=path.name.removesuffix(".csv.gz"))
            for path in sorted(folder.glob("runs/*.csv.gz"))
        ],
        ignore_index=True,
    )
    # The systems searched a larger collection than there is here.
    runs = runs[runs["doc_id"].isin(documents["doc_id"])]
    names = sorted(set(runs["system"]))
    pairs = list(combinations(names, 2))
    families = {name: name for name in names} | {f"{a}+{b}": "fusion" for a, b in pairs}
    by_rank = runs.assign(score=-runs["rank"].astype(float))
    everything = pd.concat([by_rank, *(fused(runs, *pair) for pair in pairs)], ignore_index=True)
    grades = reference["grade"].to_numpy(dtype=int)
    scale = GradeScale(grades=[{"grade": grade, "name": str(grade)} for grade in range(4)])
    lexical = lexical_grades(reference, queries, documents, LexicalSettings(), scale)
    labels = [
        reference.assign(annotator=f"moved_{percent}", grade=moved(grades, percent / 100, percent))
        for percent in (10, 30, 60)
    ] + [lexical.assign(annotator="lexical")]
    labels = pd.concat(labels, ignore_index=True)[["query_id", "doc_id", "annotator", "grade"]]
    lengths = documents.set_index("doc_id")["text"].str.len().to_dict()
    judgments = reference.assign(annotator="LLM", origin="pool")
    return collection(
        judgments.astype({"annotator": "str", "origin": "str"}),
        labels.astype({"annotator": "str", "grade": "Int64"}),
        judges=("moved_10", "moved_30", "moved_60", "lexical"),
    ) | {
        "runs": everything.astype({"system": "str", "score": "Float64"}),
        "systems": systems_of(families),
        "document_lengths": lengths_of(lengths),
    }


@pytest.fixture(scope="module")
def juris_results(juristcu):
    # With every grade above 0 relevant, nearly every document is.
    changes = {
        "system_measures": {"relevance": 2},
        "bootstrap": {"resamples": B, "seed": SEED},
    }
    return run_system_level(juristcu, highest_grade=3, changes=changes)


class TestJurisTCU:
    def test_the_size_of_it(self, juris_results):
        table = juris_results["table_9"]
        assert len(table) == 15
        assert set(table["n_queries"]) == {150}

    def test_perturbed_judges_come_out_in_order(self, juris_results):
        taus = rows_where(
            juris_results["rank_correlation"],
            query_set="common",
            system_set="all",
            coefficient="tau_b",
        ).pivot(index="measure", columns="qrels", values="value")

        assert (taus["moved_10"] >= taus["moved_30"]).all()
        assert (taus["moved_30"] >= taus["moved_60"]).all()
        assert taus["moved_10"].mean() > taus["moved_30"].mean() > taus["moved_60"].mean()
        assert taus["moved_60"].mean() > taus["lexical"].mean()

    def test_perturbed_values_lie_further_and_further_from_the_reference(self, juris_results):
        by_query = juris_results["measures_by_query"]
        wide = by_query.pivot(
            index=["measure", "system", "query_id"], columns="qrels", values="value"
        ).astype(float)
        distance = wide.sub(wide["reference"], axis=0).abs().groupby("measure").mean()

        for measure in ("P@10", "R@10", "nDCG@10"):
            row = distance.loc[measure]
            assert 0 < row["moved_10"] < row["moved_30"] < row["moved_60"]

    @pytest.mark.parametrize("judge", ["moved_10", "moved_30", "moved_60"])
    def test_intervals_are_scipys_on_the_same_resamples(self, juris_results, judge):
        by_query = juris_results["measures_by_query"]
        for measure in TREC_NAMES:
            row = row_where(
                juris_results["rank_correlation"],
                qrels=judge,
                measure=measure,
                query_set="per_qrels",
                system_set="all",
                coefficient="tau_b",
            )
            sides = [
                rows_where(by_query, qrels=name, measure=measure)
                .pivot(index="system", columns="query_id", values="value")
                .sort_index(axis=1)
                .to_numpy(dtype=float)
                for name in (judge, "reference")
            ]
            assert row["n_queries"] == row["n_queries_reference"] == 150
            assert row["ci_method"] == "bca"
            for name, expected in scipy_intervals(*sides).items():
                assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(
                    [expected.low, expected.high], rel=0, abs=1e-11
                )

    def test_the_length_of_documents_is_split_into_quarters(self, juris_results):
        bias = rows_where(juris_results["judge_bias"], grouping="document_length", judge="lexical")
        assert bias["group"].str[0].tolist() == ["1", "2", "3", "4"]
        assert bias["n"].sum() == 2250

    def test_the_verdicts_of_fifteen_systems(self, juris_results):
        verdict = juris_results["verdict"].set_index(["judge", "measure"])
        assert set(verdict["verdict"]) <= {"usable to rank systems", "not shown"}
        for row in verdict.to_dict("records"):
            assert (row["verdict"] == "usable to rank systems") == (
                row["ci90_low"] > 0.9 and row["shrunken_low"] > 0.9
            )
        assert verdict.loc[("moved_10", "nDCG@10"), "verdict"] == "usable to rank systems"
        assert (verdict.loc["lexical", "verdict"] == "not shown").any()


def scipy_intervals(judged, true):
    """Let SciPy bootstrap the positions of the queries, once for both confidences."""

    def tau(drawn):
        means = [values[:, drawn.astype(int)].mean(axis=1).round(12) for values in (judged, true)]
        # SciPy counts values equal to the observed one exactly, noise and all.
        return np.round(stats.kendalltau(*means).statistic, 12)

    result, intervals = None, {}
    for name, confidence in (("ci90", 0.90), ("ci95", 0.95)):
        result = stats.bootstrap(
            (np.arange(judged.shape[1]),),
            tau,
            n_resamples=0 if result else B,
            confidence_level=confidence,
            method="BCa",
            vectorized=False,
            rng=np.random.default_rng(SEED),
            bootstrap_result=result,
        )
        intervals[name] = result.confidence_interval
    return intervals
