"""Datasets of the judging pipeline: prompts, the reply store, keys."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import yaml
from kedro_datasets._typing import TablePreview

from normastcu.collection.frames import typed_frame
from normastcu.datasets.previews import shortened
from normastcu.datasets.raw_files import ReadOnlyDataset
from normastcu.datasets.stores import StoreDataset
from normastcu.judging.prompts import Prompt, read_prompt
from normastcu.judging.store import ReplyStore
from normastcu.services.errors import ServiceError


class PromptFilesDataset(ReadOnlyDataset[dict[str, Prompt]]):
    """The prompts of a folder, by the name of their file.

    Parameters
    ----------
    filepath
        The folder.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> dict[str, Prompt]:
        """Read every prompt file."""
        return {
            path.name: read_prompt(path.read_text(encoding="utf-8"), path.name)
            for path in sorted(self._folder.glob("*.md"))
        }

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return id, language and hash of the first prompts."""
        rows = [(name, p.id, p.language, p.sha256) for name, p in self.load().items()]
        types = dict.fromkeys(("file", "id", "language", "sha256"), "str")
        return shortened(typed_frame(rows[:nrows], types))

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._folder)}


class ReplyStoreDataset(StoreDataset[ReplyStore]):
    """The store of replies: one SQLite file, opened when it is loaded, written as replies come.

    Parameters
    ----------
    filepath
        The file.
    metadata
        For Kedro-Viz.
    """

    name = "The reply store"

    def load(self) -> ReplyStore:
        """Open the store; whoever loads it closes it."""
        return ReplyStore(self._path)

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return the last attempts by judge and outcome, without a word of a reply."""
        if not self._path.is_file():
            return TablePreview({})
        with self.load() as store:
            rows = [(a.judge, a.query_id, a.doc_id, a.outcome, a.grade) for a in store.attempts()]
        types = dict.fromkeys(("judge", "query_id", "doc_id", "outcome"), "str")
        return shortened(typed_frame(rows[-nrows:], types | {"grade": "Int64"}))


class Credentials(Mapping[str, object]):
    """Entries of a credentials file; how it is shown never tells a value."""

    def __init__(self, entries: Mapping[str, object]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> object:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Credentials({', '.join(self._entries)})"


class CredentialsDataset(ReadOnlyDataset[Credentials]):
    """The keys of the models, from a file that is never committed.

    It is read in every environment; Kedro itself would read `conf/local` only in the one of that
    name.

    Parameters
    ----------
    filepath
        A YAML file; where it is missing there are no entries, and keys come from environment
        variables.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> Credentials:
        """Read the entries.

        Raises
        ------
        ServiceError
            The file is no YAML, or not a mapping; the message quotes nothing of it.
        """
        if not self._path.is_file():
            return Credentials({})
        entries, line = self._entries()
        if isinstance(entries, Mapping):
            return Credentials(entries)
        where = f"{self._path}, line {line}" if line else f"{self._path}"
        raise ServiceError(
            f"{where}: the credentials can't be read. Each line must be the name of an entry, a "
            "colon, a blank and the key; put a key with other signs than letters, digits, - and _ "
            "between quotes."
        )

    def _entries(self) -> tuple[object, int | None]:
        """Return what the file holds, or where it can't be read: the parser's error quotes it."""
        try:
            return yaml.safe_load(self._path.read_text(encoding="utf-8")) or {}, None
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            return None, mark.line + 1 if mark else None

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}
