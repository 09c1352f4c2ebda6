"""The first lines of the report: which judge to trust, for what, at what cost, and how surely.

All of it follows from the tables. A judge is one to trust only if a verdict says that it is usable
to rank systems; its grades may take a person's place where it passes the alternative annotator
test. Whatever is not shown is not trusted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from normastcu.reporting import report_cells as cells
from normastcu.reporting.report_cells import Cell, Row
from normastcu.reporting.report_tables import Tables, rows_of
from normastcu.reporting.report_texts import Language, reason_of, text_of, value_of
from normastcu.reporting.system_schemas import VERDICTS

USABLE, _, TOO_FEW, _ = VERDICTS
LEAST_WINNING_RATE = 0.5
"""From this share of all people on a judge passes the alternative annotator test (Calderon et al.).
"""
LEAST_COVERAGE = 0.95
"""Below this share of the pairs asked for, a judge's numbers come with a warning."""
TRUST = ("ranks", "grades", "untested", "none")
"""What may be said of a judge, the best first."""


@dataclass(frozen=True)
class Tau:
    """Tau-b of a judge by one measure, as the summary shows it."""

    measure: str
    verdict: str
    is_usable: bool
    observed: Cell
    shrunken: Cell


@dataclass(frozen=True)
class JudgeView:
    """What the summary says of one judge.

    Attributes
    ----------
    trust
        One of `TRUST`.
    lines
        Sentences, the most important first.
    taus, taus_note
        One for each measure, and what they are; none where no system was measured.
    sentences
        The verdicts in full.
    sizes
        How many systems and queries the verdicts rest on.
    """

    name: str
    trust: str
    badge: str
    lines: Sequence[str]
    taus: Sequence[Tau]
    taus_note: str
    sentences: Sequence[str]
    sizes: str


@dataclass(frozen=True)
class SummaryView:
    """The summary of a report.

    Attributes
    ----------
    trust
        The most that may be said of any judge; `none` where there is none.
    headline, lines
        The answer, and what it rests on.
    judges
        The best first.
    """

    trust: str
    headline: str
    lines: Sequence[str]
    judges: Sequence[JudgeView]


@dataclass(frozen=True)
class _Judge:
    """The rows of one judge."""

    name: str
    summary: Row
    verdicts: Sequence[Row]
    winning: Row | None
    n_people: int
    cost: float | None

    @property
    def usable_rows(self) -> list[Row]:
        """Verdicts by which it may rank systems."""
        return [row for row in self.verdicts if row["verdict"] == USABLE]

    @property
    def usable(self) -> list[str]:
        """Measures by which it may rank systems."""
        return [str(row["measure"]) for row in self.usable_rows]

    @property
    def by_bound(self) -> list[str]:
        """Measures by which it is shown to keep the reference's ranking."""
        by_bound = [row for row in self.usable_rows if "bound" in str(row["shown_by"])]
        return [str(row["measure"]) for row in by_bound]

    @property
    def passes(self) -> bool:
        """Whether it passes the alternative annotator test: beside enough of all the people."""
        if self.winning is None or cells.is_missing(self.winning["value"]):
            return False
        won = round(float(self.winning["value"]) * float(self.winning["n"]))
        return won >= LEAST_WINNING_RATE * self.n_people

    @property
    def is_tested(self) -> bool:
        """Whether there is anything from which trust could follow."""
        tested = self.winning is not None and not cells.is_missing(self.winning["value"])
        return tested or any(row["verdict"] != TOO_FEW for row in self.verdicts)

    @property
    def trust(self) -> str:
        if self.usable:
            return "ranks"
        if self.passes:
            return "grades"
        return "none" if self.is_tested or self.verdicts else "untested"


