"""Bootstrap intervals of agreement beside a loop over scipy.stats.bootstrap, in the same run."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from normastcu.evaluation.agreement import (
    confusion_by_query,
    kappa,
    pairwise_agreement,
    wide_grades,
)
from normastcu.evaluation.bootstrap import cluster_bootstrap, resample_indices

SCALE = (0, 1, 2)
QUERIES = 46
PAIRS = 812
ANNOTATORS = 10
RESAMPLES = 10_000
SEED = 20260


@pytest.fixture(scope="module")
def wide():
    """Return grades of the size of NormasTCU: 812 pairs of 46 queries, ten annotators."""
    rng = np.random.default_rng(SEED)
    truth = rng.choice(3, PAIRS, p=[0.63, 0.18, 0.19])
    noise = rng.choice(3, (ANNOTATORS, PAIRS))
    grades = np.where(rng.random((ANNOTATORS, PAIRS)) < 0.6, truth, noise)
    return wide_grades(
        pd.DataFrame(
            {
                "query_id": np.tile([f"q{i % QUERIES:02}" for i in range(PAIRS)], ANNOTATORS),
                "doc_id": np.tile([f"d{i}" for i in range(PAIRS)], ANNOTATORS),
                "annotator": np.repeat([f"a{i}" for i in range(ANNOTATORS)], PAIRS),
                "grade": pd.array(grades.ravel(), dtype="Int64"),
            }
        )
    )


def seconds(call):
    """Return what the call took, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def kappa_of_totals(totals):
    return kappa(totals.reshape(*totals.shape[:-1], 3, 3), SCALE)


def test_one_kappa_beside_scipy(benchmark, wide):
    grades = wide[["a0", "a1"]].to_numpy(dtype=float)
    query = wide.index.get_level_values("query_id").str[1:].astype(int)
    sums = confusion_by_query(*grades.T, query, SCALE, n_queries=QUERIES).reshape(QUERIES, 9)

    def ours():
        indices = resample_indices(QUERIES, RESAMPLES, SEED)
        return cluster_bootstrap(sums, kappa_of_totals, indices, [0.95]).intervals[0.95]

    def scipys(*, vectorized):
        def statistic(drawn, axis=-1):
            return kappa_of_totals(sums[drawn].sum(axis=axis - 1))

        return stats.bootstrap(
            (np.arange(QUERIES),),
            statistic,
            n_resamples=RESAMPLES,
            method="BCa",
            rng=np.random.default_rng(SEED),
            vectorized=vectorized,
        ).confidence_interval

    loop_seconds, loop = seconds(lambda: scipys(vectorized=False))
    array_seconds, array = seconds(lambda: scipys(vectorized=True))
    own_seconds, interval = seconds(ours)
    benchmark.pedantic(ours, rounds=5)

    times = {"loop": loop_seconds / own_seconds, "vectorised": array_seconds / own_seconds}
    benchmark.extra_info |= {f"times_faster_than_scipy_{how}": n for how, n in times.items()}
    print(
        f"\none kappa, B = {RESAMPLES}: {own_seconds * 1000:.0f} ms; scipy.stats.bootstrap "
        f"{loop_seconds * 1000:.0f} ms in a loop ({times['loop']:.0f} times), "
        f"{array_seconds * 1000:.0f} ms vectorised ({times['vectorised']:.1f} times)"
    )
    for expected in (loop, array):
        assert (interval.low, interval.high) == pytest.approx(
            (expected.low, expected.high), rel=0, abs=1e-12
        )
    assert times["loop"] > 1


def test_all_pairs_of_ten_annotators(benchmark, wide):
    indices = resample_indices(QUERIES, RESAMPLES, SEED)
    queries = wide.index.unique("query_id")

    def ours():
        return pairwise_agreement(wide, SCALE, indices, list(wide.columns), queries=queries)

    table = benchmark.pedantic(ours, rounds=3)

    tracemalloc.start()
    ours()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\n{len(table)} pairs, 5 statistics, B = {RESAMPLES}: peak {peak / 2**20:.0f} MB")
    assert len(table) == 45
    assert peak < 500e6
