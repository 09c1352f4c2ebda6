"""Nodes of `retrieval_runs`: index, search, rerank, combine, and put the runs together."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from normastcu.collection.documents import DocumentChunks
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.run_holes import unjudged_pairs
from normastcu.collection.sources import RawFile
from normastcu.datasets.judging import Credentials
from normastcu.pipelines.retrieval_runs.parameters import RetrievalSettings
from normastcu.retrieval.combine import hybrid_run
from normastcu.retrieval.dense import run_dense
from normastcu.retrieval.external import external_run, report_table
from normastcu.retrieval.known_systems import Systems, needed
from normastcu.retrieval.lucene_index import IndexRequest, LuceneIndexes
from normastcu.retrieval.lucene_search import search_bm25 as search_with_lucene
from normastcu.retrieval.manifest import CorpusPrint, corpus_print
from normastcu.retrieval.rerank import first_documents, rerank_by_model, rerank_by_run
from normastcu.retrieval.rerankers import open_reranker
from normastcu.retrieval.scores import ScoreStore
from normastcu.retrieval.settings import (
    AnySystem,
    Bm25System,
    DenseSystem,
    ExternalSystem,
    HybridSystem,
    RerankSystem,
)
from normastcu.retrieval.texts import document_texts
from normastcu.retrieval.vectors import VectorStore

logger = logging.getLogger(__name__)

SYSTEM_TYPES = {
    "system": "str",
    "kind": "str",
    "family": "str",
    "settings": "str",
    "settings_hash": "str",
}
RUN_COUNT_TYPES = {
    "system": "str",
    "n_queries": "Int64",
    "n_documents": "Int64",
    "n_without": "Int64",
    "without": "str",
    "n_ignored": "Int64",
}


def print_corpus(documents: DocumentChunks, *, systems: Sequence[Bm25System]) -> dict[str, Any]:
    """Return hashes of the texts that are searched, by which an index is known again."""
    fields = dict.fromkeys(field for system in systems for field in system.fields)
    return corpus_print(documents, fields).model_dump()


def request_indexes(
    documents: DocumentChunks,
    corpus: Mapping[str, Any],
    settings: RetrievalSettings,
    *,
    systems: Sequence[Bm25System],
) -> IndexRequest:
    """Return which indexes there must be; the dataset makes those that are not there."""
    representations = tuple(dict.fromkeys(system.fields for system in systems))
    known = CorpusPrint.model_validate(corpus)
    return IndexRequest(documents, known, representations, settings.lucene)


def search_bm25(
    indexes: LuceneIndexes,
    corpus: Mapping[str, Any],
    queries: pd.DataFrame,
    settings: RetrievalSettings,
    *,
    systems: Sequence[Bm25System],
) -> list[pd.DataFrame]:
    """Return the report on all BM25 systems, and the run of each."""
    found = search_with_lucene(
        indexes,
        systems,
        queries,
        CorpusPrint.model_validate(corpus),
        settings=settings.lucene,
        depth=settings.depth,
    )
    of_system = dict(iter(found.runs.groupby("system")))
    empty = found.runs.head(0)
    runs = [of_system.get(system.name, empty).reset_index(drop=True) for system in systems]
    return [found.report, *runs]


def search_dense(
    documents: pd.DataFrame,
    queries: pd.DataFrame,
    vectors: VectorStore,
    credentials: Credentials,
    settings: RetrievalSettings,
    *,
    system: DenseSystem,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the run of a dense system, what was encoded of each document, and what it took."""
    found = run_dense(
        system, documents, queries, vectors, depth=settings.depth, credentials=credentials
    )
    return found.run, found.texts, found.usage


def rerank(
    documents: pd.DataFrame,
    queries: pd.DataFrame,
    scores: ScoreStore,
    *runs: pd.DataFrame,
    system: RerankSystem,
) -> pd.DataFrame:
    """Return the first documents of a system in the order of a reranker."""
    first_stage = pd.concat(runs, ignore_index=True)
    wanted = first_documents(system, first_stage)["doc_id"]
    shown = documents[documents["doc_id"].isin(wanted)].reset_index(drop=True)
    if system.reranker is None:
        raise CollectionError(f"The system {system.name} has no reranker.")
    with scores:
        scorer = open_reranker(system.reranker, scores)
        texts = document_texts(shown, system.fields)
        return rerank_by_model(system, first_stage, queries, texts, scorer)


