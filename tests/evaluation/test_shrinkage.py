"""Intervals for the true rank correlation: what they must do by design, and their coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.benchmarks.coverage_of_intervals import coverage

from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import ranked_pair
from normastcu.evaluation.shrinkage import draw_true_means, shrunken_intervals, standard_normals

SEED = 20260


def measured_of(judge, reference, n_relevant=1):
    """Make measures of a judge J and the reference from values (systems, queries)."""
    n_systems, n_queries = reference.shape
    relevant = np.full((2, n_queries), n_relevant, dtype=np.int64)
    return QueryMeasures(
        qrels=("J", "reference"),
        measures=("MRR",),
        systems=tuple(f"S_{i:02}" for i in range(n_systems)),
        queries=tuple(f"q{i:02}" for i in range(n_queries)),
        values=np.stack([judge, reference])[:, np.newaxis],
        n_judged=np.ones_like(relevant),
        n_relevant=relevant,
        report=pd.DataFrame(),
    )


def values_of(noise, n_systems=12, n_queries=40, spread=0.1):
    """Make values whose means are exactly 0, spread, 2 * spread, …, and noisy by query."""
    drawn = np.random.default_rng(SEED).standard_normal((n_systems, n_queries))
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    return spread * np.arange(n_systems)[:, np.newaxis] + noise * centred


def intervals(measured, draws=500, **settings):
    normals = standard_normals(len(measured.systems), draws, SEED)
    table = shrunken_intervals(measured, "reference", normals, **settings)
    return table.set_index("coefficient")


def test_columns_are_promised():
    reference = values_of(0.1)

    table = intervals(measured_of(reference[::-1], reference)).reset_index()

    assert set(table.columns[:7]) == {
        *("qrels", "reference", "measure", "query_set", "coefficient", "n_systems", "value"),
    }
    assert {"shrunken", "ci90_low", "ci95_high", "ci_method", "n_queries"} <= set(table.columns)
    assert set(table["ci_method"]) == {"shrunken (empirical Bayes)"}
    assert set(table["query_set"]) == {"common"}


def test_values_are_scipys():
    reference = values_of(0.1)
    judge = np.random.default_rng(1).permutation(reference)

    table = intervals(measured_of(judge, reference))

    means = judge.mean(axis=1), reference.mean(axis=1)
    assert table["value"]["tau_b"] == pytest.approx(stats.kendalltau(*means).statistic)
    assert table["value"]["rho"] == pytest.approx(stats.spearmanr(*means).statistic)


def test_without_noise_the_interval_is_the_value():
    reference = values_of(0.0)
    judge = np.random.default_rng(1).permutation(reference)

    row = intervals(measured_of(judge, reference)).loc["tau_b"]

    assert row["ci95_low"] == pytest.approx(row["value"])
    assert row["ci95_high"] == pytest.approx(row["value"])
    assert row["shrunken"] == pytest.approx(row["value"])


def test_a_judge_like_the_reference_is_surely_so():
    reference = values_of(0.5)

    row = intervals(measured_of(reference, reference)).loc["tau_b"]

    assert (row["value"], row["ci95_low"], row["ci95_high"]) == (1, 1, 1)


def test_draws_stay_near_means_that_are_well_known():
    reference = values_of(0.01)
    pair = ranked_pair(measured_of(reference[::-1], reference), "J", "reference", "MRR", "common")

    drawn = draw_true_means(pair, standard_normals(12, 400, SEED))

    assert drawn.shape == (2, 12, 400)
    centred = reference.mean(axis=1) - reference.mean()
    error = 0.01 / np.sqrt(40)
    assert np.allclose(drawn[1].mean(axis=1), centred, rtol=0, atol=error)
    assert drawn[1].std(axis=1) == pytest.approx(np.full(12, error), rel=0.5)


def test_noise_pulls_the_observed_value_down_and_shrinking_puts_it_back():
    rng = np.random.default_rng(SEED)
    truth = np.linspace(0, 0.5, 15)[:, np.newaxis]
    judge, reference = (truth + 0.4 * rng.standard_normal((15, 40)) for _ in range(2))

    row = intervals(measured_of(judge, reference), draws=2000).loc["tau_b"]

    assert row["value"] < row["shrunken"]
    assert row["ci90_low"] < 1
    assert row["ci90_high"] == pytest.approx(1, abs=0.1)


def test_same_seed_same_numbers():
    measured = measured_of(values_of(0.3)[::-1], values_of(0.3))

    pd.testing.assert_frame_equal(intervals(measured), intervals(measured), check_exact=True)


@pytest.mark.parametrize(("n_systems", "n_queries"), [(3, 40), (12, 2)])
def test_too_little_for_an_interval(n_systems, n_queries):
    reference = values_of(0.1, n_systems, n_queries)

    row = intervals(measured_of(reference, reference)).loc["tau_b"]

    assert row["value"] == 1
    assert row["ci_method"] == "none (fewer than 4 systems or 3 queries)"
    assert pd.isna(row["shrunken"])


def test_undefined_with_the_reason():
    reference = values_of(0.1)

    constant = intervals(measured_of(np.zeros_like(reference), reference)).loc["rho"]
    nothing = intervals(measured_of(reference, reference, n_relevant=0)).loc["rho"]

    assert constant["undefined"] == "all systems are equal under J"
    assert nothing["undefined"] == "no query has a relevant document in both qrels"
    assert pd.isna(constant["ci90_low"])
    assert pd.isna(nothing["value"])


def test_random_numbers_for_other_systems_are_an_error():
    reference = values_of(0.1)
    with pytest.raises(ValueError, match="for 5 systems, but there are 12"):
        shrunken_intervals(
            measured_of(reference, reference), "reference", standard_normals(5, 9, SEED)
        )
    with pytest.raises(ValueError, match="Can't draw 0 times"):
        standard_normals(5, 0, SEED)


def test_coverage_of_a_tiny_simulation():
    table = coverage(collections=4, resamples=200).set_index("method")

    assert set(table.index) == {"BCa", "percentile", "shrunken"}
    assert len(table) == 3 * 2 * 3 * 4
    # Where the rankings are truly alike, only the shrunken intervals reach 1.
    alike = table[table["bias"] == 0]
    assert alike.loc["shrunken", "holds"].mean() > 0.9
    assert alike.loc["BCa", "holds"].mean() < 0.5
    assert table.loc["shrunken", "holds"].mean() > 0.85
