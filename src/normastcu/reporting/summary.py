"""The few lines that a run ends with."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from normastcu.collection.judgments import REFERENCE

PLAIN_WIDTH = 120
TEXT_COLUMNS = ("judge", "ci_method", "reading", "undefined")
WHOLE_COLUMNS = ("n", "n_asked", "n_queries")
ASKED_BY_THE_NEXT_RUN = ("error", "not asked")
COLUMNS = (
    "judge",
    "n",
    "n_asked",
    "coverage",
    "kappa_quadratic",
    "ci90_low",
    "ci90_high",
    "ci95_low",
    "ci95_high",
    "ci_method",
    "reading",
    "kappa_assessors",
    "exact",
    "me",
    "mae",
    "n_queries",
    "undefined",
)


def summarise_judges(
    kinds: Mapping[str, str], kappas: pd.DataFrame, bias: pd.DataFrame, coverage: pd.DataFrame
) -> pd.DataFrame:
    """Return a few numbers of each judge, the best first.

    Parameters
    ----------
    kinds
        The kind of each annotator.
    kappas
        Every pairwise agreement, `reference` among the annotators.
    bias
        Mean error and mean absolute error by annotator.
    coverage
        judge, outcome, n.

    Returns
    -------
    pandas.DataFrame
        judge, n (pairs graded), n_asked, coverage, kappa_quadratic (with the reference), its
        intervals, reading, kappa_assessors (mean over the people; missing where one is
        undefined), exact, me, mae, undefined; by kappa descending.
    """
    with_reference = kappas[kappas["annotator_a"] == REFERENCE].set_index("annotator_b")
    errors = bias.set_index("annotator")
    people = [name for name, kind in kinds.items() if kind == "assessor"]
    rows = []
    for judge in [name for name, kind in kinds.items() if kind == "judge"]:
        own = with_reference.loc[judge]
        outcomes = coverage[coverage["judge"] == judge].set_index("outcome")["n"]
        asked = outcomes.drop("outside the reference", errors="ignore").sum()
        pairs = kappas[kappas["annotator_a"].isin(people) & (kappas["annotator_b"] == judge)]
        rows.append(
            {
                **own,
                "judge": judge,
                "n": outcomes["ok"],
                "n_asked": asked,
                "coverage": outcomes["ok"] / asked,
                "kappa_assessors": pairs["kappa_quadratic"].mean(skipna=False),
                "me": errors.loc[judge, "me"],
                "mae": errors.loc[judge, "mae"],
            }
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        dict.fromkeys(COLUMNS, "Float64")
        | dict.fromkeys(TEXT_COLUMNS, "str")
        | dict.fromkeys(WHOLE_COLUMNS, "Int64")
    )
    return table.sort_values(
        ["kappa_quadratic", "judge"], ascending=[False, True], ignore_index=True
    )


def summary_console() -> Console:
    """Return where such lines are printed: as wide as the terminal, wide enough elsewhere."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def print_summary(console: Console, summary: pd.DataFrame, human_kappa: pd.DataFrame) -> None:
    """Print the judges, and the people's agreement beside them.

    Parameters
    ----------
    console
        Where to print.
    summary
        As `summarise_judges` returns it.
    human_kappa
        The pairwise agreement of the people.
    """
    if len(summary):
        console.print(_judge_table(summary))
        for row in summary[summary["undefined"].notna()].to_dict("records"):
            console.print(escape(f"{row['judge']}: kappa is undefined: {row['undefined']}."))
    else:
        console.print("No judge has labels yet: give some with `judge_labels`.")
    console.print(_people_sentence(human_kappa, summary))


def print_folders(console: Console, folders: Iterable[str]) -> None:
    """Print where the results of a run lie."""
    console.print("Results:")
    for folder in folders:
        console.print(f"  {folder}", soft_wrap=True, highlight=False)


def print_plan(console: Console, plan: pd.DataFrame) -> None:
    """Print what each judge would still be asked, and the total.

    Parameters
    ----------
    console
        Where to print.
    plan
        judge, pairs, calls, tokens_in, tokens_out, cost, seconds; unknown is missing. Tokens and
        cost are the most that the replies may take.
    """
    headings = ("pairs", "calls left", "tokens in", "tokens out", "cost", "time")
    table = _table_of_judges("What is left to ask (at most)", headings, overflow="fold")
    numbers = plan.drop(columns="judge")
    total = {name: numbers[name].sum(skipna=False) for name in numbers} | {"judge": "all judges"}
    for row in [*plan.to_dict("records"), total]:
        table.add_row(
            escape(row["judge"]),
            f"{row['pairs']:,}",
            f"{row['calls']:,}",
            f"{row['tokens_in']:,}",
            f"{row['tokens_out']:,}",
            "unknown" if pd.isna(row["cost"]) else f"{row['cost']:,.2f}",
            "no limit" if pd.isna(row["seconds"]) else f"{row['seconds'] / 60:,.1f} min",
        )
    console.print(table)


