"""Tables of agreement and bias: small cases by hand, then every number published for NormasTCU."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from normastcu.evaluation.agreement import (
    agreement_by_query,
    alpha_table,
    bias_table,
    confusion_by_query,
    confusion_table,
    kappa,
    leave_one_out,
    mean_grades,
    pairwise_agreement,
    range_agreement,
    round_half_to_even,
    wide_grades,
)
from normastcu.evaluation.bootstrap import cluster_bootstrap, resample_indices

SCALE = (0, 1, 2)
KEYS = ["query_id", "doc_id"]
SEED = 20260
PAIR_VALUES = ["kappa_quadratic", "kappa_linear", "kappa", "exact", "ac2"]


def grades_of(**annotators):
    """Make grades side by side; one pair a query, q0, q1, …; None is no grade."""
    n = len(next(iter(annotators.values())))
    index = pd.MultiIndex.from_tuples([(f"q{i}", "d") for i in range(n)], names=KEYS)
    return pd.DataFrame(annotators, index=index, dtype="Int64")


def queries_of(wide):
    return wide.index.unique("query_id")


def pairwise(wide, order=None, queries=None, resamples=200):
    queries = queries_of(wide) if queries is None else queries
    indices = resample_indices(len(queries), resamples, SEED)
    return pairwise_agreement(wide, SCALE, indices, order or list(wide.columns), queries=queries)


def bias(wide, means, resamples=200):
    queries = queries_of(wide)
    indices = resample_indices(len(queries), resamples, SEED)
    return bias_table(
        wide, means, dict.fromkeys(wide.columns, "assessor"), indices, queries=queries
    )


def means_of(values):
    """Make reference means for the pairs of `grades_of`."""
    pairs = [(f"q{i}", "d") for i in range(len(values))]
    return pd.DataFrame(pairs, columns=KEYS).assign(mean_grade=values)


def missing(row, columns):
    return bool(row[list(columns)].isna().all())


@pytest.fixture(scope="session")
def real(everybody):
    return wide_grades(everybody)


@pytest.fixture(scope="session")
def real_queries(real):
    return list(queries_of(real))


def people_and_machine():
    """Make pairs of people's ranges 1-1, 1-2, 0-2 and none, and what a machine gave them."""
    rows = [
        ("q1", "strong", "A", 0),
        ("q1", "strong", "B", 2),
        ("q1", "weak", "A", 1),
        ("q1", "weak", "B", 2),
        ("q2", "one", "A", 1),
        ("q1", "strong", "M", 0),
        ("q1", "weak", "M", 1),
        ("q2", "one", "M", 0),
        ("q2", "other", "M", 0),
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "annotator", "grade"]).astype({"grade": "Int64"})
    return wide_grades(table), mean_grades(table[table["annotator"] != "M"])


def test_range_agreement_by_hand():
    wide, means = people_and_machine()
    indices = resample_indices(2, 50, SEED)
    table = range_agreement(wide, means, ["M"], SCALE, indices, queries=["q1", "q2"])
    columns = ["category", "grades", "n_inside", "n"]
    assert table[columns].to_numpy().tolist() == [
        ["consensus", "0", 0, 0],
        ["consensus", "1", 0, 1],
        ["consensus", "2", 0, 0],
        ["weak", "0-1", 0, 0],
        ["weak", "1-2", 1, 1],
    ]
    assert table["share"].isna().tolist() == [True, False, True, True, False]
    assert table["share"].dropna().tolist() == [0.0, 1.0]
    assert table["undefined"].notna().tolist() == [True, False, True, True, False]
    assert table["n_queries"].tolist() == [0, 1, 0, 0, 1]


