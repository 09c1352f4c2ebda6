"""`retrieval_runs`: one run for each system of the environment."""

from normastcu.pipelines.retrieval_runs.pipeline import create_pipeline

__all__ = ["create_pipeline"]
