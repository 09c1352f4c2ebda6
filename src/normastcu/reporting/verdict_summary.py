"""The first lines of the report, for the terminal that a run ends in."""

from collections.abc import Sequence

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from normastcu.reporting.report_summary import JudgeView, summarise
from normastcu.reporting.report_texts import Language, text_of

STYLES = {"ranks": "bold green", "grades": "bold yellow", "untested": "bold yellow"}
DISTRUST = "bold red"


def print_verdict(
    console: Console,
    judge_summary: pd.DataFrame,
    human_kappa: pd.DataFrame,
    verdict: pd.DataFrame | None = None,
    system_ceiling: pd.DataFrame | None = None,
    replacement_tests: pd.DataFrame | None = None,
    cost: pd.DataFrame | None = None,
    language: Language = "en",
) -> None:
    """Print which judge to trust, for which measure, at what cost, and how surely.

    Parameters
    ----------
    console
        Where to print.
    judge_summary
        As `summary.summarise_judges` returns it.
    human_kappa
        The pairwise agreement of the people.
    verdict, system_ceiling, replacement_tests
        The tables of the system level; None where no system was measured.
    cost
        What each judge took; None where no judge was asked.
    language
        Of the lines.

    Examples
    --------
    >>> print_verdict(Console(width=80), pd.DataFrame(), pd.DataFrame())  # doctest: +ELLIPSIS
    There is no judge yet.
    ...
    """
    given = {
        "judge_summary": judge_summary,
        "human_kappa": human_kappa,
        "verdict": verdict,
        "system_ceiling": system_ceiling,
        "replacement_tests": replacement_tests,
        "cost": cost,
    }
    tables = {name: table for name, table in given.items() if table is not None}
    summary = summarise(tables, language)
    console.print(escape(summary.headline), style=STYLES.get(summary.trust, DISTRUST))
    for line in summary.lines:
        console.print(f"- {escape(line)}", highlight=False)
    if summary.judges:
        console.print(_judges(summary.judges, language))


def _judges(judges: Sequence[JudgeView], language: Language) -> Table:
    """Return a line for each judge: what may be said of it, and tau-b by measure."""
    measures = list(dict.fromkeys(tau.measure for judge in judges for tau in judge.taus))
    table = Table(box=None, pad_edge=False)
    table.add_column(text_of(language, "column.judge"), overflow="fold")
    table.add_column(text_of(language, "column.verdict"))
    for measure in measures:
        table.add_column(measure, justify="right")
    for judge in judges:
        taus = {tau.measure: f"{tau.observed.text}\n{tau.observed.note}" for tau in judge.taus}
        shown = [escape(taus.get(measure, "").strip()) for measure in measures]
        table.add_row(escape(judge.name), escape(judge.badge), *shown)
    if measures:
        table.caption = next(judge.taus_note for judge in judges if judge.taus)
        table.caption_justify = "left"
    return table
