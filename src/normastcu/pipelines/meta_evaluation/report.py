"""Nodes of `meta_evaluation`: the report of all tables and of the settings behind them."""

import pandas as pd

from normastcu.collection.settings import GradeScale, Settings
from normastcu.evaluation.verdict import INTERVAL_NOTE
from normastcu.pipelines.meta_evaluation.parameters import (
    JudgeBiasSettings,
    RankCorrelationSettings,
    ReplacementSettings,
    ShrunkenIntervalSettings,
    SignificanceSettings,
    SystemMeasureSettings,
    VerdictRule,
)
from normastcu.pipelines.parameters import BootstrapSettings
from normastcu.reporting.report import ReportContent, report_page


def report_grades(
    collection: str, scale: GradeScale, bootstrap: BootstrapSettings, **tables: pd.DataFrame
) -> tuple[str, str]:
    """Return the report in English and in Portuguese where there are no systems to rank."""
    settings: dict[str, Settings] = {"scale": scale, "bootstrap": bootstrap}
    return _in_both_languages(ReportContent(collection, scale, tables, settings))


def report_rankings(
    collection: str,
    scale: GradeScale,
    bootstrap: BootstrapSettings,
    system_measures: SystemMeasureSettings,
    rank_correlations: RankCorrelationSettings,
    significance: SignificanceSettings,
    shrunken_intervals: ShrunkenIntervalSettings,
    replacement_test: ReplacementSettings,
    judge_bias_groups: JudgeBiasSettings,
    verdict_rule: VerdictRule,
    **tables: pd.DataFrame,
) -> tuple[str, str]:
    """Return the report in English and in Portuguese."""
    settings: dict[str, Settings] = {
        "scale": scale,
        "system_measures": system_measures,
        "verdict_rule": verdict_rule,
        "bootstrap": bootstrap,
        "shrunken_intervals": shrunken_intervals,
        "rank_correlations": rank_correlations,
        "significance": significance,
        "replacement_test": replacement_test,
        "judge_bias_groups": judge_bias_groups,
    }
    return _in_both_languages(
        ReportContent(collection, scale, tables, settings, verdict_rule.bound, INTERVAL_NOTE)
    )


def _in_both_languages(content: ReportContent) -> tuple[str, str]:
    return report_page(content, "en"), report_page(content, "pt")
