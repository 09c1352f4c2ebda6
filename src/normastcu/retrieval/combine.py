"""Several systems in one list."""

import pandas as pd

from normastcu.collection.fusion import (
    CandidateSettings,
    of_systems,
    reciprocal_rank_fusion,
    take_candidates,
)
from normastcu.collection.run_order import RUN_TYPES, list_numbers, strict_scores
from normastcu.retrieval.settings import HybridSystem


def hybrid_run(settings: HybridSystem, runs: pd.DataFrame) -> pd.DataFrame:
    """Put several systems into one list for each query.

    Parameters
    ----------
    settings
        With shares, the candidates are those of `take_candidates`, in the order of reciprocal
        rank fusion over the systems; without, all documents of the systems are fused.
    runs : DataFrame
        Canonical runs, those of all systems among them.

    Returns
    -------
    DataFrame
        The run of the new system, canonical: ties of the fusion are settled by its own rule
        (`reciprocal_rank_fusion`), and the scores fall strictly.

    Raises
    ------
    CollectionError
        Where a system is not among the runs.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A", "A", "B", "B"], "query_id": ["q"] * 4,
    ...     "doc_id": ["d1", "d2", "d2", "d3"], "rank": [1, 2, 1, 2],
    ... })
    >>> hybrid_run(HybridSystem(name="C", family="c", systems=("A", "B")), runs)["doc_id"].tolist()
    ['d2', 'd1', 'd3']
    """
    lists = of_systems(runs, settings.systems)
    if settings.shares:
        lists = _candidates(settings, lists)
    fused = reciprocal_rank_fusion(lists, k=settings.rrf_k, name=settings.name)
    strict = strict_scores(fused["score"].to_numpy(dtype="float64"), list_numbers(fused))
    return fused.assign(score=strict).astype(RUN_TYPES)


def _candidates(settings: HybridSystem, lists: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the systems for the documents that the shares take."""
    shares = dict(zip(settings.systems, settings.shares, strict=True))
    taken = take_candidates(lists, CandidateSettings(n=settings.candidates, shares=shares))
    pairs = taken[["query_id", "doc_id"]]
    return lists.merge(pairs, on=["query_id", "doc_id"], how="inner")
