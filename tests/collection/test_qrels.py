"""Qrels in TREC's format."""

import pandas as pd
import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.qrels import read_qrels, write_qrels


def test_a_qrels_is_written_for_trec_eval_and_read_back(tmp_path):
    table = pd.DataFrame({"query_id": ["2", "10"], "doc_id": ["é", "01"], "grade": [2, 0]})
    path = tmp_path / "name.qrels"
    write_qrels(table, path)
    assert path.read_bytes() == "10 0 01 0\n2 0 é 2\n".encode()
    read = read_qrels(path)
    assert read.to_dict("list") == {
        "qrels": ["name", "name"],
        "query_id": ["10", "2"],
        "doc_id": ["01", "é"],
        "grade": [0, 2],
    }


def test_the_order_of_rows_does_not_matter(tmp_path):
    table = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "grade": [2, 0]})
    write_qrels(table, tmp_path / "one")
    write_qrels(table[::-1], tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_negative_grade_is_an_error(tmp_path):
    path = tmp_path / "x.qrels"
    path.write_text("q1 0 d1 -1\n")
    with pytest.raises(CollectionError, match="line 1: the grade -1 is negative"):
        read_qrels(path)
