"""Tables of `retrieval_runs`, by hand."""

import pandas as pd

from normastcu.pipelines.retrieval_runs.nodes import count_runs, list_holes
from normastcu.pipelines.retrieval_runs.parameters import RetrievalSettings
from normastcu.retrieval.known_systems import load_systems

LIBRARY = {"systems": {"E": {"kind": "external", "family": "e", "file": "e.run"}}}
RUNS = pd.DataFrame(
    {
        "system": "E",
        "query_id": ["q1", "q1", "q99", "q98", "q99"],
        "doc_id": ["d1", "d2", "d1", "d1", "d2"],
        "rank": [1, 2, 1, 1, 2],
    }
)
QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["first", "second"]})


def test_queries_that_the_collection_lacks_are_ignored_and_counted() -> None:
    counts = count_runs(RUNS, QUERIES, systems=load_systems(LIBRARY, ["E"]))
    assert counts.to_dict("records") == [
        {
            "system": "E",
            "n_queries": 1,
            "n_documents": 2,
            "n_without": 1,
            "without": "q2",
            "n_ignored": 2,
        }
    ]


def test_a_query_that_the_collection_lacks_has_no_holes() -> None:
    reference = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]})
    holes = list_holes(RUNS, reference, QUERIES, RetrievalSettings())
    assert holes[["query_id", "doc_id"]].to_numpy().tolist() == [["q1", "d2"]]
