"""Parameters of `retrieval_runs`."""

from pydantic import Field

from normastcu.collection.settings import Settings
from normastcu.retrieval.lucene_index import LuceneSettings


class RetrievalSettings(Settings):
    """How systems are run.

    Attributes
    ----------
    depth
        Documents of a query in a run, at most; no less than any system takes from another one.
    lucene
        How Lucene indexes and searches.
    judged_depth
        A document among the first so many of any system that nobody judged is a hole: its pair is
        listed, so that people or judges can fill it.
    """

    depth: int = Field(default=1000, gt=0)
    lucene: LuceneSettings = LuceneSettings()
    judged_depth: int = Field(default=10, gt=0)
