"""Reading pairs to be judged."""

import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.pairs import read_pairs


@pytest.mark.parametrize("header", ["QUERY_KEY,DOC_KEY,SCORE", "query_id,doc_id,grade"])
def test_pairs_are_read_once_from_any_file_that_names_them(raw_file, header):
    pairs = read_pairs(raw_file("p.csv", f"{header}\n1,00123,2\n1,00123,0\n2,1e5,1\n"))
    assert pairs.to_dict("list") == {"query_id": ["1", "2"], "doc_id": ["00123", "1e5"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query_id,doc_id\n1,\n", "line 2: '' can't be a doc_id"),
        ("query_id,doc_id\n", "has no pairs"),
        ("query,doc\n1,2\n", "are missing"),
    ],
)
def test_what_names_no_pair_is_an_error(raw_file, content, message):
    with pytest.raises(CollectionError, match=message):
        read_pairs(raw_file("p.csv", content))
