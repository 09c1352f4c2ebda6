"""What is told of a judge; apart from the writing, which takes seconds to import."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class JudgeRecord:
    """What an MLflow run says of a judge.

    Attributes
    ----------
    name
        The judge, and the run's name.
    params, metrics, tags
        By name; texts that are too long for MLflow are cut when they are written.
    identity
        Hash of everything that is compared and of what came out.
    """

    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    identity: str
