"""Judges against people, pair by pair."""

from normastcu.pipelines.meta_evaluation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
