"""Signing in by a personal link, and signing out."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse

from normastcu.annotation.web.security import PATH_OF_LINKS
from normastcu.annotation.web.visitors import Asked, Refusal, room_of

router = APIRouter()


@router.get(f"{PATH_OF_LINKS}{{token}}")
def enter(request: Request, token: str) -> RedirectResponse:
    """Exchange a personal link for a session, and leave its address at once."""
    room = room_of(request)
    address = request.client.host if request.client else ""
    if wait := room.sign_ins.seconds_to_wait(address):
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "slow_down", seconds=wait)
    person = room.store.person_of_token(token)
    if person is None:
        room.sign_ins.note_failure(address)
        raise Refusal(HTTPStatus.UNAUTHORIZED, "bad_link")
    response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    room.sessions.keep(response, room.sessions.begin(person.id, person.link_number))
    return response


@router.post("/leave")
def leave(request: Request, _asked: Asked) -> RedirectResponse:
    """Sign out in this browser."""
    response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    room_of(request).sessions.forget(response)
    return response
