"""Rank correlation of system rankings: intervals beside SciPy's, shifts, families, edge cases."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from normastcu.evaluation import bootstrap
from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import COEFFICIENTS, rank_correlation, rank_shift

SEED = 20260
QUERIES = 46
SYSTEMS = 15
SCIPYS = {"tau_b": stats.kendalltau, "rho": stats.spearmanr}


def measured_of(values, n_relevant=None, measures=("nDCG@10",), systems=None):
    """Make measures from qrels -> (systems, queries), the same for every measure named."""
    stacked = np.stack([np.broadcast_to(v, (len(measures), *v.shape)) for v in values.values()])
    n_systems, n_queries = stacked.shape[2:]
    relevant = np.ones((len(values), n_queries), dtype=np.int64)
    for position, name in enumerate(values):
        if n_relevant and name in n_relevant:
            relevant[position] = n_relevant[name]
    return QueryMeasures(
        qrels=tuple(values),
        measures=tuple(measures),
        systems=systems or tuple(f"S_{i:02}" for i in range(n_systems)),
        queries=tuple(f"q{i:02}" for i in range(n_queries)),
        values=np.where(relevant[:, np.newaxis, np.newaxis] > 0, stacked, 0.0),
        n_judged=np.ones_like(relevant),
        n_relevant=relevant,
        report=pd.DataFrame(),
    )


def noisy(seed, noise=0.2, n_queries=QUERIES, n_systems=SYSTEMS):
    """Make values of a reference and of a qrels that differs by noise, in steps of 0.1."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_systems, n_queries)) * 0.6 + rng.random((n_systems, 1)) * 0.2
    other = truth + noise * rng.standard_normal(truth.shape)
    return {"A": other.clip(0, 1).round(1), "reference": truth.round(1)}


def scipy_interval(measured, coefficient, kept, resamples, confidence):
    """Let SciPy bootstrap the positions of the queries, each side over its own queries."""

    def ranking(values, drawn, keep):
        chosen = drawn[keep[drawn]]
        return values[:, chosen].mean(axis=1).round(12)

    def of_positions(drawn):
        drawn = drawn.astype(int)
        value = SCIPYS[coefficient](
            ranking(measured.values[0, 0], drawn, kept[0]),
            ranking(measured.values[1, 0], drawn, kept[1]),
        ).statistic
        # SciPy counts values equal to the observed one exactly, noise and all.
        return np.round(value, 12)

    return stats.bootstrap(
        (np.arange(len(measured.queries)),),
        of_positions,
        n_resamples=resamples,
        confidence_level=confidence,
        method="BCa",
        vectorized=False,
        rng=np.random.default_rng(SEED),
    ).confidence_interval


def row_of(table, **where):
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    assert len(table) == 1
    return table.iloc[0]


