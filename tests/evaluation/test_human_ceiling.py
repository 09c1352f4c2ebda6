"""People as the yardstick: small cases by hand, then the numbers known for NormasTCU."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from normastcu.evaluation.agreement import leave_one_out, round_half_to_even, wide_grades
from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.human_ceiling import (
    alternative_annotator_tests,
    human_ceiling,
    ranking_ceiling,
    winning_rates,
)
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import rank_correlation
from normastcu.evaluation.significance import benjamini_hochberg

SCALE = (0, 1, 2)
SEED = 20260
PEOPLE = ["A_1", "A_2", "A_3", "A_4"]
MEAN = "leave-one-out (mean)"


def grades_of(**annotators):
    """Make grades side by side, one pair a query; None is no grade."""
    n = len(next(iter(annotators.values())))
    pairs = [(f"q{i:03}", "d") for i in range(n)]
    index = pd.MultiIndex.from_tuples(pairs, names=["query_id", "doc_id"])
    return pd.DataFrame(annotators, index=index, dtype="Int64")


def ceiling(wide, people, others, resamples=100):
    queries = wide.index.unique("query_id")
    indices = resample_indices(len(queries), resamples, SEED)
    return human_ceiling(wide, people, others, SCALE, indices, queries=queries)


def row_of(table, annotator, reference, statistic):
    wanted = (
        (table["annotator"] == annotator)
        & (table["reference"] == reference)
        & (table["statistic"] == statistic)
    )
    assert wanted.sum() == 1
    return table[wanted].iloc[0]


@pytest.fixture(scope="module")
def real(everybody):
    return wide_grades(everybody)


@pytest.fixture(scope="module")
def real_judges(real):
    return [name for name in real.columns if name not in PEOPLE]


@pytest.fixture(scope="module")
def real_table(real, real_judges):
    return ceiling(real, PEOPLE, real_judges, resamples=200)


class TestByHand:
    def test_columns_and_rows_are_promised(self):
        table = ceiling(grades_of(A=[0, 1, 2], B=[0, 1, 1], J=[2, 1, 0]), ["A", "B"], ["J"])

        assert list(table.columns) == [
            *["annotator", "reference", "measure", "statistic", "value", "n"],
            *["ci90_low", "ci90_high", "ci95_low", "ci95_high", "ci_method", "n_left_out"],
            *["n_queries", "undefined"],
        ]
        assert set(table["measure"]) == {"pair"}
        rows = table[["annotator", "reference"]].drop_duplicates().to_numpy().tolist()
        assert rows == [
            ["A", "without_A"],
            ["B", "without_B"],
            ["people (mean)", MEAN],
            ["J", "without_A"],
            ["J", "without_B"],
            ["J", MEAN],
        ]

    def test_the_reference_leaves_the_person_out(self):
        wide = grades_of(A=[2, 0], B=[0, 0], C=[1, 1], J=[2, 2])

        table = ceiling(wide, ["A", "B", "C"], ["J"])

        # Means of the others: B and C 0.5, 0.5; A and C 1.5, 0.5; A and B 1, 0.
        assert row_of(table, "A", "without_A", "me")["value"] == (1.5 - 0.5) / 2
        assert row_of(table, "A", "without_A", "mae")["value"] == (1.5 + 0.5) / 2
        assert row_of(table, "B", "without_B", "me")["value"] == (-1.5 - 0.5) / 2
        assert row_of(table, "C", "without_C", "mae")["value"] == (0 + 1) / 2
        judge = [row_of(table, "J", f"without_{person}", "me")["value"] for person in "ABC"]
        assert judge == [1.5, 1.0, 1.5]
        assert row_of(table, "J", MEAN, "me")["value"] == pytest.approx(4 / 3)
        people = (0.5 - 1.0 + 0.5) / 3
        assert row_of(table, "people (mean)", MEAN, "me")["value"] == pytest.approx(people)
        assert row_of(table, "J", MEAN, "me minus people")["value"] == pytest.approx(4 / 3)

    def test_pairs_that_nobody_else_graded_do_not_count(self):
        wide = grades_of(A=[2, 0, 1], B=[None, 0, 1], J=[1, None, 1])

        table = ceiling(wide, ["A", "B"], ["J"])

        assert row_of(table, "A", "without_A", "mae")["n"] == 2
        assert row_of(table, "J", "without_A", "mae")["n"] == 1
        assert row_of(table, "J", "without_B", "mae")["n"] == 2

    def test_undefined_with_the_reason(self):
        wide = grades_of(A=[1, 1], B=[1, 1], J=[None, None])

        table = ceiling(wide, ["A", "B"], ["J"])

        kappa = row_of(table, "A", "without_A", "kappa_quadratic")
        assert pd.isna(kappa["value"])
        assert kappa["undefined"] == "both annotators gave only the grade 1"
        assert row_of(table, "A", "without_A", "mae")["value"] == 0
        assert row_of(table, "J", "without_A", "mae")["undefined"] == "no pair was graded by both"
        mean = row_of(table, "J", MEAN, "mae")
        assert mean["undefined"] == "undefined for at least one of the people"

    def test_one_person_has_no_others(self):
        with pytest.raises(ValueError, match="There are 1 people"):
            ceiling(grades_of(A=[1, 2], J=[1, 2]), ["A"], ["J"])


class TestRealData:
    def test_the_known_numbers(self, real_table):
        rows = [
            [row_of(real_table, p, f"without_{p}", statistic) for p in PEOPLE]
            for statistic in ("kappa_quadratic", "mae")
        ]

        kappas, errors = ([row["value"] for row in of_statistic] for of_statistic in rows)
        assert [row["n"] for row in rows[0]] == [804, 711, 804, 721]
        assert kappas == pytest.approx([0.7035, 0.7611, 0.6143, 0.7231], rel=0, abs=5e-5)
        assert errors == pytest.approx([0.3493, 0.2979, 0.4044, 0.3095], rel=0, abs=5e-5)
        mean = row_of(real_table, "people (mean)", MEAN, "kappa_quadratic")
        assert mean["value"] == pytest.approx(np.mean(kappas))

    def test_judges_beside_scikit_learn(self, real, real_judges, real_table, people):
        for person in PEOPLE:
            others = leave_one_out(people, person).set_index(["query_id", "doc_id"])
            grade = round_half_to_even(others["mean_grade"]).astype(int)
            for judge in real_judges:
                expected = cohen_kappa_score(
                    grade,
                    real[judge].reindex(grade.index).astype(int),
                    labels=list(SCALE),
                    weights="quadratic",
                )
                row = row_of(real_table, judge, f"without_{person}", "kappa_quadratic")
                assert row["value"] == pytest.approx(expected, rel=0, abs=1e-12)
                assert row["n"] == len(grade)

    def test_every_judge_lies_below_the_people(self, real_table):
        lead = real_table[real_table["statistic"] == "kappa_quadratic minus people"]

        assert len(lead) == 6
        assert (lead["ci90_high"] < 0).all()
        assert (lead["value"] < lead["ci90_high"]).all()


class TestRankings:
    def measured(self):
        rng = np.random.default_rng(SEED)
        names = ["A", "B", "J", "without_A", "without_B"]
        truth = rng.random((6, 20)) + np.linspace(0, 0.5, 6)[:, np.newaxis]
        values = [truth + 0.4 * rng.standard_normal(truth.shape) for _ in names]
        return QueryMeasures(
            qrels=tuple(names),
            measures=("MRR",),
            systems=tuple(f"S_{i}" for i in range(6)),
            queries=tuple(f"q{i:02}" for i in range(20)),
            values=np.stack(values)[:, np.newaxis],
            n_judged=np.ones((5, 20), dtype=np.int64),
            n_relevant=np.ones((5, 20), dtype=np.int64),
            report=pd.DataFrame(),
        )

    def test_values_are_those_of_the_rank_correlation(self):
        measured, indices = self.measured(), resample_indices(20, 300, SEED)
        references = {"A": "without_A", "B": "without_B"}

        table = ranking_ceiling(measured, references, ["J"], indices, measures=["MRR"])

        columns = ["value", "ci90_low", "ci90_high", "ci_method", "n_queries"]
        taus = {}
        for person, reference in references.items():
            expected = rank_correlation(
                measured, reference, indices, query_sets=["common"], coefficients=["tau_b"]
            ).set_index("qrels")
            for name in (person, "J"):
                row = row_of(table, name, reference, "tau_b")
                assert row[columns].tolist() == expected.loc[name, columns].tolist()
                assert row["n"] == 6
                taus[name, person] = row["value"]
        lead = (taus["J", "A"] + taus["J", "B"] - taus["A", "A"] - taus["B", "B"]) / 2
        row = row_of(table, "J", MEAN, "tau_b minus people")
        assert row["value"] == pytest.approx(lead, abs=1e-12)
        assert row["ci90_low"] < lead < row["ci90_high"]

    def test_a_person_beside_themselves_does_not_differ(self):
        measured, indices = self.measured(), resample_indices(20, 100, SEED)
        references = {"A": "without_A", "B": "without_A"}

        table = ranking_ceiling(measured, references, ["A", "B"], indices, measures=["MRR"])

        leads = [row_of(table, n, MEAN, "tau_b minus people")["value"] for n in ("A", "B")]
        assert sum(leads) == pytest.approx(0)

    def test_undefined_with_the_reason(self):
        measured = self.measured()
        measured.values[2] = 0.5

        table = ranking_ceiling(
            measured,
            {"A": "without_A", "B": "without_B"},
            ["J"],
            resample_indices(20, 50, SEED),
            measures=["MRR"],
        )

        row = row_of(table, "J", "without_A", "tau_b")
        assert row["undefined"] == "all systems are equal under J"
        lead = row_of(table, "J", MEAN, "tau_b minus people")
        assert lead["undefined"] == "undefined for at least one of the people"


class TestAlternativeAnnotator:
    def test_wins_by_hand(self):
        # Distances to B's grade 1: A 1, J 0 on even pairs, J 1 on odd ones.
        n = 40
        wide = grades_of(A=[2] * n, B=[1] * n, J=[1, 0] * (n // 2))

        tests = alternative_annotator_tests(wide, ["A", "B"], ["J"]).set_index("person")

        assert tests.loc["A", ["n", "annotator_wins", "person_wins"]].tolist() == [40, 1.0, 0.5]
        # Distances to A's grade 2: B 1, J 1 on even pairs, J 2 on odd ones.
        assert tests.loc["B", ["annotator_wins", "person_wins"]].tolist() == [0.5, 1.0]

    def test_p_values_are_scipys(self):
        rng = np.random.default_rng(SEED)
        wide = grades_of(**{name: rng.integers(0, 3, 80) for name in ("A", "B", "C", "J")})

        tests = alternative_annotator_tests(wide, ["A", "B", "C"], ["J"], epsilon=0.15)

        grades = wide.astype(float)
        expected = []
        for person, rest in (("A", ["B", "C"]), ("B", ["A", "C"]), ("C", ["A", "B"])):
            far, own_far = (
                grades[rest].sub(grades[name], axis=0).abs().mean(axis=1) for name in ("J", person)
            )
            lead = (own_far <= far).astype(float) - (far <= own_far)
            expected.append(stats.ttest_1samp(lead, 0.15, alternative="less").pvalue)
        assert tests["p_value"].tolist() == pytest.approx(expected, rel=1e-12)
        adjusted = stats.false_discovery_control(expected, method="by")
        assert tests["p_adjusted"].tolist() == pytest.approx(adjusted, rel=1e-12)

    def test_a_perfect_annotator_wins_every_place(self):
        rng = np.random.default_rng(SEED)
        truth = rng.integers(0, 3, 60)
        people = {name: (truth + rng.integers(0, 2, 60)).clip(0, 2) for name in ("A", "B", "C")}

        rates = winning_rates(
            alternative_annotator_tests(grades_of(**people, J=truth), ["A", "B", "C"], ["J"])
        )

        assert rates["winning_rate"].tolist() == [1.0]
        assert rates["n_people"].tolist() == [3]

    def test_a_copy_of_a_person_passes_only_within_epsilon(self):
        rng = np.random.default_rng(SEED)
        people = {name: rng.integers(0, 3, 50) for name in ("A", "B")}
        wide = grades_of(**people, J=people["A"])

        as_good = alternative_annotator_tests(wide, ["A", "B"], ["J"], epsilon=0.1)
        better = alternative_annotator_tests(wide, ["A", "B"], ["J"], epsilon=0.0)

        # Beside A there is no difference on any pair: below 0.1 for sure, never below 0.
        assert as_good["p_value"][0] == 0
        assert better["p_value"][0] == 1

    def test_few_pairs_are_undefined(self):
        wide = grades_of(A=[1] * 29, B=[1] * 29, J=[1] * 29)

        tests = alternative_annotator_tests(wide, ["A", "B"], ["J"])
        rates = winning_rates(tests)

        assert set(tests["undefined"]) == {"fewer than 30 pairs"}
        assert tests[["p_value", "won"]].isna().all(axis=None)
        assert rates["winning_rate"].isna().all()
        assert rates["undefined"].tolist() == ["fewer than 30 pairs"]

    def test_real_judges(self, real, real_judges):
        tests = alternative_annotator_tests(real, PEOPLE, real_judges)
        rates = winning_rates(tests).set_index("annotator")

        assert tests.groupby("annotator")["n"].unique().map(list).iloc[0] == [804, 711, 721]
        assert rates["epsilon"].unique().tolist() == [0.2]
        # The order of the judges by advantage is that of their published errors (Table 11).
        assert rates["advantage"].nlargest(2).index.tolist() == [
            "deepseek-3.2_rationale",
            "deepseek-3.2_simple",
        ]
        assert rates["advantage"].idxmin() == "sabiazinho-4_rationale"

    def test_the_correction_is_a_setting(self, real, real_judges):
        settings = {"epsilon": 0.2, "correct": benjamini_hochberg}

        tests = alternative_annotator_tests(real, PEOPLE, real_judges[:1], **settings)

        expected = stats.false_discovery_control(tests["p_value"].astype(float), method="bh")
        assert tests["p_adjusted"].tolist() == pytest.approx(expected, rel=1e-9)

    def test_epsilon_is_a_share(self):
        with pytest.raises(ValueError, match="Epsilon is 20"):
            alternative_annotator_tests(
                grades_of(A=[1], B=[1], J=[1]), ["A", "B"], ["J"], epsilon=20
            )
