"""The environment `juristcu`: real documents, released runs, judges of known quality."""

import pandas as pd
import pytest
from tests.end_to_end.projects import copy_project, enter_project, run_pipelines
from tests.juristcu import write_collection

BM25 = ["S_2", "S_4", "S_6", "S_8"]
STAND_INS = ["svd_text", "bm25_by_svd", "bm25_lexical"]
RELEASED = [
    *("released_bm25", "released_sts", "released_bm25_reranker"),
    *("released_sts_reranker", "released_join_reranker"),
]
JUDGES = ["moved_10", "moved_30", "moved_60", "lexical"]
FEW = {
    "bootstrap": {"resamples": 200},
    "significance": {"flips": 500},
    "shrunken_intervals": {"draws": 200},
}


@pytest.fixture(scope="module")
def table(shared_data, project_root, tmp_path_factory):
    """Run the whole chain; return a reader of the tables of its report."""
    root = copy_project(project_root, tmp_path_factory.mktemp("juristcu") / "project")
    write_collection(shared_data / "juristcu", root / "data/01_raw/juristcu")
    with pytest.MonkeyPatch.context() as patch:
        enter_project(root, patch)
        run_pipelines(root, env="juristcu", params=FEW)
    folder = root / "data/08_reporting/juristcu/tables"
    return lambda name: pd.read_parquet(folder / f"{name}.parquet")


def test_twelve_systems_are_measured_side_by_side(table):
    measured = table("table_9").set_index("system")
    assert measured.index.tolist() == [*BM25, *STAND_INS, *RELEASED]
    assert measured["n_queries"].eq(150).all()
    assert measured["family"].nunique() == 4


def test_the_released_bm25_has_the_value_of_its_file(table):
    """0.593 over the 1,651 documents, and no other system is restricted away."""
    measured = table("table_9").set_index("system")
    assert f"{measured.loc['released_bm25', 'P@10']:.3f}" == "0.593"
    report = table("external_report").set_index("system")
    assert report.index.tolist() == RELEASED
    assert report.loc["released_bm25", ["n_documents", "n_removed"]].sum() == 142_083


def test_lucene_lies_beside_the_released_bm25(table):
    """Another BM25 over a larger collection: the settings of ours lie close together, near it."""
    measured = table("table_9").set_index("system")
    own = measured.loc[BM25, "nDCG@10"]
    assert own.max() - own.min() < 0.02
    assert abs(own.mean() - measured.loc["released_bm25", "nDCG@10"]) < 0.05
    assert (own > measured.loc["svd_text", "nDCG@10"]).all()
    assert (own < measured.loc["released_join_reranker", "nDCG@10"]).all()


def test_ranks_follow_the_values(table):
    measured = table("table_9")
    for name in ("P@10", "R@10", "nDCG@10", "MRR"):
        expected = measured[name].astype(float).round(12).rank(ascending=False, method="min")
        assert measured[f"{name}_rank"].tolist() == expected.tolist()


def test_the_first_documents_of_the_released_runs_are_judged_most(table):
    """The judged pairs were taken from such runs."""
    judged = table("table_9").set_index("system")["Judged@10"]
    assert judged.idxmax() == "released_join_reranker"
    assert judged.between(0, 1).all()


def test_judges_come_out_in_the_order_of_their_quality(table):
    kappas = table("kappa")
    kappas = kappas[kappas["annotator_a"] == "reference"].set_index("annotator_b")
    by_kappa = kappas.loc[JUDGES, "kappa_quadratic"]
    assert by_kappa.is_monotonic_decreasing
    assert by_kappa.is_unique
    taus = table("rank_correlation")
    taus = taus[
        (taus["coefficient"] == "tau_b")
        & (taus["system_set"] == "all")
        & (taus["query_set"] == "common")
    ]
    by_tau = taus.groupby("qrels")["value"].mean().loc[JUDGES]
    assert by_tau.is_monotonic_decreasing
    assert by_tau.is_unique


def test_a_judge_by_words_is_not_usable_on_ndcg(table):
    verdict = table("verdict").set_index(["judge", "measure"])
    assert verdict["n_systems"].eq(12).all()
    assert verdict.loc[("lexical", "nDCG@10"), "verdict"] == "not shown"
    assert verdict.loc[("moved_10", "nDCG@10"), "verdict"] == "usable to rank systems"


def test_the_pool_is_the_fusion_of_three_systems(table):
    sizes = table("pool_sizes")
    assert len(sizes) == 150
    assert sizes["n"].eq(20).all()
    overlap = table("pool_overlap")
    assert set(overlap["depth"]) == {10, 50}
    assert overlap["overlap"].between(0, 1).all()
    report = table("pool_report")
    systems = report[report["query_id"].isna() & report["reason"].isna()].dropna(subset=["system"])
    assert systems["system"].tolist() == ["S_2", "svd_text", "bm25_lexical"]
