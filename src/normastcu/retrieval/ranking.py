"""From the hits of a system to its run."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.errors import CollectionError
from normastcu.collection.run_order import order_run
from normastcu.retrieval.errors import RetrievalError


def ranked_frame(
    system: str,
    query_ids: Sequence[str] | npt.NDArray[np.object_],
    doc_ids: Sequence[str] | npt.NDArray[np.object_],
    scores: npt.ArrayLike,
    depth: int | None = None,
) -> pd.DataFrame:
    """Put the hits of a system into their order, see `normastcu.collection.run_order.order_run`.

    Parameters
    ----------
    system
        The system's name.
    query_ids, doc_ids, scores
        Query, document and score of each hit, in any order; a pair at most once.
    depth
        How many documents of a query are kept; None keeps all.

    Returns
    -------
    DataFrame
        `system`, `query_id`, `doc_id`, `rank` (from 1) and `score`; the queries in the order in
        which they came first.

    Raises
    ------
    RetrievalError
        For a score that single precision can't hold, and for a document twice in a query.

    Examples
    --------
    >>> ranked_frame("S", ["q"] * 3, ["d1", "d2", "d3"], [0.5, 0.5, 0.9])["doc_id"].tolist()
    ['d3', 'd2', 'd1']
    """
    ids = {"system": [system] * len(doc_ids), "query_id": query_ids, "doc_id": doc_ids}
    hits = pd.DataFrame(ids).astype("str").assign(score=np.asarray(scores, np.float64))
    try:
        run = order_run(hits)
    except CollectionError as error:
        raise RetrievalError(str(error)) from error
    return run if depth is None else run[run["rank"] <= depth].reset_index(drop=True)
