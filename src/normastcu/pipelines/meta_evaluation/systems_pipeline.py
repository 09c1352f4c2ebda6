"""`meta_evaluation`, system level: which judge keeps the ranking of systems, and how surely."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.meta_evaluation import systems


def create_pipeline(*, judging: bool) -> Pipeline:
    """Return the pipeline; it starts from the runs, the people's qrels and everybody's grades.

    Parameters
    ----------
    judging
        Whether `llm_judging` has judges of its own, whose cost stands beside their verdict.
    """
    return Pipeline(
        [
            Node(
                systems.measure_runs,
                [
                    "runs",
                    "systems",
                    "human_qrels",
                    "grades",
                    "annotators",
                    "params:system_measures",
                ],
                ["measured_runs", "measures_by_query", "run_report"],
                name="measure_runs",
            ),
            Node(
                systems.average_systems,
                ["measured_runs", "systems", "grades", "annotators", "params:bootstrap"],
                ["measures", "table_9"],
                name="average_systems",
            ),
            Node(
                systems.correlate_rankings,
                [
                    "measured_runs",
                    "systems",
                    "grades",
                    "annotators",
                    "params:rank_correlations",
                    "params:bootstrap",
                ],
                ["rank_correlation", "rank_shift", "table_13"],
                name="correlate_rankings",
            ),
            Node(
                systems.shrink_correlations,
                ["measured_runs", "annotators", "params:shrunken_intervals"],
                "shrunken_correlation",
                name="shrink_correlations",
            ),
            Node(
                systems.compare_significance,
                ["measured_runs", "annotators", "params:significance"],
                "significance_agreement",
                name="compare_significance",
            ),
            Node(
                systems.rank_beside_people,
                [
                    "measured_runs",
                    "grades",
                    "annotators",
                    "params:replacement_test",
                    "params:bootstrap",
                ],
                ["system_ceiling", "replacement_tests"],
                name="rank_beside_people",
            ),
            Node(
                systems.locate_bias,
                [
                    "measured_runs",
                    "systems",
                    "grades",
                    "mean_grades",
                    "annotators",
                    "document_lengths",
                    "params:scale",
                    "params:judge_bias_groups",
                    "params:bootstrap",
                ],
                "judge_bias",
                name="locate_bias",
            ),
            Node(
                systems.judge_rankings,
                [
                    "measured_runs",
                    "rank_correlation",
                    "system_ceiling",
                    "shrunken_correlation",
                    "annotators",
                    "params:verdict_rule",
                    *(["cost"] if judging else []),
                ],
                "verdict",
                name="judge_rankings",
            ),
            Node(
                systems.draw_rankings,
                ["measures", "rank_correlation", "verdict", "annotators", "params:verdict_rule"],
                [
                    "figure_system_ranks",
                    "figure_tau",
                    "figure_system_measures",
                    "figure_verdict",
                ],
                name="draw_rankings",
            ),
        ],
        namespace="meta_evaluation",
        prefix_datasets_with_namespace=False,
        tags="meta_evaluation",
    )
