"""The lines that a run ends with."""

import io

import pandas as pd
import pytest
from rich.console import Console

from normastcu.reporting.summary import (
    incomplete_sentence,
    print_folders,
    print_outcomes,
    print_plan,
    print_summary,
    summarise_judges,
)


def kappas(**values):
    """Return pairwise agreement with the given quadratic kappas, `a__b` each."""
    rows = [
        {
            "annotator_a": pair.split("__")[0],
            "annotator_b": pair.split("__")[1],
            "kappa_quadratic": value,
            "exact": 0.5,
            **dict.fromkeys(["ci90_low", "ci90_high", "ci95_low", "ci95_high"], value),
            "ci_method": "bca",
            "reading": "fair",
            "n_queries": 3,
            "undefined": None if value is not None else "constant",
        }
        for pair, value in values.items()
    ]
    return pd.DataFrame(rows).astype({"kappa_quadratic": "Float64", "undefined": "str"})


KINDS = {"reference": "reference", "A": "assessor", "B": "assessor", "x": "judge", "y": "judge"}
BIAS = pd.DataFrame({"annotator": ["x", "y"], "me": [0.1, 0.2], "mae": [0.3, 0.4]})
COVERAGE = pd.DataFrame(
    {"judge": ["x", "x", "y", "y"], "outcome": ["ok", "not judged"] * 2, "n": [9, 1, 10, 0]}
)


def printed(summary, people):
    """Return what is printed on a wide console."""
    console = Console(width=120, file=io.StringIO())
    print_summary(console, summary, people)
    print_folders(console, ["data/08_reporting/x/tables"])
    return console.file.getvalue()


def test_a_summary_by_hand():
    table = kappas(
        reference__x=0.3, reference__y=0.6, A__x=0.2, B__x=0.4, A__y=0.5, B__y=0.7, A__B=0.65
    )
    summary = summarise_judges(KINDS, table, BIAS, COVERAGE)
    assert summary["judge"].tolist() == ["y", "x"]
    assert summary["kappa_assessors"].tolist() == pytest.approx([0.6, 0.3])
    assert summary["coverage"].tolist() == [1.0, 0.9]
    text = printed(summary, table[-1:])
    assert "90.0%" in text
    assert "kappa 0.65 to 0.65" in text
    assert "2 of 2. Do not take" in text
    assert "data/08_reporting/x/tables" in text


def test_an_undefined_kappa_is_said_and_never_a_number():
    table = kappas(reference__x=None, reference__y=0.9, A__x=None, B__x=0.4, A__y=0.9, B__y=0.9)
    summary = summarise_judges(KINDS, table, BIAS, COVERAGE)
    assert summary["judge"].tolist() == ["y", "x"]
    assert summary["kappa_assessors"].isna().tolist() == [False, True]
    assert "x: kappa is undefined: constant." in printed(summary, kappas(A__B=0.8))


def test_without_judges_the_summary_says_how_to_give_some():
    table = kappas(reference__A=0.9, reference__B=0.9, A__B=0.8)
    kinds = {name: kind for name, kind in KINDS.items() if kind != "judge"}
    summary = summarise_judges(kinds, table, BIAS[:0], COVERAGE[:0])
    assert "No judge has labels yet" in printed(summary, table[-1:])


@pytest.mark.parametrize(
    ("outcomes", "stopped", "completes", "ended"),
    [
        ({"error": 2}, None, True, None),
        ({"not asked": 2}, None, True, None),
        ({"unparseable": 2}, None, False, "2 unparseable"),
        ({"refused": 1, "truncated": 1}, None, False, "1 refused, 1 truncated"),
        ({"error": 1, "too_long": 1}, None, True, "1 too_long"),
        ({"unparseable": 2}, "Its key was refused.", True, "2 unparseable"),
    ],
)
def test_the_command_is_given_where_it_completes_something(outcomes, stopped, completes, ended):
    row = {"n_ok": 2, "n": 4, "coverage": 0.5, "least_coverage": 0.95, "stopped": stopped}
    incomplete = pd.DataFrame([{"judge": "weak", **row}])
    rows = [("weak", "ok", 2), *(("weak", *one) for one in outcomes.items()), ("good", "error", 9)]
    table = pd.DataFrame(rows, columns=["judge", "outcome", "n"])
    said = incomplete_sentence(incomplete, table, "kedro run --pipelines llm_judging")
    assert ("To complete the rest: kedro run --pipelines llm_judging" in said) == completes
    if ended is None:
        assert "judging.again" not in said
    else:
        assert f"what has ended ({ended})" in said
        first = ended.split(", ")[0].split()[1]
        assert f"judging.again=[{first}]" in said
        assert "`reply_token_cap`" in said
        assert "`least_coverage`" in said


def test_how_the_pairs_have_ended_is_told_judge_by_judge():
    outcomes = pd.DataFrame(
        [("x", "error", 1), ("x", "ok", 6), ("x", "truncated", 1_993), ("y", "ok", 0)],
        columns=["judge", "outcome", "n"],
    )
    summary = pd.DataFrame(
        {
            "judge": ["x", "y"],
            "n": [2_000, 0],
            "n_ok": [6, 0],
            "coverage": [0.003, None],
            "n_calls": [2_104, 0],
        }
    )
    console = Console(width=120, file=io.StringIO())
    print_outcomes(console, outcomes, summary)
    rows = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["x", "2,000", "6", "0.3%", "2,104", "1", "error,", "1,993", "truncated"] in rows
    assert ["y", "0", "0", "0"] in rows


def test_a_plan_is_read_whole_on_a_narrow_terminal():
    plan = pd.DataFrame(
        {
            "judge": ["a-model-with-quite-a-long-name_rationale", "b"],
            "pairs": pd.array([14_469, 1], dtype="Int64"),
            "calls": pd.array([14_469, 0], dtype="Int64"),
            "tokens_in": pd.array([98_000_000, 0], dtype="Int64"),
            "tokens_out": pd.array([14_816_256, 0], dtype="Int64"),
            "cost": pd.array([None, 0.0], dtype="Float64"),
            "seconds": pd.array([None, 90.0], dtype="Float64"),
        }
    )
    console = Console(width=80, file=io.StringIO())
    print_plan(console, plan)
    told = console.file.getvalue()
    assert "…" not in told
    rows = [line.split()[-7:] for line in told.splitlines()]
    assert ["1", "0", "0", "0", "0.00", "1.5", "min"] in rows
    assert ["14,470", "14,469", "98,000,000", "14,816,256", "unknown", "no", "limit"] in rows
