"""`ingestion` in two halves: the corpus, and everything that needs no corpus."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.ingestion import nodes
from normastcu.pipelines.shared import join_tables


def create_judgments_pipeline() -> Pipeline:
    """Return the half that reads queries, judgments of people and labels of judges."""
    return Pipeline(
        [
            Node(
                nodes.ingest_queries,
                ["raw_queries", "params:queries"],
                ["queries", "query_file"],
                name="ingest_queries",
            ),
            Node(
                nodes.ingest_assessor_judgments,
                ["raw_judgments", "params:assessor_judgments", "params:scale", "queries"],
                ["assessor_judgments", "judgment_file"],
                name="ingest_assessor_judgments",
            ),
            Node(
                nodes.ingest_judge_labels,
                ["raw_judge_labels", "params:imported_judges", "params:scale", "queries"],
                ["judge_labels", "label_files"],
                name="ingest_judge_labels",
            ),
            Node(
                nodes.ingest_replies,
                ["raw_replies", "params:imported_replies", "params:scale", "reply_store"],
                ["imported_replies", "reply_files"],
                name="ingest_replies",
            ),
            Node(
                join_tables,
                ["query_file", "judgment_file", "label_files", "reply_files"],
                "judgment_provenance",
                name="record_judgment_files",
            ),
        ],
        namespace="ingestion",
        prefix_datasets_with_namespace=False,
        tags="ingestion",
    )


def create_corpus_pipeline() -> Pipeline:
    """Return the half that reads the corpus, describes it and holds the judgments against it."""
    return Pipeline(
        [
            Node(
                nodes.ingest_documents,
                ["raw_documents", "params:documents"],
                ["documents@chunks", "dropped_documents", "corpus_provenance"],
                name="ingest_documents",
            ),
            Node(
                nodes.describe_corpus,
                "documents@chunks",
                ["corpus_statistics", "missing_values"],
                name="describe_corpus",
            ),
            Node(
                nodes.measure_documents,
                "documents@searched",
                "document_lengths",
                name="measure_documents",
            ),
            Node(
                nodes.check_collection,
                ["documents@chunks", "assessor_judgments", "judge_labels"],
                "pairs_by_query",
                name="check_judged_documents",
            ),
        ],
        namespace="ingestion",
        prefix_datasets_with_namespace=False,
        tags="ingestion",
    )
