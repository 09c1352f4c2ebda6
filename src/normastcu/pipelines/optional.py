"""Parameters of pipelines that an environment may lack; base states them for every environment."""

from collections.abc import Mapping
from typing import Any

from normastcu.annotation.settings import AnnotationSettings
from normastcu.collection.pool_export import ExportSettings
from normastcu.environment import STATIC
from normastcu.evaluation.verdict import VerdictRule
from normastcu.pipelines.llm_judging.parameters import JudgingSettings
from normastcu.pipelines.meta_evaluation.parameters import (
    JudgeBiasSettings,
    RankCorrelationSettings,
    ReplacementSettings,
    ShrunkenIntervalSettings,
    SignificanceSettings,
    SystemMeasureSettings,
)
from normastcu.pipelines.pooling.parameters import PoolingSettings
from normastcu.pipelines.retrieval_runs.parameters import RetrievalSettings

OPTIONAL_PARAMETERS: Mapping[str, Any] = {
    **dict.fromkeys(STATIC),
    "annotation": AnnotationSettings,
    "collection": None,
    "judge_bias_groups": JudgeBiasSettings,
    "judging": JudgingSettings,
    "pool_export": ExportSettings,
    "pooling": PoolingSettings,
    "rank_correlations": RankCorrelationSettings,
    "replacement_test": ReplacementSettings,
    "retrieval": RetrievalSettings,
    "shrunken_intervals": ShrunkenIntervalSettings,
    "significance": SignificanceSettings,
    "system_measures": SystemMeasureSettings,
    "verdict_rule": VerdictRule,
}
"""Name to the class of its values, None where any will do."""
