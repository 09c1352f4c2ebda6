"""Nodes of `meta_evaluation`, system level: whether the ranking of systems survives a judge.

Averages, rankings and their intervals start from `measured_runs`. A judge that left pairs out is
compared without them, on both sides, and their number stands beside its results.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import REFERENCE
from normastcu.collection.settings import GradeScale
from normastcu.evaluation import agreement
from normastcu.evaluation.bootstrap import CONFIDENCES, FloatArray
from normastcu.evaluation.disagreement import PAIR
from normastcu.evaluation.human_ceiling import (
    LEADING,
    LEAVE_ONE_OUT,
    MEAN,
    PAIR_LEVEL,
    PEOPLE,
    TEST_TYPES,
    alternative_annotator_tests,
    ranking_ceiling,
    winning_rates,
)
from normastcu.evaluation.judge_bias import (
    DOCUMENT_LENGTH,
    FAMILY,
    REFERENCE_GRADE,
    by_document_length,
    by_family,
    by_reference_grade,
    judge_bias,
)
from normastcu.evaluation.measures import QueryMeasures, measures_by_query
from normastcu.evaluation.rank_correlation import rank_correlation, rank_shift
from normastcu.evaluation.shrinkage import (
    shrunken_differences,
    shrunken_intervals,
    standard_normals,
)
from normastcu.evaluation.significance import (
    CORRECTIONS,
    benjamini_yekutieli,
    sign_flips,
    significance_agreement,
)
from normastcu.evaluation.system_measures import SystemMeasures, measure_systems
from normastcu.evaluation.systems import QUERY_SETS, average_measures, estimate_table
from normastcu.evaluation.verdict import verdicts
from normastcu.pipelines.meta_evaluation.nodes import kinds_of, of_kind
from normastcu.pipelines.meta_evaluation.parameters import (
    JudgeBiasSettings,
    RankCorrelationSettings,
    ReplacementSettings,
    ShrunkenIntervalSettings,
    SignificanceSettings,
    SystemMeasureSettings,
    VerdictRule,
)
from normastcu.pipelines.parameters import BootstrapSettings
from normastcu.pipelines.shared import draw_resamples
from normastcu.reporting import system_figures
from normastcu.reporting.system_tables import correlation_table, is_judged_share, system_table

CORRECTIONS_OF_PEOPLE = {**CORRECTIONS, "benjamini_yekutieli": benjamini_yekutieli}
TEST = "none (a test)"


def measure_runs(
    runs: pd.DataFrame,
    systems: pd.DataFrame,
    human_qrels: pd.DataFrame,
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    settings: SystemMeasureSettings,
) -> tuple[SystemMeasures, pd.DataFrame, pd.DataFrame]:
    """Measure every run under every qrels; return the values by query, and what runs lack.

    A judge's qrels are its grades. A pair of the reference without its grade is left out for it.
    """
    judges = of_kind(annotators, "judge")
    own = grades[grades["annotator"].isin(judges)].rename(columns={"annotator": "qrels"})
    missing = own[own["grade"].isna()]
    columns = ["qrels", *PAIR, "grade"]
    qrels = pd.concat([human_qrels[columns], own[columns].dropna()], ignore_index=True)
    people = of_kind(annotators, "assessor")
    ungraded = grades[grades["annotator"].isin(people) & grades["grade"].isna()]
    measured = measure_systems(
        runs,
        systems["system"],
        qrels,
        references=[REFERENCE, *people, *leave_one_out_names(people)],
        left_out={name: missing.loc[missing["qrels"] == name, PAIR] for name in judges},
        gaps={
            (person, without): ungraded.loc[ungraded["annotator"] == person, PAIR]
            for person, without in zip(people, leave_one_out_names(people), strict=False)
        },
        queries=grades["query_id"],
        measures=settings.names,
        relevance=settings.relevance,
    )
    everything = measured.together(measured.whole.qrels)
    orders = {"qrels": order_qrels(annotators), "system": list(systems["system"])}
    by_query = in_order(measures_by_query(everything), **orders)
    report = in_order(everything.report, **orders)
    return (
        measured,
        with_left_out(by_query, "qrels", measured),
        with_left_out(report, "qrels", measured),
    )


def average_systems(
    measured: SystemMeasures,
    systems: pd.DataFrame,
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every average with its rank and interval, and Table 9.

    The common queries are those with a relevant document under the reference, every assessor and
    every judge. The qrels without an assessor are averaged over their own queries only.
    """
    _, indices = draw_resamples(grades, bootstrap)
    names, families = list(annotators["annotator"]), families_of(systems)
    without = [name for name in measured.whole.qrels if name not in names]
    others = average_measures(measured.together(without), indices)
    averages = [
        average_measures(measured.together(names), indices),
        others[others["query_set"] == "per_qrels"],
    ]
    table = in_order(
        pd.concat([part for part in averages if len(part)] or averages[:1], ignore_index=True),
        qrels=order_qrels(annotators),
        measure=measured.whole.measures,
        query_set=QUERY_SETS,
        system=list(families),
    )
    return with_left_out(table, "qrels", measured), system_table(table, families)


