"""Lucene's indexes of a corpus: one for each representation, all in one pass over the documents.

An index is written into a new folder and moved to its place when it is whole, its manifest inside.
"""

import fcntl
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field, field_validator

from normastcu.collection.settings import Settings
from normastcu.retrieval.analysis import known_language, make_analyzer
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import (
    DEFAULT_HEAP_MB,
    JAVA_LOCK,
    java_class,
    java_errors,
    start_java,
)
from normastcu.retrieval.manifest import (
    CorpusPrint,
    Manifest,
    column_texts,
    read_manifest,
)
from normastcu.retrieval.settings import DocumentField, representation

ID = "id"
CONTENTS = "contents"
"""The two fields of an index, under the names that Pyserini gives them."""

_BUFFERS_SHARE_OF_HEAP = 4
_UNFINISHED = ".unfinished."

Fields = tuple[DocumentField, ...]


class LuceneSettings(Settings):
    """How Lucene indexes and searches.

    Attributes
    ----------
    language
        Code of the analyzer's language; an index in another language is an error.
    heap_mb
        Bound of Java's heap in MiB.
    """

    language: str = "pt"
    heap_mb: int = Field(default=DEFAULT_HEAP_MB, ge=128)

    @field_validator("language")
    @classmethod
    def _has_analyzer(cls, value: str) -> str:
        return known_language(value)


@dataclass(frozen=True, eq=False)
class IndexRequest:
    """Indexes that shall be there.

    Attributes
    ----------
    documents
        Frames with `doc_id` and the fields, looped over once at most; missing cells are empty.
    corpus
        Of these documents, with all fields of the representations: see
        `normastcu.retrieval.manifest.corpus_print`.
    representations
        Fields of each index, in order; twice the same is one index.
    settings
        How to index.
    """

    documents: Iterable[pd.DataFrame]
    corpus: CorpusPrint
    representations: tuple[Fields, ...]
    settings: LuceneSettings


@dataclass(frozen=True)
class LuceneIndexes:
    """The folder of a collection's indexes, by the names of their representations."""

    folder: Path

    def path(self, fields: Fields) -> Path:
        """Return the folder of one index."""
        return self.folder / representation(fields)

    def manifests(self) -> dict[str, Manifest]:
        """Return the manifest of every index, by the name of its representation."""
        found = {path.name: read_manifest(path) for path in sorted(self.folder.glob("[!.]*/"))}
        return {name: manifest for name, manifest in found.items() if manifest is not None}


def index_documents(folder: Path, request: IndexRequest) -> LuceneIndexes:
    """Make the indexes that are not there or whose manifest does not match, in one pass.

    The texts of a document's fields, in order, are joined by a line break and analyzed. A document
    whose fields are all empty is indexed too; nothing finds it, and like every document without a
    term it does not enter Lucene's number of documents nor their average length.

    Parameters
    ----------
    folder
        Where the indexes are; each gets a folder in it.
    request
        What shall be there.

    Returns
    -------
    LuceneIndexes

    Raises
    ------
    RetrievalError
        For a field that the documents lack, a document without an id or an id twice, documents
        that are fewer or more than those of `corpus`, and while another process indexes into the
        folder.
    """
    representations = tuple(dict.fromkeys(request.representations))
    start_java(request.settings.heap_mb)
    indexes = LuceneIndexes(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone_in(folder), JAVA_LOCK:
        wanted = [
            wanted_manifest(fields, request.settings, request.corpus) for fields in representations
        ]
        missing = [one for one in wanted if _read_or_none(indexes.path(one.fields)) != one]
        if missing:
            _make(indexes, missing, request.documents)
    return indexes


def wanted_manifest(fields: Fields, settings: LuceneSettings, corpus: CorpusPrint) -> Manifest:
    """Return the manifest that an index must have; Java must run, and `JAVA_LOCK` be held."""
    return Manifest(
        lucene=str(java_class("org.apache.lucene.util.Version").LATEST.toString()),
        language=settings.language,
        fields=fields,
        corpus=corpus.of(fields),
    )


def _read_or_none(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except RetrievalError:
        return None


def _make(
    indexes: LuceneIndexes, missing: Sequence[Manifest], documents: Iterable[pd.DataFrame]
) -> None:
    work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=indexes.folder))
    with java_errors("Indexing"), ExitStack() as stack:
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        heap_mb = java_class("java.lang.Runtime").getRuntime().maxMemory() / 2**20
        buffer_mb = heap_mb / _BUFFERS_SHARE_OF_HEAP / len(missing)
        writers: list[_Writer] = []
        for one in missing:
            writers.append(_Writer(work / representation(one.fields), one, buffer_mb))
            stack.callback(writers[-1].abandon)
        _feed(writers, documents)
        for writer, manifest in zip(writers, missing, strict=True):
            writer.finish()
            manifest.write(writer.folder)
        for writer, manifest in zip(writers, missing, strict=True):
            _put_in_place(writer.folder, indexes.path(manifest.fields))


