"""Runs of documents whose ids are letters."""

import pandas as pd

from normastcu.collection.run_order import order_run


def runs(**systems: dict[str, str]) -> pd.DataFrame:
    """Return canonical runs from each system's lists: query to documents of one letter."""
    rows = [
        (system, query_id, doc_id, rank)
        for system, lists in systems.items()
        for query_id, documents in lists.items()
        for rank, doc_id in enumerate(documents, start=1)
    ]
    return order_run(pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"]))


def order(run: pd.DataFrame) -> dict[str, str]:
    """Return the list of each query of a run, as `runs` takes it."""
    return run.groupby("query_id", sort=False)["doc_id"].agg("".join).to_dict()
