"""Intervals for the true rank correlation: what they must do by design, and their coverage."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.benchmarks.coverage_of_intervals import coverage

from normastcu.evaluation.human_ceiling import ranking_ceiling
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.shrinkage import (
    draw_true_means,
    shrunken_differences,
    shrunken_intervals,
    standard_normals,
)

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

    drawn = draw_true_means([reference[::-1], reference], standard_normals(12, 400, SEED))

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
    with pytest.raises(ValueError, match="for 5 systems and 2 qrels, but there are 12 and 2"):
        shrunken_intervals(
            measured_of(-reference, reference), "reference", standard_normals(5, 9, SEED)
        )
    with pytest.raises(ValueError, match="Can't draw 0 times"):
        standard_normals(5, 0, SEED)


def test_coverage_of_a_tiny_simulation():
    table = coverage(collections=4, resamples=200).set_index("method")

    assert set(table.index) == {"BCa", "percentile", "shrunken"}
    assert len(table) == 3 * 2 * 3 * 4 + 2 * 3 * 4
    beside_people = table["coefficient"] == "tau_b minus people"
    differences = table[beside_people]
    # Where people are really better, BCa intervals of the difference often lie too high.
    worse = differences[differences["bias"] == 0.06]
    assert (worse["true"] < worse["observed"]).all()
    assert worse.loc["BCa", "too_high"].mean() > worse.loc["shrunken", "too_high"].mean()
    table = table[~beside_people]
    # Where the rankings are truly alike, only the shrunken intervals reach 1.
    alike = table[table["bias"] == 0]
    assert alike.loc["shrunken", "holds"].mean() > 0.9
    assert alike.loc["BCa", "holds"].mean() < 0.5
    assert table.loc["shrunken", "holds"].mean() > 0.85


def people_of(judge, *people):
    """Make measures of a judge J and of people, each with the mean of the others."""
    qrels = {"J": judge}
    for position, values in enumerate(people):
        others = [other for place, other in enumerate(people) if place != position]
        qrels |= {f"P_{position}": values, f"without_P_{position}": np.mean(others, axis=0)}
    names = tuple(sorted(qrels))
    relevant = np.ones((len(names), judge.shape[1]), dtype=np.int64)
    measured = replace(
        measured_of(judge, judge),
        qrels=names,
        values=np.stack([qrels[name] for name in names])[:, np.newaxis],
        n_judged=relevant,
        n_relevant=relevant,
    )
    return measured, {f"P_{i}": f"without_P_{i}" for i in range(len(people))}


def differences(measured, references, draws=500, **settings):
    normals = standard_normals(len(measured.systems), draws, SEED, n_qrels=4)
    table = shrunken_differences(measured, references, ["J"], normals, measures=["MRR"], **settings)
    return table.iloc[0]


class TestDifferences:
    def noisy(self, truth, seed, noise=0.3):
        return truth + noise * np.random.default_rng(seed).standard_normal(truth.shape)

    def test_values_are_those_of_the_ceiling(self):
        truth = values_of(0.1)
        measured, references = people_of(*(self.noisy(truth, seed) for seed in range(4)))

        row = differences(measured, references)

        ceiling = ranking_ceiling(
            measured, references, ["J"], np.zeros((1, 40), dtype=np.int64), measures=["MRR"]
        ).set_index(["annotator", "statistic"])
        assert row["value"] == pytest.approx(ceiling["value"]["J", "tau_b minus people"])
        assert row["coefficient"] == "tau_b minus people"
        assert row["reference"] == "leave-one-out (mean)"
        assert row["ci90_low"] <= row["shrunken"] <= row["ci90_high"]

    def test_without_noise_the_interval_is_the_value(self):
        exact = values_of(0.0)
        measured, references = people_of(exact[::-1], exact, exact, exact)

        row = differences(measured, references)

        # The judge turns the ranking around, the people agree: -1 minus 1.
        assert (row["value"], row["ci95_low"], row["ci95_high"]) == (-2, -2, -2)

    def test_a_judge_that_does_as_one_of_the_people_has_no_surely_negative_difference(self):
        truth = values_of(0.1)
        people = [self.noisy(truth, seed) for seed in range(3)]

        row = differences(*people_of(people[0], *people), draws=2000)

        assert row["ci90_low"] < 0 < row["ci90_high"]

    def test_noise_pulls_the_difference_to_0_and_shrinking_puts_it_back(self):
        truth = np.linspace(0, 0.5, 15)[:, np.newaxis]
        found = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            preferences = 0.1 * rng.standard_normal((15, 1))
            people = [truth + 0.4 * rng.standard_normal((15, 40)) for _ in range(3)]
            judge = truth + preferences + 0.4 * rng.standard_normal((15, 40))
            row = differences(*people_of(judge, *people), draws=300)
            # All people have the true ranking: their true correlation is 1.
            true = stats.kendalltau(truth + preferences, truth).statistic - 1
            found.append((true, row["value"], row["shrunken"]))

        true, observed, shrunken = np.mean(found, axis=0)
        assert true < observed < 0
        assert abs(shrunken - true) < abs(observed - true)

    def test_a_person_with_gaps_is_compared_by_measures_of_their_own(self):
        truth = values_of(0.1)
        measured, references = people_of(*(self.noisy(truth, seed) for seed in range(4)))
        same = {"P_1": measured}

        whole, own = (differences(measured, references, without_gaps=gaps) for gaps in (None, same))

        pd.testing.assert_series_equal(whole, own)
        other, _ = people_of(*(self.noisy(truth, seed) for seed in range(4, 8)))
        apart = differences(measured, references, without_gaps={"P_1": other})
        assert apart["shrunken"] != whole["shrunken"]

    def test_too_little_and_undefined(self):
        few, references = people_of(*(values_of(0.1, n_systems=3) for _ in range(4)))
        flat, _ = people_of(*(np.zeros((12, 40)) for _ in range(4)))

        assert differences(few, references)["ci_method"].startswith("none (fewer than 4 systems")
        row = differences(flat, references)
        assert row["undefined"] == "undefined for at least one of the people"
        assert pd.isna(row["ci90_low"])
