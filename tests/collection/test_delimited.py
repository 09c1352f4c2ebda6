"""Reading delimited files: cases 9, 10, 25 and 26 of the files that broke other tools."""

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from normastcu.collection.delimited import check_id, find_encoding, find_layout, read_records
from normastcu.collection.errors import CollectionError
from normastcu.collection.settings import TableFormat

NAMING = {"query_id": "KEY", "text": "TEXT"}
CANONICAL = {"query_id": "query_id", "text": "text"}


def cells(file, **declared):
    """Return the cells of a file read with the two namings above."""
    layout = find_layout(file, TableFormat(**declared), (NAMING, CANONICAL))
    return [(record.line, *record.cells) for record in read_records(file, layout)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain", "KEY,TEXT\n1,ação\n2,férias\n"),
        ("byte order mark", "\ufeffKEY,TEXT\n1,ação\n2,férias\n"),
        ("windows line ends", "KEY,TEXT\r\n1,ação\r\n2,férias\r\n"),
        ("tabs", "KEY\tTEXT\n1\tação\n2\tférias\n"),
        ("semicolons", "KEY;TEXT\n1;ação\n2;férias\n"),
        ("bars", "KEY|TEXT\n1|ação\n2|férias\n"),
        ("no last line end", "KEY,TEXT\n1,ação\n2,férias"),
        ("canonical names", "query_id,text\n1,ação\n2,férias\n"),
        ("another order of columns", "TEXT,KEY\nação,1\nférias,2\n"),
    ],
)
def test_equal_content_reads_the_same(raw_file, name, content):
    assert cells(raw_file("q.csv", content)) == [(2, "1", "ação"), (3, "2", "férias")]


def test_quotes_separators_and_line_ends_inside_quotes_are_kept(raw_file):
    file = raw_file("q.csv", 'KEY,TEXT\n1,"a, ""b""\nc"\n2,d\n')
    assert cells(file) == [(2, "1", 'a, "b"\nc'), (4, "2", "d")]


@given(
    st.lists(
        st.tuples(st.text(min_size=1), st.text()).filter(lambda row: "\0" not in "".join(row)),
        min_size=1,
        max_size=5,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_csv_module_wrote_is_read_back(raw_file, rows):
    stream = io.StringIO()
    csv.writer(stream).writerows([("KEY", "TEXT"), *rows])
    file = raw_file("q.csv", stream.getvalue().encode("utf-8", errors="replace"))
    expected = [
        tuple(cell.encode("utf-8", errors="replace").decode() for cell in row) for row in rows
    ]
    assert [row[1:] for row in cells(file, separator=",")] == expected


def test_a_row_with_other_fields_names_its_line(raw_file):
    file = raw_file("q.csv", 'KEY,TEXT\n1,"a\nb"\n2,c,d\n')
    with pytest.raises(CollectionError, match=r"q\.csv, line 4: 3 fields where the header has 2"):
        cells(file)


def test_a_quote_that_never_ends_names_its_line(raw_file):
    file = raw_file("q.csv", 'KEY,TEXT\n1,a\n2,"b\n')
    with pytest.raises(CollectionError, match=r"starts on line 3: unexpected end of data"):
        cells(file)


@pytest.mark.parametrize("content", ["", "\n1,2\n"])
def test_a_file_without_a_header_is_an_error(raw_file, content):
    with pytest.raises(CollectionError, match=r"q\.csv, line 1: a header"):
        cells(raw_file("q.csv", content))


def test_a_missing_column_is_named_with_those_found(raw_file):
    with pytest.raises(CollectionError, match=r"the column TEXT is missing. Found: KEY, TEXTO"):
        cells(raw_file("q.csv", "KEY,TEXTO\n1,a\n"))


def test_a_column_that_stands_there_twice_is_an_error(raw_file):
    with pytest.raises(CollectionError, match=r"the column 'TEXT' stands there twice"):
        cells(raw_file("q.csv", "KEY,TEXT,TEXT\n1,a,b\n"))


def test_cp1252_read_as_utf8_names_the_byte_and_suggests_the_encoding(raw_file):
    file = raw_file("q.csv", "KEY,TEXT\n1,Resolução\n", "cp1252")
    with pytest.raises(CollectionError) as error:
        cells(file)
    assert "the byte 0xE7 at offset 17 is not utf-8" in str(error.value)
    assert "encoding: cp1252" in str(error.value)
    assert "Resolução" in str(error.value)
    assert cells(file, encoding="cp1252") == [(2, "1", "Resolução")]


def test_utf16_read_as_utf8_suggests_utf16(raw_file):
    file = raw_file("q.csv", "KEY,TEXT\n1,Resolução\n", "utf-16")
    with pytest.raises(CollectionError, match=r"0xFF at offset 0 is not utf-8.*encoding: utf-16"):
        cells(file)
    assert cells(file, encoding="utf-16") == [(2, "1", "Resolução")]


def test_utf8_declared_as_cp1252_never_comes_out_garbled(raw_file):
    file = raw_file("q.csv", "KEY,TEXT\n1,Resolução\n")
    with pytest.raises(CollectionError, match=r"declared as cp1252.*valid UTF-8"):
        cells(file, encoding="cp1252")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_auto_finds_the_encoding(raw_file, encoding):
    file = raw_file("q.csv", "KEY,TEXT\n1,Resolução nº 5\n", encoding)
    assert cells(file, encoding="auto") == [(2, "1", "Resolução nº 5")]


def test_a_wrong_byte_is_found_across_blocks(raw_file, monkeypatch):
    monkeypatch.setattr("normastcu.collection.delimited.BLOCK_BYTES", 4)
    file = raw_file("q.csv", "KEY,TEXT\n1,çççç".encode() + b"\xc3\x28")
    with pytest.raises(CollectionError, match=r"offset 19 is not utf-8"):
        find_encoding(file, "utf-8")


def test_an_unknown_encoding_is_an_error(raw_file):
    with pytest.raises(CollectionError, match="no encoding called 'utf8x'"):
        cells(raw_file("q.csv", "KEY,TEXT\n1,a\n"), encoding="utf8x")


@pytest.mark.parametrize("value", ["", " ", "a b", "a\u00a0b", " a", "a\n"])
def test_an_id_with_white_space_is_an_error(value):
    with pytest.raises(CollectionError, match="f, line 2"):
        check_id(value, "doc_id", "f, line 2")


@pytest.mark.parametrize("value", ["00123", "1e5", "1", "LEI", "lei", "NaN", "null", "ß"])
def test_an_id_is_never_changed(value):
    assert check_id(value, "doc_id", "f") == value
