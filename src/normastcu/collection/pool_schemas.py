"""What the tables of a pool must look like; the catalog's validators."""

import pandas as pd
import pandera.pandas as pa

from normastcu.collection.manual_pool import ACTIONS
from normastcu.collection.pool import NOTE_KINDS, REASONS
from normastcu.collection.schemas import ID, Table


class ManualPool(Table):
    """Changes to the pool by hand."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    action: str = pa.Field(isin=ACTIONS)
    reason: str = pa.Field(nullable=True)

    class Config:
        """One change of a pair."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class Pool(Table):
    """The documents of each query that are judged, and why."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    rank: pd.Int64Dtype = pa.Field(ge=1)
    reason: str = pa.Field(isin=REASONS)
    filled_at: pd.Int64Dtype = pa.Field(ge=1, nullable=True)
    note: str = pa.Field(nullable=True)

    class Config:
        """A document once in the pool of a query."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class PoolSystems(Table):
    """Which systems retrieved the pooled documents, and at which rank."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    system: str
    rank: pd.Int64Dtype = pa.Field(ge=1)

    class Config:
        """One rank of a document in a list."""

        unique = ["query_id", "doc_id", "system"]  # noqa: RUF012


class PoolNotes(Table):
    """What a reader of the pool should know."""

    query_id: str = pa.Field(str_matches=ID)
    kind: str = pa.Field(isin=NOTE_KINDS)
    note: str


class Candidates(Table):
    """The documents that a first stage hands to a reranker."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    rank: pd.Int64Dtype = pa.Field(ge=1)
    taken_from: str
    taken_at: pd.Int64Dtype = pa.Field(ge=1)

    class Config:
        """A document once among the candidates of a query."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class PoolSizes(Table):
    """The size of each query's pool."""

    query_id: str = pa.Field(str_matches=ID, unique=True)
    n: pd.Int64Dtype = pa.Field(ge=0)
    n_judged: pd.Int64Dtype = pa.Field(ge=0)
    n_relevant: pd.Int64Dtype = pa.Field(ge=0, nullable=True)


class PoolReport(Table):
    """Pooled documents by query, reason and system; a missing one of them means all."""

    query_id: str = pa.Field(str_matches=ID, nullable=True)
    reason: str = pa.Field(isin=REASONS, nullable=True)
    system: str = pa.Field(nullable=True)
    n: pd.Int64Dtype = pa.Field(ge=0)
    n_relevant: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    n_judged: pd.Int64Dtype = pa.Field(ge=0)
    share: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    n_unique: pd.Int64Dtype = pa.Field(ge=0)
    n_unique_relevant: pd.Int64Dtype = pa.Field(ge=0, nullable=True)

    class Config:
        """One row of a query, a reason and a system."""

        unique = ["query_id", "reason", "system"]  # noqa: RUF012


class PoolOverlap(Table):
    """The documents that every two systems share, mean over the queries."""

    system_a: str
    system_b: str
    depth: pd.Int64Dtype = pa.Field(ge=1)
    overlap: pd.Float64Dtype = pa.Field(ge=0, le=1, nullable=True)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)

    class Config:
        """One row of two systems at a depth."""

        unique = ["system_a", "system_b", "depth"]  # noqa: RUF012


class AssessmentSheet(Table):
    """What an assessor elsewhere is shown of each pair, and the cells to fill in."""

    query_id: str = pa.Field(str_matches=ID)
    query: str
    doc_id: str = pa.Field(str_matches=ID)
    title: str
    subject: str
    status: str
    in_force_since: str
    text: str
    annotator: str
    grade: str

    class Config:
        """A pair once."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class UnjudgedPairs(Table):
    """Pairs that systems rank high and that nobody judged."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    best_rank: pd.Int64Dtype = pa.Field(ge=1)
    n_systems: pd.Int64Dtype = pa.Field(ge=1)
    systems: str

    class Config:
        """A pair once."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012
