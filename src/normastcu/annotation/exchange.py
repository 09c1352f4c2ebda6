"""A campaign as one file, out and in again; and its judgments for publishing.

The full export is a zip with one JSON Lines file a table and a manifest with their digests. It
holds everything: settings, seeds, people (their links as digests), orders, every answer and
suggestion, and the documents. ``answers.jsonl`` says the same by name, for readers; an import
leaves it alone. Equal campaigns make equal files, byte by byte.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from normastcu.annotation.database import change_many, scalar
from normastcu.annotation.documents import index_for_search
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.judgments import answer_records
from normastcu.annotation.settings import Counting
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.files import PRIVATE, replacing
from normastcu.collection.judgments import to_released_format

RELEASED_FILE = "raw_human_eval.csv"
CANONICAL_FILE = "judgments.parquet"

_FORMAT = "normastcu-annotation"
_VERSION = 2
_MANIFEST = "manifest.json"
_ANSWERS = "answers.jsonl"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ROWS_AT_A_TIME = 500
# A damaged zip may also claim to be encrypted (RuntimeError) or compressed in another way.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError)

# Table to its columns, the first ones being the order of its rows; referred to ones come first.
_TABLES: dict[str, tuple[str, ...]] = {
    "campaign": ("id", "key", "settings", "closed_at"),
    "people": (
        "id",
        "name",
        "role",
        "language",
        "seed",
        "token_hash",
        "link_number",
        "confirmed_at",
        "added_at",
        "revoked_at",
    ),
    "queries": ("id", "query_id", "text"),
    "documents": (
        "id",
        "doc_id",
        "title",
        "subject",
        "number",
        "type",
        "status",
        "in_force_since",
        "html",
        "text",
    ),
    "pairs": ("id", "query", "document", "round"),
    "orders": ("person", "round", "position", "query", "n_pairs", "first_pair", "pairs"),
    "events": (
        "id",
        "person",
        "pair",
        "kind",
        "source",
        "choice",
        "grade",
        "comment",
        "seconds",
        "at",
        "submission_id",
        "undoes",
    ),
    "suggestions": (
        "id",
        "person",
        "query",
        "document",
        "source",
        "grade",
        "reason",
        "at",
        "submission_id",
    ),
}
# What the events say, see `database`: made anew instead of moved. CROSS JOIN, because SQLite would
# otherwise walk through all answers of the person for every query.
_DERIVED = (
    """INSERT INTO current (person, pair, event) SELECT e.person, e.pair, max(e.id) FROM events e
    WHERE e.kind = 'answer' AND NOT EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.id)
    GROUP BY e.person, e.pair""",
    *(
        f"""UPDATE orders SET {column} = (SELECT count(*) FROM json_each(orders.pairs) j
        CROSS JOIN current c ON c.person = orders.person AND c.pair = j.value
        JOIN events e ON e.id = c.event WHERE {condition})"""
        for column, condition in (
            ("n_answered", "e.choice <> 'skipped'"),
            ("n_skipped", "e.choice = 'skipped'"),
        )
    ),
)


def export_campaign(store: AnnotationStore, path: Path) -> None:
    """Write everything of a campaign to a zip that its owner alone can read.

    People can go on judging meanwhile; the file holds the state of one moment.

    Raises
    ------
    AnnotationError
        There is no campaign in the store.
    """
    store.settings()
    with (
        store.database.reading() as connection,
        replacing(path, PRIVATE) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        tables = {
            name: _write_lines(archive, f"{name}.jsonl", _lines(connection, name))
            for name in _TABLES
        }
        _write_lines(archive, _ANSWERS, map(_line, answer_records(connection)))
        manifest = {"format": _FORMAT, "version": _VERSION, "tables": tables}
        archive.writestr(_entry(_MANIFEST), json.dumps(manifest, indent=2).encode())


def import_campaign(store: AnnotationStore, path: Path) -> bool:
    """Bring a full export into an empty database, all or nothing.

    Returns
    -------
    bool
        False where the database holds exactly this campaign already.

    Raises
    ------
    AnnotationError
        The file is no full export, has no campaign or was changed, or the database holds something
        else.
    """
    try:
        with zipfile.ZipFile(path) as archive, store.database.writing() as connection:
            tables = _manifest(archive, path)["tables"]
            if _holds_anything(connection):
                _check_same(connection, tables, path, store.path)
                return False
            for name in _TABLES:
                _read_table(connection, archive, name, tables[name], path)
            _derive(connection)
            return True
    except _UNREADABLE as error:
        raise AnnotationError(
            f"{path} can't be read as a full export ({error}). Give a .zip that `kedro annotate "
            "export` wrote."
        ) from error


class Published(NamedTuple):
    """How many judgments `publish` wrote to each file."""

    n_released: int
    n_canonical: int


def publish(store: AnnotationStore, folder: Path, counts: Counting | None = None) -> Published:
    """Write the judgments that count for publishing; return how many there are.

    Parameters
    ----------
    folder
        Gets ``raw_human_eval.csv`` in the released format, which has no place for *don't know*
        and origin, and ``judgments.parquet`` in canonical columns, which has; both are replaced
        as a whole.
    counts
        Which round counts; as the campaign's settings say unless given.
    """
    judgments = store.judgments(counts)
    released = to_released_format(judgments)
    with (
        replacing(folder / RELEASED_FILE) as released_file,
        replacing(folder / CANONICAL_FILE) as canonical_file,
    ):
        released.to_csv(released_file, index=False, lineterminator="\n")
        judgments.to_parquet(canonical_file, index=False)
    return Published(len(released), len(judgments))


def _lines(connection: Connection, table: str) -> Iterator[bytes]:
    names = _TABLES[table]
    order = ", ".join(names[:3] if table == "orders" else names[:1])
    found = connection.execute(text(f"SELECT {', '.join(names)} FROM {table} ORDER BY {order}"))
    for row in found:
        yield _line(dict(zip(names, row, strict=True)))


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _write_lines(
    archive: zipfile.ZipFile, name: str, lines: Iterable[bytes]
) -> dict[str, int | str]:
    digest, n_rows = hashlib.sha256(), 0
    with archive.open(_entry(name), "w", force_zip64=True) as stream:
        for line in lines:
            digest.update(line)
            stream.write(line)
            n_rows += 1
    return {"rows": n_rows, "sha256": digest.hexdigest()}


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry without the time of writing, so that equal content makes equal bytes."""
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(_MANIFEST))
        known = (manifest["format"], manifest["version"], sorted(manifest["tables"]))
        stated = {name: (one["rows"], one["sha256"]) for name, one in manifest["tables"].items()}
        n_campaigns, _ = stated["campaign"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AnnotationError(
            f"{path} is no full export: it has no usable {_MANIFEST}. Give a .zip that `kedro "
            "annotate export` wrote."
        ) from error
    if known != (_FORMAT, _VERSION, sorted(_TABLES)):
        raise AnnotationError(
            f"{path} was written by another version of the project ({known[0]} {known[1]}; this "
            f"one reads {_FORMAT} {_VERSION}). Import it with the version that wrote it."
        )
    if not n_campaigns:
        raise AnnotationError(
            f"{path} holds no campaign: it was exported from an empty annotation database, perhaps "
            "that of another environment. Nothing was imported. Export the campaign again where it "
            "was held, with its --env, before that machine is wiped."
        )
    return dict(manifest)


def _holds_anything(connection: Connection) -> bool:
    names = ("campaign", "people", "documents")
    return any(scalar(connection, f"SELECT 1 FROM {name} LIMIT 1") for name in names)


def _check_same(
    connection: Connection, tables: Mapping[str, Any], path: Path, database: Path
) -> None:
    for name in _TABLES:
        digest = hashlib.sha256()
        for line in _lines(connection, name):
            digest.update(line)
        if digest.hexdigest() != tables[name]["sha256"]:
            raise AnnotationError(
                f"The annotation database {database} holds another campaign than {path} (its "
                f"{name} differ), and two campaigns are never mixed. Nothing was imported. Import "
                "into a new database, or move this one away first."
            )


def _read_table(
    connection: Connection,
    archive: zipfile.ZipFile,
    name: str,
    stated: Mapping[str, Any],
    path: Path,
) -> None:
    names = _TABLES[name]
    insert = f"INSERT INTO {name} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)})"
    if name == "orders":
        insert = insert.replace(" (", " (n_answered, n_skipped, ", 1).replace("(:", "(0, 0, :", 1)
    digest = hashlib.sha256()
    try:
        with archive.open(f"{name}.jsonl") as stream:
            while lines := list(islice(stream, _ROWS_AT_A_TIME)):
                digest.update(b"".join(lines))
                records = [json.loads(line) for line in lines]
                change_many(connection, insert, records)
    except (KeyError, ValueError, TypeError, SQLAlchemyError) as error:
        raise AnnotationError(_damaged(path, name)) from error
    if digest.hexdigest() != stated["sha256"]:
        raise AnnotationError(_damaged(path, name))


def _damaged(path: Path, name: str) -> str:
    return (
        f"{path}: {name}.jsonl is not what the manifest says; the file was changed or damaged. "
        "Nothing was imported. Copy the export again from where it was written."
    )


def _derive(connection: Connection) -> None:
    for statement in _DERIVED:
        connection.execute(text(statement))
    index_for_search(connection)
