"""`pooling`: which documents of each query are judged, why, and how assessors get them."""

from normastcu.pipelines.pooling.pipeline import create_pipeline

__all__ = ["create_pipeline"]
