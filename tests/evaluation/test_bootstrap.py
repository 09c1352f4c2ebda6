"""Resamples, BCa intervals and the bootstrap over queries, beside SciPy's."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from normastcu.evaluation import bootstrap
from normastcu.evaluation.bootstrap import (
    bca_interval,
    cluster_bootstrap,
    cluster_bootstraps,
    resample_counts,
    resample_indices,
)

SEED = 20260


def mean_of_pairs(totals):
    """Return the mean from the number of pairs and their sum."""
    return np.divide(
        totals[..., 1],
        totals[..., 0],
        out=np.full(totals.shape[:-1], np.nan),
        where=totals[..., 0] > 0,
    )


def scipy_interval(sums, statistic, confidence, resamples, seed=SEED):
    """Let SciPy bootstrap the positions of the queries."""

    def of_positions(positions, axis):
        return statistic(sums[positions.astype(int)].sum(axis=-2))

    result = stats.bootstrap(
        (np.arange(len(sums)),),
        of_positions,
        n_resamples=resamples,
        confidence_level=confidence,
        method="BCa",
        rng=np.random.default_rng(seed),
        vectorized=True,
    )
    return result.confidence_interval


def test_indices_are_the_ones_scipy_draws():
    drawn = []

    def remember(positions, axis):
        drawn.append(positions)
        return positions.mean(axis=axis)

    stats.bootstrap(
        (np.arange(7),),
        remember,
        n_resamples=20,
        method="percentile",
        rng=np.random.default_rng(SEED),
        vectorized=True,
    )

    assert np.array_equal(resample_indices(7, 20, SEED), drawn[0])


def test_same_seed_same_resamples_and_another_seed_others():
    assert np.array_equal(resample_indices(46, 50, 1), resample_indices(46, 50, 1))
    assert not np.array_equal(resample_indices(46, 50, 1), resample_indices(46, 50, 2))


@pytest.mark.parametrize(("n", "resamples"), [(0, 10), (5, 0)])
def test_nothing_to_draw_is_an_error(n, resamples):
    with pytest.raises(ValueError, match=f"{resamples} resamples of {n} queries"):
        resample_indices(n, resamples, SEED)


@settings(deadline=None)
@given(n=st.integers(1, 9), resamples=st.integers(1, 9), seed=st.integers(0, 99))
def test_counts_give_the_same_sums_as_the_drawn_rows(n, resamples, seed):
    indices = resample_indices(n, resamples, seed)
    values = np.arange(n) ** 2

    assert np.array_equal(resample_counts(indices) @ values, values[indices].sum(axis=1))


@pytest.mark.parametrize("confidence", [0.90, 0.95])
@pytest.mark.parametrize("seed", range(5))
def test_interval_of_a_mean_is_scipys(confidence, seed):
    sample = np.random.default_rng(seed).exponential(size=30)
    indices = resample_indices(30, 2000, SEED)
    jackknife = (sample.sum() - sample) / 29

    interval = bca_interval(sample.mean(), sample[indices].mean(axis=1), jackknife, confidence)

    expected = stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=2000,
        confidence_level=confidence,
        method="BCa",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert interval.method == "bca"
    assert interval.low == pytest.approx(expected.low, rel=0, abs=1e-12)
    assert interval.high == pytest.approx(expected.high, rel=0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_bootstrap_over_queries_is_scipys(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 20, 25)
    sums = np.stack([sizes, rng.binomial(sizes, 0.3)], axis=1)

    estimate = cluster_bootstrap(sums, mean_of_pairs, resample_indices(25, 3000, SEED))

    assert estimate.value == pytest.approx(sums[:, 1].sum() / sizes.sum())
    assert estimate.n_clusters == 25
    for confidence, interval in estimate.intervals.items():
        expected = scipy_interval(sums, mean_of_pairs, confidence, 3000)
        assert interval.low == pytest.approx(expected.low, rel=0, abs=1e-12)
        assert interval.high == pytest.approx(expected.high, rel=0, abs=1e-12)


def test_queries_without_data_stay_in_the_sample_but_are_not_counted():
    rng = np.random.default_rng(SEED)
    sizes = rng.integers(1, 20, 20)
    sums = np.stack([sizes, rng.binomial(sizes, 0.3)], axis=1)
    sums[[3, 11]] = 0

    estimate = cluster_bootstrap(sums, mean_of_pairs, resample_indices(20, 3000, SEED), [0.95])

    expected = scipy_interval(sums, mean_of_pairs, 0.95, 3000)
    assert estimate.n_clusters == 18
    assert estimate.intervals[0.95].low == pytest.approx(expected.low, rel=0, abs=1e-12)
    assert estimate.intervals[0.95].high == pytest.approx(expected.high, rel=0, abs=1e-12)


REPLICATES = np.linspace(0.0, 1.0, 101)


def test_percentile_where_the_jackknife_is_constant():
    interval = bca_interval(0.5, REPLICATES, np.full(9, 0.5) + 1e-14 * np.arange(9), 0.90)

    assert interval.method == "percentile (the jackknife is constant)"
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))


def test_percentile_where_the_jackknife_is_undefined():
    interval = bca_interval(0.5, REPLICATES, np.array([0.4, np.nan, 0.6]), 0.90)

    assert interval.method == "percentile (the jackknife is undefined for a query)"
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))


@pytest.mark.parametrize("observed", [-0.1, 1.1])
def test_percentile_where_the_bias_correction_is_infinite(observed):
    interval = bca_interval(observed, REPLICATES, np.array([0.4, 0.5, 0.7]), 0.90)

    assert interval.method == "percentile (the bias correction is infinite)"
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))


def test_percentile_where_the_acceleration_is_too_large():
    one_query_decides = np.r_[np.zeros(999), 1.0]

    interval = bca_interval(0.5, REPLICATES, one_query_decides, 1 - 1e-9)

    assert interval.method == "percentile (the acceleration is too large)"


def test_undefined_resamples_are_left_out_and_counted():
    jackknife = np.array([0.4, 0.5, 0.7])
    with_holes = np.insert(REPLICATES, [0, 50, 101], np.nan)

    interval = bca_interval(0.5, with_holes, jackknife, 0.90)

    complete = bca_interval(0.5, REPLICATES, jackknife, 0.90)
    assert interval.n_left_out == 3
    assert (interval.low, interval.high) == (complete.low, complete.high)


def test_degenerate_where_every_resample_gives_the_observed_value():
    replicates = np.full(50, 0.3) + np.where(np.arange(50) % 2, 1e-15, -1e-15)

    interval = bca_interval(0.3, replicates, np.full(4, 0.3), 0.90)

    assert (interval.low, interval.high) == (0.3, 0.3)
    assert interval.method == "degenerate (every resample gives the observed value)"


@pytest.mark.parametrize(
    ("observed", "replicates", "n", "method"),
    [
        (np.nan, [0.1, 0.2], 3, "none (the value is undefined)"),
        (0.1, [np.nan, np.nan], 3, "none (undefined in every resample)"),
        (0.1, [0.1, 0.2], 1, "none (fewer than two queries)"),
    ],
)
def test_no_interval(observed, replicates, n, method):
    interval = bca_interval(observed, np.array(replicates), np.linspace(0, 1, n), 0.90)

    assert (interval.low, interval.high, interval.method) == (None, None, method)


def test_a_confidence_outside_0_and_1_is_an_error():
    with pytest.raises(ValueError, match="confidence is 95"):
        bca_interval(0.5, REPLICATES, np.array([0.4, 0.6]), 95)


def test_no_interval_for_one_query_with_data():
    sums = np.array([[4, 2], [0, 0], [0, 0]])

    estimate = cluster_bootstrap(sums, mean_of_pairs, resample_indices(3, 100, SEED), [0.90])

    assert (estimate.value, estimate.n_clusters) == (0.5, 1)
    assert estimate.intervals[0.90].method == "none (fewer than two queries)"
    assert estimate.intervals[0.90].low is None


def test_an_undefined_value_is_none():
    estimate = cluster_bootstrap(np.zeros((3, 2)), mean_of_pairs, resample_indices(3, 9, SEED))

    assert estimate.value is None
    assert {i.method for i in estimate.intervals.values()} == {"none (the value is undefined)"}
    assert {i.n_left_out for i in estimate.intervals.values()} == {9}


def test_resamples_of_another_number_of_queries_are_an_error():
    with pytest.raises(ValueError, match=r"shape \(9, 4\), but there are 3 queries"):
        cluster_bootstrap(np.ones((3, 2)), mean_of_pairs, resample_indices(4, 9, SEED))


def test_blocks_change_nothing(monkeypatch):
    sums = np.random.default_rng(SEED).integers(1, 9, (10, 2))
    indices = resample_indices(10, 501, SEED)
    whole = cluster_bootstrap(sums, mean_of_pairs, indices)

    monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 1000)

    assert cluster_bootstrap(sums, mean_of_pairs, indices) == whole


def test_several_statistics_equal_each_by_itself():
    sums = np.random.default_rng(SEED).integers(1, 9, (10, 2))
    indices = resample_indices(10, 200, SEED)
    statistics = {"mean": mean_of_pairs, "share": lambda totals: 1 / mean_of_pairs(totals)}

    together = cluster_bootstraps(sums, statistics, indices)

    for name, statistic in statistics.items():
        assert together[name] == cluster_bootstrap(sums, statistic, indices)


def test_memory_does_not_grow_with_the_resamples():
    sums = np.random.default_rng(SEED).integers(1, 9, (46, 9))
    indices = resample_indices(46, 200_000, SEED)

    tracemalloc.start()
    cluster_bootstrap(sums, mean_of_pairs, indices)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # Counts of all resamples at once would take three times 73 MB.
    assert peak < 100 * 2**20
