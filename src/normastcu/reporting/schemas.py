"""What the tables of the report must look like: the promise to papers, notebooks and tools."""

import pandas as pd
import pandera.pandas as pa

from normastcu.collection.schemas import ID


class ReportTable(pa.DataFrameModel):
    """Base of the schemas: the named columns first, further ones may follow."""

    class Config:
        """Let further columns follow."""

        strict = False


class Estimates(ReportTable):
    """A table of estimates: intervals over queries, and why a value is missing."""

    ci90_low: pd.Float64Dtype = pa.Field(nullable=True)
    ci90_high: pd.Float64Dtype = pa.Field(nullable=True)
    ci95_low: pd.Float64Dtype = pa.Field(nullable=True)
    ci95_high: pd.Float64Dtype = pa.Field(nullable=True)
    ci_method: str = pa.Field(nullable=True)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    undefined: str = pa.Field(nullable=True)


class Annotators(ReportTable):
    """Every annotator, in the order of tables and figures."""

    annotator: str = pa.Field(unique=True)
    kind: str = pa.Field(isin=["reference", "assessor", "judge"])


class AllLabels(ReportTable):
    """Labels of all judges; a missing grade has an outcome that says why."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    annotator: str = pa.Field(str_matches=ID)
    grade: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    outcome: str

    class Config:
        """One label for a pair by a judge."""

        unique = ["query_id", "doc_id", "annotator"]  # noqa: RUF012


class Grades(ReportTable):
    """Grades of every annotator on the pairs that people judged."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    annotator: str
    kind: str
    grade: pd.Int64Dtype = pa.Field(ge=0, nullable=True)

    class Config:
        """One grade for a pair by an annotator."""

        unique = ["query_id", "doc_id", "annotator"]  # noqa: RUF012


class AssessorAnswers(ReportTable):
    """What each assessor answered."""

    annotator: str
    answer: str = pa.Field(isin=["graded", "cannot judge", "no answer"])
    n: pd.Int64Dtype = pa.Field(ge=0)


class ReleasedJudgments(ReportTable):
    """Judgments in the released columns."""

    QUERY_KEY: str
    DOC_KEY: str
    AVALIACAO: pd.Int64Dtype
    USUARIO_AVALIADOR: str


class GradeCounts(ReportTable):
    """Grades by annotator (Tables 4 and 10)."""

    annotator: str
    kind: str
    grade: pd.Int64Dtype = pa.Field(ge=0)
    n: pd.Int64Dtype = pa.Field(ge=0)
    share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)


class Disagreement(ReportTable):
    """Pairs by how far the people's grades lie apart (Table 5)."""

    category: str = pa.Field(isin=["consensus", "weak", "strong"])
    grades: str
    n: int = pa.Field(ge=0)
    share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)


class PairsByAssessors(ReportTable):
    """Pairs by number of grades."""

    n_assessors: int = pa.Field(ge=1)
    category: str
    n: int = pa.Field(ge=0)


class DisputedPairs(ReportTable):
    """The pairs that people dispute most."""

    query_id: str
    doc_id: str
    grades: str
    range: pd.Int64Dtype = pa.Field(ge=1)


class DisagreementByQuery(ReportTable):
    """Strong disagreements of each query."""

    query_id: str = pa.Field(unique=True)
    n: pd.Int64Dtype = pa.Field(ge=1)
    n_strong: pd.Int64Dtype = pa.Field(ge=0)
    share: pd.Float64Dtype = pa.Field(ge=0, le=1)


class Kappa(Estimates):
    """Pairwise agreement (Figures 3 and 5); the interval is that of `kappa_quadratic`."""

    annotator_a: str
    annotator_b: str
    n: pd.Int64Dtype = pa.Field(ge=0)
    kappa_quadratic: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    kappa_linear: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    kappa: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    exact: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    ac2: pd.Float64Dtype = pa.Field(le=1, nullable=True)
    reading: str = pa.Field(nullable=True)


class Alpha(Estimates):
    """Krippendorff's alpha of groups of annotators."""

    group: str
    alpha_ordinal: pd.Float64Dtype = pa.Field(le=1, nullable=True)


class Bias(Estimates):
    """Mean error and mean absolute error (Table 11); the interval is that of `me`."""

    annotator: str
    kind: str
    n: pd.Int64Dtype = pa.Field(ge=0)
    me: pd.Float64Dtype = pa.Field(nullable=True)
    me_std: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    mae: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    mae_std: pd.Float64Dtype = pa.Field(ge=0, nullable=True)


class HumanCeiling(Estimates):
    """People and judges against references that leave one person out."""

    annotator: str
    reference: str
    measure: str
    statistic: str
    value: pd.Float64Dtype = pa.Field(nullable=True)


class HumanRangeAgreement(Estimates):
    """Grades inside the range of the people's (Table 12)."""

    judge: str
    category: str
    grades: str
    n_inside: pd.Int64Dtype = pa.Field(ge=0)
    n: pd.Int64Dtype = pa.Field(ge=0)
    share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)


class Confusion(ReportTable):
    """Grades of a judge by the reference's."""

    judge: str
    reference_grade: pd.Int64Dtype
    grade: pd.Int64Dtype
    n: pd.Int64Dtype = pa.Field(ge=0)


class AgreementByQuery(ReportTable):
    """Agreement of a judge with the reference, query by query."""

    judge: str
    query_id: str
    n: pd.Int64Dtype = pa.Field(ge=0)
    kappa_quadratic: pd.Float64Dtype = pa.Field(ge=-1, le=1, nullable=True)
    exact: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    me: pd.Float64Dtype = pa.Field(nullable=True)


class Judges(ReportTable):
    """Model and prompt of each judge (Table 7)."""

    judge: str = pa.Field(unique=True)
    model: str
    prompt: str = pa.Field(nullable=True)
    source: str
    settings_hash: str


class Coverage(ReportTable):
    """Pairs of each judge by outcome."""

    judge: str
    outcome: str
    n: pd.Int64Dtype = pa.Field(ge=0)


class JudgeSummary(Estimates):
    """The few numbers of each judge that a run ends with."""

    judge: str = pa.Field(unique=True)
    n: pd.Int64Dtype = pa.Field(ge=0)
    n_asked: pd.Int64Dtype = pa.Field(ge=0)
    coverage: pd.Float64Dtype = pa.Field(ge=0, le=1)
    kappa_quadratic: pd.Float64Dtype = pa.Field(nullable=True)