def reorder(*runs: pd.DataFrame, system: RerankSystem) -> pd.DataFrame:
    """Return the first documents of a system by their ranks in another one."""
    return rerank_by_run(system, pd.concat(runs, ignore_index=True))


def combine(settings: RetrievalSettings, *runs: pd.DataFrame, system: HybridSystem) -> pd.DataFrame:
    """Return several systems as one list."""
    combined = hybrid_run(system, pd.concat(runs, ignore_index=True))
    return combined[combined["rank"] <= settings.depth].reset_index(drop=True)


def read_external(
    files: list[RawFile],
    documents: pd.DataFrame,
    settings: RetrievalSettings,
    *,
    system: ExternalSystem,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a run made elsewhere, as deep as the others, and what was read."""
    by_name = {file.path.name: file for file in files}
    if system.file not in by_name:
        raise CollectionError(
            f"The system {system.name} is the run {system.file}, which is not among the files of "
            f"`external_runs` ({', '.join(by_name) or 'none'}): correct its `file` in systems.yml, "
            "or `external_runs` in conf/<environment>/globals.yml."
        )
    run, report = external_run(system, by_name[system.file], set(documents["doc_id"]))
    kept = run[run["rank"] <= settings.depth].reset_index(drop=True)
    return kept, report_table([report])


def list_systems(*, systems: Systems) -> pd.DataFrame:
    """Return kind, family and settings of each system that is compared, with a hash of them.

    The hash also counts the settings of the systems that a system is made of.
    """
    by_name = {system.name: system for system in systems.all}
    rows = [
        (one.name, one.kind, one.family, _settings(one), _settings_hash(one, by_name))
        for one in (by_name[name] for name in systems.active)
    ]
    return typed_frame(rows, SYSTEM_TYPES)


def count_runs(runs: pd.DataFrame, queries: pd.DataFrame, *, systems: Systems) -> pd.DataFrame:
    """Return how much each system retrieved, and the queries for which it has nothing.

    Queries of a run that the collection lacks are ignored, and counted.
    """
    known, rows = set(queries["query_id"]), []
    for name in systems.active:
        run = runs[runs["system"] == name]
        found = set(run["query_id"].unique())
        n_ignored = len(found - known)
        if n_ignored:
            logger.warning("%s has %d queries that the collection lacks.", name, n_ignored)
        without = [one for one in queries["query_id"] if one not in found]
        if without:
            logger.warning("%s retrieves nothing for: %s", name, ", ".join(without))
        n_documents = int(run["query_id"].isin(known).sum())
        missing = ", ".join(without) or None
        rows.append((name, len(found & known), n_documents, len(without), missing, n_ignored))
    return typed_frame(rows, RUN_COUNT_TYPES)


def list_holes(
    runs: pd.DataFrame,
    reference: pd.DataFrame,
    queries: pd.DataFrame,
    settings: RetrievalSettings,
) -> pd.DataFrame:
    """Return the pairs among the first documents of any system that nobody judged.

    Queries of a run that the collection lacks are left out: nobody could judge them.
    """
    asked = runs[runs["query_id"].isin(queries["query_id"])]
    return unjudged_pairs(asked, reference, settings.judged_depth)


def _settings(system: AnySystem) -> str:
    shown = system.model_dump(mode="json", exclude={"name", "kind", "family"}, exclude_none=True)
    return json.dumps(shown, ensure_ascii=False, sort_keys=True)


def _settings_hash(system: AnySystem, by_name: dict[str, AnySystem]) -> str:
    parts = [system.model_dump_json(exclude={"name", "family"})]
    parts += [_settings_hash(by_name[name], by_name) for name in needed(system)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
