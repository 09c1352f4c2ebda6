"""The text of a document: fields in order, fallback recorded."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.collection.html_text import html_to_text
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import DocumentField
from normastcu.retrieval.texts import TEXT_TYPES, document_texts

CELLS = st.one_of(st.none(), st.sampled_from(["", " \n\t\xa0", "a", " b ", "c\nd"]))


def documents(**cells: object) -> pd.DataFrame:
    return pd.DataFrame([{"doc_id": "NORMA-1", "title": "t", "subject": "s", "text": "x"} | cells])


@pytest.mark.parametrize(
    ("cells", "fields", "text", "fallback"),
    [
        ({}, ["text"], "x", None),
        ({}, ["subject", "text"], "s\nx", None),
        ({}, ["text", "subject"], "x\ns", None),
        ({"text": " x "}, ["text"], " x ", None),
        ({"text": ""}, ["subject", "text"], "s", None),
        ({"text": pd.NA}, ["text"], "s", "subject"),
        ({"text": " \n\t\xa0", "subject": None}, ["text"], "t", "title"),
        ({"text": "", "subject": float("nan"), "title": ""}, ["text"], "NORMA-1", "doc_id"),
        ({"text": html_to_text("<p><br/><b></b>&nbsp;</p>")}, ["text"], "s", "subject"),
        ({"title": 'a, "b"\n;c'}, ["title"], 'a, "b"\n;c', None),
    ],
)
def test_fields_or_fallback(
    cells: dict[str, object], fields: list[DocumentField], text: str, fallback: str | None
) -> None:
    (row,) = document_texts(documents(**cells), fields).to_dict("records")
    assert row["doc_id"] == "NORMA-1"
    assert row["text"] == text
    assert row["fallback"] == fallback if fallback else pd.isna(row["fallback"])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS)))
def test_no_text_is_ever_blank_and_every_document_has_one(cells: list[tuple[str, ...]]) -> None:
    frame = pd.DataFrame(cells, columns=["text", "subject", "title"]).astype("str")
    frame.insert(0, "doc_id", [f"0{n}" for n in range(len(frame))])
    texts = document_texts(frame, ["title", "text"])
    assert texts["doc_id"].tolist() == frame["doc_id"].tolist()
    assert texts["text"].str.strip().ne("").all()
    assert texts.dtypes.astype(str).to_dict() == TEXT_TYPES
    needed = [not any(cell and cell.strip() for cell in (text, title)) for text, _, title in cells]
    assert texts["fallback"].notna().tolist() == needed


def test_a_field_that_the_documents_lack_is_named() -> None:
    with pytest.raises(RetrievalError, match="no column tags; they have doc_id, title"):
        document_texts(documents(), ["text", "tags"])


def test_columns_of_the_fallback_may_be_missing() -> None:
    assert document_texts(documents(text="")[["doc_id", "text"]], ["text"])["fallback"][0] == (
        "doc_id"
    )


def test_a_document_without_id_is_refused() -> None:
    with pytest.raises(RetrievalError, match="neither a text nor a doc_id"):
        document_texts(documents(doc_id="", text="", subject="", title=""), ["text"])
