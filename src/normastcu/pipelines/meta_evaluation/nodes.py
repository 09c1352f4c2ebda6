"""Nodes of `meta_evaluation`, pair level: every annotator on the pairs that people judged."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import REFERENCE, ordered
from normastcu.collection.settings import AssessorFormat, GradeScale, JudgeLabelFormat
from normastcu.evaluation import agreement
from normastcu.evaluation.bootstrap import CONFIDENCES
from normastcu.evaluation.counts import grade_counts
from normastcu.evaluation.disagreement import PAIR
from normastcu.evaluation.human_ceiling import LEADING, human_ceiling
from normastcu.evaluation.systems import estimate_table
from normastcu.pipelines.parameters import BootstrapSettings
from normastcu.pipelines.shared import draw_resamples
from normastcu.reporting import figures
from normastcu.reporting.summary import summarise_judges

OK = "ok"
NOT_JUDGED = "not judged"


def join_labels(*tables: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of all judges, imported and asked, each with its outcome.

    An imported label without a grade was `not judged`; other judges say what happened.
    """
    imported = tables[0].assign(
        outcome=tables[0]["grade"].map(lambda grade: NOT_JUDGED if pd.isna(grade) else OK)
    )
    imported = imported.sort_values("annotator", kind="stable")
    labels = pd.concat([imported, *tables[1:]], ignore_index=True)
    twice = labels.loc[labels.duplicated([*PAIR, "annotator"]), "annotator"]
    if len(twice):
        raise CollectionError(
            f"The judge {twice.iloc[0]!r} has imported labels and is asked as well. Rename the "
            "file of labels, or give it another name under `imported_judges.names`."
        )
    return labels[[*PAIR, "annotator", "grade", "outcome"]].astype({"outcome": "str"})