class TestIntervals:
    @pytest.mark.parametrize("query_set", ["per_qrels", "common"])
    @pytest.mark.parametrize("coefficient", SCIPYS)
    @pytest.mark.parametrize("seed", [1, 2])
    def test_ends_are_scipys_on_the_same_resamples(self, seed, coefficient, query_set):
        rng = np.random.default_rng(seed)
        relevant = {name: rng.random(QUERIES) > 0.1 for name in ("A", "reference")}
        measured = measured_of(noisy(seed), relevant)
        indices = resample_indices(QUERIES, 400, SEED)

        table = rank_correlation(measured, "reference", indices, query_sets=[query_set])

        row = row_of(table, coefficient=coefficient)
        both = relevant["A"] & relevant["reference"]
        kept = (both, both) if query_set == "common" else tuple(relevant.values())
        assert row["ci_method"] == "bca"
        assert row["n_queries"] == kept[0].sum()
        assert row["n_queries_reference"] == kept[1].sum()
        for confidence, name in ((0.90, "ci90"), (0.95, "ci95")):
            expected = scipy_interval(measured, coefficient, kept, 400, confidence)
            assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(
                [expected.low, expected.high], rel=0, abs=1e-11
            )

    def test_values_are_scipys(self):
        measured = measured_of(noisy(7))

        table = rank_correlation(measured, "reference", resample_indices(QUERIES, 50, SEED))

        means = measured.values[:, 0].mean(axis=-1).round(12)
        for coefficient, scipys in SCIPYS.items():
            for query_set in ("per_qrels", "common"):
                row = row_of(table, coefficient=coefficient, query_set=query_set)
                assert row["value"] == pytest.approx(scipys(*means).statistic, rel=0, abs=1e-12)

    def test_columns_are_promised(self):
        table = rank_correlation(measured_of(noisy(1)), "reference", resample_indices(46, 20, 1))

        assert list(table.columns) == [
            *["qrels", "reference", "measure", "query_set", "system_set", "coefficient"],
            *["n_systems", "value", "n_left_out"],
            *["ci90_low", "ci90_high", "ci95_low", "ci95_high", "ci_method"],
            *["n_queries", "undefined", "n_queries_reference"],
        ]
        assert table["coefficient"].unique().tolist() == list(COEFFICIENTS)
        assert table["undefined"].isna().all()

    def test_same_seed_same_numbers(self):
        measured = measured_of(noisy(1))

        first, second = (
            rank_correlation(measured, "reference", resample_indices(QUERIES, 300, SEED))
            for _ in range(2)
        )

        pd.testing.assert_frame_equal(first, second, check_exact=True)

    def test_blocks_change_nothing(self, monkeypatch):
        measured, indices = measured_of(noisy(1)), resample_indices(QUERIES, 301, SEED)
        whole = rank_correlation(measured, "reference", indices)

        monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 50_000)

        blocks = rank_correlation(measured, "reference", indices)
        pd.testing.assert_frame_equal(blocks, whole, check_exact=True)

    def test_a_qrels_does_not_depend_on_which_others_there_are(self):
        indices, values = resample_indices(QUERIES, 100, SEED), noisy(1)
        alone = rank_correlation(measured_of(values), "reference", indices)

        with_others = values | {"Z": noisy(2)["A"]}
        relevant = {"Z": np.arange(QUERIES) % 2}
        together = rank_correlation(measured_of(with_others, relevant), "reference", indices)

        own = together[together["qrels"] == "A"].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone, check_exact=True)

    def test_the_order_of_systems_changes_nothing(self):
        values, indices = noisy(1), resample_indices(QUERIES, 100, SEED)
        turned = {name: v[::-1] for name, v in values.items()}

        tables = [rank_correlation(measured_of(v), "reference", indices) for v in (values, turned)]

        pd.testing.assert_frame_equal(*tables)

    def test_the_judged_share_ranks_no_system(self):
        measured = measured_of(noisy(1), measures=("MRR", "Judged@10"))

        table = rank_correlation(measured, "reference", resample_indices(QUERIES, 20, SEED))

        assert table["measure"].unique().tolist() == ["MRR"]

    def test_memory_does_not_grow_with_the_resamples(self):
        measured, indices = measured_of(noisy(1)), resample_indices(QUERIES, 100_000, SEED)

        tracemalloc.start()
        rank_correlation(measured, "reference", indices, coefficients=["tau_b", "rho"])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        # The orders of all resamples at once would take 45 MB a qrels, the counts 37 MB.
        assert peak < 60 * 2**20


class TestEdges:
    def test_perfect_agreement_is_1_and_degenerate(self):
        values = noisy(1)["reference"] + np.arange(SYSTEMS)[:, np.newaxis]

        table = rank_correlation(
            measured_of({"A": values, "reference": values}),
            "reference",
            resample_indices(46, 50, 1),
        )

        row = row_of(table, coefficient="tau_b", query_set="common")
        assert (row["value"], row["ci90_low"], row["ci90_high"]) == (1, 1, 1)
        assert row["ci_method"] == "degenerate (every resample gives the observed value)"

    def test_resamples_with_a_constant_ranking_are_left_out_and_counted(self):
        # The systems differ in one of four queries only.
        values = np.zeros((3, 4))
        values[:, 0] = [0.1, 0.2, 0.3]
        indices = resample_indices(4, 1000, SEED)

        table = rank_correlation(
            measured_of({"A": values, "reference": values}), "reference", indices
        )

        without_it = int((indices != 0).all(axis=1).sum())
        assert set(table["n_left_out"]) == {without_it}
        assert without_it > 0

    def test_a_constant_ranking_is_undefined_with_the_reason(self):
        values = noisy(1) | {"A": np.full((SYSTEMS, QUERIES), 0.5)}

        table = rank_correlation(measured_of(values), "reference", resample_indices(QUERIES, 50, 1))

        assert table["value"].isna().all()
        assert set(table["undefined"]) == {"all systems are equal under A"}
        assert set(table["ci_method"]) == {"none (the value is undefined)"}
        assert set(table["n_left_out"]) == {50}

    def test_nothing_relevant(self):
        nothing = {"A": np.zeros(QUERIES)}

        table = rank_correlation(
            measured_of(noisy(1), nothing), "reference", resample_indices(QUERIES, 50, 1)
        )

        reasons = table.groupby("query_set")["undefined"].unique().map(list).to_dict()
        assert reasons == {
            "common": ["no query has a relevant document in both qrels"],
            "per_qrels": ["no query has a relevant document in A"],
        }
        assert set(table["n_queries"]) == {0}

    def test_one_system_is_no_ranking(self):
        table = rank_correlation(
            measured_of(noisy(1, n_systems=1)), "reference", resample_indices(QUERIES, 50, 1)
        )

        assert set(table["undefined"]) == {"fewer than two systems"}

    def test_no_interval_from_one_query(self):
        only_one = {name: np.arange(QUERIES) == 3 for name in ("A", "reference")}

        table = rank_correlation(
            measured_of(noisy(1), only_one), "reference", resample_indices(QUERIES, 50, 1)
        )

        assert table["value"].notna().all()
        assert set(table["ci_method"]) == {"none (fewer than two queries)"}

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"reference": "B"}, "no qrels 'B'"),
            ({"measures": ["AP"]}, "no measure 'AP'"),
            ({"query_sets": ["all"]}, "no set of queries 'all'"),
            ({"coefficients": ["tau"]}, "no coefficient 'tau'"),
            ({"indices": resample_indices(4, 9, 1)}, "there are 46 queries"),
        ],
    )
    def test_unknown_names_and_wrong_resamples(self, settings, message):
        given = {"reference": "reference", "indices": resample_indices(QUERIES, 9, 1)} | settings

        with pytest.raises(ValueError, match=message):
            rank_correlation(measured_of(noisy(1)), **given)


