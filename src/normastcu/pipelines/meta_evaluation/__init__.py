"""Judges against people, pair by pair and by the ranking of systems."""

from normastcu.pipelines.meta_evaluation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
