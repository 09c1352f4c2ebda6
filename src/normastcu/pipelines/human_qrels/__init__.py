"""From the judgments of people to qrels, and how far the people agree."""

from normastcu.pipelines.human_qrels.pipeline import create_pipeline

__all__ = ["create_pipeline"]
