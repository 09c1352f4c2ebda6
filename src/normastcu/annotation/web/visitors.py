"""Who asks, and whether they may: what every route begins with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qs

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from normastcu.annotation.records import Person
from normastcu.annotation.store import AnnotationStore
from normastcu.annotation.web.overviews import Overviews
from normastcu.annotation.web.security import Session, Sessions, SignInLimit
from normastcu.annotation.web.settings import Language, ServerSettings
from normastcu.annotation.web.texts import language_of

_MOST_FIELDS = 2000
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Room:
    """What all requests share."""

    store: AnnotationStore
    settings: ServerSettings
    sessions: Sessions
    sign_ins: SignInLimit
    overviews: Overviews


@dataclass(frozen=True)
class Visitor:
    """A signed-in person, their session, and the language of their pages."""

    person: Person
    session: Session
    language: Language


class Refusal(Exception):  # noqa: N818 - it ends a request, it is not a fault
    """Ends a request with a page that says why.

    Attributes
    ----------
    status
        Of the answer.
    reason
        Names the texts ``{reason}_heading`` and ``{reason}_body``.
    detail
        What the page says in place of the body, if anything.
    values
        Fill the gaps of the body.
    """

    def __init__(
        self, status: HTTPStatus, reason: str, detail: str = "", **values: int | str
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.values = values


class Detour(Exception):  # noqa: N818 - it ends a request, it is not a fault
    """Sends a browser to another page first."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class Change:
    """A change that somebody asks for, and may.

    Attributes
    ----------
    fields
        What was sent: of a form the last value of each field, of JSON any value.
    lists
        All values of each field of a form.
    """

    visitor: Visitor
    fields: Mapping[str, Any]
    lists: Mapping[str, list[str]] = field(default_factory=dict)

    def read(self, model: type[_Model]) -> _Model:
        """Return the fields as a model; refuse what it can't take."""
        try:
            return model.model_validate(dict(self.fields))
        except ValidationError as error:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid") from error


def room_of(request: Request) -> Room:
    """Return what all requests share."""
    room = request.app.state.room
    if not isinstance(room, Room):
        raise TypeError("the app was not made by create_app")
    return room


def visitor_of(request: Request) -> Visitor | None:
    """Return who asks; None without a session, or where the link behind it no longer holds."""
    room = room_of(request)
    session = room.sessions.read(request.cookies.get(room.sessions.cookie))
    person = room.store.person(session.person_id) if session else None
    if session is None or person is None or person.link_number != session.link_number:
        return None
    return Visitor(person, session, language_of(person.language, room.settings.languages))


def language_for(request: Request, visitor: Visitor | None) -> Language:
    """Return the language of an answer: the person's, or the browser's before they signed in."""
    if visitor is not None:
        return visitor.language
    return language_of(
        request.headers.get("accept-language", ""), room_of(request).settings.languages
    )


def signed_in(request: Request) -> Visitor:
    """Return who asks, or refuse."""
    visitor = visitor_of(request)
    if visitor is None:
        raise Refusal(HTTPStatus.UNAUTHORIZED, "sign_in")
    return visitor


def informed(visitor: Annotated[Visitor, Depends(signed_in)]) -> Visitor:
    """Return who asks once they have confirmed the instructions."""
    if not visitor.person.confirmed_instructions and visitor.person.role == "assessor":
        raise Detour("/instructions")
    return visitor


def administrator(visitor: Annotated[Visitor, Depends(signed_in)]) -> Visitor:
    """Return who asks if they administer the campaign, or refuse."""
    if visitor.person.role != "administrator":
        raise Refusal(HTTPStatus.FORBIDDEN, "forbidden")
    return visitor


async def change(request: Request, visitor: Annotated[Visitor, Depends(signed_in)]) -> Change:
    """Return what somebody asks to change; refuse it without the token of their session."""
    fields, lists = await _sent(request)
    token = request.headers.get("x-csrf-token") or fields.get("csrf")
    elsewhere = request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
    sessions = room_of(request).sessions
    if elsewhere or not sessions.may_change(visitor.session, str(token or "")):
        raise Refusal(HTTPStatus.FORBIDDEN, "stale")
    return Change(visitor, fields, lists)


SignedIn = Annotated[Visitor, Depends(signed_in)]
Informed = Annotated[Visitor, Depends(informed)]
Administrator = Annotated[Visitor, Depends(administrator)]
Asked = Annotated[Change, Depends(change)]


async def _sent(request: Request) -> tuple[Mapping[str, Any], Mapping[str, list[str]]]:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    body = await request.body()
    try:
        if kind == "application/json":
            value = json.loads(body)
            if isinstance(value, dict):
                return value, {}
        elif kind == "application/x-www-form-urlencoded":
            lists = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
            return {name: values[-1] for name, values in lists.items()}, lists
    except (ValueError, RecursionError) as error:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid") from error
    if body:
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "invalid")
    return {}, {}