def _feed(writers: Sequence["_Writer"], documents: Iterable[pd.DataFrame]) -> None:
    used = dict.fromkeys(name for writer in writers for name in writer.fields)
    seen = _SeenIds()
    for chunk in documents:
        doc_ids = column_texts(chunk, "doc_id")
        seen.add(doc_ids)
        columns = {name: column_texts(chunk, name) for name in used}
        for writer in writers:
            writer.add(doc_ids, _joined([columns[name] for name in writer.fields]))
    seen.check_count(writers[0].n_documents)


def _joined(columns: Sequence[list[str]]) -> list[str]:
    if len(columns) == 1:
        return columns[0]
    return ["\n".join(texts) for texts in zip(*columns, strict=True)]


class _SeenIds:
    """The ids indexed so far: each must be a text of its own."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def add(self, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            if not doc_id or doc_id in self._ids:
                raise RetrievalError(
                    f"The document {doc_id!r} comes twice. Give each an id of its own."
                    if doc_id
                    else f"A document after {len(self._ids)} others has no id. Give it one."
                )
            self._ids.add(doc_id)

    def check_count(self, expected: int) -> None:
        if len(self._ids) != expected:
            raise RetrievalError(
                f"The documents changed while they were indexed: {expected} became "
                f"{len(self._ids)}. Index again."
            )


@dataclass
class _Writer:
    """Lucene's writer of one index: frequencies and lengths only, and the ids."""

    folder: Path
    manifest: Manifest
    buffer_mb: float
    _java: Any = field(init=False)

    def __post_init__(self) -> None:
        config = java_class("org.apache.lucene.index.IndexWriterConfig")(
            make_analyzer(self.manifest.language),
            signature="(Lorg/apache/lucene/analysis/Analyzer;)V",
        )
        config.setRAMBufferSizeMB(self.buffer_mb)
        config.setUseCompoundFile(False)
        config.setCommitOnClose(False)
        self._java = java_class("org.apache.lucene.index.IndexWriter")(
            open_directory(self.folder), config
        )

    @property
    def fields(self) -> Fields:
        return self.manifest.fields

    @property
    def n_documents(self) -> int:
        return self.manifest.corpus.n_documents

    def add(self, doc_ids: Sequence[str], texts: Sequence[str]) -> None:
        """Index documents; the Java objects of one are filled anew for each."""
        document = java_class("org.apache.lucene.document.Document")()
        stored, sorted_id, contents = _lucene_fields()
        for one in (stored, sorted_id, contents):
            document.add(one)
        for doc_id, text in zip(doc_ids, texts, strict=True):
            stored.setStringValue(doc_id)
            sorted_id.setBytesValue(doc_id.encode())
            contents.setStringValue(text)
            self._java.addDocument(document)

    def finish(self) -> None:
        """Write what is still in memory, safely."""
        self._java.commit()
        self._java.close()

    def abandon(self) -> None:
        """Give up what is not committed; nothing happens after `finish`."""
        self._java.rollback()


def open_directory(folder: Path) -> Any:
    """Return Lucene's handle of a folder; Java must run, and `JAVA_LOCK` be held."""
    path = java_class("java.io.File")(str(folder)).toPath()
    return java_class("org.apache.lucene.store.FSDirectory").open(path)


def _lucene_fields() -> tuple[Any, Any, Any]:
    """Return the stored id, the id to sort by, and the contents without positions."""
    document = "org.apache.lucene.document."
    stored = java_class(f"{document}StringField")(ID, "", java_class(f"{document}Field$Store").YES)
    no_bytes = java_class("org.apache.lucene.util.BytesRef")()
    sorted_id = java_class(f"{document}SortedDocValuesField")(ID, no_bytes)
    kind = java_class(f"{document}FieldType")()
    kind.setTokenized(True)
    kind.setIndexOptions(java_class("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    kind.freeze()
    contents = java_class(f"{document}Field")(
        CONTENTS,
        "",
        kind,
        signature="(Ljava/lang/String;Ljava/lang/CharSequence;"
        "Lorg/apache/lucene/index/IndexableFieldType;)V",
    )
    return stored, sorted_id, contents


def _put_in_place(new: Path, place: Path) -> None:
    """Move an index to its place; one that was there moves aside first and is then deleted."""
    if place.exists():
        place.rename(new.with_name(f"old {new.name}"))
    new.rename(place)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from indexing into the folder, and sweep what a killed one left."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RetrievalError(
                f"Another process indexes into {folder}. Wait for it, or end it."
            ) from error
        for left in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        yield
