"""Reading the corpus: case 2, the date rule, chunks, statistics."""

import csv
import datetime
import io
import logging

import numpy as np
import pandas as pd
import pytest

from normastcu.collection.documents import (
    RELEASED_DOCUMENTS,
    DocumentChunks,
    corpus_statistics,
    parse_date,
    read_corpus,
)
from normastcu.collection.errors import CollectionError
from normastcu.collection.settings import DocumentFormat

RULE = DocumentFormat(
    in_force_before=datetime.date(2024, 7, 1),
    year_repairs={"04/04/0208": "04/04/2018", "23/08/0210": "23/08/2010"},
)


def corpus_csv(*rows, extra=()):
    """Return a corpus CSV with the released columns; rows name the cells that are not empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*RELEASED_DOCUMENTS.values(), *extra], restval="")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read_all(corpus):
    """Return all chunks in one frame."""
    return pd.concat(list(corpus.chunks), ignore_index=True)


def test_documents_get_canonical_columns_and_their_text(raw_file):
    row = {"KEY": "00123", "TEXTONORMA": "<p>a&ccedil;&atilde;o</p><p>b</p>", "TITULO": "T, “x”"}
    documents = read_all(read_corpus(raw_file("d.csv", corpus_csv(row)), DocumentFormat()))
    assert documents.loc[0, ["doc_id", "title", "text"]].tolist() == ["00123", "T, “x”", "ação\nb"]
    assert documents.loc[0, ["subject", "annex_html", "tags"]].isna().all()
    assert set(documents.dtypes.astype(str)) == {"str"}


def test_a_key_that_stands_there_twice_names_both_lines(raw_file):
    rows = [{"KEY": "A", "TEXTONORMA": "two\nlines"}, {"KEY": "B"}, {"KEY": "A"}]
    with pytest.raises(CollectionError, match=r"d\.csv, line 5: the document 'A'.*on line 2"):
        read_corpus(raw_file("d.csv", corpus_csv(*rows)), DocumentFormat())


def test_more_columns_than_the_released_ones_do_no_harm(raw_file):
    content = corpus_csv({"KEY": "A", "OUTRA": "x"}, extra=["OUTRA"])
    assert read_all(read_corpus(raw_file("d.csv", content), DocumentFormat()))["doc_id"][0] == "A"


def test_a_missing_released_column_is_named(raw_file):
    content = corpus_csv({"KEY": "A"}).replace("TEXTONORMA", "TEXTO_NORMA")
    with pytest.raises(CollectionError, match="the column TEXTONORMA is missing"):
        read_corpus(raw_file("d.csv", content), DocumentFormat())


def test_declared_columns_need_no_others(raw_file):
    settings = DocumentFormat(columns={"doc_id": "ID", "html": "ENUNCIADO"})
    documents = read_all(read_corpus(raw_file("d.csv", "ID,ENUNCIADO\n13,SÚMULA 9\n"), settings))
    assert documents.loc[0, ["doc_id", "text"]].tolist() == ["13", "SÚMULA 9"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"doc_id": "ID"}, "lacks html"),
        ({"doc_id": "ID", "html": "X", "body": "Y"}, "d.csv names body"),
    ],
)
def test_a_wrong_declaration_is_an_error(raw_file, columns, message):
    with pytest.raises(CollectionError, match=message):
        read_corpus(raw_file("d.csv", "ID,X\n1,a\n"), DocumentFormat(columns=columns))


def test_the_date_rule_keeps_mends_and_drops(raw_file, caplog):
    dates = {
        "kept": "30/06/2024",
        "later": "01/07/2024",
        "mended-8": "04/04/0208",
        "mended-0": "23/08/0210",
        "typo": "31/02/2020",
        "none": "",
    }
    rows = [{"KEY": key, "DATAINICIOVIGENCIA": value} for key, value in dates.items()]
    with caplog.at_level(logging.WARNING, logger="normastcu"):
        corpus = read_corpus(raw_file("d.csv", corpus_csv(*rows)), RULE)
    documents = read_all(corpus).set_index("doc_id")["in_force_since"]
    assert documents.to_dict() == {
        "kept": "30/06/2024",
        "mended-8": "04/04/2018",
        "mended-0": "23/08/2010",
    }
    assert (corpus.n_rows, corpus.n_kept, corpus.n_repaired) == (6, 3, 2)
    assert corpus.dropped.to_dict("list") == {
        "doc_id": ["later", "typo", "none"],
        "line": [3, 6, 7],
        "in_force_since": ["01/07/2024", "31/02/2020", ""],
        "reason": [
            "not in force before 2024-07-01",
            "in_force_since is not a date (day/month/year)",
            "in_force_since is not a date (day/month/year)",
        ],
    }
    assert "line 6: document typo is dropped" in caplog.text
    assert "line 7: document none is dropped" in caplog.text


def test_without_the_rule_every_row_is_kept_as_it_is(raw_file):
    content = corpus_csv({"KEY": "A", "DATAINICIOVIGENCIA": "sem data"})
    corpus = read_corpus(raw_file("d.csv", content), DocumentFormat())
    assert read_all(corpus)["in_force_since"].tolist() == ["sem data"]
    assert corpus.dropped.empty


def test_another_count_than_the_published_is_reported(raw_file, caplog):
    with caplog.at_level(logging.WARNING, logger="normastcu"):
        read_corpus(
            raw_file("d.csv", corpus_csv({"KEY": "A"})), DocumentFormat(expected_count=14469)
        )
    assert "gives 1 documents where 14469 were published" in caplog.text


def test_a_corpus_without_documents_is_an_error(raw_file):
    with pytest.raises(CollectionError, match="a header and no documents"):
        read_corpus(raw_file("d.csv", corpus_csv()), DocumentFormat())


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 100])
def test_chunks_hold_all_documents_in_order_whatever_their_size(raw_file, chunk_size):
    content = corpus_csv(*({"KEY": f"D-{number}"} for number in range(5)))
    corpus = read_corpus(raw_file("d.csv", content), DocumentFormat(chunk_size=chunk_size))
    sizes = [len(chunk) for chunk in corpus.chunks]
    assert max(sizes) <= chunk_size
    assert read_all(corpus)["doc_id"].tolist() == [f"D-{number}" for number in range(5)]


@pytest.mark.parametrize("text", ["", "2018-04-04", "4/4", "00/01/2020", "04/04/0208", "x"])
def test_what_is_no_date(text):
    assert parse_date(text) is None


def test_statistics_by_hand():
    """Five texts of 10, 20, 30, 40 and 50 characters; one document has none."""
    htmls = ["x" * n for n in (10, 20, 30, 40, 50)] + [None]
    frame = pd.DataFrame(dict.fromkeys(RELEASED_DOCUMENTS, pd.Series([None] * 6, dtype="str")))
    frame["doc_id"] = list("abcdef")
    frame["html"] = pd.Series(htmls, dtype="str")
    frame["text"] = pd.Series([html and html[:5] for html in htmls], dtype="str")
    chunks = DocumentChunks(lambda: iter([frame[:4], frame[4:]]))
    statistics, missing = corpus_statistics(chunks)
    by_percentile = statistics.set_index("percentile")
    # Linear interpolation: the 5th percentile lies 0.2 steps above the first of five values.
    assert by_percentile.loc[5, "with_html"] == pytest.approx(12)
    assert by_percentile.loc[50, "with_html"] == pytest.approx(30)
    assert by_percentile.loc[95, "with_html"] == pytest.approx(48)
    assert (by_percentile["without_html"] == 5).all()
    assert (statistics["n_documents"] == 5).all()
    counts = missing.set_index("released_column")
    assert counts.loc["TEXTONORMA", ["n", "share"]].tolist() == [1, pytest.approx(1 / 6)]
    assert counts.loc["KEY", "n"] == 0
    assert counts.loc["ASSUNTO", "n"] == 6
    assert np.isfinite(statistics["with_html"]).all()


def test_a_corpus_without_markup_keeps_its_signs(raw_file):
    settings = DocumentFormat(columns={"doc_id": "ID", "text": "T"})
    corpus = read_corpus(raw_file("d.csv", "ID,T\n1,se x<y e a>b\n2,\n"), settings)
    documents = read_all(corpus)
    assert documents["text"].iloc[0] == "se x<y e a>b"
    assert documents[["html", "title"]].isna().all().all()
    statistics, _ = corpus_statistics(corpus.chunks)
    assert statistics["with_html"].unique().tolist() == [12]
    assert statistics["n_documents"].unique().tolist() == [1]


def test_a_corpus_without_any_text_is_an_error(raw_file):
    corpus = read_corpus(raw_file("d.csv", corpus_csv({"KEY": "A"})), DocumentFormat())
    with pytest.raises(CollectionError, match="None of the 1 documents has a text"):
        corpus_statistics(corpus.chunks)


def test_a_rule_that_drops_everything_is_an_error(raw_file):
    row = {"KEY": "A", "DATAINICIOVIGENCIA": "x"}
    with pytest.raises(CollectionError, match="all 1 documents are dropped; the first, A, because"):
        read_corpus(raw_file("d.csv", corpus_csv(row)), RULE)
