"""What the tables of a collection must look like; the catalog's validators."""

import pandas as pd
import pandera.pandas as pa

from normastcu.collection.documents import DocumentChunks
from normastcu.collection.judgments import ORIGINS

ID = r"^\S+$"


class Table(pa.DataFrameModel):
    """Base of every schema: the declared columns with their types, no others."""

    class Config:
        """Refuse columns that are not declared, convert nothing."""

        strict = True
        coerce = False


class Documents(Table):
    """The corpus, one row a document."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    authoring_unit: str = pa.Field(nullable=True)
    origin: str = pa.Field(nullable=True)
    number: str = pa.Field(nullable=True)
    year: str = pa.Field(nullable=True)
    type: str = pa.Field(nullable=True)
    title: str = pa.Field(nullable=True)
    subject: str = pa.Field(nullable=True)
    html: str = pa.Field(nullable=True)
    in_force_since: str = pa.Field(nullable=True)
    in_force_until: str = pa.Field(nullable=True)
    status: str = pa.Field(nullable=True)
    annex_html: str = pa.Field(nullable=True)
    theme: str = pa.Field(nullable=True)
    tags: str = pa.Field(nullable=True)
    related: str = pa.Field(nullable=True)
    text: str = pa.Field(nullable=True)


class DocumentTexts(Table):
    """The columns of the corpus that a judge is shown."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    title: str = pa.Field(nullable=True)
    subject: str = pa.Field(nullable=True)
    text: str = pa.Field(nullable=True)


class DocumentChunksValidator:
    """Validates each chunk against `Documents` when it is read."""

    def validate(self, data: DocumentChunks) -> DocumentChunks:
        """Return the same documents; an invalid chunk raises where it is reached."""
        return DocumentChunks(lambda: (Documents.validate(chunk) for chunk in data))


class DroppedDocuments(Table):
    """Rows of the corpus file that the date rule left out."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    line: int = pa.Field(ge=2)
    in_force_since: str
    reason: str


class Queries(Table):
    """The queries, in the order of their file."""

    query_id: str = pa.Field(str_matches=ID, unique=True)
    text: str = pa.Field(str_length={"min_value": 1})


class Judgments(Table):
    """Grades by annotators; a missing grade is *cannot judge*, or a pair not judged."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    annotator: str = pa.Field(str_matches=ID)
    grade: pd.Int64Dtype = pa.Field(ge=0, nullable=True)

    class Config:
        """One grade for a pair by an annotator."""

        unique = ["query_id", "doc_id", "annotator"]  # noqa: RUF012


class AssessorJudgments(Judgments):
    """Judgments of people, and how the document came before them."""

    origin: str = pa.Field(isin=ORIGINS, nullable=True)


class IngestedFiles(Table):
    """Where each raw file came from, and what was read from it."""

    table: str
    file: str
    kind: str
    location: str
    revision: str
    sha256: str = pa.Field(str_matches=r"^[0-9a-f]{64}$")
    annotators: str
    n_rows: int = pa.Field(ge=0)
    n_duplicates: int = pa.Field(ge=0)
    n_without_grade: int = pa.Field(ge=0)


class MeanGrades(Table):
    """The mean grade of the people on each pair."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    n_annotators: pd.Int64Dtype = pa.Field(ge=1)
    mean_grade: float = pa.Field(ge=0)
    lowest: pd.Int64Dtype = pa.Field(ge=0)
    highest: pd.Int64Dtype = pa.Field(ge=0)
    grades: str

    class Config:
        """One row a pair."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class Qrels(Table):
    """Several qrels in one table, told apart by the column of that name."""

    qrels: str = pa.Field(str_matches=ID)
    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    grade: pd.Int64Dtype = pa.Field(ge=0)

    class Config:
        """One grade for a pair in a qrels."""

        unique = ["qrels", "query_id", "doc_id"]  # noqa: RUF012


class Reference(Table):
    """The reference qrels alone."""

    query_id: str = pa.Field(str_matches=ID)
    doc_id: str = pa.Field(str_matches=ID)
    grade: pd.Int64Dtype = pa.Field(ge=0)

    class Config:
        """One grade for a pair."""

        unique = ["query_id", "doc_id"]  # noqa: RUF012


class DocumentLengths(Table):
    """The length of each document's text."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    n_characters: pd.Int64Dtype = pa.Field(ge=0)


class SearchedDocuments(Table):
    """The columns of the corpus that systems search."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    title: str = pa.Field(nullable=True)
    subject: str = pa.Field(nullable=True)
    tags: str = pa.Field(nullable=True)
    theme: str = pa.Field(nullable=True)
    text: str = pa.Field(nullable=True)


class ShownDocuments(Table):
    """The columns of the corpus that an assessor is shown."""

    doc_id: str = pa.Field(str_matches=ID, unique=True)
    type: str = pa.Field(nullable=True)
    title: str = pa.Field(nullable=True)
    subject: str = pa.Field(nullable=True)
    html: str = pa.Field(nullable=True)
    in_force_since: str = pa.Field(nullable=True)
    status: str = pa.Field(nullable=True)
    text: str = pa.Field(nullable=True)


class CorpusStatistics(Table):
    """Percentiles of the length of the documents, in characters."""

    field: str
    percentile: int = pa.Field(ge=0, le=100)
    with_html: float = pa.Field(ge=0)
    without_html: float = pa.Field(ge=0)
    n_documents: int = pa.Field(ge=0)


class MissingValues(Table):
    """Empty cells of the corpus by column."""

    column: str = pa.Field(unique=True)
    released_column: str
    n: int = pa.Field(ge=0)
    share: float = pa.Field(ge=0, le=1)


class PairsByQuery(Table):
    """Judged pairs of each query."""

    query_id: str = pa.Field(str_matches=ID, unique=True)
    n_pairs: int = pa.Field(ge=1)
