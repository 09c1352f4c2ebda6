"""The file of manual changes to a pool."""

import pandas as pd
import pytest

from normastcu.collection.errors import CollectionError
from normastcu.collection.manual_pool import read_manual_pool
from normastcu.collection.pool_schemas import ManualPool

QUERIES = {"1", "01", "1e5"}
DOCUMENTS = {"NORMA-1", "norma-1", "00123"}
HEADER = "query_id,doc_id,action,reason\n"


def read(*files):
    """Read files for the queries and documents above, a missing reason as None."""
    table = read_manual_pool(files, QUERIES, DOCUMENTS)
    ManualPool.validate(table)
    cells = table.astype(object)
    return [tuple(None if pd.isna(c) else c for c in row) for row in cells.itertuples(index=False)]


def test_changes_in_the_order_of_the_file(raw_file):
    rows = '1,NORMA-1,add,"found by hand, ""art. 5º""\nand more"\n01,00123,remove,\n'

    assert read(raw_file("m.csv", HEADER + rows)) == [
        ("1", "NORMA-1", "add", 'found by hand, "art. 5º"\nand more'),
        ("01", "00123", "remove", None),
    ]


def test_the_reason_may_be_left_out_and_released_names_are_known(raw_file):
    assert read(raw_file("m.csv", "QUERY_KEY;DOC_KEY;action\n1e5;norma-1;add\n")) == [
        ("1e5", "norma-1", "add", None)
    ]


def test_no_file_and_no_row_change_nothing(raw_file):
    assert read() == []
    assert read(raw_file("m.csv", HEADER)) == []


def test_identical_rows_count_once_also_over_files(raw_file):
    row = "1,NORMA-1,add,why\n"

    changes = read(raw_file("a.csv", HEADER + row + row), raw_file("b.csv", HEADER + row))

    assert changes == [("1", "NORMA-1", "add", "why")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,NORMA-1,add,\n1,NORMA-1,remove,\n", r"line 3: remove .* but m.csv, line 2 says add"),
        ("1,NORMA-1,add,a\n1,NORMA-1,add,b\n", r"line 3: add \(b\) .* line 2 says add \(a\)"),
        ("2,NORMA-1,add,\n", "line 2: the query '2' is not in the collection"),
        ("1,NORMA-2,remove,\n", "line 2: the document 'NORMA-2' is not in the collection"),
        ("1,NORMA-1,delete,\n", "line 2: the action 'delete' is unknown. Expected: add or remove"),
        ("1,,add,\n", "line 2: '' can't be a doc_id"),
        ("1,NORMA-1\n", "line 2: 2 fields where the header has 4"),
    ],
)
def test_what_is_no_change_is_an_error(raw_file, rows, message):
    with pytest.raises(CollectionError, match=message):
        read(raw_file("m.csv", HEADER + rows))


def test_a_missing_column_is_an_error(raw_file):
    with pytest.raises(CollectionError, match="column action is missing"):
        read(raw_file("m.csv", "query_id,doc_id\n1,NORMA-1\n"))
