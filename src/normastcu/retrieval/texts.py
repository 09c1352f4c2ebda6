"""The text of a document as encoders and rerankers get it."""

from collections.abc import Sequence

import pandas as pd

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import FALLBACK, DocumentField

TEXT_TYPES = {"doc_id": "str", "text": "str", "fallback": "str"}
"""The columns of the texts of documents."""


def document_texts(documents: pd.DataFrame, fields: Sequence[DocumentField]) -> pd.DataFrame:
    r"""Return the text of each document: the given fields, one after the other.

    Parameters
    ----------
    documents : DataFrame
        `doc_id` and the fields; blank cells and missing ones are passed over.
    fields
        Columns in the order in which they are joined, by a line break.

    Returns
    -------
    DataFrame
        `doc_id`, `text` (never blank) and `fallback`: the column of `FALLBACK` that was taken
        because all fields are blank, missing where none was needed.

    Raises
    ------
    RetrievalError
        Where a field is no column of the documents, and for a document without an id.

    Examples
    --------
    >>> documents = pd.DataFrame({
    ...     "doc_id": ["1", "2"], "subject": ["Diárias", "Férias"], "text": ["Art. 1º", None],
    ... })
    >>> document_texts(documents, ["subject", "text"])["text"].tolist()
    ['Diárias\nArt. 1º', 'Férias']
    >>> document_texts(documents, ["text"])["fallback"].fillna("").tolist()
    ['', 'subject']
    """
    _check_columns(documents, fields)
    texts = _joined([_cells(documents, field) for field in fields])
    instead: list[str | None] = [None] * len(texts)
    for column in [name for name in FALLBACK if name in documents]:
        cells = _cells(documents, column)
        for row in [row for row, text in enumerate(texts) if not text.strip()]:
            texts[row], instead[row] = cells[row], column
    if not all(text.strip() for text in texts):
        raise RetrievalError("A document has neither a text nor a doc_id: give it an id.")
    columns = {"doc_id": documents["doc_id"].array, "text": texts, "fallback": instead}
    return pd.DataFrame(columns).astype(TEXT_TYPES)


def _check_columns(documents: pd.DataFrame, fields: Sequence[DocumentField]) -> None:
    missing = [name for name in ("doc_id", *fields) if name not in documents]
    if missing:
        raise RetrievalError(
            f"The documents have no column {', '.join(missing)}; they have "
            f"{', '.join(map(str, documents.columns))}. Check the `fields` of the system."
        )


def _cells(documents: pd.DataFrame, field: str) -> list[str]:
    cells: list[str] = documents[field].astype("str").fillna("").tolist()
    return cells


def _joined(columns: Sequence[Sequence[str]]) -> list[str]:
    return [
        "\n".join(cell for cell in cells if cell.strip()) for cells in zip(*columns, strict=True)
    ]