def test_the_interval_of_a_share_is_that_of_scipy():
    """Shares of 40 queries with 1 to 5 pairs each, every pair a consensus on grade 1."""
    rng = np.random.default_rng(SEED)
    rows = [
        (f"q{q:02}", f"d{d}", int(rng.random() < 0.6))
        for q in range(40)
        for d in range(rng.integers(1, 6))
    ]
    frame = pd.DataFrame(rows, columns=[*KEYS, "hit"])
    machine = frame.assign(annotator="M", grade=frame["hit"].astype("Int64"))
    wide = wide_grades(machine)
    means = mean_grades(frame.assign(annotator="A", grade=1))
    names = sorted(set(frame["query_id"]))
    indices = resample_indices(40, 1000, SEED)
    table = range_agreement(wide, means, ["M"], SCALE, indices, queries=names)
    row = table[table["grades"] == "1"].iloc[0]
    per_query = frame.groupby("query_id")["hit"].agg(["sum", "size"]).loc[names]

    def share(hits, pairs, axis=-1):
        return hits.sum(axis=axis) / pairs.sum(axis=axis)

    expected = stats.bootstrap(
        (per_query["sum"].to_numpy(), per_query["size"].to_numpy()),
        share,
        paired=True,
        n_resamples=1000,
        confidence_level=0.90,
        method="BCa",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert row["share"] == pytest.approx(frame["hit"].mean())
    assert (row["ci90_low"], row["ci90_high"]) == pytest.approx(tuple(expected), abs=1e-12)


def test_range_agreement_of_nobody_is_an_empty_table():
    wide, means = people_and_machine()
    indices = resample_indices(2, 10, SEED)
    table = range_agreement(wide, means, [], SCALE, indices, queries=["q1", "q2"])
    assert table.empty
    assert {"annotator", "category", "grades", "n_inside", "n", "share"} <= set(table.columns)


class TestPairwiseAgreement:
    def test_columns_and_types_are_promised(self):
        table = pairwise(grades_of(A=[0, 1, 2], B=[0, 1, 1]))

        interval = ["ci90_low", "ci90_high", "ci95_low", "ci95_high", "ci_method", "n_left_out"]
        assert list(table.columns) == [
            *("annotator_a", "annotator_b", "n", *PAIR_VALUES, "reading", "note"),
            *interval,
            *("n_queries", "undefined"),
            *(f"{name}_{column}" for name in PAIR_VALUES[1:] for column in interval),
        ]
        assert {str(table[name].dtype) for name in [*PAIR_VALUES, "ci90_low"]} == {"Float64"}
        assert str(table["n"].dtype) == str(table["n_queries"].dtype) == "Int64"

    def test_one_row_for_every_two_annotators_in_the_given_order(self):
        table = pairwise(grades_of(A=[0, 1, 2], B=[0, 1, 1], C=[1, 1, 2]), order=["C", "A", "B"])

        assert table[["annotator_a", "annotator_b"]].to_numpy().tolist() == [
            ["C", "A"],
            ["C", "B"],
            ["A", "B"],
        ]

    def test_one_annotator_gives_an_empty_table_with_the_same_columns(self):
        wide = grades_of(A=[0, 1, 2], B=[0, 1, 1])

        alone = pairwise(wide, order=["A"])

        assert alone.empty
        assert alone.dtypes.to_dict() == pairwise(wide).dtypes.to_dict()

    def test_all_grades_0(self):
        row = pairwise(grades_of(A=[0] * 5, B=[0] * 5)).iloc[0]

        assert row["undefined"] == "both annotators gave only the grade 0"
        assert missing(row, [*PAIR_VALUES[:3], "reading", "note", "ci90_low", "ci95_high"])
        assert row["ci_method"] == "none (the value is undefined)"
        assert (row["n"], row["exact"], row["ac2"]) == (5, 1.0, 1.0)
        assert row["exact_ci_method"] == "degenerate (every resample gives the observed value)"

    def test_perfect_agreement_with_variation(self):
        row = pairwise(grades_of(A=[0, 1, 2, 0], B=[0, 1, 2, 0])).iloc[0]

        assert row[PAIR_VALUES].tolist() == [1.0] * 5
        assert (row["ci90_low"], row["ci95_high"]) == (1.0, 1.0)
        assert row["ci_method"] == "degenerate (every resample gives the observed value)"
        assert missing(row, ["undefined", "note"])

    def test_one_constant_annotator(self):
        row = pairwise(grades_of(A=[0, 0, 0, 0], B=[0, 1, 2, 0])).iloc[0]

        assert (row["kappa_quadratic"], row["reading"]) == (0.0, "slight")
        assert row["note"] == "A gave only the grade 0: kappa is 0"
        assert missing(row, ["undefined"])

    def test_holes_a_single_pair_and_a_query_that_nobody_judged(self):
        wide = grades_of(
            A=[0, 1, 2, None, 1, 0],
            B=[0, 2, None, 1, 1, 0],
            C=[None, None, 2, None, None, None],
            D=[None] * 6,
        )

        table = pairwise(wide, queries=[*queries_of(wide), "nobody"])

        rows = table.set_index(["annotator_a", "annotator_b"])
        assert rows["n"].tolist() == [4, 1, 0, 0, 0, 0]
        assert rows["n_queries"].tolist() == [4, 1, 0, 0, 0, 0]
        # A 0 1 1 0, B 0 2 1 0: 1 - 4 * 1 / (2 * (0 + 1 + 4) + 2 * (2 * 1 + 0 + 1)).
        assert rows.loc[("A", "B"), "kappa_quadratic"] == pytest.approx(1 - 4 / 16)
        assert rows.loc[("A", "C"), "undefined"] == "both annotators gave only the grade 2"
        assert rows.loc[("A", "C"), "exact"] == 1.0
        assert rows.loc[("A", "C"), "exact_ci_method"] == "none (fewer than two queries)"
        for pair in [("A", "D"), ("B", "C"), ("C", "D")]:
            assert rows.loc[pair, "undefined"] == "no pair was graded by both"
            assert missing(rows.loc[pair], PAIR_VALUES)

    def test_undefined_resamples_are_counted(self):
        row = pairwise(grades_of(A=[0, 0, 1], B=[0, 0, 1]), resamples=500).iloc[0]

        same = (resample_indices(3, 500, SEED) < 2).all(axis=1)
        same |= (resample_indices(3, 500, SEED) == 2).all(axis=1)
        assert row["n_left_out"] == same.sum() > 0
        assert row["exact_n_left_out"] == 0

    def test_an_unknown_query_or_annotator_is_named(self):
        wide = grades_of(A=[0, 1, 2], B=[0, 1, 1])

        with pytest.raises(ValueError, match="query q2, which is not among the 2 queries"):
            pairwise(wide, queries=["q0", "q1"])
        with pytest.raises(ValueError, match="no grades by Z"):
            pairwise(wide, order=["A", "Z"])

    def test_a_grade_outside_the_scale_is_named(self):
        with pytest.raises(ValueError, match="grade 3 is not on the scale 0, 1, 2"):
            pairwise(grades_of(A=[0, 3], B=[0, 1]))

    @settings(max_examples=25, deadline=None)
    @given(
        grades=st.lists(
            st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 3), min_size=2, max_size=12
        ),
        seed=st.integers(0, 99),
    )
    def test_order_of_rows_symmetry_and_relabelled_ids(self, grades, seed):
        wide = grades_of(**dict(zip("ABC", map(list, zip(*grades, strict=True)), strict=True)))
        table = pairwise(wide, resamples=50)

        shuffled = pairwise(wide.sample(frac=1, random_state=seed), resamples=50)
        pd.testing.assert_frame_equal(shuffled, table)

        swapped = pairwise(wide, order=["B", "A"], resamples=50)
        numbers = [*PAIR_VALUES, "ci90_low", "ci95_high", "n_left_out"]
        pd.testing.assert_frame_equal(swapped[numbers], table.loc[:0, numbers], rtol=1e-12)

        names = np.random.default_rng(seed).permutation(len(wide)).astype(str)
        renamed = wide.set_axis(pd.MultiIndex.from_arrays([names, names], names=KEYS))
        other = pairwise(renamed, resamples=50)
        pd.testing.assert_frame_equal(other[["n", *PAIR_VALUES]], table[["n", *PAIR_VALUES]])


