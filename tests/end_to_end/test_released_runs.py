"""Released runs, read as external systems, give the published numbers (method.md, section 9)."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from normastcu.collection.run_files import write_run
from normastcu.collection.sources import local_file
from normastcu.datasets.runs import TrecRunsDataset
from normastcu.evaluation.measures import measure_runs, rank_runs
from normastcu.retrieval.external import external_run
from normastcu.retrieval.settings import ExternalSystem

MEASURES = {
    "P@10": "P_10",
    "R@10": "recall_10",
    "nDCG@10": "ndcg_cut_10",
    "MRR": "recip_rank",
}
TABLE_9 = {
    # The printed reciprocal rank of S_9 (0.362980) is that of the full list; the file ends at 50.
    "S_9": ("0.141304", "0.267714", "0.242242", "0.361496"),
    "S_14": ("0.150000", "0.336468", "0.297224", "0.385734"),
    "S_15": ("0.171739", "0.327112", "0.310239", "0.434905"),
}
JURISTCU = {
    # The BM25 run as its publishers give it, and restricted to the 1,651 documents.
    False: "0.403",
    True: "0.593",
}


def read_runs(paths, **settings):
    """Read files as external systems; documents that no file holds can't be in a run."""
    runs = []
    for path in paths:
        name = path.name.split(".")[0]
        system = ExternalSystem(name=name, family=name, file=path.name, **settings)
        ids = pd.read_csv(path, dtype=str).filter(regex="DOC").squeeze()
        runs.append(external_run(system, local_file(path), set(ids))[0])
    return pd.concat(runs, ignore_index=True)


def by_trec_eval(runs, qrels, folder):
    """Return the means by system and measure, from files that were written for trec_eval."""
    graded = {
        query_id: dict(zip(group["doc_id"], group["grade"].astype(int).tolist(), strict=True))
        for query_id, group in qrels.groupby("query_id")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(graded, set(MEASURES.values()))
    means = {}
    for system, run in runs.groupby("system"):
        write_run(run, folder / f"{system}.run")
        with (folder / f"{system}.run").open(encoding="utf-8") as stream:
            values = evaluator.evaluate(pytrec_eval.parse_run(stream))
        assert len(values) == run["query_id"].nunique()
        means[system] = [
            np.mean([values[query_id][name] for query_id in values]) for name in MEASURES.values()
        ]
    return means


def by_own_arrays(runs, qrels):
    """Return the means by system and measure, over all queries of the qrels."""
    measured = measure_runs(rank_runs(runs), qrels.assign(qrels="reference"))
    assert measured.report["n_tied"].eq(0).all()
    assert measured.with_relevant("reference").all()
    return {
        system: [measured.of("reference", name)[number].mean() for name in MEASURES]
        for number, system in enumerate(measured.systems)
    }


@pytest.fixture(scope="module")
def normastcu(shared_data):
    """Return the three released runs and the reference qrels."""
    folder = shared_data / "normastcu"
    means = pd.read_csv(folder / "qrel_mean.csv", dtype={"QUERY_KEY": str, "DOC_KEY": str})
    qrels = pd.DataFrame(
        {
            "query_id": means["QUERY_KEY"].astype("str"),
            "doc_id": means["DOC_KEY"].astype("str"),
            "grade": np.rint(means["SCORE"]).astype("Int64"),
        }
    )
    return read_runs(folder / "runs" / f"{name}.csv" for name in TABLE_9), qrels


def test_table_9_by_trec_eval(normastcu, tmp_path):
    means = by_trec_eval(*normastcu, tmp_path)
    assert {name: tuple(f"{v:.6f}" for v in values) for name, values in means.items()} == TABLE_9


def test_table_9_by_the_arrays_of_the_project(normastcu):
    means = by_own_arrays(*normastcu)
    assert {name: tuple(f"{v:.6f}" for v in values) for name, values in means.items()} == TABLE_9


def test_the_runs_stay_the_same_as_a_folder_of_trec_files(normastcu, tmp_path):
    runs, qrels = normastcu
    dataset = TrecRunsDataset(filepath=str(tmp_path / "runs"))
    dataset.save(runs)
    loaded = dataset.load()
    order = ["system", "query_id", "rank"]
    pd.testing.assert_frame_equal(
        loaded.sort_values(order, ignore_index=True), runs.sort_values(order, ignore_index=True)
    )
    assert by_own_arrays(loaded, qrels) == by_own_arrays(runs, qrels)


@pytest.mark.parametrize("restricted", [False, True])
def test_bm25_of_juristcu(shared_data, tmp_path, restricted):
    folder = shared_data / "juristcu"
    path = folder / "runs" / "bm25.csv.gz"
    documents = set(pd.read_csv(folder / "doc.csv", dtype=str)["ID"])
    assert len(documents) == 1_651
    if restricted:
        system = ExternalSystem(name="bm25", family="bm25", file=path.name, restrict=True)
        runs, report = external_run(system, local_file(path), documents)
        assert report.n_documents + report.n_removed == 142_083
        assert set(runs["doc_id"]) <= documents
    else:
        runs = read_runs([path])
    qrels = pd.read_csv(folder / "qrel.csv", dtype=str)
    qrels = qrels.set_axis(["query_id", "doc_id", "grade"], axis=1).astype(
        {"query_id": "str", "doc_id": "str", "grade": "Int64"}
    )
    means = by_trec_eval(runs, qrels, tmp_path)["bm25"]
    assert f"{means[0]:.3f}" == JURISTCU[restricted]
    np.testing.assert_allclose(by_own_arrays(runs, qrels)["bm25"], means, rtol=0, atol=1e-9)


def test_the_five_runs_of_juristcu_restricted(shared_data):
    folder = shared_data / "juristcu"
    documents = set(pd.read_csv(folder / "doc.csv", dtype=str)["ID"])
    for path in sorted((folder / "runs").glob("*.csv.gz")):
        system = ExternalSystem(name="s", family="s", file=path.name, restrict=True)
        run, report = external_run(system, local_file(path), documents)
        assert report.n_queries == 150
        assert set(run["doc_id"]) <= documents
        for _, group in run.groupby("query_id"):
            assert group["rank"].tolist() == list(range(1, len(group) + 1))
