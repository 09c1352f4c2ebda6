"""Indexing in a process of its own, which stops in the middle and waits to be killed."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings, index_documents
from normastcu.retrieval.manifest import corpus_print

REPRESENTATIONS = (("subject", "text"), ("text",))
SETTINGS = LuceneSettings(heap_mb=128)


def chunks(n: int = 10) -> list[pd.DataFrame]:
    """Return chunks of 30 documents that share some words and their scores."""
    return [
        pd.DataFrame(
            {
                "doc_id": [f"D-{30 * chunk + i}" for i in range(30)],
                "subject": [f"férias de número {i}" for i in range(30)],
                "text": ["servidor público " * (i % 7) + f"artigo {i}" for i in range(30)],
            }
        )
        for chunk in range(n)
    ]


def request(documents: Iterable[pd.DataFrame]) -> IndexRequest:
    corpus = corpus_print(chunks(), ("subject", "text"))
    return IndexRequest(documents, corpus, REPRESENTATIONS, SETTINGS)


def halting() -> Iterator[pd.DataFrame]:
    yield from chunks()[:7]
    print("halfway", flush=True)  # noqa: T201
    time.sleep(600)


if __name__ == "__main__":
    index_documents(Path(sys.argv[1]), request(halting()))
