"""The store of rerankers' scores: appended to one SQLite file, never changed.

A score belongs to exact weights, settings and texts (see `score_key`), so it never goes stale.
SQLite in WAL mode with ``synchronous=FULL``: `ScoreStore.append` returns when the scores are on the
disk, all of a call or none, so that a process that ends at any moment (``kill -9``) loses at most
the batch that it was at.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from normastcu.collection.chunks import chunks
from normastcu.collection.sqlite_files import holds_other_file, network_type
from normastcu.retrieval.errors import RetrievalError

_APPLICATION_ID = 0x4E544353  # "NTCS"
_VERSION = 1
_TABLE = (
    "CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID"
)
_TRIGGERS = tuple(
    f"CREATE TRIGGER IF NOT EXISTS scores_{event} BEFORE {event} ON scores "
    "BEGIN SELECT RAISE(ABORT, 'the scores of a store are never changed or deleted'); END"
    for event in ("UPDATE", "DELETE")
)
_INSERT = "INSERT INTO scores (key, score) VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
_KEYS_AT_A_TIME = 500
_LOCK_WAIT_S = 30.0


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of a text; one with a lone surrogate has one too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def score_key(model: bytes, query: bytes, text: bytes) -> bytes:
    """Return the key of a score from the digests of what it depends on.

    Parameters
    ----------
    model
        `text_digest` of the model's identity: its weights and all settings that change a score.
    query, text
        `text_digest` of the two texts.
    """
    return hashlib.sha256(model + query + text).digest()


class ScoreStore:
    """Scores by key in one SQLite file; safe for many threads, and beside other processes.

    Parameters
    ----------
    path
        The file; it is made, with its folder, if it does not exist. The files ``-wal`` and
        ``-shm`` beside it belong to it.

    Raises
    ------
    RetrievalError
        The path is on a network drive, or the file is not a store of scores of this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        if file_system := network_type(path):
            raise RetrievalError(
                f"The store of scores {path} would lie on a network drive ({file_system}), where "
                "SQLite's WAL mode does not work. Put it on a local disk."
            )
        if holds_other_file(path):
            raise RetrievalError(
                f"The store of scores {path} can't be opened: it is another file. Give the store "
                "another path."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(
                path, timeout=_LOCK_WAIT_S, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except sqlite3.Error as error:
            raise RetrievalError(
                f"The store of scores {path} can't be opened ({error}). Check that it may be "
                "written and is not another file; if it was damaged, remove it: its scores are "
                "computed again."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; an `append` under way ends first."""
        with self._lock:
            self._connection.close()

    def known(self, keys: Iterable[bytes]) -> dict[bytes, float]:
        """Return the scores under those of the keys that have one."""
        found: dict[bytes, float] = {}
        with self._lock:
            for some in chunks(keys, _KEYS_AT_A_TIME):
                where = f"WHERE key IN ({', '.join('?' * len(some))})"
                found.update(
                    self._connection.execute(f"SELECT key, score FROM scores {where}", some)
                )
        return found

    def append(self, scores: Mapping[bytes, float]) -> None:
        """Store scores, all or none; under a key that has one, the first stays.

        Raises
        ------
        RetrievalError
            The disk is full, the file can't be written, or another process holds it too long.
        """
        try:
            with self._lock:
                self._transaction([(_INSERT, row) for row in scores.items()])
        except sqlite3.Error as error:
            raise RetrievalError(
                f"The store of scores {self.path} can't be written ({error}). Check the space on "
                "the disk and the file's permissions; what was stored is safe."
            ) from error

    def count(self) -> int:
        """Return the number of scores."""
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM scores").fetchone()[0])

    def _prepare(self) -> None:
        mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise RetrievalError(
                f"The drive of the store of scores {self.path} does not support SQLite's WAL mode. "
                "Put it on a local disk."
            )
        self._connection.execute("PRAGMA synchronous = FULL")
        if self._pragma("schema_version") == 0:
            self._create()
        if (self._pragma("application_id"), self._pragma("user_version")) != (
            _APPLICATION_ID,
            _VERSION,
        ):
            raise RetrievalError(
                f"{self.path} is an SQLite file, but not a store of scores of this version of the "
                "project. Give the store another path."
            )

    def _create(self) -> None:
        marks = (f"PRAGMA application_id = {_APPLICATION_ID}", f"PRAGMA user_version = {_VERSION}")
        self._transaction([(statement, ()) for statement in (_TABLE, *_TRIGGERS, *marks)])

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _transaction(self, statements: Iterable[tuple[str, tuple[object, ...]]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in statements:
                self._connection.execute(statement, values)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
