"""What MLflow is told of a comparison: one finished run for each judge.

Parquet is the truth, MLflow the index of it: nothing here is read again by a pipeline, and a run
gives the same results where MLflow is switched off, or fails.
"""