def print_outcomes(console: Console, outcomes: pd.DataFrame, summary: pd.DataFrame) -> None:
    """Print how the pairs of each judge have ended.

    Parameters
    ----------
    console
        Where to print.
    outcomes
        judge, outcome, n.
    summary
        judge, n, n_ok, coverage, n_calls (of this run).
    """
    headings = ("pairs", "with a grade", "coverage", "calls now")
    table = _table_of_judges("How each judge's pairs have ended", headings, overflow="fold")
    table.add_column("without a grade")
    for row in summary.to_dict("records"):
        others = outcomes[(outcomes["judge"] == row["judge"]) & (outcomes["outcome"] != "ok")]
        table.add_row(
            escape(row["judge"]),
            f"{row['n']:,}",
            f"{row['n_ok']:,}",
            "" if pd.isna(row["coverage"]) else f"{row['coverage']:.1%}",
            f"{row['n_calls']:,}",
            _counted(others),
        )
    console.print(table)


def find_incomplete(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the judges that have fewer grades than they must, or were stopped.

    Parameters
    ----------
    summary
        judge, coverage, least_coverage, stopped.
    """
    short = (summary["coverage"] < summary["least_coverage"]).fillna(True)
    return summary[short | (summary["stopped"].notna() & (summary["least_coverage"] > 0))]


def incomplete_sentence(incomplete: pd.DataFrame, outcomes: pd.DataFrame, command: str) -> str:
    """Say which judges are incomplete, with all outcomes, and what completes them.

    Parameters
    ----------
    incomplete
        The judges, as `find_incomplete` returns them.
    outcomes
        judge, outcome, n of all judges.
    command
        The command that asks for the rest.
    """
    reasons = [
        f"- {row['judge']}: {row['n_ok']} of {row['n']} pairs have a grade "
        f"({row['coverage']:.1%}; at least {row['least_coverage']:.1%} are wanted)."
        + (f" {row['stopped']}" if not pd.isna(row["stopped"]) else "")
        for row in incomplete.to_dict("records")
    ]
    counts = [f"- {judge}: {_counted(own)}" for judge, own in outcomes.groupby("judge", sort=False)]
    return "\n".join(
        [
            "Not every judge is complete. Everything that was answered is stored.",
            *reasons,
            "Outcomes by judge:",
            *counts,
            *_ways_on(incomplete, outcomes, command),
        ]
    )


def _counted(outcomes: pd.DataFrame) -> str:
    return ", ".join(
        f"{n:,} {outcome}" for outcome, n in zip(outcomes["outcome"], outcomes["n"], strict=True)
    )


def _ways_on(incomplete: pd.DataFrame, outcomes: pd.DataFrame, command: str) -> list[str]:
    """Return the command where it has something left to ask, and what is to be done else."""
    theirs = outcomes[outcomes["judge"].isin(incomplete["judge"]) & (outcomes["n"] > 0)]
    left = theirs["outcome"].isin(ASKED_BY_THE_NEXT_RUN)
    final = theirs[~left & (theirs["outcome"] != "ok")]
    ways = []
    if left.any() or incomplete["stopped"].notna().any():
        ways.append(f"To complete the rest: {command}")
    if len(final):
        counted = final.groupby("outcome", as_index=False).agg({"n": "sum"})
        ways.append(
            f"The next run does not ask again for what has ended ({_counted(counted)}). It does "
            f"where --params names the outcome (judging.again=[{counted['outcome'].iloc[0]}]), or, "
            "for replies that were cut off, with a larger `reply_token_cap` of the model; else "
            "lower the judge's `least_coverage` (both in judges.yml)."
        )
    return ways


def _table_of_judges(title: str, headings: Sequence[str], **names: Any) -> Table:
    """Start a table with a judge's name and numbers; `names` says how long names are shown."""
    table = Table(title=title, box=SIMPLE)
    table.add_column("judge", **names)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _judge_table(summary: pd.DataFrame) -> Table:
    headings = ("coverage", "kappa", "95 % interval", "people", "exact", "ME", "MAE")
    title = "Judges against the reference (the people's mean grade)"
    table = _table_of_judges(title, headings, no_wrap=True)
    table.add_column("reading")
    for row in summary.to_dict("records"):
        table.add_row(
            escape(row["judge"]),
            f"{row['coverage']:.1%}",
            _number(row["kappa_quadratic"]),
            f"{_number(row['ci95_low'])} to {_number(row['ci95_high'])}",
            _number(row["kappa_assessors"]),
            _number(row["exact"]),
            _number(row["me"]),
            _number(row["mae"]),
            row["reading"] if pd.isna(row["undefined"]) else "undefined",
        )
    return table


def _people_sentence(human_kappa: pd.DataFrame, summary: pd.DataFrame) -> str:
    values = human_kappa["kappa_quadratic"].dropna()
    if values.empty:
        return "No two people can be compared."
    sentence = (
        f"People among themselves: kappa {values.min():.2f} to {values.max():.2f} "
        f"over {len(values)} pairs of assessors."
    )
    below = summary[(summary["kappa_assessors"] < values.min()).fillna(False)]
    if len(below):
        sentence += (
            f" Judges that agree with people less than the two people who agree least: "
            f"{len(below)} of {len(summary)}. Do not take a grade of theirs for a person's."
        )
    return sentence


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.2f}"
