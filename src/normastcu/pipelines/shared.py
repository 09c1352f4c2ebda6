"""Nodes, and steps of nodes, that several pipelines take."""

import pandas as pd

from normastcu.evaluation.bootstrap import IntArray, resample_indices
from normastcu.pipelines.parameters import BootstrapSettings


def join_tables(*tables: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all tables in one, in the order of the tables."""
    return pd.concat(tables, ignore_index=True)


def copy_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the same table, for another format."""
    return table


def draw_resamples(
    judged: pd.DataFrame, bootstrap: BootstrapSettings
) -> tuple[list[str], IntArray]:
    """Return the queries of a table, sorted, and the resamples that all statistics share."""
    queries = sorted(set(judged["query_id"]))
    return queries, resample_indices(len(queries), bootstrap.resamples, bootstrap.seed)
