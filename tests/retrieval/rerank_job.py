"""One reranked system in a process of its own, to be killed."""

import sys
from pathlib import Path

import pandas as pd
from tests.retrieval.tiny_rerankers import DOCUMENTS, WORDS

from normastcu.collection.run_order import order_run
from normastcu.retrieval.rerank import rerank_by_model
from normastcu.retrieval.rerankers import open_reranker
from normastcu.retrieval.scores import ScoreStore
from normastcu.retrieval.settings import RerankSystem, Seq2SeqReranker

QUERIES = pd.DataFrame({"query_id": ["1", "01"], "text": ["pagamento de diárias", "licença"]})
N_DOCUMENTS = 60


def rerank(model: str, store: Path) -> pd.DataFrame:
    """Return the run of the system, with scores from the store where it has them."""
    settings = RerankSystem(
        name="R",
        family="r",
        first="first",
        depth=N_DOCUMENTS,
        reranker=Seq2SeqReranker(name="t5", model=model, yes="▁yes", no="▁no", batch_size=2),
        fields=("text",),
    )
    texts = _texts()
    first = order_run(
        QUERIES[["query_id"]]
        .merge(texts[["doc_id"]], how="cross")
        .assign(system="first", rank=lambda run: run.groupby("query_id").cumcount() + 1)
    )
    with ScoreStore(store) as scores:
        scorer = open_reranker(settings.reranker, scores)
        return rerank_by_model(settings, first, QUERIES, texts, scorer)


def _texts() -> pd.DataFrame:
    rows = [
        (str(n), f"{DOCUMENTS[n % 4]} {WORDS[n % len(WORDS)]} {n} " * (1 + n % 7))
        for n in range(N_DOCUMENTS)
    ]
    return pd.DataFrame(rows, columns=["doc_id", "text"])


if __name__ == "__main__":
    rerank(sys.argv[1], Path(sys.argv[2]))
