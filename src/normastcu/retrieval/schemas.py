"""What the tables of retrieval must look like; the catalog's validators."""

import pandas as pd
import pandera.pandas as pa

from normastcu.collection.schemas import ID, Table


class Runs(Table):
    """The runs of several systems in one table."""

    system: str = pa.Field(str_matches=ID)
    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    rank: pd.Int64Dtype = pa.Field(ge=1)
    score: pd.Float64Dtype

    class Config:
        """A document once for a query of a system."""

        unique = ["system", "query_id", "doc_id"]  # noqa: RUF012


class Systems(Table):
    """The systems that are compared."""

    system: str = pa.Field(str_matches=ID, unique=True)
    kind: str
    family: str
    settings: str
    settings_hash: str = pa.Field(str_matches=r"^[0-9a-f]{64}$")


class RunCounts(Table):
    """How much each system retrieved."""

    system: str = pa.Field(str_matches=ID, unique=True)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    n_documents: pd.Int64Dtype = pa.Field(ge=0)
    n_without: pd.Int64Dtype = pa.Field(ge=0)
    without: str = pa.Field(nullable=True)
    n_ignored: pd.Int64Dtype = pa.Field(ge=0)


class Bm25Report(Table):
    """What happened to the queries of each BM25 system; ids are joined by a blank."""

    system: str = pa.Field(str_matches=ID, unique=True)
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    n_without_terms: pd.Int64Dtype = pa.Field(ge=0)
    without_terms: str = pa.Field(nullable=True)
    n_without_hits: pd.Int64Dtype = pa.Field(ge=0)
    without_hits: str = pa.Field(nullable=True)
    n_tied: pd.Int64Dtype = pa.Field(ge=0)


class EncodedTexts(Table):
    """What a dense system encoded of each document."""

    system: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID, unique=True)
    fallback: str = pa.Field(nullable=True)
    n_passages: pd.Int64Dtype = pa.Field(ge=1)
    n_cut: pd.Int64Dtype = pa.Field(ge=0)
    characters: pd.Int64Dtype = pa.Field(ge=0)
    characters_shown: pd.Int64Dtype = pa.Field(ge=0, nullable=True)


class EncodingUsage(Table):
    """What encoding took in this run."""

    system: str = pa.Field(str_matches=ID)
    encoder: str
    texts: str
    n_texts: pd.Int64Dtype = pa.Field(ge=0)
    n_known: pd.Int64Dtype = pa.Field(ge=0)
    n_encoded: pd.Int64Dtype = pa.Field(ge=0)
    n_cut: pd.Int64Dtype = pa.Field(ge=0)
    tokens: pd.Int64Dtype = pa.Field(ge=0, nullable=True)
    cost: pd.Float64Dtype = pa.Field(ge=0, nullable=True)
    seconds: pd.Float64Dtype = pa.Field(ge=0)


class ExternalReports(Table):
    """What was read of runs made elsewhere."""

    system: str = pa.Field(str_matches=ID)
    file: str
    sha256: str
    n_queries: pd.Int64Dtype = pa.Field(ge=0)
    n_documents: pd.Int64Dtype = pa.Field(ge=0)
    n_tied: pd.Int64Dtype = pa.Field(ge=0)
    n_misranked: pd.Int64Dtype = pa.Field(ge=0)
    n_removed: pd.Int64Dtype = pa.Field(ge=0)