class TestFamilies:
    def test_the_best_of_a_family_under_the_reference_stands_for_it(self):
        reference = np.array([[0.4], [0.3], [0.2], [0.2], [0.1]]) + np.zeros((5, 8))
        other = np.array([[0.1], [0.9], [0.2], [0.7], [0.3]]) + np.zeros((5, 8))
        systems = ("S_1", "S_2", "S_3", "S_4", "S_5")
        # S_1 is better than S_2 and S_5; S_3 and S_4 are equal: the first by name.
        families = {"S_1": "x", "S_2": "x", "S_3": "y", "S_4": "y", "S_5": "x"}
        measured = measured_of({"A": other, "reference": reference}, systems=systems)
        indices = resample_indices(8, 20, SEED)

        table = rank_correlation(measured, "reference", indices, families=families)

        chosen = table[table["system_set"] == "one_per_family"]
        assert set(chosen["coefficient"]) == {"tau_b", "rho"}
        assert set(chosen["n_systems"]) == {2}
        assert set(chosen["value"]) == {-1}
        assert set(table[table["system_set"] == "all"]["n_systems"]) == {5}

    def test_a_system_without_a_family_stands_for_itself(self):
        measured = measured_of(noisy(1))
        families = {f"S_{i:02}": "twins" for i in range(10)}

        table = rank_correlation(
            measured, "reference", resample_indices(QUERIES, 20, SEED), families=families
        )

        assert set(table.loc[table["system_set"] == "one_per_family", "n_systems"]) == {6}

    def test_each_a_family_is_all(self):
        measured, indices = measured_of(noisy(1)), resample_indices(QUERIES, 100, SEED)

        table = rank_correlation(
            measured, "reference", indices, families={}, coefficients=["tau_b", "rho"]
        )

        everything, chosen = (
            table[table["system_set"] == name].drop(columns="system_set").reset_index(drop=True)
            for name in ("all", "one_per_family")
        )
        pd.testing.assert_frame_equal(everything, chosen)

    def test_one_family_is_no_ranking(self):
        measured = measured_of(noisy(1))

        table = rank_correlation(
            measured,
            "reference",
            resample_indices(QUERIES, 20, SEED),
            families=dict.fromkeys(measured.systems, "x"),
        )

        row = row_of(table, system_set="one_per_family", coefficient="rho", query_set="common")
        assert row["undefined"] == "fewer than two systems"


class TestShift:
    def test_by_hand(self):
        reference = np.array([[0.9], [0.8], [0.7], [0.6]]) + np.zeros((4, 6))
        other = np.array([[0.9], [0.5], [0.7], [0.8]]) + np.zeros((4, 6))
        measured = measured_of({"A": other, "reference": reference})

        table = rank_shift(measured, "reference", resample_indices(6, 40, SEED))

        assert list(table.columns[:8]) == [
            *["qrels", "reference", "measure", "max_shift", "best_kept", "best_three_kept"],
            *["best_kept_share", "best_three_kept_share"],
        ]
        row = row_of(table, query_set="common")
        assert (row["max_shift"], row["best_kept"], row["best_three_kept"]) == (2, True, False)
        assert (row["best_kept_share"], row["best_three_kept_share"]) == (1, 0)

    def test_shares_of_resamples(self):
        # The best two of the reference change places where query 0 is drawn twice or more.
        reference = np.zeros((2, 5)) + np.array([[0.5], [0.4]])
        other = reference.copy()
        other[:, 0] = [0.0, 0.3]
        indices = resample_indices(5, 500, SEED)

        row = rank_shift(measured_of({"A": other, "reference": reference}), "reference", indices)

        n_drawn = (indices == 0).sum(axis=1)
        lead = 0.1 * (5 - n_drawn) - 0.3 * n_drawn
        tied_or_turned = (lead <= 1e-9).mean()
        assert row["best_kept"].tolist() == [True, True]
        assert row["best_kept_share"].tolist() == pytest.approx([1 - tied_or_turned] * 2)

    def test_undefined_with_the_reason(self):
        values = noisy(1) | {"A": np.zeros((SYSTEMS, QUERIES))}

        table = rank_shift(measured_of(values), "reference", resample_indices(QUERIES, 20, SEED))

        empty = ["max_shift", "best_kept", "best_kept_share", "ci90_low"]
        assert table[empty].isna().all(axis=None)
        assert set(table["undefined"]) == {"all systems are equal under A"}
