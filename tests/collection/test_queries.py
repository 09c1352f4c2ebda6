"""Reading queries."""

import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.queries import read_queries
from normastcu.collection.settings import TableFormat


def test_texts_are_kept_exactly(raw_file):
    file = raw_file("q.csv", 'KEY,TEXT\n00123,"a, ""b""\nc "\nLEI, é \n')
    queries = read_queries(file, TableFormat())
    assert queries["query_id"].tolist() == ["00123", "LEI"]
    assert queries["text"].tolist() == ['a, "b"\nc ', " é "]


def test_a_query_id_used_twice_names_both_lines(raw_file):
    with pytest.raises(CollectionError, match=r"line 4: the query '1' stands already on line 2"):
        read_queries(raw_file("q.csv", "KEY,TEXT\n1,a\n2,b\n1,c\n"), TableFormat())


def test_a_query_without_text_is_an_error(raw_file):
    with pytest.raises(CollectionError, match=r"line 2: the query '1' has no text"):
        read_queries(raw_file("q.csv", "KEY,TEXT\n1, \n"), TableFormat())


def test_the_released_queries(shared_data, raw_file):
    content = (shared_data / "normastcu" / "query.csv").read_bytes()
    queries = read_queries(raw_file("query.csv", content), TableFormat())
    expected = {str(key) for key in range(1, 51)} - {"12", "22", "36", "39"}
    assert set(queries["query_id"]) == expected
    assert queries["text"].iloc[0] == "regimento interno"