class TestBias:
    def test_by_hand(self):
        wide = grades_of(A=[2, 0, 1, None], B=[None, None, None, None], C=[None, 1, None, None])

        table = bias(wide, means_of([1.5, 0.25, 0.0, 2.0])).set_index("annotator")

        # A's errors: 0.5, -0.25, 1.
        assert table.loc["A", ["n", "n_queries"]].tolist() == [3, 3]
        assert table.loc["A", "me"] == pytest.approx(1.25 / 3)
        assert table.loc["A", "mae"] == pytest.approx(1.75 / 3)
        assert table.loc["A", "me_std"] == pytest.approx(np.std([0.5, -0.25, 1], ddof=1))
        assert table.loc["A", "mae_std"] == pytest.approx(np.std([0.5, 0.25, 1], ddof=1))
        assert table.loc["B", "undefined"] == "no pair was graded by both"
        assert missing(table.loc["B"], ["me", "me_std", "mae", "mae_std", "ci90_low"])
        assert table.loc["C", ["n", "me", "mae"]].tolist() == [1, 0.75, 0.75]
        assert missing(table.loc["C"], ["me_std", "mae_std", "undefined"])
        assert table.loc["C", "note"] == "a single pair has no standard deviation"

    def test_interval_of_both_errors_is_scipys(self, real, people, real_queries):
        means = mean_grades(people)
        indices = resample_indices(46, 2000, SEED)
        row = bias_table(real, means, {"A_2": "assessor"}, indices, queries=real_queries).iloc[0]

        error = real["A_2"].astype("float64") - means.set_index(KEYS)["mean_grade"]
        groups = [error.loc[[query]].dropna().to_numpy() for query in real_queries]
        for transform, low, high in (
            (np.asarray, "ci95_low", "ci95_high"),
            (np.abs, "mae_ci95_low", "mae_ci95_high"),
        ):
            drawn = [transform(group) for group in groups]
            expected = stats.bootstrap(
                (np.arange(46),),
                lambda picked, drawn=drawn: np.concatenate([drawn[i] for i in picked]).mean(),
                n_resamples=2000,
                method="BCa",
                rng=np.random.default_rng(SEED),
                vectorized=False,
            ).confidence_interval
            assert row[low] == pytest.approx(expected.low, rel=0, abs=1e-12)
            assert row[high] == pytest.approx(expected.high, rel=0, abs=1e-12)


