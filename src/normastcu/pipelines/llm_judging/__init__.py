"""Every active judge on the same pairs: planned, asked, collected."""

from normastcu.pipelines.llm_judging.pipeline import create_pipeline

__all__ = ["create_pipeline"]
