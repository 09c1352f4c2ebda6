"""From raw files to documents, queries, judgments and labels in canonical columns."""

from normastcu.pipelines.ingestion.pipeline import (
    create_corpus_pipeline,
    create_judgments_pipeline,
)

__all__ = ["create_corpus_pipeline", "create_judgments_pipeline"]
