"""`human_qrels`: mean grades, qrels, and how far the people agree."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.human_qrels import nodes
from normastcu.pipelines.shared import copy_table


def create_pipeline() -> Pipeline:
    """Return the pipeline; it starts from `assessor_judgments`."""
    return Pipeline(
        [
            Node(
                nodes.average_grades,
                "assessor_judgments",
                "mean_grades",
                name="average_grades",
            ),
            Node(
                nodes.build_qrels,
                ["assessor_judgments", "mean_grades", "params:assessor_judgments"],
                "human_qrels",
                name="build_qrels",
            ),
            Node(copy_table, "human_qrels", "human_qrels_trec", name="write_trec_qrels"),
            Node(nodes.take_reference, "human_qrels", "reference_qrels", name="take_reference"),
            Node(
                nodes.release_judgments,
                "assessor_judgments",
                "released_judgments",
                name="release_judgments",
            ),
            Node(
                nodes.count_answers,
                ["assessor_judgments", "params:assessor_judgments"],
                "assessor_answers",
                name="count_answers",
            ),
            Node(
                nodes.describe_people,
                ["assessor_judgments", "mean_grades", "params:scale", "params:disputed_pairs"],
                ["disagreement", "pairs_by_assessors", "disputed_pairs", "disagreement_by_query"],
                name="describe_disagreement",
            ),
            Node(
                nodes.compare_people,
                [
                    "assessor_judgments",
                    "mean_grades",
                    "params:assessor_judgments",
                    "params:scale",
                    "params:bootstrap",
                ],
                ["human_grade_counts", "human_kappa", "human_alpha"],
                name="compare_people",
            ),
            Node(
                nodes.draw_people,
                ["human_kappa", "disagreement_by_query"],
                ["figure_human_kappa", "figure_strong_disagreements"],
                name="draw_people",
            ),
        ],
        namespace="human_qrels",
        prefix_datasets_with_namespace=False,
        tags="human_qrels",
    )
