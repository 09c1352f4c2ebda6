"""`meta_evaluation`: judges against people, pair by pair and by the ranking of systems."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.meta_evaluation import nodes
from normastcu.pipelines.meta_evaluation.report_pipeline import create_report_pipeline
from normastcu.pipelines.meta_evaluation.systems_pipeline import (
    create_pipeline as create_system_pipeline,
)


def create_pipeline(*, judging: bool, ranking: bool, pooling: bool) -> Pipeline:
    """Return the pipeline; it starts from the mean grades, the judgments and the labels.

    Parameters
    ----------
    judging
        Whether `llm_judging` has judges of its own, whose grades are compared with the rest.
    ranking
        Whether there are systems, whose rankings are compared too.
    pooling
        Whether the pool was made here, so that the report describes it.
    """
    compared = create_pair_pipeline(judging=judging)
    if ranking:
        compared += create_system_pipeline(judging=judging)
    return compared + create_report_pipeline(judging=judging, ranking=ranking, pooling=pooling)


def create_pair_pipeline(*, judging: bool) -> Pipeline:
    """Return the steps that compare grades pair by pair."""
    labels = ["judge_labels", "imported_replies", *(["llm_judgments"] if judging else [])]
    return Pipeline(
        [
            Node(nodes.join_labels, labels, "all_labels", name="join_labels"),
            Node(
                nodes.gather_grades,
                [
                    "mean_grades",
                    "assessor_judgments",
                    "all_labels",
                    "params:assessor_judgments",
                    "params:imported_judges",
                ],
                ["grades", "annotators"],
                name="gather_grades",
            ),
            Node(
                nodes.list_judges,
                ["annotators", "judgment_provenance", *(["asked_judges"] if judging else [])],
                "judges",
                name="list_judges",
            ),
            Node(
                nodes.count_coverage,
                ["mean_grades", "all_labels", "annotators"],
                "coverage",
                name="count_coverage",
            ),
            Node(
                nodes.count_grades,
                ["grades", "annotators", "params:scale"],
                "grade_counts",
                name="count_grades",
            ),
            Node(
                nodes.compare_annotators,
                ["grades", "annotators", "params:scale", "params:bootstrap"],
                ["kappa", "alpha"],
                name="compare_annotators",
            ),
            Node(
                nodes.measure_bias,
                ["grades", "mean_grades", "annotators", "params:bootstrap"],
                "bias",
                name="measure_bias",
            ),
            Node(
                nodes.describe_judges,
                ["grades", "mean_grades", "annotators", "params:scale", "params:bootstrap"],
                ["human_range_agreement", "confusion", "agreement_by_query"],
                name="describe_judges",
            ),
            Node(
                nodes.compare_with_others,
                ["grades", "annotators", "params:scale", "params:bootstrap"],
                "human_ceiling",
                name="compare_with_others",
            ),
            Node(
                nodes.summarise,
                ["annotators", "kappa", "bias", "coverage"],
                "judge_summary",
                name="summarise_judges",
            ),
            Node(
                nodes.draw_annotators,
                ["grade_counts", "kappa", "annotators", "params:scale"],
                ["figure_grade_shares", "figure_kappa", "figure_kappa_reference"],
                name="draw_annotators",
            ),
        ],
        namespace="meta_evaluation",
        prefix_datasets_with_namespace=False,
        tags="meta_evaluation",
    )
