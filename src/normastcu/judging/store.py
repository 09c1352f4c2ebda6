"""The reply store: every attempt at every call, appended to one SQLite file and never changed.

SQLite, because a record must be safe the moment it is paid for, be found by its key among a
hundred thousand, and be readable by other tools, all without a server. It runs in WAL mode, so
that readers don't wait for writers, with ``synchronous=FULL``: `ReplyStore.append` returns when
the records are on the disk, not only in the system's memory. An ended process (``kill -9``) or a
power cut therefore loses at most the calls whose `append` had not returned. The cost is one
fsync for all records that wait at that moment: some milliseconds, beside calls of some seconds.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from normastcu.collection.chunks import chunks
from normastcu.collection.sqlite_files import holds_other_file, network_type
from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Attempt

COLUMNS = tuple(field.name for field in fields(Attempt))
_values = attrgetter(*COLUMNS)

_APPLICATION_ID = 0x4E544355  # "NTCU", the mark of the project's stores
_VERSION = 1
_SCHEMA = f"""
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    query_id TEXT NOT NULL,
    doc_id TEXT NOT NULL,
    judge TEXT NOT NULL,
    sample INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reply TEXT,
    finish_reason TEXT,
    refusal TEXT,
    grade INTEGER,
    rationale TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    latency_s REAL,
    model_returned TEXT,
    characters_shown INTEGER,
    error_kind TEXT,
    error_status INTEGER,
    created TEXT NOT NULL,
    reminded INTEGER NOT NULL,
    max_tokens INTEGER,
    UNIQUE (key, attempt)
);
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts
    BEGIN SELECT RAISE(ABORT, 'the attempts of a reply store are never changed'); END;
CREATE TRIGGER attempts_remain BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'the attempts of a reply store are never deleted'); END;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION};
"""
_NAMES = ", ".join(COLUMNS)
_INSERT = f"INSERT OR IGNORE INTO attempts ({_NAMES}) VALUES ({', '.join('?' * len(COLUMNS))})"
_SELECT = f"SELECT {_NAMES} FROM attempts"
_KEYS_AT_A_TIME = 500
_LOCK_WAIT_S = 30.0


class StoreError(JudgingError):
    """The reply store can't be opened, read or written; the message says what to do."""


@dataclass(frozen=True)
class Merged:
    """What became of attempts that were brought in from elsewhere.

    Attributes
    ----------
    added
        Attempts that the store did not have.
    skipped
        Attempts that it had already, with the same content.
    """

    added: int
    skipped: int


