"""The texts of the pairs that are judged, looked up in the tables of the collection."""

import pandas as pd

from normastcu.judging.content import CONTENT_COLUMNS, Content, document_text
from normastcu.judging.errors import JudgingError


class PairTexts:
    """Texts by id. The tables are referred to, not copied.

    Parameters
    ----------
    queries : DataFrame
        `query_id`, `text`.
    documents : DataFrame
        `doc_id`, `text`, `subject`, `title`; any but the first may be missing.
    """

    def __init__(self, queries: pd.DataFrame, documents: pd.DataFrame) -> None:
        self._queries = dict(zip(queries["query_id"], queries["text"], strict=True))
        self._rows = {doc_id: row for row, doc_id in enumerate(documents["doc_id"])}
        self._columns = {
            column: documents[column].array for _, column in CONTENT_COLUMNS if column in documents
        }

    def query(self, query_id: str) -> str:
        """Return the text of a query.

        Raises
        ------
        JudgingError
            For an unknown query.
        """
        if query_id not in self._queries:
            raise JudgingError(
                f"A pair names the query {query_id!r}, which the collection lacks: add the query, "
                "or take its pairs out."
            )
        return str(self._queries[query_id])

    def content(self, doc_id: str) -> Content:
        """Return what a judge is shown of a document, before any cut.

        Raises
        ------
        JudgingError
            For an unknown document.
        """
        if doc_id not in self._rows:
            raise JudgingError(
                f"A pair names the document {doc_id!r}, which the corpus lacks: add the document, "
                "or take its pairs out."
            )
        row = self._rows[doc_id]
        return document_text({column: cells[row] for column, cells in self._columns.items()})


def check_pairs(pairs: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs of `query_id` and `doc_id` in their order.

    Raises
    ------
    JudgingError
        Where a pair occurs twice.
    """
    listed = list(zip(pairs["query_id"], pairs["doc_id"], strict=True))
    if len(set(listed)) < len(listed):
        query_id, doc_id = pairs.loc[pairs.duplicated(["query_id", "doc_id"])].iloc[0][
            ["query_id", "doc_id"]
        ]
        raise JudgingError(
            f"The pair of query {query_id!r} and document {doc_id!r} is listed more than once: "
            "list each pair once."
        )
    return listed
