"""`retrieval_runs`: a node for each system, which takes the runs of those it is made of."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from kedro.pipeline import Node, Pipeline

from normastcu.pipelines.retrieval_runs import nodes
from normastcu.pipelines.shared import copy_table, join_tables
from normastcu.retrieval.known_systems import Systems, needed
from normastcu.retrieval.settings import (
    AnySystem,
    Bm25System,
    DenseSystem,
    ExternalSystem,
    HybridSystem,
)

NAMESPACE = "retrieval_runs"
DOCUMENTS = "documents@searched"


def create_pipeline(systems: Systems) -> Pipeline:
    """Return the pipeline for the systems of an environment.

    Each system but those of BM25, which share their indexes, has the namespace
    ``retrieval_runs.<slug>``.
    """
    bm25 = [system for system in systems.all if isinstance(system, Bm25System)]
    others = [system for system in systems.all if not isinstance(system, Bm25System)]
    parts = [_bm25(bm25, systems)] if bm25 else []
    parts += [_system(system, systems) for system in others]
    return sum([*parts, *([_comparison(systems)] if systems.active else [])], Pipeline([]))


def run_of(name: str, systems: Systems) -> str:
    """Return the dataset of a system's run."""
    return f"{NAMESPACE}.{systems.slugs[name]}.run"


def _bm25(bm25: list[Bm25System], systems: Systems) -> Pipeline:
    return _shared(
        [
            Node(
                _of(nodes.print_corpus, systems=bm25),
                "documents@chunks",
                "corpus_print",
                name="print_corpus",
            ),
            Node(
                _of(nodes.request_indexes, systems=bm25),
                ["documents@chunks", "corpus_print", "params:retrieval"],
                "lucene_indexes",
                name="index_documents",
            ),
            Node(
                _of(nodes.search_bm25, systems=bm25),
                ["lucene_indexes", "corpus_print", "queries", "params:retrieval"],
                ["bm25_report", *(run_of(system.name, systems) for system in bm25)],
                name="search_bm25",
            ),
        ]
    )


def _system(system: AnySystem, systems: Systems) -> Pipeline:
    node = _node(system, [run_of(name, systems) for name in needed(system)])
    inputs = {name for name in node.inputs if not name.startswith("params:")}
    return Pipeline(
        [node],
        namespace=f"{NAMESPACE}.{systems.slugs[system.name]}",
        inputs=inputs,
        parameters={name for name in node.inputs if name.startswith("params:")},
        tags=system.kind,
    )


def _node(system: AnySystem, runs: list[str]) -> Node:
    if isinstance(system, DenseSystem):
        return Node(
            _of(nodes.search_dense, system=system),
            [DOCUMENTS, "queries", "vectors", "credentials", "params:retrieval"],
            ["run", "texts", "usage"],
            name="search",
        )
    if isinstance(system, ExternalSystem):
        return Node(
            _of(nodes.read_external, system=system),
            ["external_runs", DOCUMENTS, "params:retrieval"],
            ["run", "report"],
            name="read",
        )
    if isinstance(system, HybridSystem):
        return Node(
            _of(nodes.combine, system=system), ["params:retrieval", *runs], "run", name="combine"
        )
    if not isinstance(system, Bm25System) and system.reranker is not None:
        return Node(
            _of(nodes.rerank, system=system),
            [DOCUMENTS, "queries", "reranker_scores", *runs],
            "run",
            name="rerank",
        )
    return Node(_of(nodes.reorder, system=system), runs, "run", name="reorder")


def _comparison(systems: Systems) -> Pipeline:
    """Return the steps that put the runs of the compared systems together."""
    reports = [
        (kind, dataset, joined, f"join_{dataset}")
        for kind, dataset, joined in (
            (DenseSystem, "usage", "encoding_usage"),
            (ExternalSystem, "report", "external_report"),
        )
        if any(isinstance(system, kind) for system in systems.all)
    ]
    return _shared(
        [
            Node(
                join_tables,
                [run_of(name, systems) for name in systems.active],
                "runs",
                name="join_runs",
            ),
            Node(copy_table, "runs", "runs_trec", name="write_trec_runs"),
            Node(_of(nodes.list_systems, systems=systems), None, "systems", name="list_systems"),
            Node(
                _of(nodes.count_runs, systems=systems),
                ["runs", "queries"],
                "run_counts",
                name="count_runs",
            ),
            Node(
                nodes.list_holes,
                ["runs", "reference_qrels", "queries", "params:retrieval"],
                "unjudged_pairs",
                name="list_holes",
            ),
            *(
                Node(
                    join_tables,
                    [
                        f"{NAMESPACE}.{systems.slugs[system.name]}.{dataset}"
                        for system in systems.all
                        if isinstance(system, kind)
                    ],
                    joined,
                    name=name,
                )
                for kind, dataset, joined, name in reports
            ),
        ]
    )


def _shared(steps: list[Node]) -> Pipeline:
    return Pipeline(
        steps, namespace=NAMESPACE, prefix_datasets_with_namespace=False, tags=NAMESPACE
    )


def _of(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """Return a node's function for some systems, under its own name."""
    return update_wrapper(partial(function, **settings), function)
