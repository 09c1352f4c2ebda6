"""What a person reads before they judge, and the language in which they read."""

import re
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from normastcu.annotation.web.pages import own_path, page
from normastcu.annotation.web.scale import choices
from normastcu.annotation.web.settings import Language
from normastcu.annotation.web.visitors import Asked, Refusal, SignedIn, room_of

router = APIRouter()

_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n")


class LanguageForm(BaseModel):
    """A language, and the page to come back to."""

    language: Language
    back: str = "/"


@router.get("/instructions")
def instructions(request: Request, visitor: SignedIn) -> HTMLResponse:
    """Show the instructions; who has not confirmed them yet is asked to."""
    room = room_of(request)
    own_text = room.settings.instructions.get(visitor.language, "").strip()
    return page(
        request,
        "instructions",
        visitor,
        paragraphs=_BETWEEN_PARAGRAPHS.split(own_text) if own_text else [],
        choices=choices(room.store.campaign(), visitor.language, None),
    )


@router.post("/instructions")
def confirm(request: Request, asked: Asked) -> RedirectResponse:
    """Note that a person has read the instructions."""
    room_of(request).store.confirm_instructions(asked.visitor.person.id)
    return RedirectResponse("/", HTTPStatus.SEE_OTHER)


@router.post("/language")
def choose_language(request: Request, asked: Asked) -> RedirectResponse:
    """Show a person's pages in another language from now on."""
    form = asked.read(LanguageForm)
    room = room_of(request)
    if form.language not in room.settings.languages:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid")
    room.store.set_language(asked.visitor.person.id, form.language)
    return RedirectResponse(own_path(form.back), HTTPStatus.SEE_OTHER)
