"""Nodes of `pooling`: build the pool, report on it, export it."""

import logging
from collections.abc import Iterator, Sequence

import pandas as pd

from normastcu.collection.manual_pool import read_manual_pool
from normastcu.collection.pool import build_pool
from normastcu.collection.pool_export import (
    ExportSettings,
    assessment_sheet,
    csv_lines,
    doccano_examples,
    doccano_labels,
    json_array,
    json_lines,
    label_studio_config,
    label_studio_tasks,
)
from normastcu.collection.pool_report import pool_overlap, pool_report, pool_sizes
from normastcu.collection.settings import GradeScale
from normastcu.collection.sources import RawFile
from normastcu.pipelines.pooling.parameters import PoolingSettings

logger = logging.getLogger(__name__)

TOP = 10


def make_pool(
    runs: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    manual: list[RawFile],
    settings: PoolingSettings,
    *,
    systems: Sequence[str],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the pool, which systems found its documents, and what a reader should know."""
    query_ids, doc_ids = queries["query_id"].tolist(), set(documents["doc_id"])
    changes = read_manual_pool(manual, query_ids, doc_ids)
    made = build_pool(runs, query_ids, doc_ids, changes, settings.over(systems))
    for note in made.notes["note"]:
        logger.warning("%s", note)
    return made.pool, made.systems, made.notes


def describe_pool(
    pool: pd.DataFrame,
    found: pd.DataFrame,
    runs: pd.DataFrame,
    reference: pd.DataFrame,
    settings: PoolingSettings,
    *,
    systems: Sequence[str],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return its sizes by query, what each reason and system contributed, and the overlaps."""
    depths = sorted({min(TOP, settings.depth), settings.depth})
    return (
        pool_sizes(pool, pool["query_id"].drop_duplicates().tolist(), reference),
        pool_report(pool, found, reference),
        pool_overlap(runs, systems, depths),
    )


def write_sheet(
    pool: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame
) -> tuple[pd.DataFrame, Iterator[str]]:
    """Return what an assessor is shown of each pair, as a table and as a CSV to fill in."""
    sheet = assessment_sheet(pool, queries, documents)
    return sheet, csv_lines(sheet)


def export_pool(
    sheet: pd.DataFrame, scale: GradeScale, settings: ExportSettings
) -> tuple[Iterator[str], Iterator[str], list[str], Iterator[str], Iterator[str]]:
    """Return the files that Label Studio and doccano import."""
    return (
        json_array(label_studio_tasks(sheet)),
        json_lines(label_studio_tasks(sheet)),
        [label_studio_config(scale, settings)],
        json_lines(doccano_examples(sheet, settings)),
        json_array(doccano_labels(scale, settings)),
    )
