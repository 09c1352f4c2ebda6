"""The verdict: what decides, what is said, and what stands beside it."""

import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from normastcu.evaluation.human_ceiling import LEADING, MEAN
from normastcu.evaluation.systems import estimate_table
from normastcu.evaluation.verdict import (
    INTERVAL_NOTE,
    NOT_ENOUGH_SYSTEMS,
    NOT_SHOWN,
    TYPES,
    UNDEFINED,
    USABLE,
    VERDICTS,
    VerdictRule,
    decide,
    sentence,
    verdicts,
)

RULE = VerdictRule(interval="bca")
CI = ("ci90_low", "ci90_high", "ci95_low", "ci95_high")


def correlation(judge, tau, interval, **more):
    row = {
        "qrels": judge,
        "reference": "reference",
        "measure": "nDCG@10",
        "query_set": "common",
        "system_set": "all",
        "coefficient": "tau_b",
        "n_systems": 15,
        "value": tau,
        "n_left_out": 0,
        **dict(zip(CI, interval, strict=True)),
        "ci_method": "bca",
        "n_queries": 44,
        "undefined": None,
    }
    return row | more


def correlations(*rows):
    """Make the table, with rows that must not count beside each."""
    others = [
        row | {"value": -1.0, column: value}
        for row in rows
        for column, value in (
            ("query_set", "per_qrels"),
            ("system_set", "one_per_family"),
            ("coefficient", "rho"),
        )
    ]
    leading = ["qrels", "reference", "measure", "query_set", "system_set", "coefficient"]
    return estimate_table([*others, *rows], [*leading, "n_systems", "value"], (0.90, 0.95))


def ceiling(judge="judge", difference=-0.02, interval=(-0.04, 0.01, -0.06, 0.02)):
    row = {
        "annotator": judge,
        "reference": MEAN,
        "measure": "nDCG@10",
        "statistic": "tau_b minus people",
        "value": difference,
        "n": 15,
        **dict(zip(CI, interval, strict=True)),
        "ci_method": "bca",
        "n_queries": 40,
    }
    tau = row | {"statistic": "tau_b", "value": 0.5, "ci90_low": 0.4}
    return estimate_table([tau, row], LEADING, (0.90, 0.95))


def shrunken(judge="judge", value=0.98, interval=(0.93, 1.0, 0.88, 1.0)):
    row = {
        "qrels": judge,
        "measure": "nDCG@10",
        "coefficient": "tau_b",
        "shrunken": value,
        **dict(zip(CI, interval, strict=True)),
    }
    leading = ["qrels", "measure", "coefficient", "shrunken"]
    return estimate_table(
        [row | {"coefficient": "rho", "ci90_low": 0.0}, row], leading, (0.9, 0.95)
    )


def differences(value=-0.03, interval=(-0.045, 0.02, -0.06, 0.03)):
    table = shrunken(value=value, interval=interval)
    return table[table["coefficient"] == "tau_b"].assign(coefficient="tau_b minus people")


NOBODY = estimate_table([], LEADING, (0.90, 0.95))
NOTHING = shrunken(judge="another")


def verdict(row, people=NOBODY, beside=NOTHING, rule=RULE, **more):
    table = verdicts(correlations(row), people, beside, ["judge"], rule, **more)
    assert len(table) == 1
    return table.iloc[0]