def summarise(tables: Tables, language: Language, epsilon: float | None = None) -> SummaryView:
    """Say which judge to trust.

    Parameters
    ----------
    tables
        Of them `judge_summary`, `human_kappa`, `verdict` and `system_ceiling` are read; each may be
        absent or empty.
    language
        Of the sentences.
    epsilon
        Of the alternative annotator test; by default that of `replacement_tests`.
    """
    judges = sorted(_judges(tables), key=_best_first)
    if not judges:
        line = text_of(language, "summary.no_judges.why")
        headline = text_of(language, "summary.no_judges")
        return SummaryView("none", headline, [line, _people(tables, language)], [])
    if epsilon is None:
        epsilon = _epsilon(tables)
    return SummaryView(
        trust=judges[0].trust,
        headline=_headline(judges, language),
        lines=[
            _about_ranking(judges, language),
            *(_how_sure(judge, language) for judge in judges if judge.usable),
            *_closest(judges, language),
            _about_grades(judges, epsilon, language),
            _people(tables, language),
        ],
        judges=[_view(judge, tables, language) for judge in judges],
    )


def _judges(tables: Tables) -> list[_Judge]:
    verdicts, ceiling = _table(tables, "verdict"), _table(tables, "system_ceiling")
    rates = ceiling[ceiling["statistic"] == "winning_rate"] if len(ceiling) else ceiling
    costs = _costs(verdicts) | _costs(_table(tables, "cost"))
    tests = _table(tables, "replacement_tests")
    found = []
    for row in rows_of(_table(tables, "judge_summary")):
        name = str(row["judge"])
        own = verdicts[verdicts["judge"] == name] if len(verdicts) else verdicts
        winning = rows_of(rates[rates["annotator"] == name] if len(rates) else rates)
        first = winning[0] if winning else None
        n_people = int((tests["annotator"] == name).sum()) if len(tests) else 0
        found.append(_Judge(name, row, rows_of(own), first, n_people, costs.get(name)))
    return found


def _costs(table: pd.DataFrame) -> dict[str, float]:
    """Return what each judge costs for 1,000 pairs, where that is known."""
    known = table.dropna(subset=["cost_per_1000_pairs"]) if len(table) else table
    return {str(row["judge"]): row["cost_per_1000_pairs"] for row in rows_of(known)}


def _best_first(judge: _Judge) -> tuple[Any, ...]:
    """Order judges: usable ones by their measures and cost, the others by their agreement."""
    cost = float("inf") if judge.cost is None or not judge.usable else judge.cost
    return TRUST.index(judge.trust), -len(judge.usable), cost, -_kappa(judge), judge.name


def _kappa(judge: _Judge) -> float:
    """Return kappa with the reference; an undefined one is lower than all others."""
    value = judge.summary["kappa_quadratic"]
    return -2.0 if cells.is_missing(value) else float(value)


def _headline(judges: Sequence[_Judge], language: Language) -> str:
    best = judges[0]
    if best.trust == "ranks":
        usable = _listed([judge.name for judge in judges if judge.usable])
        return text_of(language, "summary.ranking", judges=usable)
    keys = {
        "grades": "summary.grades_only",
        "untested": "summary.untested",
        "none": "summary.nothing",
    }
    return text_of(language, keys[best.trust])


def _about_ranking(judges: Sequence[_Judge], language: Language) -> str:
    rows = [row for judge in judges for row in judge.verdicts]
    usable = [judge for judge in judges if judge.usable]
    if not rows:
        return text_of(language, "summary.ranking.untested")
    if usable:
        by_bound = [judge for judge in usable if judge.by_bound]
        key = "summary.ranking.some" if by_bound else "summary.ranking.people"
        return text_of(language, key, n=len(by_bound or usable), all=len(judges))
    if all(row["verdict"] == TOO_FEW for row in rows):
        few = {"n": rows[0]["n_systems"], "least": rows[0]["least_systems"]}
        return text_of(language, "summary.ranking.few", **few)
    return text_of(language, "summary.ranking.none")


def _how_sure(judge: _Judge, language: Language) -> str:
    """Say by what a judge may rank systems, at what cost, and how sure that is."""
    rows = judge.usable_rows
    return text_of(
        language,
        "summary.usable",
        judge=judge.name,
        measures=_listed(judge.usable),
        cost=_cost_words(judge, language),
        coverage=cells.percentage(judge.summary["coverage"], language),
        percent=f"{100 * rows[0]['confidence']:g}",
        lows="; ".join(_lower_ends(row, language) for row in rows),
        bound=cells.decimal(rows[0]["bound"], language, 2),
        sizes=_sizes(judge, language),
    )


