"""Measures of 15 runs under 11 qrels beside pytrec_eval per qrels and run, in one process."""

import time

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from normastcu.evaluation.measures import measure_runs, rank_runs

SYSTEMS = 15
QRELS = 11
QUERIES = 46
DEPTH = 1000
DOCUMENTS = 14_469
JUDGED = 18
SEED = 20260
LEAST_TIMES_FASTER = 5
TREC_NAMES = {"P@10": "P_10", "R@10": "recall_10", "nDCG@10": "ndcg_cut_10", "MRR": "recip_rank"}


@pytest.fixture(scope="module")
def runs():
    """Return 15 runs, 1,000 deep, that share their best documents."""
    rng = np.random.default_rng(SEED)
    found = np.stack(
        [
            np.argsort(rng.exponential(size=DOCUMENTS) * (1 + np.arange(DOCUMENTS)))[:DEPTH]
            for _ in range(SYSTEMS * QUERIES)
        ]
    )
    return pd.DataFrame(
        {
            "query_id": np.tile(np.repeat([f"{i}" for i in range(QUERIES)], DEPTH), SYSTEMS),
            "doc_id": np.array([f"NORMA-{i}" for i in range(DOCUMENTS)])[found.ravel()],
            "system": np.repeat([f"S_{i}" for i in range(SYSTEMS)], QUERIES * DEPTH),
            "score": rng.random(found.size),
        }
    )


@pytest.fixture(scope="module")
def qrels():
    rng = np.random.default_rng(SEED + 1)
    pairs = [
        (f"{query}", f"NORMA-{document}")
        for query in range(QUERIES)
        for document in rng.choice(200, JUDGED, replace=False)
    ]
    parts = [
        pd.DataFrame(pairs, columns=["query_id", "doc_id"]).assign(
            qrels=f"qrels_{i}", grade=rng.integers(0, 3, len(pairs))
        )
        for i in range(QRELS)
    ]
    return pd.concat(parts, ignore_index=True)


def nested(frame, column):
    """Make the dictionaries of dictionaries that pytrec_eval takes, as fast as it goes."""
    return {
        query_id: dict(zip(own["doc_id"], own[column].tolist(), strict=True))
        for query_id, own in frame.groupby("query_id")
    }


def trec_values(runs, qrels):
    """Call pytrec_eval for every qrels and run; return values, seconds, seconds without repeats.

    The second time counts each dictionary once, as if they had been kept between the calls.
    """
    values, of_calls, of_qrels, of_runs = {}, 0.0, 0.0, 0.0
    for name, own_qrels in qrels.groupby("qrels"):
        for system, own_run in runs.groupby("system"):
            times = [time.perf_counter()]
            judged = nested(own_qrels, "grade")
            times.append(time.perf_counter())
            run = nested(own_run, "score")
            times.append(time.perf_counter())
            evaluator = pytrec_eval.RelevanceEvaluator(judged, set(TREC_NAMES.values()))
            values[name, system] = evaluator.evaluate(run)
            times.append(time.perf_counter())
            taken = np.diff(times)
            of_qrels, of_runs, of_calls = (
                of_qrels + taken[0],
                of_runs + taken[1],
                of_calls + taken[2],
            )
    made_once = of_calls + of_qrels / SYSTEMS + of_runs / QRELS
    return values, of_calls + of_qrels + of_runs, made_once


def test_fifteen_runs_under_eleven_qrels_beside_pytrec_eval(benchmark, runs, qrels):
    measured = benchmark.pedantic(
        lambda: measure_runs(rank_runs(runs), qrels), rounds=5, warmup_rounds=1
    )
    expected, trec_seconds, kept_seconds = trec_values(runs, qrels)

    own_seconds = benchmark.stats.stats.median
    times_faster = trec_seconds / own_seconds
    benchmark.extra_info["times_faster_than_pytrec_eval"] = times_faster
    print(
        f"\n{SYSTEMS} runs of {DEPTH} for {QUERIES} queries under {QRELS} qrels: "
        f"{own_seconds:.2f} s; pytrec_eval {trec_seconds:.1f} s from data frames "
        f"({times_faster:.0f} times), {kept_seconds:.1f} s with every dictionary made once "
        f"({kept_seconds / own_seconds:.1f} times)"
    )
    for i, name in enumerate(measured.qrels):
        for j, system in enumerate(measured.systems):
            of_run = expected[name, system]
            for measure_name, trec_name in TREC_NAMES.items():
                values = measured.values[i, measured.measures.index(measure_name), j]
                theirs = [of_run[query_id][trec_name] for query_id in measured.queries]
                assert np.allclose(values, theirs, rtol=0, atol=1e-9)
    assert measured.values[:, 0].mean() > 0.01
    assert times_faster >= LEAST_TIMES_FASTER
