"""The report: one HTML file in a language, that needs nothing else.

First what a reader came for (which judge, for which measure, at what cost, how surely), then how to
read it, every table and figure, the settings, and where the numbers come from. Every text is
escaped by the template; the page runs its own script only, which unfolds tables for printing, and
loads nothing from anywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from markupsafe import Markup

from normastcu import __version__
from normastcu.collection.settings import GradeScale
from normastcu.reporting.page_parts import ENVIRONMENT, clean, content_hash, template_part
from normastcu.reporting.report_cells import decimal
from normastcu.reporting.report_provenance import SettingsByName, settings_hash
from normastcu.reporting.report_sections import (
    make_sections,
    provenance_section,
    settings_section,
)
from normastcu.reporting.report_summary import summarise
from normastcu.reporting.report_tables import Tables
from normastcu.reporting.report_texts import Language, text_of, value_of

__all__ = ["ReportContent", "report_page"]

# Landis and Koch (1977): up to the bound, the word.
KAPPA_WORDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)
# Voorhees (2001).
EQUIVALENT, DIFFERENT = 0.9, 0.8
TERMS = ("reference", "interval", "query_set", "undefined", "left_out", "not_shown")


@dataclass(frozen=True, eq=False)
class ReportContent:
    """All that a report is made of.

    Attributes
    ----------
    collection
        Name of the collection.
    scale
        The grades and their names.
    tables
        The tables of the reporting layer by name, and `annotators`, `mean_grades`,
        `judgment_provenance` and `corpus_provenance`. What is absent or empty is said to be so.
    settings
        The settings that produced the tables, by name.
    bound
        Of the verdict; where figures draw their line.
    interval_note
        How far the intervals of rank correlations can be trusted, by language.
    """

    collection: str
    scale: GradeScale
    tables: Tables
    settings: SettingsByName = field(default_factory=dict)
    bound: float = 0.9
    interval_note: Mapping[Language, str] = field(default_factory=dict)


def report_page(content: ReportContent, language: Language = "en") -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    content
        What it is made of.
    language
        Of the page; names and the scale's grades stay as they are.

    Returns
    -------
    str
        A page that can be opened from a file and printed. The same content gives the same page.

    Examples
    --------
    >>> scale = GradeScale(grades=[{"grade": 0, "name": "no"}, {"grade": 1, "name": "yes"}])
    >>> page = report_page(ReportContent("<sample>", scale, {}))
    >>> "There is no judge yet." in page, "&lt;sample&gt;" in page
    (True, True)
    """
    tables, script, style = content.tables, template_part("report.js"), template_part("report.css")

    def say(key: str, **values: object) -> str:
        return text_of(language, key, **values)

    return ENVIRONMENT.get_template("report.html.j2").render(
        language=language,
        say=say,
        collection=clean(content.collection),
        facts=_facts(tables, language),
        summary=summarise(tables, language),
        interval_note=content.interval_note.get(language, ""),
        kappa_words=_kappa_words(language),
        tau_words=_tau_words(language),
        terms=TERMS,
        sections=make_sections(tables, content.scale, content.bound, language),
        methods=settings_section(content.settings, language),
        method_notes=_method_notes(tables, language),
        provenance=provenance_section(tables, language),
        hashed=settings_hash(content.settings, tables, content.collection),
        version=__version__,
        policy=_policy(script),
        script=Markup(script),
        style=Markup(style),
    )


def _policy(script: str) -> str:
    """Allow this script, and styles and images inside the page; nothing from anywhere."""
    return (
        f"default-src 'none'; script-src {content_hash(script)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _facts(tables: Tables, language: Language) -> str:
    """Say how large the collection is."""
    pairs = tables.get("mean_grades", pd.DataFrame({"query_id": []}))
    kinds = tables.get("annotators", pd.DataFrame({"kind": []}))["kind"]
    numbers = {
        "queries": pairs["query_id"].nunique(),
        "pairs": len(pairs),
        "assessors": int((kinds == "assessor").sum()),
        "judges": int((kinds == "judge").sum()),
        "systems": len(tables.get("systems", ())),
    }
    shown = {name: decimal(float(n), language, 0) for name, n in numbers.items()}
    return text_of(language, "page.facts", **shown)


def _kappa_words(language: Language) -> list[tuple[str, str]]:
    """Return the bounds of Landis and Koch with their words (Table 6)."""
    first = text_of(language, "reading.below", value=decimal(0, language, 2))
    rows = [(first, value_of(language, "reading", "poor"))]
    low = 0.0
    for high, word in KAPPA_WORDS:
        ends = {"low": decimal(low, language, 2), "high": decimal(high, language, 2)}
        key = "reading.over" if low else "number.to"
        rows.append((text_of(language, key, **ends), value_of(language, "reading", word)))
        low = high
    return rows


def _tau_words(language: Language) -> list[tuple[str, str]]:
    same, different = (decimal(bound, language, 1) for bound in (EQUIVALENT, DIFFERENT))
    return [
        (
            text_of(language, "reading.at_least", value=same),
            text_of(language, "reading.tau.same"),
        ),
        (
            text_of(language, "number.to", low=different, high=same),
            text_of(language, "reading.tau.between"),
        ),
        (
            text_of(language, "reading.below", value=different),
            text_of(language, "reading.tau.different"),
        ),
    ]


def _method_notes(tables: Tables, language: Language) -> Sequence[str]:
    notes = [
        text_of(language, f"methods.{name}")
        for name in ("measures", "intervals", "verdict", "trust")
    ]
    systems = tables.get("systems", pd.DataFrame())
    if len(systems):
        families = systems.groupby("family", sort=False, dropna=False)["system"].agg(", ".join)
        named = "; ".join(f"{family}: {members}" for family, members in families.items())
        notes.append(text_of(language, "methods.families", families=named))
    return [clean(note) for note in notes]
