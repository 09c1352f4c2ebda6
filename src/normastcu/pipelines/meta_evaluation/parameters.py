"""Parameters of `meta_evaluation`, system level."""

from typing import Literal

from pydantic import Field

from normastcu.collection.settings import Settings
from normastcu.evaluation.verdict import VerdictRule

__all__ = [
    "JudgeBiasSettings",
    "RankCorrelationSettings",
    "ReplacementSettings",
    "ShrunkenIntervalSettings",
    "SignificanceSettings",
    "SystemMeasureSettings",
    "VerdictRule",
]


class SystemMeasureSettings(Settings):
    """What is measured.

    Attributes
    ----------
    names
        ``P@k``, ``R@k``, ``nDCG@k``, ``MRR``, or a name that ``ir_measures`` knows; `Judged@10` is
        always added.
    relevance
        The lowest grade that counts as relevant for P, R and MRR.
    """

    names: tuple[str, ...] = Field(min_length=1)
    relevance: int = Field(ge=1)


class RankCorrelationSettings(Settings):
    """How rankings are compared.

    Attributes
    ----------
    persistence
        Of rank-biased overlap: how likely a reader goes on to the next system.
    """

    persistence: float = Field(gt=0, lt=1)


class SignificanceSettings(Settings):
    """Permutation tests of every two systems: level, number of sign flips, and their seed."""

    alpha: float = Field(gt=0, lt=1)
    flips: int = Field(ge=100, le=1_000_000)
    seed: int = Field(ge=0)


class ShrunkenIntervalSettings(Settings):
    """Intervals without the noise of the queries: number of draws, and their seed."""

    draws: int = Field(ge=100, le=100_000)
    seed: int = Field(ge=0)


class ReplacementSettings(Settings):
    """The alternative annotator test.

    Attributes
    ----------
    epsilon
        How much worse than a person a judge may be, because it costs less.
    alpha
        Level of the tests after the correction over the people.
    correction
        For that: false discovery rate under any dependence, under independence, or family-wise.
    """

    epsilon: float = Field(ge=0, le=1)
    alpha: float = Field(gt=0, lt=1)
    correction: Literal["benjamini_yekutieli", "benjamini_hochberg", "holm"]


class JudgeBiasSettings(Settings):
    """Where a judge's bias is looked for.

    Attributes
    ----------
    families
        Families of systems whose first documents are a group of pairs; empty takes all.
    depth
        How many documents of a run are its first ones.
    """

    families: tuple[str, ...] = ()
    depth: int = Field(ge=1)