class TestDecision:
    @pytest.mark.parametrize(
        ("interval", "people", "expected"),
        [
            ((0.91, 0.98, 0.88, 0.99), None, (USABLE, "bound")),
            ((0.85, 0.98, 0.80, 0.99), None, (NOT_SHOWN, None)),
            ((0.90, 0.98, 0.89, 0.99), None, (NOT_SHOWN, None)),
            ((0.85, 0.98, 0.80, 0.99), -0.04, (USABLE, "people")),
            ((0.85, 0.98, 0.80, 0.99), -0.05, (NOT_SHOWN, None)),
            ((0.91, 0.98, 0.88, 0.99), -0.04, (USABLE, "bound, people")),
            ((0.50, 0.70, 0.45, 0.75), None, (NOT_SHOWN, None)),
            ((None, None, None, None), None, (NOT_SHOWN, None)),
        ],
    )
    def test_by_the_lower_ends(self, interval, people, expected):
        beside_people = ceiling(interval=(people, 0.1, -0.2, 0.2)) if people else NOBODY

        row = verdict(correlation("judge", 0.94, interval), beside_people)

        shown_by = None if pd.isna(row["shown_by"]) else row["shown_by"]
        assert (row["verdict"], shown_by) == expected

    @pytest.mark.parametrize(("n_systems", "expected"), [(9, NOT_ENOUGH_SYSTEMS), (10, USABLE)])
    def test_few_systems_are_not_enough_however_well_they_agree(self, n_systems, expected):
        row = correlation("judge", 1.0, (1.0, 1.0, 1.0, 1.0), n_systems=n_systems)

        assert verdict(row, ceiling())["verdict"] == expected

    def test_systems_that_retrieve_nothing_do_not_count(self):
        row = correlation("judge", 1.0, (1.0, 1.0, 1.0, 1.0), n_systems=15)

        found = verdict(row, n_retrieving=9)

        assert found["verdict"] == NOT_ENOUGH_SYSTEMS
        assert "9 that retrieve anything, of at least 10." in found["sentence"]
        assert verdict(row, n_retrieving=10)["verdict"] == USABLE

    @pytest.mark.parametrize(
        ("interval", "bca", "other", "expected"),
        [
            ("both", -0.04, -0.04, USABLE),
            ("both", -0.04, -0.06, NOT_SHOWN),
            ("both", -0.06, -0.04, NOT_SHOWN),
            ("both", -0.04, None, NOT_SHOWN),
            ("shrunken", -0.06, -0.04, USABLE),
            ("shrunken", -0.04, -0.05, NOT_SHOWN),
            ("bca", -0.04, -0.06, USABLE),
        ],
    )
    def test_the_difference_to_people_has_two_intervals_too(self, interval, bca, other, expected):
        row = correlation("judge", 0.7, (0.6, 0.8, 0.5, 0.9))
        beside = NOTHING if other is None else differences(interval=(other, 0.1, -0.2, 0.2))

        found = verdict(
            row,
            ceiling(interval=(bca, 0.1, -0.2, 0.2)),
            beside,
            rule=VerdictRule(interval=interval),
        )

        assert found["verdict"] == expected
        assert expected == NOT_SHOWN or found["shown_by"] == "people"
        if other is not None:
            assert found["minus_people_shrunken_low"] == other

    def test_an_undefined_tau_gives_none(self):
        reason = "all systems are equal under judge"
        row = correlation("judge", None, (None,) * 4, undefined=reason, ci_method="none (x)")

        found = verdict(row, ceiling())

        assert (found["verdict"], found["undefined"]) == (UNDEFINED, reason)
        assert reason in found["sentence"]

    def test_the_confidence_is_a_setting(self):
        row = correlation("judge", 0.94, (0.91, 0.98, 0.88, 0.99))

        assert verdict(row)["verdict"] == USABLE
        assert (
            verdict(row, rule=VerdictRule(interval="bca", confidence=0.95))["verdict"] == NOT_SHOWN
        )

    def test_the_shrunken_interval_can_decide(self):
        row = correlation("judge", 0.88, (0.80, 0.95, 0.78, 0.96))
        rule = VerdictRule(interval="shrunken")

        assert verdict(row, beside=shrunken())["verdict"] == NOT_SHOWN
        found = verdict(row, beside=shrunken(), rule=rule)
        assert (found["verdict"], found["shown_by"]) == (USABLE, "bound")
        assert "What decides lies above the bound 0.9." in found["sentence"]
        assert verdict(row, rule=rule)["verdict"] == NOT_SHOWN

    @pytest.mark.parametrize(
        ("bca", "other", "expected"),
        [(0.91, 0.91, USABLE), (0.91, 0.90, NOT_SHOWN), (0.90, 0.91, NOT_SHOWN)],
    )
    def test_unless_told_otherwise_both_intervals_have_to_show_it(self, bca, other, expected):
        row = correlation("judge", 0.95, (bca, 0.99, 0.80, 0.99))
        beside = shrunken(interval=(other, 1.0, 0.8, 1.0))

        found = verdict(row, beside=beside, rule=VerdictRule())

        assert found["verdict"] == expected
        shown = "Both intervals have to lie above 0.9." in found["sentence"]
        assert shown == (expected == NOT_SHOWN)
        assert verdict(row, rule=VerdictRule())["verdict"] == NOT_SHOWN, "no shrunken one"

    def test_floating_point_noise_shows_nothing(self):
        row = {"tau": 0.95, "n_retrieving": 15, "ci90_low": 0.9 + 1e-15}
        assert decide(row, RULE) == (NOT_SHOWN, None)

    @settings(deadline=None)
    @given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-2, 2), st.integers(0, 30))
    def test_a_better_judge_has_no_worse_verdict(self, low, higher, people, n):
        order = {NOT_ENOUGH_SYSTEMS: 0, NOT_SHOWN: 0, USABLE: 1}
        rows = [
            {"tau": 0.9, "n_retrieving": n, "ci90_low": end, "tau_minus_people_low": people}
            for end in sorted((low, higher))
        ]
        worse, better = (order[decide(row, RULE)[0]] for row in rows)
        assert worse <= better

    @pytest.mark.parametrize(
        "wrong", [{"least_systems": 1}, {"bound": 1.0}, {"margin": -0.1}, {"confidence": 0.8}]
    )
    def test_rules_that_make_no_sense(self, wrong):
        with pytest.raises(ValidationError):
            VerdictRule(**wrong)


