"""All tau intervals of the paper's size beside a loop over scipy.stats.bootstrap, in one run."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import rank_correlation
from normastcu.evaluation.significance import sign_flips, significance_agreement

QRELS = 11
MEASURES = ("P@10", "R@10", "nDCG@10", "MRR")
SYSTEMS = 15
QUERIES = 46
RESAMPLES = 10_000
SEED = 20260
LEAST_TIMES_FASTER = 150
MOST_BYTES = 1e9


@pytest.fixture(scope="module")
def measured():
    """Return measures of the paper's size: a reference and ten qrels that differ by noise."""
    rng = np.random.default_rng(SEED)
    truth = rng.random((len(MEASURES), SYSTEMS, QUERIES)) + rng.random((SYSTEMS, 1)) * 0.3
    values = truth + 0.3 * rng.standard_normal((QRELS, *truth.shape))
    n_relevant = (rng.random((QRELS, QUERIES)) > 0.08).astype(np.int64)
    return QueryMeasures(
        qrels=tuple(f"qrels_{i:02}" for i in range(QRELS)),
        measures=MEASURES,
        systems=tuple(f"S_{i:02}" for i in range(SYSTEMS)),
        queries=tuple(f"q{i:02}" for i in range(QUERIES)),
        values=np.round(values, 1),
        n_judged=np.ones_like(n_relevant),
        n_relevant=n_relevant,
        report=pd.DataFrame(),
    )


def all_taus(measured, indices, **settings):
    return rank_correlation(
        measured,
        "qrels_00",
        indices,
        query_sets=["per_qrels"],
        coefficients=["tau_b"],
        confidences=[0.90],
        **settings,
    )


def scipy_interval(measured):
    """Let SciPy bootstrap the first tau, one resample after the other."""
    values = measured.values[[1, 0], 0]
    kept = measured.n_relevant[[1, 0]] > 0

    def of_positions(drawn):
        means = [
            v[:, drawn[k[drawn]]].mean(axis=1).round(12) for v, k in zip(values, kept, strict=True)
        ]
        return stats.kendalltau(*means).statistic.round(12)

    return stats.bootstrap(
        (np.arange(QUERIES),),
        of_positions,
        n_resamples=RESAMPLES,
        confidence_level=0.90,
        method="BCa",
        vectorized=False,
        rng=np.random.default_rng(SEED),
    ).confidence_interval


def test_forty_intervals_beside_scipy(benchmark, measured):
    indices = resample_indices(QUERIES, RESAMPLES, SEED)

    table = benchmark.pedantic(lambda: all_taus(measured, indices), rounds=5, warmup_rounds=1)
    start = time.perf_counter()
    expected = scipy_interval(measured)
    scipy_seconds = (time.perf_counter() - start) * len(table)

    own_seconds = benchmark.stats.stats.median
    times_faster = scipy_seconds / own_seconds
    benchmark.extra_info["times_faster_than_scipy"] = times_faster
    print(
        f"\n{len(table)} tau intervals, B = {RESAMPLES}: {own_seconds:.2f} s; a loop over "
        f"scipy.stats.bootstrap {scipy_seconds:.0f} s (one timed, times {len(table)}): "
        f"{times_faster:.0f} times faster"
    )
    first = table.iloc[0]
    assert [first["ci90_low"], first["ci90_high"]] == pytest.approx(list(expected), abs=1e-11)
    assert len(table) == 40
    assert times_faster >= LEAST_TIMES_FASTER


@pytest.mark.parametrize("resamples", [RESAMPLES, 1_000_000])
def test_memory(benchmark, measured, resamples):
    # The resamples themselves count too.
    def peak():
        tracemalloc.start()
        indices = resample_indices(QUERIES, resamples, SEED)
        all_taus(measured, indices, measures=MEASURES[:1] if resamples > RESAMPLES else None)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    most = benchmark.pedantic(peak, rounds=1)
    print(f"\nB = {resamples}: peak {most / 2**20:.0f} MB, resamples included")
    assert most < MOST_BYTES


def test_everything_about_rankings(benchmark, measured):
    indices = resample_indices(QUERIES, RESAMPLES, SEED)
    families = {system: f"family {i // 2}" for i, system in enumerate(measured.systems)}

    def everything():
        return rank_correlation(measured, "qrels_00", indices, families=families)

    table = benchmark.pedantic(everything, rounds=1)
    print(f"\n{len(table)} coefficients, two query sets: {benchmark.stats.stats.median:.1f} s")
    # 10 qrels, 4 measures, 2 sets of queries, 5 coefficients and 2 with one system a family.
    assert len(table) == 560


def test_significance(benchmark, measured):
    flips = sign_flips(QUERIES, RESAMPLES, SEED)

    table = benchmark.pedantic(
        lambda: significance_agreement(measured, "qrels_00", flips), rounds=1
    )
    print(f"\n{len(table)} rows of 105 tests each: {benchmark.stats.stats.median:.1f} s")
    assert len(table) == 80
