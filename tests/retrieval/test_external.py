"""Runs made elsewhere."""

import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.sources import local_file
from normastcu.retrieval.external import EXTERNAL_TYPES, external_run, report_table
from normastcu.retrieval.settings import ExternalSystem

CONTENT = "q1 Q0 d1 1 2.0 r\nq1 Q0 x 2 3.0 r\nq1 Q0 d3 3 2.0 r\nq2 Q0 d2 1 1.0 r\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "theirs.trec"
    path.write_text(CONTENT)
    return local_file(path)


def test_a_document_that_the_collection_lacks_is_an_error_unless_restricted(file):
    settings = ExternalSystem(name="theirs", family="f", file="theirs.trec")
    with pytest.raises(CollectionError, match=r"theirs\.trec, line 2: .*no document 'x'"):
        external_run(settings, file, ["d1", "d2", "d3"])
    restricted = settings.model_copy(update={"restrict": True})
    run, report = external_run(restricted, file, ["d1", "d2", "d3"])
    assert run["doc_id"].tolist() == ["d3", "d1", "d2"]
    assert run["rank"].tolist() == [1, 2, 1]
    assert run["score"].tolist() == [2.0, 2.0 - 2**-23, 1.0]
    table = report_table([report])
    assert table.dtypes.astype(str).to_dict() == EXTERNAL_TYPES
    # By score q1 is x, d3, d1; by the file's ranks d1, x, d3.
    assert table.drop(columns=["file", "sha256"]).values.tolist() == [["theirs", 2, 3, 2, 3, 1]]


def test_columns_are_declared_for_a_csv(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("topic,docno,position\nq,d1,2\nq,d2,1\n")
    columns = {"query_id": "topic", "doc_id": "docno", "rank": "position"}
    settings = ExternalSystem(name="theirs", family="f", file="theirs.csv", columns=columns)
    run, report = external_run(settings, local_file(path), ["d1", "d2"])
    assert run[["doc_id", "score"]].values.tolist() == [["d2", 1.0], ["d1", 0.5]]
    assert (report.n_queries, report.n_documents, report.n_removed) == (1, 2, 0)
