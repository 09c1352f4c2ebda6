"""What the tables of systems and their rankings must look like."""

import pandas as pd
import pandera.pandas as pa

from normastcu.reporting.schemas import Estimates, HumanCeiling, ReportTable

QUERY_SETS = ["per_qrels", "common"]
VERDICTS = ["usable to rank systems", "not shown", "not enough systems", "undefined"]


class Measures(Estimates):
    """Averages of every measure, system and qrels, with ranks."""

    qrels: str
    system: str
    measure: str
    query_set: str = pa.Field(isin=QUERY_SETS)
    value: pd.Float64Dtype = pa.Field(nullable=True)
    rank: pd.Int64Dtype = pa.Field(ge=1, nullable=True)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)

    class Config:
        """One average of each."""

        unique = ["qrels", "system", "measure", "query_set"]  # noqa: RUF012


class MeasuresByQuery(ReportTable):
    """Values of every measure, query by query."""

    qrels: str
    system: str
    query_id: str
    measure: str
    value: pd.Float64Dtype
    n_relevant: pd.Int64Dtype = pa.Field(ge=0)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)


class RunReport(ReportTable):
    """Queries that a run lacks or has too many, and tied documents."""

    qrels: str
    system: str
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    n_missing: pd.Int64Dtype = pa.Field(ge=0)
    missing: str = pa.Field(nullable=True)
    n_ignored: pd.Int64Dtype = pa.Field(ge=0)
    n_tied: pd.Int64Dtype = pa.Field(ge=0)


class SystemTable(ReportTable):
    """Measures of each system under the reference, with ranks (Table 9)."""

    system: str = pa.Field(unique=True)
    family: str
    n_queries: pd.Int64Dtype = pa.Field(ge=0, nullable=True)


class CorrelationTable(ReportTable):
    """Tau-b and rho of each qrels with the reference, per measure (Table 13)."""

    qrels: str = pa.Field(unique=True)
    reference: str
    query_set: str = pa.Field(isin=QUERY_SETS)
    n_systems: pd.Int64Dtype = pa.Field(ge=0)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)


class RankCorrelation(Estimates):
    """How each qrels ranks the systems beside the reference."""

    qrels: str
    reference: str
    measure: str
    query_set: str = pa.Field(isin=QUERY_SETS)
    system_set: str = pa.Field(isin=["all", "one_per_family"])
    coefficient: str
    n_systems: pd.Int64Dtype = pa.Field(ge=0)
    value: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    n_left_out: pd.Int64Dtype = pa.Field(ge=0)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)


class ShrunkenCorrelation(Estimates):
    """The same without the noise of the queries, and judges' correlations minus people's."""

    qrels: str
    reference: str
    measure: str
    query_set: str = pa.Field(isin=["common"])
    coefficient: str
    n_systems: pd.Int64Dtype = pa.Field(ge=0)
    value: pd.Float64Dtype = pa.Field(ge=-2, le=2, nullable=True)
    shrunken: pd.Float64Dtype = pa.Field(ge=-2, le=2, nullable=True)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)


class RankShift(Estimates):
    """How far systems move, and whether the best ones stay; the interval is of `max_shift`."""

    qrels: str
    reference: str
    measure: str
    max_shift: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    best_kept: pd.BooleanDtype = pa.Field(nullable=True)
    best_three_kept: pd.BooleanDtype = pa.Field(nullable=True)
    best_kept_share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    best_three_kept_share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    query_set: str = pa.Field(isin=QUERY_SETS)


class SignificanceAgreement(ReportTable):
    """Pairs of systems by who finds them different."""

    judge: str
    reference: str
    measure: str
    correction: str
    alpha: pd.Float64Dtype = pa.Field(gt=0, lt=1)
    both: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    neither: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    missed: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    invented: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    reversed: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    undefined: str = pa.Field(nullable=True)


class SystemCeiling(HumanCeiling):
    """People and judges rank systems beside references that leave one person out.

    A result of the alternative annotator test is of pairs, and has no queries of its own.
    """

    n_queries: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)


class ReplacementTests(ReportTable):
    """Whether an annotator may take a person's place (the alternative annotator test)."""

    annotator: str
    person: str
    n: pd.Int64Dtype = pa.Field(ge=0)
    annotator_wins: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    person_wins: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    p_value: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    p_adjusted: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    won: pd.BooleanDtype = pa.Field(nullable=True)
    epsilon: pd.Float64Dtype = pa.Field(ge=0, le=1)
    undefined: str = pa.Field(nullable=True)


class JudgeBias(Estimates):
    """Mean error of each judge in groups of pairs."""

    judge: str
    grouping: str = pa.Field(isin=["reference_grade", "document_length", "family"])
    group: str
    n: pd.Int64Dtype = pa.Field(ge=0)
    me: pd.Float64Dtype = pa.Field(nullable=True)


class Verdict(Estimates):
    """Whether a judge may rank systems; the interval is that of `tau`."""

    judge: str
    measure: str
    verdict: str = pa.Field(isin=VERDICTS)
    sentence: str
    tau: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    n_systems: pd.Int64Dtype = pa.Field(ge=0)
    shown_by: str = pa.Field(nullable=True)
    tau_minus_people: pd.Float64Dtype = pa.Field(ge=-2, le=2, nullable=True)
    minus_people_shrunken: pd.Float64Dtype = pa.Field(ge=-2, le=2, nullable=True)
    tau_shrunken: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    n_retrieving: pd.Int64Dtype = pa.Field(ge=0)
    n_pairs_left_out: pd.Int64Dtype = pa.Field(ge=0)
    cost_per_1000_pairs: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    sentence_pt: str
