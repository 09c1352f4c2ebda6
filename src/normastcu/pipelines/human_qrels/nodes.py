"""Nodes of `human_qrels`."""

import pandas as pd
from matplotlib.figure import Figure

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import REFERENCE, ordered, to_released_format
from normastcu.collection.settings import AssessorFormat, GradeScale
from normastcu.evaluation import agreement
from normastcu.evaluation.counts import grade_counts
from normastcu.evaluation.human_ceiling import LEAVE_ONE_OUT
from normastcu.pipelines.parameters import BootstrapSettings, DisputedPairsSettings
from normastcu.pipelines.shared import draw_resamples
from normastcu.reporting import figures


def average_grades(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the mean grade of each pair over the people who graded it."""
    if judgments["grade"].isna().all():
        raise CollectionError(
            "Nobody has graded a pair yet, so that there are no qrels. Put a file of judgments "
            "beside the queries, or judge with `kedro annotate` (`judgments: screen` in "
            "conf/<environment>/globals.yml)."
        )
    return agreement.mean_grades(judgments)


def build_qrels(
    judgments: pd.DataFrame, means: pd.DataFrame, settings: AssessorFormat
) -> pd.DataFrame:
    """Return the reference, one qrels per assessor, and one without each assessor.

    Means are rounded half to even. The qrels without an assessor keep the pairs that somebody
    else graded.
    """
    assessors = ordered(judgments["annotator"], settings.assessors)
    graded = judgments.dropna(subset=["grade"])
    parts = [means.assign(qrels=REFERENCE, grade=agreement.round_half_to_even(means["mean_grade"]))]
    for assessor in assessors:
        parts.append(graded[graded["annotator"] == assessor].assign(qrels=assessor))
    for assessor in assessors if len(assessors) > 1 else []:
        others = agreement.leave_one_out(judgments, assessor)
        grades = agreement.round_half_to_even(others["mean_grade"])
        parts.append(others.assign(qrels=LEAVE_ONE_OUT.format(assessor), grade=grades))
    table = pd.concat(parts, ignore_index=True)[["qrels", "query_id", "doc_id", "grade"]]
    return table.astype({"qrels": "str", "grade": "Int64"})


def take_reference(qrels: pd.DataFrame) -> pd.DataFrame:
    """Return the reference alone, for what needs judgments only where there are some."""
    return qrels[qrels["qrels"] == REFERENCE].drop(columns="qrels").reset_index(drop=True)


def release_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments in the released format, which has no *cannot judge*."""
    return to_released_format(judgments)


def count_answers(judgments: pd.DataFrame, settings: AssessorFormat) -> pd.DataFrame:
    """Count for each assessor the pairs graded, not judged (*cannot judge*), and never answered."""
    n_pairs = len(judgments[["query_id", "doc_id"]].drop_duplicates())
    rows = []
    for assessor in ordered(judgments["annotator"], settings.assessors):
        answers = judgments.loc[judgments["annotator"] == assessor, "grade"]
        rows += [
            (assessor, "graded", int(answers.notna().sum())),
            (assessor, "cannot judge", int(answers.isna().sum())),
            (assessor, "no answer", n_pairs - len(answers)),
        ]
    return typed_frame(rows, {"annotator": "str", "answer": "str", "n": "Int64"})


def describe_people(
    judgments: pd.DataFrame,
    means: pd.DataFrame,
    scale: GradeScale,
    settings: DisputedPairsSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return Table 5, the pairs by number of assessors, the disputed ones, and the queries."""
    return (
        agreement.disagreement(means, scale.values),
        agreement.pairs_by_annotators(means),
        agreement.most_disputed(judgments, settings.most),
        agreement.strong_by_query(means),
    )


def compare_people(
    judgments: pd.DataFrame,
    means: pd.DataFrame,
    settings: AssessorFormat,
    scale: GradeScale,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the people's grade counts (Table 4), kappas (Figure 3) and alpha."""
    # A query on which everybody answered *cannot judge* is not part of the sample.
    queries, indices = draw_resamples(means, bootstrap)
    wide = agreement.wide_grades(judgments[judgments["query_id"].isin(queries)])
    assessors = ordered(wide.columns, settings.assessors)
    return (
        grade_counts(wide, dict.fromkeys(assessors, "assessor"), scale.values),
        agreement.pairwise_agreement(wide, scale.values, indices, assessors, queries=queries),
        agreement.alpha_table(
            {"assessors": assessors}, wide, scale.values, indices, queries=queries
        ),
    )


def draw_people(kappas: pd.DataFrame, by_query: pd.DataFrame) -> tuple[Figure, Figure]:
    """Return Figure 3 and the strong disagreements by query."""
    return figures.kappa_matrix(kappas), figures.strong_disagreements(by_query)
