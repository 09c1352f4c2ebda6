"""One dense system on a service, in a process of its own, to be killed or interrupted."""

import logging
import signal
import sys
from pathlib import Path

import pandas as pd

from normastcu.retrieval.dense import DenseRun, run_dense
from normastcu.retrieval.settings import ApiEncoder, DenseSystem
from normastcu.retrieval.vectors import VectorStore


def encode_on(base_url: str, store: Path, n_documents: int) -> DenseRun:
    numbers = range(n_documents)
    documents = pd.DataFrame(
        {"doc_id": [f"d{n}" for n in numbers], "text": [f"text {n}" + " x" * n for n in numbers]}
    )
    queries = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["first", "second"]})
    encoder = ApiEncoder(
        name="api", model="m", base_url=base_url, max_tokens=8192, batch_size=4, concurrency=3
    )
    system = DenseSystem(name="S", family="m", encoder=encoder, fields=("text",))
    return run_dense(system, documents, queries, VectorStore(store))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # A shell that starts the tests in the background has its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    encode_on(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
