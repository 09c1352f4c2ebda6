"""Who may sign in, and their personal links."""

import hashlib
import re
import secrets
from collections.abc import Sequence

from sqlalchemy import Connection

from normastcu.annotation.database import Record, change, is_row_id, now, one, rows
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.records import Person, PersonStatus, Role
from normastcu.collection.judgments import REFERENCE, WITHOUT

TOKEN_BYTES = 32
LANGUAGE = "pt"
"""What a person sees at first; theirs to change."""
_NAME = re.compile(r"[^\W.][^\s/\\,]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def add_people(connection: Connection, names: Sequence[str], role: Role) -> dict[str, str]:
    """Add people; return the token of each one's personal link, which is stored nowhere.

    Raises
    ------
    AnnotationError
        A name can't name an annotator, or is there already.
    """
    tokens: dict[str, str] = {}
    for name in names:
        _check_name(name)
        if name in tokens or find_person(connection, name) is not None:
            raise AnnotationError(
                f"There is a person named {name!r} already. Give the new one another name, or "
                f"make a new link with `kedro annotate assessors --renew {name}`."
            )
        tokens[name] = secrets.token_urlsafe(TOKEN_BYTES)
        change(
            connection,
            "INSERT INTO people (name, role, language, token_hash, link_number, added_at)"
            " VALUES (:name, :role, :language, :hash, 1, :at)",
            name=name,
            role=role,
            language=LANGUAGE,
            hash=_hash(tokens[name]),
            at=now(),
        )
    return tokens


def renew_token(connection: Connection, name: str) -> str:
    """Give a person a new link; the old one, and the sessions begun with it, end."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    change(
        connection,
        "UPDATE people SET token_hash = :hash, revoked_at = NULL, link_number = link_number + 1"
        " WHERE id = :id",
        hash=_hash(token),
        id=named_person(connection, name).id,
    )
    return token


def revoke(connection: Connection, name: str) -> None:
    """Let a person sign in no more; what they judged stays."""
    change(
        connection,
        "UPDATE people SET token_hash = NULL, revoked_at = :at WHERE id = :id",
        at=now(),
        id=named_person(connection, name).id,
    )


def list_people(connection: Connection) -> list[PersonStatus]:
    """Return everybody, by name."""
    return [
        PersonStatus(
            name=row.name,
            role=row.role,
            language=row.language,
            confirmed_instructions=row.confirmed_at is not None,
            revoked=row.revoked_at is not None,
            seed=row.seed,
        )
        for row in rows(connection, "SELECT * FROM people ORDER BY name")
    ]


def person_of_token(connection: Connection, token: str) -> Person | None:
    """Return whose link it is, None for an unknown or revoked one."""
    row = one(connection, "SELECT * FROM people WHERE token_hash = :hash", hash=_hash(token))
    return None if row is None else _person(row)


def read_person(connection: Connection, person_id: int) -> Person | None:
    """Return a person, None for an unknown or revoked one."""
    if not is_row_id(person_id):
        return None
    row = one(
        connection, "SELECT * FROM people WHERE id = :id AND revoked_at IS NULL", id=person_id
    )
    return None if row is None else _person(row)


def require_person(connection: Connection, person_id: int) -> Person:
    """Return a person who may sign in.

    Raises
    ------
    AnnotationError
        There is none with this number, or their link was revoked.
    """
    person = read_person(connection, person_id)
    if person is None:
        raise AnnotationError(
            "This personal link is not valid any more. Ask the administrator for a new one."
        )
    return person


def find_person(connection: Connection, name: str) -> Record | None:
    """Return the row with the id of a person, also of one whose link was revoked."""
    return one(connection, "SELECT id FROM people WHERE name = :name", name=name)


def named_person(connection: Connection, name: str) -> Record:
    """Return the row with the id of a person.

    Raises
    ------
    AnnotationError
        There is nobody of this name.
    """
    row = find_person(connection, name)
    if row is None:
        known = ", ".join(person.name for person in list_people(connection)) or "nobody yet"
        raise AnnotationError(
            f"There is nobody named {name!r}. Known: {known}. Correct the name, or add the person "
            "with `kedro annotate assessors`."
        )
    return row


def confirm_instructions(connection: Connection, person_id: int) -> None:
    """Note that a person has read the instructions; the first time counts."""
    require_person(connection, person_id)
    change(
        connection,
        "UPDATE people SET confirmed_at = :at WHERE id = :id AND confirmed_at IS NULL",
        at=now(),
        id=person_id,
    )


def set_language(connection: Connection, person_id: int, language: str) -> None:
    """Note the language that a person chose, such as ``pt`` or ``en``."""
    require_person(connection, person_id)
    if not _LANGUAGE.fullmatch(language):
        raise AnnotationError(f"{language[:20]!r} is no language: give a code such as pt or en.")
    change(
        connection,
        "UPDATE people SET language = :language WHERE id = :id",
        language=language,
        id=person_id,
    )


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name == REFERENCE or name.startswith(WITHOUT):
        raise AnnotationError(
            f"{name!r} can't be the name of a person. It also names a file of qrels: it begins "
            "with a letter or a digit, has no blank, slash or comma, and "
            f"{REFERENCE!r} and {WITHOUT!r}… are taken. Choose a name such as A_1."
        )


def _person(row: Record) -> Person:
    values = row._mapping
    return Person(
        id=values["id"],
        name=values["name"],
        role=values["role"],
        language=values["language"],
        confirmed_instructions=values["confirmed_at"] is not None,
        link_number=values["link_number"],
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