def _lower_ends(row: Row, language: Language) -> str:
    """Return where the intervals of a measure begin: tau-b's, and what else shows it."""
    begins = row["ci90_low" if row["confidence"] == 0.9 else "ci95_low"]
    parts = [cells.decimal(begins, language)]
    if not cells.is_missing(row["shrunken_low"]):
        shrunken = cells.decimal(row["shrunken_low"], language)
        parts.append(text_of(language, "summary.shrunken", value=shrunken))
    if "bound" not in str(row["shown_by"]):
        ends = ("tau_minus_people_low", "minus_people_shrunken_low")
        lows = [row[end] for end in ends if not cells.is_missing(row[end])]
        people = "; ".join(cells.decimal(low, language) for low in lows)
        margin = cells.decimal(-row["margin"], language, 2)
        parts.append(text_of(language, "summary.minus_people", value=people, margin=margin))
    return f"{row['measure']} {' '.join(parts)}"


def _closest(judges: Sequence[_Judge], language: Language) -> list[str]:
    """Name the judge that agrees most with the reference, where none may rank systems."""
    best = max(judges, key=_kappa)
    row = best.summary
    if judges[0].usable or cells.is_missing(row["kappa_quadratic"]):
        return []
    ends = {"low": row["ci95_low"], "high": row["ci95_high"], "value": row["kappa_quadratic"]}
    shown = {name: cells.decimal(value, language) for name, value in ends.items()}
    cost = _cost_words(best, language)
    return [text_of(language, "summary.closest", judge=best.name, cost=cost, **shown)]


def _about_grades(judges: Sequence[_Judge], epsilon: float | None, language: Language) -> str:
    tested = [one for one in judges if one.winning and not cells.is_missing(one.winning["value"])]
    if not tested:
        return text_of(language, "summary.grades.untested")
    passing = [judge.name for judge in tested if judge.passes]
    if not passing:
        return text_of(language, "summary.grades.none")
    said = cells.decimal(epsilon, language, 2)
    return text_of(language, "summary.grades.some", judges=_listed(passing), epsilon=said)


def _people(tables: Tables, language: Language) -> str:
    among = _among_people(tables)
    if among is None:
        return text_of(language, "summary.people.one")
    low, high = (cells.decimal(value, language) for value in among)
    return text_of(language, "summary.people", low=low, high=high)


def _view(judge: _Judge, tables: Tables, language: Language) -> JudgeView:
    confidence = judge.verdicts[0]["confidence"] if judge.verdicts else 0.9
    name = "sentence_pt" if language == "pt" else "sentence"
    return JudgeView(
        name=judge.name,
        trust=judge.trust,
        badge=text_of(language, f"badge.{judge.trust}"),
        lines=[
            *_trust_lines(judge, language),
            *_agreement(judge, tables, language),
            *_test(judge, language),
            _coverage(judge, language),
            _cost_line(judge, language),
        ],
        taus=[_tau(row, language) for row in judge.verdicts],
        taus_note=text_of(language, "judge.taus", percent=f"{100 * confidence:g}"),
        sentences=[str(row[name]) for row in judge.verdicts],
        sizes=_sizes(judge, language),
    )


def _trust_lines(judge: _Judge, language: Language) -> Iterator[str]:
    """Say what is shown of a judge: by the bound, and beside people."""
    if judge.trust != "ranks":
        yield text_of(language, f"judge.{judge.trust}")
        return
    if judge.by_bound:
        yield text_of(language, "judge.ranks", measures=_listed(judge.by_bound))
    if others := [measure for measure in judge.usable if measure not in judge.by_bound]:
        margin = cells.decimal(judge.verdicts[0]["margin"], language, 2)
        measures = _listed(others)
        yield text_of(language, "judge.ranks.people", measures=measures, margin=margin)