class ReplyStore:
    """Attempts in one SQLite file; safe for many threads, and beside other processes.

    Parameters
    ----------
    path
        The file; it is made, with its folder, if it does not exist. SQLite keeps two more files
        beside it, ``-wal`` and ``-shm``, while the store is open or after a crash: they belong
        to it and must not be deleted or left behind in a copy.

    Raises
    ------
    StoreError
        The path is on a network drive, or the file is not a reply store of this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: deque[_Entry] = deque()
        self._writing = threading.Lock()
        self._closed = False
        _refuse_network_drive(path)
        _refuse_other_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = self._connect()
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._connection.close()
            raise StoreError(
                f"The reply store {path} can't be opened ({error}). Check that it may be written; "
                "if it was damaged, put a copy in its place."
            ) from error
        except StoreError:
            self._connection.close()
            raise

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
        """Close the file; an `append` under way ends first, a later one is an error."""
        with self._writing:
            self._closed = True
            self._connection.close()

    def append(self, attempts: Sequence[Attempt]) -> None:
        """Store attempts; they are on the disk when this returns.

        Threads that append at the same time share one commit: the first that gets to write
        takes along what the others have waiting.

        Raises
        ------
        StoreError
            The disk is full, the file can't be written, or an attempt with this key and number
            is there already: another run is asking for the same pairs.
        """
        entry = _Entry(attempts)
        self._waiting.append(entry)
        with self._writing:
            if not entry.settled:
                self._commit_waiting()
        if entry.problem is not None:
            raise entry.problem

    def merge(self, attempts: Iterable[Attempt]) -> Merged:
        """Bring in attempts from elsewhere, all or none.

        Raises
        ------
        StoreError
            An attempt differs from the stored one with the same key and number.
        """
        added = skipped = 0
        with self._writing, self._transaction():
            for attempt in attempts:
                if self._insert(attempt):
                    added += 1
                elif self._stored(attempt) == _storable(attempt):
                    skipped += 1
                else:
                    raise StoreError(_difference(attempt, self.path))
        return Merged(added, skipped)

    def last_by_key(self, keys: Iterable[str]) -> dict[str, Attempt]:
        """Return the last attempt under each key that has one: the one that decides."""
        return {attempt.key: attempt for attempt in self.attempts_by_key(keys)}

    def attempts_by_key(self, keys: Iterable[str]) -> Iterator[Attempt]:
        """Return all attempts under the keys; those of one key in the order of their numbers."""
        with self._reading() as connection:
            for some in chunks(keys, _KEYS_AT_A_TIME):
                where = f"WHERE key IN ({', '.join('?' * len(some))}) ORDER BY key, attempt"
                for row in connection.execute(f"{_SELECT} {where}", some):
                    yield _attempt(row)

    def attempts(self, judge: str | None = None) -> Iterator[Attempt]:
        """Return all attempts, or one judge's, in the order in which they were stored."""
        where, values = ("WHERE judge = ?", (judge,)) if judge is not None else ("", ())
        with self._reading() as connection:
            for row in connection.execute(f"{_SELECT} {where} ORDER BY id", values):
                yield _attempt(row)

    def count(self) -> int:
        """Return the number of attempts."""
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM attempts").fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path, timeout=_LOCK_WAIT_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise StoreError(
                f"The reply store {self.path} can't be opened ({error}). Check that the path is "
                "a file that may be written, in a folder that may be written."
            ) from error
        return connection

    def _prepare(self) -> None:
        mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"The drive of the reply store {self.path} does not support SQLite's WAL mode. "
                "Put the store on a local disk."
            )
        self._connection.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            if self._pragma("schema_version") == 0:
                for statement in _statements(_SCHEMA):
                    self._connection.execute(statement)
        mark = self._pragma("application_id"), self._pragma("user_version")
        if mark != (_APPLICATION_ID, _VERSION):
            raise StoreError(
                f"{self.path} is an SQLite file, but not a reply store of this version of the "
                "project. Give the store another path, or use the version that wrote it to "
                "export its attempts and import them here."
            )

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connect()) as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _commit_waiting(self) -> None:
        entries: list[_Entry] = []
        while self._waiting:
            entries.append(self._waiting.popleft())
        try:
            if self._closed:
                raise StoreError(f"The reply store {self.path} is closed.")
            with self._transaction():
                for entry in entries:
                    entry.problem = self._insert_new(entry.attempts)
        except BaseException as error:
            problem = error if isinstance(error, StoreError) else _unwritten(error, self.path)
            for entry in entries:
                entry.problem = problem
            if not isinstance(error, sqlite3.Error | StoreError):
                raise
        finally:
            for entry in entries:
                entry.settled = True

    def _insert_new(self, attempts: Sequence[Attempt]) -> StoreError | None:
        known = [attempt for attempt in attempts if not self._insert(attempt)]
        return StoreError(_collision(known[0], self.path)) if known else None

    def _insert(self, attempt: Attempt) -> bool:
        return self._connection.execute(_INSERT, _storable(attempt)).rowcount == 1

    def _stored(self, attempt: Attempt) -> tuple[Any, ...]:
        where = "WHERE key = ? AND attempt = ?"
        row = self._connection.execute(f"{_SELECT} {where}", (attempt.key, attempt.attempt))
        return tuple(row.fetchone())


class _Entry:
    """Attempts that wait for their commit, and how it went."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self.attempts = attempts
        self.settled = False
        self.problem: StoreError | None = None


def _refuse_network_drive(path: Path) -> None:
    if file_system := network_type(path):
        raise StoreError(
            f"The reply store {path} would lie on a network drive ({file_system}), where SQLite's "
            "WAL mode does not work and replies could be lost. Put it on a local disk; its "
            "attempts can be exported to the network drive."
        )


def _refuse_other_file(path: Path) -> None:
    if holds_other_file(path):
        raise StoreError(
            f"{path} is not a reply store, but another file. Give the store another path."
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _storable(attempt: Attempt) -> tuple[Any, ...]:
    """Return the values of a row; a lone surrogate, which no file can hold, becomes U+FFFD."""
    return tuple(_encodable(v) if isinstance(v, str) else v for v in _values(attempt))


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _attempt(row: tuple[Any, ...]) -> Attempt:
    # A frozen dataclass sets its fields one by one, which for 100,000 records takes seconds.
    attempt = object.__new__(Attempt)
    values = attempt.__dict__
    values.update(zip(COLUMNS, row, strict=True))
    values["reminded"] = bool(values["reminded"])
    return attempt


def _named(attempt: Attempt) -> str:
    return (
        f"attempt {attempt.attempt} of judge {attempt.judge!r} for query {attempt.query_id!r} and "
        f"document {attempt.doc_id!r} (sample {attempt.sample}, key {attempt.key[:12]}…)"
    )


def _collision(attempt: Attempt, path: Path) -> str:
    return (
        f"{_named(attempt)} is in the reply store {path} already: another run is asking for the "
        "same pairs. Wait until it has ended, then start this one again; it asks for the rest."
    )


def _difference(attempt: Attempt, path: Path) -> str:
    return (
        f"{_named(attempt)} is in the reply store {path} with another content. Nothing was "
        "imported. Import the file into a store of its own, or remove the attempt from the file."
    )


def _unwritten(error: BaseException, path: Path) -> StoreError:
    return StoreError(
        f"The reply store {path} can't be written ({type(error).__name__}: {error}). Check the "
        "space on the disk and the file's permissions; what was stored is safe."
    )
