"""Retrieval: Lucene's BM25, dense encoders, rerankers, and how systems are combined."""
