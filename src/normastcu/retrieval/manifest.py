"""What an index was made from: without a matching manifest it is neither reused nor searched."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import ValidationError

from normastcu.collection.settings import Settings
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import DocumentField

MANIFEST = "manifest.json"
FORMAT_VERSION = 1


class CorpusPrint(Settings):
    """Hashes by which one corpus is told from another.

    Attributes
    ----------
    n_documents
        How many documents.
    doc_ids
        SHA-256 of the ids in their order.
    texts
        Field to SHA-256 of its texts in their order.
    """

    n_documents: int
    doc_ids: str
    texts: dict[DocumentField, str]

    def of(self, fields: Sequence[DocumentField]) -> Self:
        """Return the print with some of the fields only.

        Raises
        ------
        RetrievalError
            For a field that it was made without.
        """
        missing = [field for field in fields if field not in self.texts]
        if missing:
            raise RetrievalError(
                f"The hashes of the corpus lack {', '.join(missing)}. Make them with the fields "
                "of all systems."
            )
        return self.model_copy(update={"texts": {field: self.texts[field] for field in fields}})


class Manifest(Settings):
    """How an index was made.

    Attributes
    ----------
    format_version
        Of the index folder as this project writes it.
    lucene
        Lucene's version.
    language
        Code of the analyzer's language.
    fields
        Fields of the representation, in order.
    corpus
        The documents.
    """

    format_version: int = FORMAT_VERSION
    lucene: str
    language: str
    fields: tuple[DocumentField, ...]
    corpus: CorpusPrint

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder of its index."""
        (folder / MANIFEST).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")

    def differences(self, wanted: "Manifest") -> list[str]:
        """Say in words in what another manifest differs; an empty list if in nothing."""
        pairs = [
            (name, str(getattr(self, key)), str(getattr(wanted, key)))
            for key, name in _NAMES.items()
        ]
        said = [f"its {name} is {own}, not {other}" for name, own, other in pairs if own != other]
        return said + ([] if self.corpus == wanted.corpus else ["it was made from other documents"])


_NAMES = {
    "format_version": "format",
    "lucene": "version of Lucene",
    "language": "language",
    "fields": "fields",
}


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of an index; None where there is no index.

    Raises
    ------
    RetrievalError
        For a manifest that can't be read.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise RetrievalError(
            f"{path} is no manifest of an index that this version knows. Delete the folder "
            f"{folder}, and index again."
        ) from error


def corpus_print(chunks: Iterable[pd.DataFrame], fields: Iterable[DocumentField]) -> CorpusPrint:
    """Take the hashes of a corpus; the size of the chunks does not matter.

    Parameters
    ----------
    chunks
        Frames with `doc_id` and the fields.
    fields
        Fields of all representations.

    Raises
    ------
    RetrievalError
        For a field that the documents lack.

    Examples
    --------
    >>> documents = pd.DataFrame({"doc_id": ["1", "2"], "text": ["a", None]})
    >>> whole = corpus_print([documents], ["text"])
    >>> whole == corpus_print([documents[:1], documents[1:]], ["text"]), whole.n_documents
    (True, 2)
    """
    hashes = {name: hashlib.sha256() for name in ("doc_id", *dict.fromkeys(fields))}
    n_documents = 0
    for chunk in chunks:
        n_documents += len(chunk)
        for name, running in hashes.items():
            cells = column_texts(chunk, name)
            running.update("".join(f"{len(cell)}:{cell}" for cell in cells).encode())
    digests = {name: running.hexdigest() for name, running in hashes.items()}
    return CorpusPrint(n_documents=n_documents, doc_ids=digests.pop("doc_id"), texts=digests)


def column_texts(chunk: pd.DataFrame, name: str) -> list[str]:
    """Return a column as texts, empty where a cell is missing.

    Raises
    ------
    RetrievalError
        For a column that is not there or does not hold text.
    """
    if name not in chunk:
        raise RetrievalError(
            f"The documents have no column {name}; they have {', '.join(map(str, chunk))}. Check "
            "the `fields` of the system."
        )
    cells = chunk[name]
    if cells.isna().all():
        return [""] * len(cells)
    if not pd.api.types.is_string_dtype(cells):
        raise RetrievalError(f"The column {name} of the documents holds {cells.dtype}, not text.")
    texts: list[str] = cells.fillna("").tolist()
    return texts
