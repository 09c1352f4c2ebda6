"""`meta_evaluation`: the report of all tables, once they are there."""

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.meta_evaluation import report

CORPUS_TABLES = ("missing_values", "corpus_statistics", "corpus_provenance")
PEOPLE_TABLES = (
    "mean_grades",
    "judgment_provenance",
    "assessor_answers",
    "disagreement",
    "pairs_by_assessors",
    "disagreement_by_query",
    "disputed_pairs",
    "human_kappa",
)
PAIR_TABLES = (
    "annotators",
    "grade_counts",
    "kappa",
    "alpha",
    "confusion",
    "agreement_by_query",
    "bias",
    "human_range_agreement",
    "judges",
    "judge_summary",
    "coverage",
    "human_ceiling",
)
JUDGING_TABLES = ("cost",)
RANKING_TABLES = (
    "systems",
    "table_9",
    "run_report",
    "measures",
    "rank_correlation",
    "shrunken_correlation",
    "rank_shift",
    "significance_agreement",
    "system_ceiling",
    "replacement_tests",
    "judge_bias",
    "verdict",
)
POOLING_TABLES = ("pool_sizes", "pool_report", "pool_overlap")
SETTINGS = ("collection", "scale", "bootstrap")
RANKING_SETTINGS = (
    "system_measures",
    "rank_correlations",
    "significance",
    "shrunken_intervals",
    "replacement_test",
    "judge_bias_groups",
    "verdict_rule",
)


def create_report_pipeline(*, judging: bool, ranking: bool, pooling: bool = False) -> Pipeline:
    """Return the pipeline; it starts from the tables of all others.

    Parameters
    ----------
    judging
        Whether `llm_judging` has judges of its own, whose cost is reported.
    ranking
        Whether there are systems, whose rankings are compared.
    pooling
        Whether a pool was made here.
    """
    tables = [
        *CORPUS_TABLES,
        *PEOPLE_TABLES,
        *PAIR_TABLES,
        *(JUDGING_TABLES if judging else ()),
        *(RANKING_TABLES if ranking else ()),
        *(POOLING_TABLES if pooling else ()),
    ]
    settings = [*SETTINGS, *(RANKING_SETTINGS if ranking else ())]
    return Pipeline(
        [
            Node(
                report.report_rankings if ranking else report.report_grades,
                {name: f"params:{name}" for name in settings} | {name: name for name in tables},
                ["report_en", "report_pt"],
                name="write_report",
            )
        ],
        namespace="meta_evaluation",
        prefix_datasets_with_namespace=False,
        tags="meta_evaluation",
    )
