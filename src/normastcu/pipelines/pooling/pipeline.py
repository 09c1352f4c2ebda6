"""`pooling`: from the runs of the pooling systems to what assessors are shown."""

from functools import partial, update_wrapper
from typing import Any

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.pooling import nodes
from normastcu.pipelines.retrieval_runs.pipeline import DOCUMENTS, run_of
from normastcu.pipelines.shared import copy_table, join_tables
from normastcu.retrieval.known_systems import Systems


def create_pipeline(systems: Systems) -> Pipeline:
    """Return the pipeline; it starts from the runs of the systems that make the pool."""

    def pooled(function: Any) -> Any:
        return update_wrapper(partial(function, systems=systems.pooling), function)

    return Pipeline(
        [
            Node(
                join_tables,
                [run_of(name, systems) for name in systems.pooling],
                "pooling_runs",
                name="join_runs",
            ),
            Node(
                pooled(nodes.make_pool),
                ["pooling_runs", "queries", DOCUMENTS, "raw_manual_pool", "params:pooling"],
                ["pool", "pool_systems", "pool_notes"],
                name="make_pool",
            ),
            Node(copy_table, "pool", "pool_csv", name="write_pool"),
            Node(
                pooled(nodes.describe_pool),
                ["pool", "pool_systems", "pooling_runs", "reference_qrels", "params:pooling"],
                ["pool_sizes", "pool_report", "pool_overlap"],
                name="describe_pool",
            ),
            Node(
                nodes.write_sheet,
                ["pool", "queries", "documents@shown"],
                ["assessment_sheet", "assessment_csv"],
                name="write_sheet",
            ),
            Node(
                nodes.export_pool,
                ["assessment_sheet", "params:scale", "params:pool_export"],
                [
                    "label_studio_json",
                    "label_studio_jsonl",
                    "label_studio_config",
                    "doccano_jsonl",
                    "doccano_labels",
                ],
                name="export_pool",
            ),
        ],
        namespace="pooling",
        prefix_datasets_with_namespace=False,
        tags="pooling",
    )
