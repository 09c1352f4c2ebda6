"""The SQLite file of a campaign: its schema, its connections, its transactions.

WAL mode, so that nobody who reads waits for somebody who judges; ``synchronous=FULL``, so that a
commit that has returned is on the disk: an ended process (``kill -9``) or a power cut loses
nothing that was confirmed. Writers take turns, in the process by a lock and between processes by
``BEGIN IMMEDIATE``.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Row, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from normastcu.annotation.errors import AnnotationError, DatabaseUnavailableError
from normastcu.collection.files import PRIVATE
from normastcu.collection.sqlite_files import holds_other_file, network_type

FIRST, ADJUDICATION = 1, 2
"""The rounds of judging, as they are stored."""

_APPLICATION_ID = 0x4E544341  # "NTCA", the mark of the project's annotation databases
_VERSION = 2
_LOCK_WAIT_S = 30
_CONNECTIONS = 20

_SCHEMA = (
    # `key` tells campaigns apart: the numbers of pairs and people begin anew in each database.
    """CREATE TABLE campaign (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        key TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
        settings TEXT NOT NULL,
        closed_at TEXT
    )""",
    """CREATE TABLE people (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('assessor', 'administrator')),
        language TEXT NOT NULL,
        seed INTEGER,
        token_hash TEXT UNIQUE,
        link_number INTEGER NOT NULL,
        confirmed_at TEXT,
        added_at TEXT NOT NULL,
        revoked_at TEXT
    )""",
    """CREATE TABLE queries (
        id INTEGER PRIMARY KEY,
        query_id TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL
    )""",
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        doc_id TEXT NOT NULL UNIQUE,
        title TEXT, subject TEXT, number TEXT, type TEXT, status TEXT, in_force_since TEXT,
        html TEXT, text TEXT
    )""",
    """CREATE VIRTUAL TABLE found USING fts5 (
        doc_id, title, subject, number, tokenize = 'unicode61 remove_diacritics 2'
    )""",
    # AUTOINCREMENT: the number of a withdrawn pair never names another one.
    """CREATE TABLE pairs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        query INTEGER NOT NULL REFERENCES queries,
        document INTEGER NOT NULL REFERENCES documents,
        round INTEGER NOT NULL CHECK (round IN (1, 2)),
        UNIQUE (query, document, round)
    )""",
    # One row for a person's query, its pairs as a JSON array in the person's order.
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        person INTEGER NOT NULL REFERENCES people,
        round INTEGER NOT NULL,
        position INTEGER NOT NULL,
        query INTEGER NOT NULL REFERENCES queries,
        n_pairs INTEGER NOT NULL,
        n_answered INTEGER NOT NULL,
        n_skipped INTEGER NOT NULL,
        first_pair INTEGER NOT NULL,
        pairs TEXT NOT NULL,
        UNIQUE (person, round, position),
        UNIQUE (person, round, query)
    )""",
    """CREATE INDEX open_orders ON orders (person, round, position)
        WHERE n_pairs > n_answered + n_skipped""",
    """CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        person INTEGER NOT NULL REFERENCES people,
        pair INTEGER NOT NULL REFERENCES pairs,
        kind TEXT NOT NULL CHECK (kind IN ('answer', 'undo')),
        source TEXT NOT NULL CHECK (source IN ('screen', 'imported')),
        choice TEXT CHECK (choice IN ('grade', 'unknown', 'skipped')),
        grade INTEGER,
        comment TEXT NOT NULL,
        seconds REAL NOT NULL,
        at TEXT NOT NULL,
        submission_id TEXT,
        undoes INTEGER UNIQUE REFERENCES events,
        UNIQUE (person, submission_id),
        CHECK ((choice IS 'grade') = (grade IS NOT NULL)),
        CHECK ((kind = 'undo') = (undoes IS NOT NULL))
    )""",
    "CREATE INDEX events_of_pair ON events (person, pair)",
    "CREATE INDEX events_of_person ON events (person, kind, source)",
    # The event that counts for each answered pair: what `events` say, kept for speed.
    """CREATE TABLE current (
        person INTEGER NOT NULL,
        pair INTEGER NOT NULL,
        event INTEGER NOT NULL REFERENCES events,
        PRIMARY KEY (person, pair)
    ) WITHOUT ROWID""",
    "CREATE INDEX current_pair ON current (pair)",
    """CREATE TABLE suggestions (
        id INTEGER PRIMARY KEY,
        person INTEGER NOT NULL REFERENCES people,
        query INTEGER NOT NULL REFERENCES queries,
        document INTEGER NOT NULL REFERENCES documents,
        source TEXT NOT NULL CHECK (source IN ('screen', 'imported')),
        grade INTEGER,
        reason TEXT NOT NULL,
        at TEXT NOT NULL,
        submission_id TEXT NOT NULL,
        UNIQUE (person, submission_id)
    )""",
    "CREATE INDEX suggestions_of_query ON suggestions (person, query, document)",
    *(
        f"""CREATE TRIGGER {table}_{word} BEFORE {change} ON {table}
        BEGIN SELECT RAISE(ABORT, 'the history of a campaign is never changed'); END"""
        for table in ("events", "suggestions")
        for word, change in (("stay", "UPDATE"), ("remain", "DELETE"))
    ),
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
)


Record = Row[*tuple[Any, ...]]
"""A row of any query."""


class Database:
    """Connections to the file of a campaign; safe for many threads, and beside other processes.

    Parameters
    ----------
    path
        The file; it is made, with its folder, readable by its owner alone. SQLite keeps two more
        files beside it, ``-wal`` and ``-shm``: they belong to it.

    Raises
    ------
    AnnotationError
        The path is on a network drive, can't be opened, or is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.RLock()
        _refuse_network_drive(path)
        _refuse_other_file(path)
        _make_private(path)
        self._engine = create_engine(
            f"sqlite:///{path}",
            poolclass=QueuePool,
            pool_size=_CONNECTIONS,
            max_overflow=_CONNECTIONS,
            connect_args={"timeout": _LOCK_WAIT_S, "check_same_thread": False},
        )
        event.listen(self._engine, "connect", _set_up)
        event.listen(self._engine, "begin", _begin)
        try:
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database throughout.

        Raises
        ------
        DatabaseUnavailableError
            The file can't be read.
        """
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise DatabaseUnavailableError(
                f"The annotation database {self.path} can't be read ({error.orig}). Check the "
                "file and its permissions; what was confirmed is safe."
            ) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection whose changes are on the disk when the block has ended.

        Raises
        ------
        DatabaseUnavailableError
            The disk is full, or the file can't be written.
        """
        with self._writing, self._engine.connect() as plain:
            connection = plain.execution_options(immediate=True)
            try:
                with connection.begin():
                    yield connection
            except DBAPIError as error:
                raise DatabaseUnavailableError(
                    f"The annotation database {self.path} can't be written ({error.orig}). Check "
                    "the space on the disk and the file's permissions; what was confirmed is safe."
                ) from error

    def dispose(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _prepare(self) -> None:
        try:
            with self.writing() as connection:
                if scalar(connection, "PRAGMA schema_version") == 0:
                    for statement in _SCHEMA:
                        connection.execute(text(statement))
                mark = tuple(
                    scalar(connection, f"PRAGMA {name}")
                    for name in ("application_id", "user_version")
                )
        except DBAPIError as error:
            raise AnnotationError(
                f"The annotation database {self.path} can't be opened ({error.orig}). Check that "
                "it may be written; if it was damaged, put a copy in its place."
            ) from error
        if mark != (_APPLICATION_ID, _VERSION):
            raise AnnotationError(
                f"{self.path} is an SQLite file, but not an annotation database of this version "
                "of the project. Give the database another path, or go on with the version that "
                "wrote it."
            )


def rows(connection: Connection, sql: str, **values: Any) -> Sequence[Record]:
    """Return all rows of a query."""
    return connection.execute(text(sql), values).all()


def plain_rows(connection: Connection, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query as the driver gives them: quick for millions."""
    if not connection.in_transaction():
        connection.begin()
    driver: Any = connection.connection.driver_connection
    yield from driver.execute(sql, values)


def whole_numbers(
    connection: Connection, sql: str, n_columns: int, **values: Any
) -> npt.NDArray[np.int64]:
    """Return the rows of a query of whole numbers, shape (rows, columns)."""
    cells = chain.from_iterable(plain_rows(connection, sql, **values))
    return np.fromiter(cells, dtype=np.int64).reshape(-1, n_columns)


def one(connection: Connection, sql: str, **values: Any) -> Record | None:
    """Return the first row of a query, None without any."""
    return connection.execute(text(sql), values).first()


def scalar(connection: Connection, sql: str, **values: Any) -> Any:
    """Return the first value of the first row, None without any."""
    return connection.execute(text(sql), values).scalar()


def change(connection: Connection, sql: str, **values: Any) -> int:
    """Run one statement; return the id of the row that it inserted, if it did."""
    return int(connection.execute(text(sql), values).lastrowid or 0)


def change_many(connection: Connection, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run one statement for many rows."""
    if rows:
        connection.execute(text(sql), list(rows))


def is_row_id(value: int) -> bool:
    """Tell whether SQLite could hold a number as an id."""
    return 0 < value < 2**63


def now() -> str:
    """Return the time in UTC as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def storable(value: str) -> str:
    """Return a text that the file can hold: lone surrogates become U+FFFD."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _set_up(connection: Any, _: Any) -> None:
    # The driver's own transactions would begin too late for a read to see one state.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _refuse_network_drive(path: Path) -> None:
    if file_system := network_type(path):
        raise AnnotationError(
            f"The annotation database {path} would lie on a network drive ({file_system}), where "
            "SQLite's WAL mode does not work and answers could be lost. Put it on a local disk; "
            "its campaign can be exported to the network drive."
        )


def _refuse_other_file(path: Path) -> None:
    if holds_other_file(path):
        raise AnnotationError(
            f"{path} is not an annotation database, but another file. Give the database another "
            "path."
        )


def _make_private(path: Path) -> None:
    """Make the file, or take it from others; SQLite gives its side files the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
        path.chmod(PRIVATE)
    except OSError as error:
        raise AnnotationError(
            f"The annotation database {path} can't be opened ({error.strerror}). Check that the "
            "path is a file that may be written, in a folder that may be written."
        ) from error