class TestAlpha:
    def test_all_equal_no_common_pair_and_missing_cells(self):
        wide = grades_of(A=[0, 0, None, 1], B=[0, 0, 2, 2], C=[0, None, 1, 2])
        groups = {"all": ["A", "B", "C"], "alone": ["A"]}
        indices = resample_indices(4, 100, SEED)

        table = alpha_table(groups, wide, SCALE, indices, queries=queries_of(wide))
        zeros = alpha_table(
            {"AB": ["A", "B"]}, wide.iloc[:2], SCALE, indices, queries=queries_of(wide)
        )

        rows = table.set_index("group")
        expected = krippendorff.alpha(
            wide.to_numpy(dtype=float, na_value=np.nan).T,
            value_domain=SCALE,
            level_of_measurement="ordinal",
        )
        assert rows.loc["all", "alpha_ordinal"] == pytest.approx(expected)
        assert rows.loc["all", ["n_annotators", "n_pairs", "n_queries"]].tolist() == [3, 4, 4]
        assert rows.loc["alone", "undefined"] == "no pair was graded by two annotators"
        assert zeros.loc[0, "undefined"] == "all grades are equal"
        assert missing(zeros.loc[0], ["alpha_ordinal", "ci90_low", "ci95_high"])


class TestAgainstTheReference:
    def test_by_query_by_hand(self):
        wide = grades_of(M=[2, 0, None])
        table = agreement_by_query(
            wide, means_of([1.5, 0.5, 1.0]), ["M"], SCALE, queries=[*queries_of(wide), "nobody"]
        )

        assert table["query_id"].tolist() == ["nobody", "q0", "q1", "q2"]
        assert table["n"].tolist() == [0, 1, 1, 0]
        # Half to even: 1.5 is 2 and 0.5 is 0, both as M graded.
        assert table["exact"].tolist()[1:3] == [1.0, 1.0]
        assert table["me"].tolist()[1:3] == [0.5, -0.5]
        assert table["kappa_quadratic"].isna().all()
        assert table["undefined"].tolist() == [
            "no pair was graded by both",
            "both annotators gave only the grade 2",
            "both annotators gave only the grade 0",
            "no pair was graded by both",
        ]
        assert table.loc[[0, 3], ["exact", "me"]].isna().all(axis=None)

    def test_by_query_notes_a_constant_annotator(self):
        pairs = [("q", "d1"), ("q", "d2")]
        wide = pd.DataFrame(
            {"M": [1, 1]}, index=pd.MultiIndex.from_tuples(pairs, names=KEYS), dtype="Int64"
        )
        means = pd.DataFrame(pairs, columns=KEYS).assign(mean_grade=[0.0, 2.0])

        row = agreement_by_query(wide, means, ["M"], SCALE, queries=["q"]).iloc[0]

        assert (row["kappa_quadratic"], row["note"]) == (0.0, "M gave only the grade 1: kappa is 0")

    def test_confusion_by_hand(self):
        wide = grades_of(M=[2, 0, None, 1])

        table = confusion_table(wide, means_of([1.5, 0.5, 1.0, 1.75]), ["M"], SCALE)

        assert table["n"].sum() == 3
        counted = table[table["n"] > 0][["annotator", "reference_grade", "grade", "n"]]
        assert counted.to_numpy().tolist() == [["M", 0, 0, 1], ["M", 2, 1, 1], ["M", 2, 2, 1]]
        assert len(table) == 9

    def test_nobody_gives_empty_tables(self):
        wide = grades_of(M=[2, 0])
        means = means_of([1.0, 1.0])
        indices = resample_indices(2, 9, SEED)

        assert agreement_by_query(wide, means, [], SCALE, queries=queries_of(wide)).empty
        assert confusion_table(wide, means, [], SCALE).empty
        assert bias_table(wide, means, {}, indices, queries=queries_of(wide)).empty
        assert alpha_table({}, wide, SCALE, indices, queries=queries_of(wide)).empty