def gather_grades(
    means: pd.DataFrame,
    judgments: pd.DataFrame,
    labels: pd.DataFrame,
    assessors: AssessorFormat,
    judges: JudgeLabelFormat,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put reference, people and judges into one table, and name the annotators in their order.

    The reference is the mean grade rounded half to even. Only pairs that a person graded are
    kept; a judge's labels on other pairs are counted in `coverage`.
    """
    reference = means[PAIR].assign(
        annotator=REFERENCE, grade=agreement.round_half_to_even(means["mean_grade"])
    )
    annotators = typed_frame(
        [
            (REFERENCE, "reference"),
            *((name, "assessor") for name in ordered(judgments["annotator"], assessors.assessors)),
            *((name, "judge") for name in order_judges(labels, judges.order)),
        ],
        {"annotator": "str", "kind": "str"},
    )
    check_names(annotators)
    everything = pd.concat([reference, judgments, labels], ignore_index=True)
    # Every annotator has a row for every pair, so that one who graded none of them is there too.
    grid = means[PAIR].merge(annotators, how="cross")
    grades = grid.merge(everything, on=[*PAIR, "annotator"], how="left")
    columns = [*PAIR, "annotator", "kind", "grade"]
    return grades[columns].astype({"annotator": "str", "grade": "Int64"}), annotators


def order_judges(labels: pd.DataFrame, first: Sequence[str]) -> list[str]:
    """Return the judges: those in the stated order, then the others as they come."""
    present = list(dict.fromkeys(labels["annotator"]))
    return [name for name in first if name in present] + [n for n in present if n not in first]


def check_names(annotators: pd.DataFrame) -> None:
    """Raise where a judge is called like a person, or one of them `reference`."""
    twice = annotators.loc[annotators["annotator"].duplicated(), "annotator"]
    if len(twice):
        raise CollectionError(
            f"{twice.iloc[0]!r} names two annotators. A judge can't be called like an assessor or "
            f"{REFERENCE!r}: rename its file, or give it a name under `imported_judges.names`."
        )


def count_coverage(
    means: pd.DataFrame, labels: pd.DataFrame, annotators: pd.DataFrame
) -> pd.DataFrame:
    """Count for each judge the pairs of the reference by outcome, and its labels elsewhere.

    A pair of the reference that a judge says nothing about is `not judged`.
    """
    pairs = pd.MultiIndex.from_frame(means[PAIR])
    rows = []
    for judge in of_kind(annotators, "judge"):
        own = labels[labels["annotator"] == judge]
        inside = pd.MultiIndex.from_frame(own[PAIR]).isin(pairs)
        outcomes = Counter({OK: 0, NOT_JUDGED: len(pairs) - int(inside.sum())})
        outcomes.update(own.loc[inside, "outcome"])
        rows += [(judge, outcome, n) for outcome, n in outcomes.items()]
        rows.append((judge, "outside the reference", int((~inside).sum())))
    return typed_frame(rows, {"judge": "str", "outcome": "str", "n": "Int64"})


def list_judges(
    annotators: pd.DataFrame, files: pd.DataFrame, *asked: pd.DataFrame
) -> pd.DataFrame:
    """Return Table 7: model and prompt of each judge, where its grades are from, their hash."""
    rows = []
    for judge in of_kind(annotators, "judge"):
        own = files[[judge in names.split(", ") for names in files["annotators"]]]
        if len(own):
            model, _, prompt = judge.rpartition("_")
            source = "imported: " + ", ".join(own["file"])
            rows.append((judge, model or judge, prompt or None, source, ", ".join(own["sha256"])))
    columns = ["judge", "model", "prompt", "source", "settings_hash"]
    table = typed_frame(rows, dict.fromkeys(columns, "str"))
    return pd.concat([table, *asked], ignore_index=True)


def count_grades(grades: pd.DataFrame, annotators: pd.DataFrame, scale: GradeScale) -> pd.DataFrame:
    """Return Table 10: grades by annotator."""
    return grade_counts(agreement.wide_grades(grades), kinds_of(annotators), scale.values)


def compare_annotators(
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    scale: GradeScale,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every pairwise agreement (Figure 5), and alpha with and without each judge."""
    wide = agreement.wide_grades(grades)
    queries, indices = draw_resamples(grades, bootstrap)
    people, judges = of_kind(annotators, "assessor"), of_kind(annotators, "judge")
    groups = {"assessors": people}
    groups |= {f"assessors and {judge}": [*people, judge] for judge in judges}
    if len(judges) > 1:
        groups |= {"judges": judges, "assessors and judges": [*people, *judges]}
    names = list(annotators["annotator"])
    return (
        agreement.pairwise_agreement(wide, scale.values, indices, names, queries=queries),
        agreement.alpha_table(groups, wide, scale.values, indices, queries=queries),
    )


def measure_bias(
    grades: pd.DataFrame,
    means: pd.DataFrame,
    annotators: pd.DataFrame,
    bootstrap: BootstrapSettings,
) -> pd.DataFrame:
    """Return Table 11: mean error and mean absolute error against the unrounded mean."""
    queries, indices = draw_resamples(grades, bootstrap)
    kinds = {name: kind for name, kind in kinds_of(annotators).items() if name != REFERENCE}
    wide = agreement.wide_grades(grades)
    return agreement.bias_table(wide, means, kinds, indices, queries=queries)


def describe_judges(
    grades: pd.DataFrame,
    means: pd.DataFrame,
    annotators: pd.DataFrame,
    scale: GradeScale,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return Table 12, the confusion with the reference, and the agreement query by query."""
    wide = agreement.wide_grades(grades)
    judges = of_kind(annotators, "judge")
    queries, indices = draw_resamples(grades, bootstrap)
    tables = (
        agreement.range_agreement(wide, means, judges, scale.values, indices, queries=queries),
        agreement.confusion_table(wide, means, judges, scale.values),
        agreement.agreement_by_query(wide, means, judges, scale.values, queries=queries),
    )
    inside, confusion, by_query = (
        table.rename(columns={"annotator": "judge"}).astype({"judge": "str"}) for table in tables
    )
    return inside, confusion, by_query


def compare_with_others(
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    scale: GradeScale,
    bootstrap: BootstrapSettings,
) -> pd.DataFrame:
    """Return people and judges against references that leave one person out: one scale for both.

    A single person can't be left out: the table is empty then.
    """
    queries, indices = draw_resamples(grades, bootstrap)
    people, judges = of_kind(annotators, "assessor"), of_kind(annotators, "judge")
    if len(people) < 2:
        return estimate_table([], LEADING, CONFIDENCES)
    wide = agreement.wide_grades(grades[grades["annotator"] != REFERENCE])
    return human_ceiling(wide, people, judges, scale.values, indices, queries=queries)


def summarise(
    annotators: pd.DataFrame, kappas: pd.DataFrame, bias: pd.DataFrame, coverage: pd.DataFrame
) -> pd.DataFrame:
    """Return the few numbers of each judge that the run ends with."""
    return summarise_judges(kinds_of(annotators), kappas, bias, coverage)


def draw_annotators(
    counts: pd.DataFrame, kappas: pd.DataFrame, annotators: pd.DataFrame, scale: GradeScale
) -> tuple[Figure, Figure, Figure]:
    """Return Figures 4 and 5, and the agreement with the reference with its intervals."""
    among = kappas[(kappas["annotator_a"] != REFERENCE) & (kappas["annotator_b"] != REFERENCE)]
    with_reference = kappas[kappas["annotator_a"] == REFERENCE]
    return (
        figures.grade_shares(counts, scale.names),
        figures.kappa_matrix(among),
        figures.kappa_intervals(with_reference, kinds_of(annotators)),
    )


def kinds_of(annotators: pd.DataFrame) -> dict[str, str]:
    """Return the kind of each annotator, in the order of the tables."""
    return dict(zip(annotators["annotator"], annotators["kind"], strict=True))


def of_kind(annotators: pd.DataFrame, kind: str) -> list[str]:
    """Return the annotators of one kind, in the order of the tables."""
    return list(annotators.loc[annotators["kind"] == kind, "annotator"])
