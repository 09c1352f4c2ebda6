"""What the tables of the judging pipeline must look like; the catalog's validators."""

import pandas as pd
import pandera.pandas as pa

from normastcu.collection.schemas import ID, Table

OUTCOMES_OF_PAIRS = (
    "ok",
    "unparseable",
    "out_of_range",
    "truncated",
    "refused",
    "too_long",
    "error",
    "not asked",
)


class Pairs(Table):
    """Pairs to be judged."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)

    class Config:
        """Each pair once."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class ReplyImport(Table):
    """Replies brought in from files."""

    file: str
    n_added: pd.Int64Dtype = pa.Field(ge=0)
    n_known: pd.Int64Dtype = pa.Field(ge=0)


class Estimate(Table):
    """What a judge's plan may take at most; unknown is missing."""

    judge: str
    pairs: pd.Int64Dtype = pa.Field(ge=0)
    calls: pd.Int64Dtype = pa.Field(ge=0)
    tokens_in: pd.Int64Dtype = pa.Field(ge=0)
    tokens_out: pd.Int64Dtype = pa.Field(ge=0)
    cost: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    seconds: pd.Float64Dtype = pa.Field(ge=0, nullable=True)


class Report(Table):
    """How the run of a judge ended."""

    judge: str
    least_coverage: pd.Float64Dtype = pa.Field(ge=0, le=1)
    stopped: str = pa.Field(nullable=True)
    n_known: pd.Int64Dtype = pa.Field(ge=0)
    n_calls: pd.Int64Dtype = pa.Field(ge=0)


class JudgeTable(Table):
    """A judge's grade of every pair that it was asked for; only `ok` has one."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    annotator: str = pa.Field(str_matches=ID)
    grade: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    outcome: str = pa.Field(isin=OUTCOMES_OF_PAIRS)
    rationale: str = pa.Field(nullable=True)
    n_samples: pd.Int64Dtype = pa.Field(ge=1)
    n_graded: pd.Int64Dtype = pa.Field(ge=0)
    self_agreement: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    characters_shown: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    content_origin: str = pa.Field(nullable=True)
    model_returned: str = pa.Field(nullable=True)

    class Config:
        """One row for a pair by a judge."""

        unique = ["query_id", "doc_id", "annotator"]  # noqa: RUF012

    @pa.dataframe_check(error="a grade is there exactly where the outcome is ok")
    def _grade_where_ok(cls, table: pd.DataFrame) -> pd.Series:  # noqa: N805
        return table["grade"].notna() == (table["outcome"] == "ok")


class Cost(Table):
    """What a judge took; unknown is missing."""

    judge: str
    calls: pd.Int64Dtype = pa.Field(ge=0)
    tokens_in: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    tokens_out: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    cost: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    cost_per_1000_pairs: pd.Float64Dtype = pa.Field(ge=0, nullable=True)


class Outcomes(Table):
    """Pairs of each judge by outcome."""

    judge: str
    outcome: str
    n: pd.Int64Dtype = pa.Field(ge=0)


class Summary(Report):
    """The reports, with coverage and agreement of a judge with itself."""

    n: pd.Int64Dtype = pa.Field(ge=0)
    n_ok: pd.Int64Dtype = pa.Field(ge=0)
    coverage: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    self_agreement: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