def correlate_rankings(
    measured: SystemMeasures,
    systems: pd.DataFrame,
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    settings: RankCorrelationSettings,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return rank correlations with the reference, rank shifts, and Table 13."""
    _, indices = draw_resamples(grades, bootstrap)
    correlated = partial(
        rank_correlation,
        reference=REFERENCE,
        indices=indices,
        families=families_of(systems),
        persistence=settings.persistence,
    )
    shifted = partial(rank_shift, reference=REFERENCE, indices=indices)
    correlations = _with_reference(measured, annotators, correlated)
    shifts = _with_reference(measured, annotators, shifted)
    return correlations, shifts, correlation_table(correlations)


def shrink_correlations(
    measured: SystemMeasures, annotators: pd.DataFrame, settings: ShrunkenIntervalSettings
) -> pd.DataFrame:
    """Return rank correlations without the noise of the queries, with their intervals.

    After those with the reference come the judges' with the leave-one-out references, minus the
    people's own.
    """
    n_systems = len(measured.whole.systems)

    def normals(n_qrels: int) -> FloatArray:
        drawn = standard_normals(max(1, n_systems), settings.draws, settings.seed, n_qrels)
        return drawn[:, :, :n_systems]

    shrunken = partial(shrunken_intervals, reference=REFERENCE, normals=normals(2))
    table = _with_reference(measured, annotators, shrunken)
    people, judges = of_kind(annotators, "assessor"), of_kind(annotators, "judge")
    if len(people) < 2:
        return table
    references = dict(zip(people, leave_one_out_names(people), strict=True))
    compared = partial(
        shrunken_differences,
        references=references,
        normals=normals(4),
        measures=ranking_measures(measured),
        without_gaps=measured.without_gaps,
    )
    differences = [
        compared(part, others=names)
        for names, part in measured.beside([*people, *references.values()], judges)
        if names
    ]
    if not differences:
        return table
    beside_people = in_order(pd.concat(differences, ignore_index=True), qrels=judges)
    beside_people = with_left_out(beside_people, "qrels", measured)
    return pd.concat([table, beside_people], ignore_index=True)


def compare_significance(
    measured: SystemMeasures, annotators: pd.DataFrame, settings: SignificanceSettings
) -> pd.DataFrame:
    """Return how far the significant differences between systems are those of the reference."""
    flips = sign_flips(len(measured.whole.queries), settings.flips, settings.seed)
    compared = partial(
        significance_agreement, reference=REFERENCE, flips=flips, alpha=settings.alpha
    )
    return _with_reference(measured, annotators, compared, column="judge")


def rank_beside_people(
    measured: SystemMeasures,
    grades: pd.DataFrame,
    annotators: pd.DataFrame,
    settings: ReplacementSettings,
    bootstrap: BootstrapSettings,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people and judges against references that leave one person out, and who may replace.

    The first table has the rank correlations on the common queries, and for each judge the winning
    rate and the advantage in the alternative annotator test, whose details are the second table.
    A single person can't be left out: both tables are empty then.
    """
    people, judges = of_kind(annotators, "assessor"), of_kind(annotators, "judge")
    if len(people) < 2:
        empty = with_left_out(estimate_table([], LEADING, CONFIDENCES), "annotator", measured)
        return empty, typed_frame([], TEST_TYPES)
    _, indices = draw_resamples(grades, bootstrap)
    references = dict(zip(people, leave_one_out_names(people), strict=True))
    parts: list[pd.DataFrame] = []
    for names, part in measured.beside([*people, *references.values()], judges):
        ceiling = ranking_ceiling(
            part,
            references,
            names,
            indices,
            measures=ranking_measures(measured),
            without_gaps=measured.without_gaps,
        )
        parts.append(ceiling if not parts else ceiling[ceiling["annotator"].isin(names)])
    tests = alternative_annotator_tests(
        agreement.wide_grades(grades[grades["annotator"] != REFERENCE]),
        people,
        judges,
        epsilon=settings.epsilon,
        alpha=settings.alpha,
        correct=CORRECTIONS_OF_PEOPLE[settings.correction],
    )
    order = [*people, PEOPLE, *judges]
    table = pd.concat([*parts, _winning_rows(tests)], ignore_index=True)
    return with_left_out(in_order(table, annotator=order), "annotator", measured), tests


def locate_bias(
    measured: SystemMeasures,
    systems: pd.DataFrame,
    grades: pd.DataFrame,
    means: pd.DataFrame,
    annotators: pd.DataFrame,
    lengths: pd.DataFrame,
    scale: GradeScale,
    settings: JudgeBiasSettings,
    bootstrap: BootstrapSettings,
) -> pd.DataFrame:
    """Return each judge's mean error by reference grade, document length and family of systems."""
    queries, indices = draw_resamples(grades, bootstrap)
    wide = agreement.wide_grades(grades)
    families = families_of(systems)
    chosen = {
        system: family
        for system, family in families.items()
        if not settings.families or family in settings.families
    }
    groupings = {
        REFERENCE_GRADE: by_reference_grade(wide, means, scale.values),
        DOCUMENT_LENGTH: by_document_length(wide, lengths),
        FAMILY: by_family(wide, measured.ranked, chosen, settings.depth),
    }
    judges = of_kind(annotators, "judge")
    return judge_bias(wide, means, judges, groupings, indices, queries=queries)


def judge_rankings(
    measured: SystemMeasures,
    correlations: pd.DataFrame,
    ceiling: pd.DataFrame,
    shrunken: pd.DataFrame,
    annotators: pd.DataFrame,
    rule: VerdictRule,
    cost: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the verdict on every judge and measure, and what the judge costs.

    A judge whose labels were imported has no known cost.
    """
    left_out = zip(correlations["qrels"], correlations["n_pairs_left_out"], strict=True)
    return verdicts(
        correlations,
        ceiling,
        shrunken,
        of_kind(annotators, "judge"),
        rule,
        n_retrieving=len(np.unique(measured.ranked.system)),
        n_left_out=dict(left_out),
        costs=_costs_of(cost),
    )


def draw_rankings(
    measures: pd.DataFrame,
    correlations: pd.DataFrame,
    verdict: pd.DataFrame,
    annotators: pd.DataFrame,
    rule: VerdictRule,
) -> tuple[Figure, Figure, Figure, Figure]:
    """Return Figures 6, 7 and 12 to 15, and the intervals beside which the verdict stands."""
    kinds = kinds_of(annotators)
    return (
        system_figures.rank_maps(measures, kinds),
        system_figures.tau_intervals(correlations, kinds, rule.bound),
        system_figures.measures_by_system(measures, kinds),
        system_figures.verdict_intervals(verdict, rule.bound),
    )


def families_of(systems: pd.DataFrame) -> dict[str, str]:
    """Return the family of each system, in the order of the tables; one without is its own."""
    return dict(zip(systems["system"], systems["family"].fillna(systems["system"]), strict=True))


def leave_one_out_names(people: Sequence[str]) -> list[str]:
    """Return the names of the qrels without each of the people; none of a single person."""
    return [LEAVE_ONE_OUT.format(person) for person in people] if len(people) > 1 else []


def order_qrels(annotators: pd.DataFrame) -> list[str]:
    """Return the names of all qrels in the order of the tables."""
    people = of_kind(annotators, "assessor")
    return [*annotators["annotator"], *leave_one_out_names(people)]


def ranking_measures(measured: SystemMeasures) -> list[str]:
    """Return the measures that rank systems."""
    return [name for name in measured.whole.measures if not is_judged_share(name)]


def in_order(table: pd.DataFrame, **orders: Sequence[str]) -> pd.DataFrame:
    """Sort a table by columns whose values stand in stated orders; the rest stays as it is."""
    place = {
        column: {value: position for position, value in enumerate(order)}
        for column, order in orders.items()
    }
    return table.sort_values(
        list(orders),
        key=lambda values: values.map(place[str(values.name)]),
        kind="stable",
        ignore_index=True,
    )


def with_left_out(table: pd.DataFrame, column: str, measured: SystemMeasures) -> pd.DataFrame:
    """Say in each row how many pairs without a grade are left out for its annotator."""
    counts = table[column].map(lambda name: measured.n_left_out.get(name, 0))
    return table.assign(n_pairs_left_out=counts.astype("Int64"))


def _with_reference(
    measured: SystemMeasures,
    annotators: pd.DataFrame,
    compare: Callable[[QueryMeasures], pd.DataFrame],
    column: str = "qrels",
) -> pd.DataFrame:
    """Compare every annotator with the reference, in the order of the annotators."""
    others = [name for name in annotators["annotator"] if name != REFERENCE]
    parts = [compare(part) for _, part in measured.beside([REFERENCE], others)]
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return with_left_out(in_order(table, **{column: others}), column, measured)


def _costs_of(cost: pd.DataFrame | None) -> dict[str, float]:
    if cost is None:
        return {}
    known = cost.dropna(subset=["cost_per_1000_pairs"])
    return dict(zip(known["judge"], known["cost_per_1000_pairs"], strict=True))


def _winning_rows(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the results of the alternative annotator test as rows of the ceiling."""
    rows = [
        {
            "annotator": result["annotator"],
            "reference": MEAN,
            "measure": PAIR_LEVEL,
            "statistic": statistic,
            "value": result[statistic],
            "n": result["n_people"],
            "ci_method": TEST,
            "undefined": result["undefined"],
        }
        for result in winning_rates(tests).to_dict("records")
        for statistic in ("winning_rate", "advantage")
    ]
    return estimate_table(rows, LEADING, CONFIDENCES)
