"""`meta_evaluation`, pair level: judges against people on the pairs that people judged."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.meta_evaluation import nodes


def create_pipeline() -> Pipeline:
    """Return the pipeline; it starts from the mean grades, the judgments and the labels."""
    return Pipeline(
        [
            Node(
                nodes.gather_grades,
                [
                    "mean_grades",
                    "assessor_judgments",
                    "judge_labels",
                    "params:assessor_judgments",
                    "params:imported_judges",
                ],
                ["grades", "annotators"],
                name="gather_grades",
            ),
            Node(
                nodes.list_judges,
                ["annotators", "judgment_provenance"],
                "judges",
                name="list_judges",
            ),
            Node(
                nodes.count_coverage,
                ["mean_grades", "judge_labels", "annotators"],
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
        tags="meta_evaluation",
    )
