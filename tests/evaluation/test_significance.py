"""Permutation tests beside exact enumeration and SciPy's, corrections, agreement of two qrels."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from normastcu.evaluation import bootstrap
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.significance import (
    benjamini_hochberg,
    benjamini_yekutieli,
    holm,
    permutation_p_values,
    sign_flips,
    significance_agreement,
    system_differences,
)

SEED = 20260
COUNTS = ["both", "neither", "missed", "invented", "reversed"]
p_values = st.lists(st.floats(1e-4, 1), min_size=1, max_size=20)


def measured_of(values, n_relevant=None):
    """Make measures from qrels -> (systems, queries)."""
    stacked = np.stack(list(values.values()))[:, np.newaxis].astype(float)
    _, _, n_systems, n_queries = stacked.shape
    relevant = np.ones((len(values), n_queries), dtype=np.int64)
    for position, name in enumerate(values):
        if n_relevant and name in n_relevant:
            relevant[position] = n_relevant[name]
    return QueryMeasures(
        qrels=tuple(values),
        measures=("MRR",),
        systems=tuple(f"S_{i}" for i in range(n_systems)),
        queries=tuple(f"q{i:02}" for i in range(n_queries)),
        values=stacked,
        n_judged=np.ones_like(relevant),
        n_relevant=relevant,
        report=pd.DataFrame(),
    )


class TestPermutationTest:
    @pytest.mark.parametrize("seed", range(3))
    def test_all_permutations_of_8_queries_give_scipys_exact_p_value(self, seed):
        difference = np.random.default_rng(seed).normal(0.05, 0.1, 8).round(2)
        every_sign = np.array(list(product([1, -1], repeat=8)), dtype=np.int8)
        all_but_the_observed = every_sign[1:]

        found = permutation_p_values(difference[:, np.newaxis], all_but_the_observed)

        exact = stats.permutation_test(
            (difference, np.zeros(8)),
            lambda a, b: np.mean(a - b).round(12),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=False,
        )
        assert found == pytest.approx([exact.pvalue], rel=0, abs=1e-12)

    def test_drawn_permutations_come_close_to_the_exact_p_value(self):
        difference = np.array([0.3, 0.1, -0.1, 0.2, 0.25, 0.0, -0.05, 0.15])
        means = np.array(list(product([1, -1], repeat=8))) @ difference / 8
        exact = (np.abs(means) >= difference.mean() - 1e-12).mean()

        found = permutation_p_values(difference[:, np.newaxis], sign_flips(8, 20_000, SEED))

        assert found == pytest.approx([exact], abs=4 * np.sqrt(exact * (1 - exact) / 20_000))

    def test_it_is_never_0(self):
        difference = np.ones((40, 1))

        found = permutation_p_values(difference, sign_flips(40, 999, SEED))

        assert found.tolist() == [1 / 1000]

    def test_no_difference_is_1(self):
        assert permutation_p_values(np.zeros((9, 2)), sign_flips(9, 99, SEED)).tolist() == [1, 1]

    def test_noise_does_not_decide(self):
        # All permutations of equal differences with one sign reach the observed mean exactly.
        difference = np.array([[0.1 + 0.2], [0.3]])
        flips = np.array([[1, 1], [-1, -1], [1, -1]], dtype=np.int8)

        assert permutation_p_values(difference, flips).tolist() == [3 / 4]

    def test_same_seed_same_bits(self):
        differences = np.random.default_rng(1).normal(size=(46, 105))

        first, second = (
            permutation_p_values(differences, sign_flips(46, 2000, SEED)).tobytes()
            for _ in range(2)
        )

        assert first == second
        assert not np.array_equal(sign_flips(46, 20, 1), sign_flips(46, 20, 2))

    def test_blocks_change_nothing(self, monkeypatch):
        differences = np.random.default_rng(1).normal(size=(10, 3))
        flips = sign_flips(10, 1001, SEED)
        whole = permutation_p_values(differences, flips)

        monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 1000)

        assert permutation_p_values(differences, flips).tolist() == whole.tolist()

    @settings(deadline=None)
    @given(st.integers(0, 1000))
    def test_the_sign_of_a_difference_does_not_matter(self, seed):
        differences = np.random.default_rng(seed).integers(-3, 4, (7, 4)) / 10
        flips = sign_flips(7, 50, seed)

        found = permutation_p_values(differences, flips)

        assert found.tolist() == permutation_p_values(-differences, flips).tolist()
        assert ((found > 0) & (found <= 1)).all()

    @pytest.mark.parametrize(("n", "resamples"), [(0, 9), (9, 0)])
    def test_nothing_to_draw_is_an_error(self, n, resamples):
        with pytest.raises(ValueError, match=f"{resamples} permutations of {n} queries"):
            sign_flips(n, resamples, SEED)

    def test_signs_for_other_queries_are_an_error(self):
        with pytest.raises(ValueError, match="for 5 queries, the differences for 4"):
            permutation_p_values(np.zeros((4, 1)), sign_flips(5, 9, SEED))

    def test_differences_go_through_every_two_systems(self):
        values = np.random.default_rng(1).random((4, 5))

        expected = [values[i] - values[j] for i, j in combinations(range(4), 2)]

        assert np.array_equal(system_differences(values).T, expected)


class TestCorrections:
    def test_published_example(self):
        # The 15 ordered p-values of Benjamini and Hochberg (1995), section 4: at 0.05 their
        # procedure rejects four, the stepwise family-wise ones three.
        published = [
            *[0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344],
            *[0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000],
        ]

        assert (benjamini_hochberg(published) <= 0.05).sum() == 4
        assert (holm(published) <= 0.05).sum() == 3

    @given(p_values)
    def test_false_discovery_rates_are_scipys(self, p):
        for method, adjust in (("bh", benjamini_hochberg), ("by", benjamini_yekutieli)):
            expected = stats.false_discovery_control(p, method=method)
            assert adjust(p) == pytest.approx(expected, rel=1e-12)

    def test_holm_by_hand(self):
        # 4 * 0.01; 3 * 0.02 = 0.06; 2 * 0.02 = 0.04, not below the one before; 1 * 0.5.
        assert holm([0.5, 0.02, 0.01, 0.02]) == pytest.approx([0.5, 0.06, 0.04, 0.06])
        assert holm([0.9, 0.8]).tolist() == [1, 1]

    @given(p_values, st.randoms())
    def test_order_and_bounds(self, p, random):
        shuffled = random.sample(range(len(p)), len(p))
        for adjust in (holm, benjamini_hochberg, benjamini_yekutieli):
            adjusted = adjust(p)
            assert (adjusted >= np.array(p) - 1e-15).all()
            assert (adjusted <= 1).all()
            assert adjust(np.array(p)[shuffled]) == pytest.approx(adjusted[shuffled])

    def test_nothing_to_correct(self):
        for adjust in (holm, benjamini_hochberg, benjamini_yekutieli):
            assert adjust([]).tolist() == []


class TestAgreement:
    def values(self, *levels):
        """Systems at levels that differ on every one of 12 queries alike."""
        queries = np.linspace(0, 0.05, 12)
        return np.array(levels)[:, np.newaxis] + queries

    def counts(self, judge, reference, **settings_):
        measured = measured_of({"A": judge, "reference": reference})
        table = significance_agreement(
            measured, "reference", sign_flips(judge.shape[1], 2000, SEED), **settings_
        )
        assert table["n_pairs"].tolist() == table[COUNTS].sum(axis=1).tolist()
        return table.set_index("correction")[COUNTS].loc["holm"].tolist()

    def test_the_same_direction_in_both(self):
        assert self.counts(self.values(0.1, 0.3), self.values(0.2, 0.8)) == [1, 0, 0, 0, 0]

    def test_no_difference_in_either(self):
        assert self.counts(self.values(0.1, 0.1), self.values(0.2, 0.2)) == [0, 1, 0, 0, 0]

    def test_missed(self):
        assert self.counts(self.values(0.1, 0.1), self.values(0.2, 0.8)) == [0, 0, 1, 0, 0]

    def test_invented(self):
        assert self.counts(self.values(0.1, 0.3), self.values(0.2, 0.2)) == [0, 0, 0, 1, 0]

    def test_reversed(self):
        assert self.counts(self.values(0.3, 0.1), self.values(0.2, 0.8)) == [0, 0, 0, 0, 1]

    def test_columns_are_promised(self):
        values = {"A": self.values(0.1, 0.2, 0.3), "reference": self.values(0.1, 0.3, 0.2)}

        table = significance_agreement(measured_of(values), "reference", sign_flips(12, 500, SEED))

        assert list(table.columns) == [
            *["judge", "reference", "measure", "correction", "alpha", *COUNTS],
            *["n_pairs", "query_set", "n_queries", "undefined"],
        ]
        assert table["correction"].tolist() == ["holm", "benjamini_hochberg"]
        assert table[["both", "reversed"]].to_numpy().tolist() == [[2, 1], [2, 1]]
        assert set(table["query_set"]) == {"common"}

    def test_only_common_queries_count(self):
        # Outside the common queries the judge turns the systems around.
        judge = self.values(0.1, 0.3)
        judge[:, :3] = judge[::-1, :3]
        judged = np.arange(12) >= 3
        measured = measured_of({"A": judge, "reference": self.values(0.1, 0.3)}, {"A": judged})

        table = significance_agreement(measured, "reference", sign_flips(12, 2000, SEED))

        assert set(table["n_queries"]) == {9}
        assert set(table["both"]) == {1}

    def test_the_stricter_correction_finds_no_more(self):
        rng = np.random.default_rng(3)
        values = {n: rng.random((8, 30)) + rng.random((8, 1)) * 0.3 for n in ("A", "reference")}

        table = significance_agreement(measured_of(values), "reference", sign_flips(30, 3000, SEED))

        found = table.set_index("correction")["neither"]
        assert found["holm"] >= found["benjamini_hochberg"]

    @pytest.mark.parametrize(
        ("n_systems", "n_queries", "n_flips", "possible"),
        [
            (3, 12, 59, [True, True]),  # 3 pairs / 60 flips = 0.05
            (3, 12, 58, [False, True]),
            (2, 5, 2000, [False, False]),  # 2 of 32 signs reach the observed mean: 0.0625
            (2, 6, 2000, [True, True]),
            (3, 6, 2000, [False, True]),
        ],
    )
    def test_a_correction_that_could_find_nothing_is_undefined(
        self, n_systems, n_queries, n_flips, possible
    ):
        values = np.arange(n_systems)[:, np.newaxis] + np.zeros(n_queries)
        measured = measured_of({"A": values, "reference": values})

        table = significance_agreement(measured, "reference", sign_flips(n_queries, n_flips, SEED))

        assert table["undefined"].isna().tolist() == possible
        assert table["neither"].isna().tolist() == [not one for one in possible]
        n_pairs = n_systems * (n_systems - 1) // 2
        reason = f"too few sign flips or queries to find any of {n_pairs} pairs significant"
        assert set(table["undefined"].dropna()) <= {reason}

    @pytest.mark.parametrize("n_systems", [1, 3])
    def test_undefined_with_the_reason(self, n_systems):
        values = {name: np.ones((n_systems, 5)) for name in ("A", "reference")}
        measured = measured_of(values, {"A": np.zeros(5)} if n_systems > 1 else None)

        table = significance_agreement(measured, "reference", sign_flips(5, 50, SEED))

        assert table[COUNTS].isna().all(axis=None)
        reason = {
            1: "fewer than two systems",
            3: "no query has a relevant document in both qrels",
        }[n_systems]
        assert set(table["undefined"]) == {reason}

    def test_wrong_settings(self):
        measured = measured_of({"A": np.ones((2, 5)), "reference": np.ones((2, 5))})
        with pytest.raises(ValueError, match="alpha is 5"):
            significance_agreement(measured, "reference", sign_flips(5, 9, SEED), alpha=5)
        with pytest.raises(ValueError, match="there are 5 queries"):
            significance_agreement(measured, "reference", sign_flips(4, 9, SEED))
