"""The sections of the report in their order: that of the paper, the project's own among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from normastcu.collection.settings import GradeScale
from normastcu.reporting.report_figures import FigureView, figure_view
from normastcu.reporting.report_provenance import SettingsByName, file_table, settings_table
from normastcu.reporting.report_table_specs import TABLES
from normastcu.reporting.report_tables import Tables, TableView
from normastcu.reporting.report_texts import Language, text_of

SECTIONS = {
    "collection": (
        "missing_values",
        "corpus_statistics",
        "pool_sizes",
        "pool_report",
        "pool_overlap",
    ),
    "grades": ("grade_counts", "figure:grade_shares", "assessor_answers"),
    "disagreement": (
        "disagreement",
        "pairs_by_assessors",
        "figure:strong_disagreements",
        "disagreement_by_query",
        "disputed_pairs",
    ),
    "agreement": (
        "figure:human_kappa",
        "figure:kappa",
        "figure:kappa_reference",
        "kappa",
        "alpha",
        "confusion",
        "agreement_by_query",
    ),
    "errors": ("bias", "judge_bias"),
    "range": ("human_range_agreement",),
    "judges": ("judges", "judge_summary", "coverage", "cost"),
    "systems": ("systems", "system_measures", "run_report"),
    "rankings": ("figure:system_ranks", "measures"),
    "correlation": (
        "correlations",
        "figure:tau",
        "rank_correlation",
        "shrunken_correlation",
        "rank_shift",
    ),
    "profiles": ("figure:system_measures",),
    "significance": ("significance_agreement",),
    "people": ("human_ceiling", "system_ceiling", "replacement_tests"),
    "verdict": ("figure:verdict", "verdict"),
}
"""Tables and figures of each section, those of the page's ends apart."""

_FIGURE = "figure:"


@dataclass(frozen=True)
class SectionView:
    """A section as the page shows it: a title, a sentence, then tables and figures."""

    name: str
    title: str
    intro: str
    blocks: Sequence[TableView | FigureView]


def make_sections(
    tables: Tables, scale: GradeScale, bound: float, language: Language
) -> list[SectionView]:
    """Return the sections between the summary and the methods.

    Parameters
    ----------
    tables
        By name; of one that is absent or empty it is said why.
    scale
        The grades and their names.
    bound
        Of the verdict.
    language
        Of the page.
    """

    def block(name: str) -> TableView | FigureView:
        if name.startswith(_FIGURE):
            return figure_view(name.removeprefix(_FIGURE), tables, scale, bound, language)
        return TABLES[name](tables, language)

    return [
        _section(name, [block(own) for own in blocks], language)
        for name, blocks in SECTIONS.items()
    ]


def settings_section(settings: SettingsByName, language: Language) -> SectionView:
    """Return how the numbers were made."""
    table = {"settings": settings_table(settings, language)}
    return _section("methods", [TABLES["settings"](table, language)], language)


def provenance_section(tables: Tables, language: Language) -> SectionView:
    """Return what the numbers were made from."""
    table = {"files": file_table(tables)}
    return _section("provenance", [TABLES["files"](table, language)], language)


def _section(
    name: str, blocks: Sequence[TableView | FigureView], language: Language
) -> SectionView:
    return SectionView(
        name=name,
        title=text_of(language, f"section.{name}"),
        intro=text_of(language, f"section.{name}.intro"),
        blocks=blocks,
    )
