"""The first documents of a system in another order: by another system, or by a reranker."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from normastcu.collection.run_order import order_run
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.passages import best_scores, split_texts
from normastcu.retrieval.ranking import ranked_frame
from normastcu.retrieval.scoring import Pair, Scorer
from normastcu.retrieval.settings import RerankSystem


def first_documents(settings: RerankSystem, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the documents that a system reorders: the first of its first stage.

    Parameters
    ----------
    settings
        The system.
    runs : DataFrame
        Canonical runs, the first stage's among them.

    Returns
    -------
    DataFrame
        Rows of the first stage with a rank up to `depth`, in their order.

    Raises
    ------
    RetrievalError
        Where the first stage is not among the runs.
    """
    first = _run_of(settings.first, settings, runs)
    return first[first["rank"] <= settings.depth].reset_index(drop=True)


def rerank_by_run(settings: RerankSystem, runs: pd.DataFrame) -> pd.DataFrame:
    """Reorder the first documents of a system by their ranks in another one.

    Documents that the other system lacks keep their order, after all others. The scores are
    1 / rank.

    Parameters
    ----------
    settings
        The system, with `by`.
    runs : DataFrame
        Canonical runs, those of both systems among them.

    Returns
    -------
    DataFrame
        The run of the new system, canonical; the queries are those of the first stage.

    Raises
    ------
    RetrievalError
        Where one of the systems is not among the runs.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A"] * 3 + ["B"] * 2, "query_id": ["q"] * 5,
    ...     "doc_id": ["d1", "d2", "d3", "d3", "d9"], "rank": [1, 2, 3, 1, 2],
    ... })
    >>> settings = RerankSystem(name="C", family="c", first="A", by="B", depth=3)
    >>> rerank_by_run(settings, runs)["doc_id"].tolist()
    ['d3', 'd1', 'd2']
    """
    first = first_documents(settings, runs)
    other = _run_of(str(settings.by), settings, runs)
    ranks = other[["query_id", "doc_id", "rank"]].rename(columns={"rank": "rank_by"})
    both = first.merge(ranks, on=["query_id", "doc_id"], how="left").sort_values(
        ["rank_by", "rank"], na_position="last", kind="stable"
    )
    place = both.groupby("query_id").cumcount() + 1
    # Back to the order of the first stage's queries.
    reordered = both.assign(system=settings.name, rank=place).sort_index()
    return order_run(reordered[["system", "query_id", "doc_id", "rank"]])


def rerank_by_model(
    settings: RerankSystem,
    runs: pd.DataFrame,
    queries: pd.DataFrame,
    texts: pd.DataFrame,
    scorer: Scorer,
) -> pd.DataFrame:
    """Reorder the first documents of a system by a reranker's scores.

    With `passages`, a document's score is that of its best passage.

    Parameters
    ----------
    settings
        The system, with a `reranker`.
    runs : DataFrame
        Canonical runs, the first stage's among them.
    queries : DataFrame
        `query_id`, `text`.
    texts : DataFrame
        `doc_id`, `text` of at least the first documents, see `first_documents`.
    scorer
        What scores pairs of a query and a text.

    Returns
    -------
    DataFrame
        The run of the new system, canonical.

    Raises
    ------
    RetrievalError
        Where the first stage is not among the runs, or a query or a document has no text; and
        what the scorer raises.
    """
    first = first_documents(settings, runs)
    passages = _passages(settings, first, texts)
    query_of = dict(zip(queries["query_id"], queries["text"], strict=True))
    pairs: list[Pair] = []
    starts: list[int] = []
    for query_id, doc_id in zip(first["query_id"], first["doc_id"], strict=True):
        if query_id not in query_of:
            raise RetrievalError(
                f"The run of {settings.first} has the query {query_id!r}, which is not among the "
                f"queries: {settings.name} can't score it. Make the run again."
            )
        starts.append(len(pairs))
        pairs += [Pair(query_of[query_id], text) for text in passages[doc_id]]
    scores = best_scores(scorer.scores(pairs), starts) if pairs else np.empty(0)
    return ranked_frame(
        settings.name,
        first["query_id"].to_numpy(dtype=object),
        first["doc_id"].to_numpy(dtype=object),
        scores,
    )


def _run_of(name: str, settings: RerankSystem, runs: pd.DataFrame) -> pd.DataFrame:
    run = runs[runs["system"] == name]
    if run.empty:
        raise RetrievalError(
            f"The system {settings.name} needs the run of {name}, which is not there or empty. "
            f"There are: {', '.join(map(str, runs['system'].unique())) or 'none'}."
        )
    return run


def _passages(
    settings: RerankSystem, first: pd.DataFrame, texts: pd.DataFrame
) -> Mapping[str, list[str]]:
    """Return the passages of each of the first documents."""
    needed = texts[texts["doc_id"].isin(first["doc_id"])]
    missing = first.loc[~first["doc_id"].isin(needed["doc_id"]), "doc_id"]
    if len(missing):
        raise RetrievalError(
            f"The run of {settings.first} has the document {missing.iloc[0]!r}, of which there is "
            f"no text: {settings.name} can't score it. Was the run made over another corpus?"
        )
    passages: dict[str, list[str]] = {}
    for doc_id, text in split_texts(needed, settings.passages).itertuples(index=False, name=None):
        passages.setdefault(doc_id, []).append(text)
    return passages
