"""Nodes of `ingestion`: each reads one kind of raw file, checks it, and says where it came from."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from normastcu.collection.documents import DocumentChunks, corpus_statistics, read_corpus
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import (
    FILE_TYPES,
    JUDGMENT_TYPES,
    check_annotators,
    check_judged_documents,
    file_record,
    read_assessor_judgments,
    read_judge_labels,
)
from normastcu.collection.queries import read_queries
from normastcu.collection.settings import (
    AssessorFormat,
    DocumentFormat,
    GradeScale,
    JudgeLabelFormat,
    TableFormat,
)
from normastcu.collection.sources import RawFile
from normastcu.judging.collect import attempts_table
from normastcu.judging.imported import (
    ImportedReplies,
    ReleasedComparison,
    compare_with_released,
    read_released_replies,
)
from normastcu.judging.store import ReplyStore

logger = logging.getLogger(__name__)

FILE_TABLE_TYPES = {"table": "str", **FILE_TYPES}


def ingest_queries(file: RawFile, settings: TableFormat) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the queries, and the record of their file."""
    queries = read_queries(file, settings)
    return queries, file_table("queries", [file_record(file, n_rows=len(queries))])


def ingest_assessor_judgments(
    file: RawFile | None, settings: AssessorFormat, scale: GradeScale, queries: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the judgments of people, and the record of their file; none where nobody judged."""
    if file is None:
        logger.warning("Nobody has judged yet: there are no judgments of people.")
        return typed_frame([], JUDGMENT_TYPES), file_table("assessor_judgments", [])
    imported = read_assessor_judgments(file, settings, scale.values, set(queries["query_id"]))
    check_annotators(imported.files)
    return imported.table, file_table("assessor_judgments", imported.files)


def ingest_judge_labels(
    files: list[RawFile], settings: JudgeLabelFormat, scale: GradeScale, queries: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the labels of judges made elsewhere, and the records of their files."""
    imported = read_judge_labels(files, settings, scale.values, set(queries["query_id"]))
    check_annotators(imported.files)
    return imported.table, file_table("judge_labels", imported.files)


def ingest_replies(
    files: list[RawFile], settings: ImportedReplies, scale: GradeScale, store: ReplyStore
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put raw replies made elsewhere into the store; return their grades, and the files' records.

    The grades are what our reader reads in the replies. Where the file states another one, a
    warning says how many differ.
    """
    attempts, records = [], []
    with store:
        for file in files:
            read = list(read_released_replies(file, settings.names, scale.values, settings))
            # A key holds the file's bytes, so what is known is the same reply, however it was read.
            known = store.last_by_key(one.key for one in read)
            store.merge(one for one in read if one.key not in known)
            attempts += read
            judges = ", ".join(dict.fromkeys(one.judge for one in read))
            n_without = sum(one.grade is None for one in read)
            records.append(file_record(file, len(read), 0, n_without, judges))
            warn_of_other_grades(
                compare_with_released(file, settings.names, scale.values, settings)
            )
    check_annotators(records)
    return attempts_table(attempts), file_table("replies", records)


def warn_of_other_grades(comparison: ReleasedComparison) -> None:
    """Say where the grade that a file states is not the one that its reply gives."""
    for other in comparison.differences:
        logger.warning(
            "%s, line %d: the reply of %s gives the grade %s where the file states %s.",
            other.file,
            other.line,
            other.judge,
            other.ours,
            other.theirs,
        )


def ingest_documents(
    file: RawFile, settings: DocumentFormat
) -> tuple[DocumentChunks, pd.DataFrame, pd.DataFrame]:
    """Return the documents in chunks, the rows dropped, and the record of their file."""
    corpus = read_corpus(file, settings)
    record = file_record(file, n_rows=corpus.n_rows)
    return corpus.chunks, corpus.dropped, file_table("documents", [record])


def describe_corpus(documents: DocumentChunks) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return Tables 2 and 3: length percentiles, missing values."""
    return corpus_statistics(documents)


def measure_documents(documents: pd.DataFrame) -> pd.DataFrame:
    """Return the length of each document's text, in characters."""
    n_characters = documents["text"].fillna("").str.len().astype("Int64")
    return documents[["doc_id"]].assign(n_characters=n_characters)


def check_collection(
    documents: DocumentChunks, judgments: pd.DataFrame, labels: pd.DataFrame
) -> pd.DataFrame:
    """Raise where a judged document is not in the corpus; return the pairs by query."""
    doc_ids = {doc_id for chunk in documents for doc_id in chunk["doc_id"]}
    check_judged_documents(judgments, doc_ids)
    check_judged_documents(labels, doc_ids)
    pairs = judgments[["query_id", "doc_id"]].drop_duplicates()
    return pairs.groupby("query_id").size().rename("n_pairs").reset_index()


def file_table(table: str, records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the records of files, and the table that was read from them."""
    return typed_frame([{"table": table, **record} for record in records], FILE_TABLE_TYPES)