KAPPAS = (
    ("A_1", "A_2", 0.7301),
    ("A_1", "A_3", 0.5466),
    ("A_1", "A_4", 0.6688),
    ("A_2", "A_3", 0.6055),
    ("A_2", "A_4", 0.6951),
    ("A_3", "A_4", 0.5809),
)
# Mean error, mean absolute error.
ERRORS = {
    "A_1": (0.00, 0.25),
    "A_2": (-0.04, 0.22),
    "A_3": (0.10, 0.29),
    "A_4": (-0.08, 0.23),
    "deepseek-3.2_simple": (0.08, 0.46),
    "gpt-5-mini_simple": (0.47, 0.60),
    "sabiazinho-4_simple": (0.47, 0.64),
    "deepseek-3.2_rationale": (0.18, 0.48),
    "gpt-5-mini_rationale": (0.45, 0.58),
    "sabiazinho-4_rationale": (0.52, 0.66),
}


@pytest.fixture(scope="module")
def table(real, real_queries):
    return pairwise(real, order=list(ERRORS), queries=real_queries, resamples=1000)


class TestNormasTCU:
    """The numbers that the paper prints, and SciPy's intervals on the same data."""

    def test_kappas_of_the_people(self, table):
        found = table.set_index(["annotator_a", "annotator_b"])["kappa_quadratic"].round(4)

        assert [(a, b, found[(a, b)]) for a, b, _ in KAPPAS] == list(KAPPAS)

    def test_lowest_and_highest_kappa_of_a_person_with_another(self, table):
        is_person = table[["annotator_a", "annotator_b"]].isin(["A_1", "A_2", "A_3", "A_4"])
        mixed = table.loc[is_person.sum(axis=1) == 1, "kappa_quadratic"]

        assert len(mixed) == 24
        assert (round(mixed.min(), 2), round(mixed.max(), 2)) == (0.32, 0.53)

    def test_every_value_is_defined_and_every_interval_bca(self, table):
        assert len(table) == 45
        assert table["undefined"].isna().all()
        assert set(table["ci_method"]) == {"bca"}
        for name in PAIR_VALUES:
            prefix = "" if name == "kappa_quadratic" else f"{name}_"
            assert (table[f"{prefix}ci95_low"] < table[f"{prefix}ci90_low"]).all()
            assert (
                table[name].between(table[f"{prefix}ci90_low"], table[f"{prefix}ci90_high"]).all()
            )

    @pytest.mark.parametrize(
        ("a", "b", "expected"),
        [  # irrCAC 0.4.4, quadratic weights
            ("A_1", "A_2", 0.80501860672673),
            ("A_1", "A_3", 0.63803735097971),
            ("A_3", "A_4", 0.68513625610618),
            ("A_3", "gpt-5-mini_simple", 0.36278637022175),
        ],
    )
    def test_ac2_is_irrcacs(self, table, a, b, expected):
        found = table.set_index(["annotator_a", "annotator_b"])["ac2"]

        assert found[(a, b)] == pytest.approx(expected, rel=0, abs=1e-12)

    @pytest.mark.parametrize(
        ("column", "weights"),
        [("kappa_quadratic", "quadratic"), ("kappa_linear", "linear"), ("kappa", None)],
    )
    def test_kappas_are_scikit_learns(self, real, table, column, weights):
        for row in table.itertuples():
            both = real[[row.annotator_a, row.annotator_b]].dropna().astype(int)
            expected = cohen_kappa_score(*both.to_numpy().T, labels=list(SCALE), weights=weights)
            assert getattr(row, column) == pytest.approx(expected, rel=0, abs=1e-12)

    def test_interval_of_kappa_is_scipys_with_scikit_learns_kappa(self, real, real_queries):
        # Two of the 46 queries have no pair graded by both A_1 and A_2.
        both = real[["A_1", "A_2"]].dropna().astype(int)
        groups = [both[both.index.get_level_values(0) == query] for query in real_queries]
        groups = [group.to_numpy() for group in groups]

        def kappa_of(picked):
            pairs = np.concatenate([groups[i] for i in picked])
            # Rounded: noise must not decide which resamples equal the observed value.
            return round(cohen_kappa_score(*pairs.T, labels=list(SCALE), weights="quadratic"), 12)

        expected = stats.bootstrap(
            (np.arange(46),),
            kappa_of,
            n_resamples=400,
            method="BCa",
            rng=np.random.default_rng(SEED),
            vectorized=False,
        ).confidence_interval
        table = pairwise(real, order=["A_1", "A_2"], queries=real_queries, resamples=400)

        assert table.loc[0, "n_queries"] == 44
        assert table.loc[0, "ci95_low"] == pytest.approx(expected.low, rel=0, abs=1e-12)
        assert table.loc[0, "ci95_high"] == pytest.approx(expected.high, rel=0, abs=1e-12)

    def test_same_seed_same_numbers_bit_for_bit(self, everybody, real, real_queries):
        shuffled = wide_grades(everybody.sample(frac=1, random_state=3))
        order = ["A_1", "A_2", "gpt-5-mini_simple"]

        first = pairwise(real, order=order, queries=real_queries)
        again = pairwise(shuffled, order=order, queries=real_queries[::-1])

        pd.testing.assert_frame_equal(first, again, check_exact=True)

    def test_errors_of_all_ten(self, real, people, real_queries):
        kinds = dict.fromkeys(ERRORS, "any")
        indices = resample_indices(46, 500, SEED)

        table = bias_table(real, mean_grades(people), kinds, indices, queries=real_queries)

        found = {row.annotator: (round(row.me, 2), round(row.mae, 2)) for row in table.itertuples()}
        assert found == ERRORS
        assert table["n"].tolist() == [805, 713, 805, 725] + [812] * 6
        assert set(table["ci_method"]) == set(table["mae_ci_method"]) == {"bca"}

    def test_alpha_of_the_people(self, real, real_queries):
        indices = resample_indices(46, 500, SEED)
        people = ["A_1", "A_2", "A_3", "A_4"]

        row = alpha_table({"people": people}, real, SCALE, indices, queries=real_queries).iloc[0]

        assert round(row["alpha_ordinal"], 4) == 0.6188
        assert row["n_pairs"] == 675 + 82 + 47
        assert row["ci95_low"] < row["ci90_low"] < 0.6188 < row["ci90_high"] < row["ci95_high"]

    @pytest.mark.parametrize(
        ("annotator", "n", "expected_kappa", "expected_mae"),
        [
            ("A_1", 804, 0.7035, 0.3493),
            ("A_2", 711, 0.7611, 0.2979),
            ("A_3", 804, 0.6143, 0.4044),
            ("A_4", 721, 0.7231, 0.3095),
        ],
    )
    def test_leave_one_out(self, people, annotator, n, expected_kappa, expected_mae):
        wide = wide_grades(people)[[annotator]]
        others = leave_one_out(people, annotator)
        queries = queries_of(wide)
        indices = resample_indices(len(queries), 100, SEED)

        row = bias_table(wide, others, {annotator: "assessor"}, indices, queries=queries).iloc[0]
        others_grades = round_half_to_even(others.set_index(KEYS)["mean_grade"])
        both = wide.join(others_grades).dropna().to_numpy(dtype=float)
        confusion = confusion_by_query(*both.T, np.zeros(len(both), int), SCALE, n_queries=1)

        assert row["n"] == len(both) == n
        assert round(row["mae"], 4) == expected_mae
        assert round(float(kappa(confusion[0], SCALE)), 4) == expected_kappa

    def test_confusion_and_agreement_by_query_agree_with_the_counts(
        self, real, people, real_queries
    ):
        means = mean_grades(people)
        table = confusion_table(real, means, list(ERRORS), SCALE)
        by_query = agreement_by_query(real, means, ["A_2"], SCALE, queries=real_queries)

        counts = table.groupby(["annotator", "grade"])["n"].sum()
        assert counts["A_1"].tolist() == [536, 66, 203]
        assert counts["sabiazinho-4_rationale"].tolist() == [209, 306, 297]
        of_reference = table[table["annotator"] == "gpt-5-mini_simple"]
        assert of_reference.groupby("reference_grade")["n"].sum().tolist() == [513, 145, 154]
        assert (len(by_query), by_query["n"].sum()) == (46, 713)
        unjudged = by_query[by_query["n"] == 0]
        assert set(unjudged["undefined"]) == {"no pair was graded by both"}

    def test_interval_is_that_of_the_plain_functions(self, real, real_queries):
        indices = resample_indices(46, 1000, SEED)
        places = {query: i for i, query in enumerate(real_queries)}
        query = [places[name] for name in real.index.get_level_values("query_id")]
        grades = [real[a].to_numpy(dtype=float, na_value=np.nan) for a in ("A_3", "A_4")]
        sums = confusion_by_query(*grades, query, SCALE, n_queries=46).reshape(46, 9)

        estimate = cluster_bootstrap(
            sums, lambda totals: kappa(totals.reshape(*totals.shape[:-1], 3, 3), SCALE), indices
        )

        row = pairwise(real, order=["A_3", "A_4"], queries=real_queries, resamples=1000).iloc[0]
        assert (estimate.intervals[0.90].low, estimate.intervals[0.95].high) == (
            row["ci90_low"],
            row["ci95_high"],
        )
