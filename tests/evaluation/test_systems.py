"""Rankings of systems: coefficients beside SciPy, published values and brute force; averages."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.measures import measure_runs, rank_runs
from normastcu.evaluation.systems import (
    average_measures,
    kendall_tau_b,
    largest_shift,
    orders,
    query_means,
    rank_biased_overlap,
    spearman_rho,
    tau_ap,
    tau_ap_b,
    top_kept,
)

# Table 9 of the paper, reference qrels: S_1 to S_15.
PUBLISHED = {
    "P@10": (
        "0.186957 0.171739 0.186957 0.171739 0.191304 0.180435 0.191304 0.160870 0.141304 0.139130 "
        "0.136957 0.165217 0.158696 0.150000 0.171739",
        # Printed as 7, 7, 6 for S_2, S_4 and S_15, which have the same value.
        [3, 6, 3, 6, 1, 5, 1, 10, 13, 14, 15, 9, 11, 12, 6],
    ),
    "R@10": (
        "0.382181 0.343490 0.354155 0.324681 0.398465 0.357704 0.337450 0.295744 0.267714 0.311147 "
        "0.275269 0.289119 0.285903 0.336468 0.327112",
        [2, 5, 4, 9, 1, 3, 6, 11, 15, 10, 14, 12, 13, 7, 8],
    ),
    "nDCG@10": (
        "0.373450 0.344428 0.349561 0.316056 0.388022 0.355897 0.334672 0.291792 0.242242 0.272743 "
        "0.269147 0.307034 0.279769 0.297224 0.310239",
        [2, 5, 4, 7, 1, 3, 6, 11, 15, 13, 14, 9, 12, 10, 8],
    ),
    "MRR": (
        "0.538517 0.525087 0.483200 0.461796 0.549781 0.530317 0.454058 0.427426 0.362980 0.356024 "
        "0.410344 0.510808 0.430464 0.385734 0.434905",
        [2, 4, 6, 7, 1, 3, 8, 11, 14, 15, 12, 5, 10, 13, 9],
    ),
}

# The test data and the values of the R package ircor, by the authors of tau_AP,b.
SETS = [
    {
        "x": [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        "y": [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        "x_tied": [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        "y_tied": [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        "tau_ap": (0.8519, 0.7454),
        "tau_ap_b": (0.8333, 0.7321),
    },
    {
        "x": [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        "y": [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        "x_tied": [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        "y_tied": [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        "tau_ap": (0.2504, 0.2692),
        "tau_ap_b": (0.2880, 0.2970),
    },
    {
        "x": [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        "y": [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        "x_tied": [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        "y_tied": [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        "tau_ap": (-0.6971, -0.5558),
        "tau_ap_b": (-0.6680, -0.7047),
    },
]

COEFFICIENTS = [kendall_tau_b, spearman_rho, tau_ap, tau_ap_b, rank_biased_overlap]
rankings = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n) for _ in range(2)])
)


def ap_by_hand(estimate, truth):
    """AP correlation without ties: the mean share of the systems above that belong there."""
    order = np.argsort(estimate)[::-1]
    truths = np.asarray(truth)[order]
    shares = [(truths[:i] > truths[i]).mean() for i in range(1, len(truths))]
    return 2 * np.mean(shares) - 1


def all_orders(values):
    """List the rankings without ties that a ranking with ties may stand for."""
    groups = [np.flatnonzero(np.asarray(values) == v) for v in sorted(set(values))]
    for parts in product(*[list(permutations(group)) for group in groups]):
        ranking = np.empty(len(values))
        ranking[[p for part in parts for p in part]] = np.arange(len(values))
        yield ranking


class TestOrders:
    @pytest.mark.parametrize("measure", PUBLISHED)
    def test_published_ranks(self, measure):
        values, ranks = PUBLISHED[measure]

        assert orders([float(value) for value in values.split()]).ranks.tolist() == ranks

    def test_noise_breaks_no_tie(self):
        assert orders([0.1 + 0.2, 0.3, 0.3 + 1e-11]).ranks.tolist() == [2, 2, 1]

    def test_some_systems_among_themselves(self):
        assert orders([0.4, 0.1, 0.3, 0.2]).of([1, 2, 3]).ranks.tolist() == [3, 1, 2]

    def test_many_rankings_at_once(self):
        values = np.random.default_rng(1).integers(0, 5, (6, 40))
        many = orders(values)
        other = orders(values[:, ::-1])

        for coefficient in COEFFICIENTS:
            together = coefficient(many, other)
            one_by_one = [
                coefficient(orders(values[:, i]), orders(values[:, -1 - i])) for i in range(40)
            ]
            assert np.allclose(together, one_by_one, rtol=0, atol=1e-12, equal_nan=True)


class TestCoefficients:
    @settings(deadline=None)
    @given(rankings)
    def test_tau_b_and_rho_are_scipys(self, values):
        a, b = values
        assume(len(set(a)) > 1 and len(set(b)) > 1)

        assert kendall_tau_b(orders(a), orders(b)) == pytest.approx(
            stats.kendalltau(a, b).statistic, rel=0, abs=1e-12
        )
        assert spearman_rho(orders(a), orders(b)) == pytest.approx(
            stats.spearmanr(a, b).statistic, rel=0, abs=1e-12
        )

    @pytest.mark.parametrize("data", SETS)
    def test_tau_ap_is_ircors(self, data):
        x, y, y_tied = (orders(data[name]) for name in ("x", "y", "y_tied"))

        found = float(tau_ap(y, x)), float(tau_ap(y_tied, x))

        assert found == pytest.approx(data["tau_ap"], rel=0, abs=5e-5)

    @pytest.mark.parametrize("data", SETS)
    def test_tau_ap_b_is_ircors(self, data):
        x, y, x_tied, y_tied = (orders(data[name]) for name in ("x", "y", "x_tied", "y_tied"))

        found = float(tau_ap_b(x, y)), float(tau_ap_b(x_tied, y_tied))

        assert found == pytest.approx(data["tau_ap_b"], rel=0, abs=5e-5)
        assert tau_ap_b(y_tied, x_tied) == tau_ap_b(x_tied, y_tied)

    @settings(deadline=None, max_examples=30)
    @given(st.integers(0, 10_000))
    def test_tau_ap_is_the_mean_over_all_orders_of_tied_systems(self, seed):
        estimate, truth = np.random.default_rng(seed).integers(0, 3, (2, 5))
        assume(len(set(estimate)) > 1 and len(set(truth)) > 1)

        expected = np.mean(
            [ap_by_hand(a, b) for a in all_orders(estimate) for b in all_orders(truth)]
        )

        assert tau_ap(orders(estimate), orders(truth)) == pytest.approx(expected, rel=0, abs=1e-12)

    def test_rbo_by_hand(self):
        # Agreement at depth 1, 2, 3: 0, 1, 1; from there on 1.
        expected = 0.1 * (0 + 0.9 * 1 + 0.81 * 1) + 0.729

        assert rank_biased_overlap(orders([3, 2, 1]), orders([2, 3, 1])) == pytest.approx(expected)

    def test_rbo_with_ties_by_hand(self):
        # Two first against one: 2 * 1 / 3, then 2 * 2 / 4, then all.
        expected = 0.1 * (2 / 3 + 0.9 * 1 + 0.81 * 1) + 0.729

        assert rank_biased_overlap(orders([3, 3, 1]), orders([3, 2, 1])) == pytest.approx(expected)

    def test_rbo_of_identical_lists_is_1_whatever_their_length(self):
        ranking = orders(np.arange(15))

        assert rank_biased_overlap(ranking, ranking) == pytest.approx(1, abs=1e-12)
        cut = (1 - 0.9) * sum(0.9**depth for depth in range(15))
        assert cut == pytest.approx(0.794, abs=5e-4)

    def test_rbo_needs_a_persistence_between_0_and_1(self):
        with pytest.raises(ValueError, match="persistence is 1"):
            rank_biased_overlap(orders([2, 1]), orders([2, 1]), 1)

    @settings(deadline=None)
    @given(rankings)
    def test_bounds_and_perfect_agreement(self, values):
        a, b = (orders(v) for v in values)
        assume(a.n_untied > 0 and b.n_untied > 0)

        for coefficient in COEFFICIENTS:
            assert -1 - 1e-12 <= coefficient(a, b) <= 1 + 1e-12
            if coefficient is not tau_ap:
                assert coefficient(a, a) == pytest.approx(1, abs=1e-12)
                assert coefficient(a, b) == pytest.approx(float(coefficient(b, a)), abs=1e-12)

    @pytest.mark.parametrize("coefficient", [*COEFFICIENTS, largest_shift])
    @pytest.mark.parametrize("constant", [[1, 1, 1], [np.nan] * 3])
    def test_a_constant_ranking_has_no_coefficient(self, coefficient, constant):
        assert np.isnan(coefficient(orders(constant), orders([1, 2, 3])))
        assert np.isnan(coefficient(orders([1, 2, 3]), orders(constant)))

    def test_shift_and_top_by_hand(self):
        truth = orders([0.9, 0.8, 0.7, 0.6, 0.5])
        estimate = orders([0.9, 0.4, 0.8, 0.7, 0.3])

        assert largest_shift(estimate, truth) == 2
        assert [top_kept(estimate, truth, depth) for depth in (1, 2, 3)] == [1, 0, 0]

    def test_a_system_tied_at_the_top_is_kept_only_if_it_is_one_of_the_best(self):
        truth, tied_truth = orders([0.9, 0.8, 0.7]), orders([0.9, 0.9, 0.7])

        assert top_kept(tied_truth, truth, 1) == 0
        assert top_kept(truth, tied_truth, 1) == 1


class TestAverages:
    def measured(self, relevant=((1, 1, 0), (1, 0, 1))):
        """Two systems, three queries, two qrels; documents d1 and d2 of each query."""
        queries = ["q1", "q2", "q3"]
        runs = pd.concat(
            pd.DataFrame({"query_id": queries, "doc_id": doc_id, "system": system, "rank": 1})
            for system, doc_id in (("S", "d1"), ("T", "d2"))
        )
        rows = [
            (name, query_id, "d1", grade)
            for name, grades in zip("AB", relevant, strict=True)
            for query_id, grade in zip(queries, grades, strict=True)
        ]
        qrels = pd.DataFrame(rows, columns=["qrels", "query_id", "doc_id", "grade"])
        return measure_runs(rank_runs(runs), qrels, measures=["MRR", "P@10"])

    def test_columns_values_and_ranks(self):
        table = average_measures(self.measured(), resample_indices(3, 200, seed=1))

        assert list(table.columns) == [
            *["qrels", "system", "measure", "query_set", "n_queries", "value", "rank"],
            *["ci90_low", "ci90_high", "ci95_low", "ci95_high", "ci_method", "n_left_out"],
            "undefined",
        ]
        mrr = table[(table["measure"] == "MRR") & (table["qrels"] == "A")]
        columns = ["system", "query_set", "n_queries", "value", "rank"]
        assert sorted(mrr[columns].to_numpy().tolist()) == [
            ["S", "common", 1, 1.0, 1],
            ["S", "per_qrels", 2, 1.0, 1],
            ["T", "common", 1, 0.0, 2],
            ["T", "per_qrels", 2, 0.0, 2],
        ]

    def test_no_query_with_a_relevant_document(self):
        measured = self.measured(((1, 0, 0), (0, 0, 0)))

        table = average_measures(measured, resample_indices(3, 50, seed=1))

        nothing = table[table["qrels"] == "B"]
        assert nothing[["value", "rank", "ci90_low"]].isna().all(axis=None)
        assert set(nothing["undefined"]) == {"no query has a relevant document"}
        assert set(nothing["n_queries"]) == {0}
        others = table[table["qrels"] == "A"]
        assert others["value"].notna().all(), "it takes no query from the others"
        assert others.groupby("query_set")["n_queries"].first().nunique() == 1

    def test_no_common_query(self):
        measured = self.measured(((1, 0, 0), (0, 1, 0)))

        table = average_measures(measured, resample_indices(3, 50, seed=1))

        common = table[table["query_set"] == "common"]
        assert common["value"].isna().all()
        assert set(common["undefined"]) == {"no query has a relevant document in every qrels"}

    def test_the_interval_is_scipys(self):
        values = np.random.default_rng(3).random(30)
        indices = resample_indices(30, 1000, seed=5)
        table = average_measures(_of_one_system(values), indices)

        expected = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=1000,
            confidence_level=0.9,
            rng=np.random.default_rng(5),
        ).confidence_interval
        found = table.loc[table["measure"] == "MRR", ["ci90_low", "ci90_high"]].iloc[0].tolist()
        assert found == pytest.approx([expected.low, expected.high], rel=0, abs=1e-11)

    def test_resamples_of_another_number_of_queries_are_an_error(self):
        with pytest.raises(ValueError, match=r"shape \(9, 4\), but there are 3 queries"):
            average_measures(self.measured(), resample_indices(4, 9, seed=1))

    def test_weighted_means(self):
        means = query_means(
            np.array([[0.0, 0.5, 1.0]]),
            np.array([True, True, False]),
            np.array([[1.0, 2.0, 5.0], [0.0, 0.0, 3.0]]),
        )

        assert means[0, 0] == pytest.approx(1 / 3)
        assert np.isnan(means[0, 1])


def _of_one_system(values):
    """Make measures of one system with the given MRR; every query has a relevant document."""
    queries = [f"q{i:02}" for i in range(len(values))]
    runs = pd.DataFrame({"query_id": queries, "doc_id": "d", "system": "S", "rank": 1})
    qrels = pd.DataFrame({"query_id": queries, "doc_id": "d", "qrels": "A", "grade": 1})
    measured = measure_runs(rank_runs(runs), qrels, measures=["MRR"])
    measured.values[0, 0, 0] = values
    return measured