def _tau(row: Row, language: Language) -> Tau:
    is_usable = row["verdict"] == USABLE
    said = value_of(language, "verdict", str(row["verdict"]))
    return Tau(
        measure=str(row["measure"]),
        verdict=text_of(language, "judge.usable") if is_usable else said,
        is_usable=is_usable,
        observed=cells.verdict_interval(row, "tau", language),
        shrunken=cells.own_interval(row, "tau_shrunken", language),
    )


def _sizes(judge: _Judge, language: Language) -> str:
    if not judge.verdicts:
        return ""
    queries = sorted({int(row["n_queries"]) for row in judge.verdicts})
    return text_of(
        language,
        "judge.settings",
        n_systems=judge.verdicts[0]["n_systems"],
        n_queries=_listed([str(n) for n in queries]),
    )


def _agreement(judge: _Judge, tables: Tables, language: Language) -> list[str]:
    """Say how far the judge agrees with the reference, and with people beside people."""
    row = judge.summary
    if cells.is_missing(row["kappa_quadratic"]):
        why = reason_of(language, str(row["undefined"]))
        return [text_of(language, "judge.kappa.undefined", reason=why)]
    key = "judge.kappa.alone" if cells.is_missing(row["ci95_low"]) else "judge.kappa"
    words = {
        "value": cells.decimal(row["kappa_quadratic"], language),
        "low": cells.decimal(row["ci95_low"], language),
        "high": cells.decimal(row["ci95_high"], language),
        "reading": value_of(language, "reading", str(row["reading"])),
        "n": cells.decimal(float(row["n"]), language, 0),
    }
    return [text_of(language, key, **words), *_beside_people(judge, tables, language)]


def _beside_people(judge: _Judge, tables: Tables, language: Language) -> list[str]:
    among, own = _among_people(tables), judge.summary["kappa_assessors"]
    if among is None or cells.is_missing(own):
        return []
    key = "judge.below_people" if own < among[0] else "judge.beside_people"
    lowest, highest = (cells.decimal(value, language) for value in among)
    value = cells.decimal(own, language)
    return [text_of(language, key, value=value, lowest=lowest, highest=highest)]


def _test(judge: _Judge, language: Language) -> list[str]:
    if judge.winning is None or cells.is_missing(judge.winning["value"]):
        return []
    words = {
        "value": cells.percentage(judge.winning["value"], language),
        "least": cells.percentage(LEAST_WINNING_RATE, language),
        "n": cells.decimal(float(judge.winning["n"]), language, 0),
    }
    return [text_of(language, "judge.test", all=judge.n_people, **words)]


def _coverage(judge: _Judge, language: Language) -> str:
    row = judge.summary
    key = "judge.coverage.low" if row["coverage"] < LEAST_COVERAGE else "judge.coverage"
    return text_of(
        language,
        key,
        coverage=cells.percentage(row["coverage"], language),
        n=cells.decimal(float(row["n"]), language, 0),
        asked=cells.decimal(float(row["n_asked"]), language, 0),
    )


def _cost_line(judge: _Judge, language: Language) -> str:
    if judge.cost is None:
        return text_of(language, "judge.cost.unknown")
    return text_of(language, "judge.cost", cost=_cost_words(judge, language))


def _cost_words(judge: _Judge, language: Language) -> str:
    if judge.cost is None:
        return text_of(language, "cell.unknown")
    return cells.decimal(judge.cost, language, 2)


def _among_people(tables: Tables) -> tuple[float, float] | None:
    """Return the lowest and the highest kappa of two people."""
    kappas = _table(tables, "human_kappa")
    if kappas.empty:
        return None
    values = kappas["kappa_quadratic"].dropna()
    return (float(values.min()), float(values.max())) if len(values) else None


def _epsilon(tables: Tables) -> float | None:
    tests = _table(tables, "replacement_tests")
    return float(tests["epsilon"].iloc[0]) if len(tests) else None


def _table(tables: Tables, name: str) -> pd.DataFrame:
    return tables.get(name, pd.DataFrame())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