class TestSentence:
    def test_it_gives_the_numbers(self):
        row = correlation("judge", 0.9238095238, (0.9142, 0.98, 0.88, 0.99))

        found = verdict(row, ceiling(), shrunken())

        assert found["sentence"] == (
            "judge is usable to rank systems by nDCG@10. Kendall's tau-b with the reference is "
            "0.924 (90 % interval 0.914 to 0.98, BCa; queries: 44, systems: 15). With the noise "
            "of the queries taken out it is 0.98 (0.93 to 1). What decides lies above the bound "
            "0.9. It is shown to be no more than 0.05 below the people's own: its tau-b with the "
            "leave-one-out references minus theirs is −0.02 (−0.04 to 0.01)."
        )
        assert found["sentence_pt"] == (
            "judge serve para ordenar sistemas por nDCG@10. O tau-b de Kendall com a referência é "
            "0,924 (intervalo de 90 %: 0,914 a 0,98, BCa; consultas: 44, sistemas: 15). Descontado "
            "o ruído das consultas, é 0,98 (0,93 a 1). O que decide fica acima do limite 0,9. Está "
            "demonstrado que não fica mais de 0,05 abaixo das próprias pessoas: seu tau-b com as "
            "referências que excluem uma pessoa, menos o delas, é −0,02 (−0,04 a 0,01)."
        )

    def test_it_gives_both_intervals_of_the_difference_to_people(self):
        row = correlation("judge", 0.7, (0.6, 0.8, 0.5, 0.9))

        usable = verdict(row, ceiling(), differences(), rule=VerdictRule())
        not_shown = verdict(
            row, ceiling(interval=(-0.2, 0.1, -0.3, 0.2)), differences(), rule=VerdictRule()
        )

        assert usable["sentence"].endswith(
            "its tau-b with the leave-one-out references minus theirs is −0.02 (−0.04 to 0.01), "
            "without the noise −0.03 (−0.045 to 0.02)."
        )
        assert not_shown["sentence"].endswith(
            "Its tau-b with the leave-one-out references minus the people's own is −0.02 (−0.2 to "
            "0.1), without the noise −0.03 (−0.045 to 0.02). It would do as well if both intervals "
            "of that lay above −0.05."
        )
        assert "sem o ruído −0,03 (−0,045 a 0,02)" in usable["sentence_pt"]
        assert not_shown["sentence_pt"].endswith("ficassem acima de −0,05.")

    def test_what_is_left_out_is_said(self):
        row = correlation("judge", 0.95, (0.91, 0.98, 0.88, 0.99))

        found = verdict(row, n_left_out={"judge": 12})

        assert found["n_pairs_left_out"] == 12
        assert found["sentence"].endswith("left out on both sides: 12.")

    @pytest.mark.parametrize(
        ("n_systems", "tau", "interval", "method"),
        list(
            itertools.product(
                (3, 15), (0.5, None), ((0.1, 0.9, 0.0, 1.0), (None,) * 4), ("bca", "percentile (x)")
            )
        ),
    )
    def test_every_case_can_be_said_in_both_languages(self, n_systems, tau, interval, method):
        row = correlation("j{udge}", tau, interval, n_systems=n_systems, ci_method=method)
        row["undefined"] = "all systems are equal" if tau is None else None

        table = verdicts(correlations(row), NOBODY, NOTHING, ["j{udge}"], RULE)

        for text in table.loc[0, ["sentence", "sentence_pt"]]:
            assert "j{udge}" in text
            assert "nan" not in text.lower().replace("não", "")
            assert "None" not in text
            assert "<NA>" not in text

    def test_the_row_of_the_table_gives_the_same_sentence(self):
        found = verdict(correlation("judge", 0.95, (0.91, 0.98, 0.88, 0.99)), ceiling())
        assert sentence(found.to_dict()) == found["sentence"]
        assert sentence(found.to_dict(), "pt") == found["sentence_pt"]

    def test_the_honest_word_is_there_in_both_languages(self):
        assert "more rarely than they say" in INTERVAL_NOTE["en"]
        assert "menos vezes do que dizem" in INTERVAL_NOTE["pt"]


class TestTable:
    def test_judges_stand_in_their_order_with_their_costs(self):
        rows = [correlation(name, 0.9, (0.8, 1.0, 0.7, 1.0)) for name in ("a", "b", "person")]

        table = verdicts(correlations(*rows), NOBODY, NOTHING, ["b", "a"], RULE, costs={"a": 0.5})

        assert list(table.columns) == list(TYPES)
        assert table["judge"].tolist() == ["b", "a"]
        assert table["cost_per_1000_pairs"].isna().tolist() == [True, False]
        assert set(table["verdict"]) <= set(VERDICTS)
        assert table["ci95_low"].tolist() == [0.7, 0.7]

    def test_without_judges_it_is_empty_with_its_columns(self):
        table = verdicts(correlations(), NOBODY, NOTHING, [], RULE)
        assert list(table.columns) == list(TYPES)
        assert table.empty
