"""Suggesting further relevant documents: searching the collection, and keeping what was found."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

from normastcu.annotation.web.judging import LONGEST_COMMENT, SubmissionId
from normastcu.annotation.web.pages import page
from normastcu.annotation.web.texts import TEXTS, grade_names
from normastcu.annotation.web.visitors import Asked, Informed, Refusal, Visitor, informed, room_of

router = APIRouter()

_LONGEST_SEARCH = 300


class SuggestionForm(BaseModel):
    """A suggested document, its grade and the reason."""

    doc_id: str = Field(min_length=1)
    grade: int = Field(ge=0)
    reason: str
    submission_id: SubmissionId


@router.get("/search")
def search(
    request: Request,
    visitor: Informed,
    q: Annotated[str, Query(max_length=_LONGEST_SEARCH)] = "",
    query: str = "",
) -> HTMLResponse:
    """Return documents found in the collection; those of the query's own list can't be picked."""
    hits = room_of(request).store.search(q) if q.strip() else []
    in_list = _own_list(request, visitor, query)
    return page(request, "hits", visitor, hits=hits, in_list=in_list)


@router.post("/query/{query_id:path}/suggest")
def suggest(request: Request, query_id: str, asked: Asked) -> JSONResponse:
    """Keep a suggestion; it is on the disk when this returns."""
    visitor = informed(asked.visitor)
    form = asked.read(SuggestionForm)
    _check_suggestion(request, visitor, query_id, form)
    room_of(request).store.suggest(
        visitor.person.id,
        query_id,
        form.doc_id,
        grade=form.grade,
        reason=form.reason.strip(),
        submission_id=form.submission_id,
    )
    return JSONResponse({"saved": True})


@router.get("/query/{query_id:path}/suggestions")
def suggestions(request: Request, query_id: str, visitor: Informed) -> HTMLResponse:
    """Return what a person has suggested for a query."""
    _own_list(request, visitor, query_id)
    store = room_of(request).store
    found = store.suggestions(visitor.person.id, query_id)
    names = grade_names(store.campaign(), visitor.language)
    return page(request, "suggestions", visitor, suggestions=found, names=names)


def _own_list(request: Request, visitor: Visitor, query_id: str) -> Collection[str]:
    store = room_of(request).store
    first = store.query_tasks(visitor.person.id, query_id)
    again = store.query_tasks(visitor.person.id, query_id, "adjudication")
    if not first and not again:
        raise Refusal(HTTPStatus.NOT_FOUND, "not_found")
    return {task.doc_id for task in (*first, *again)}


def _check_suggestion(
    request: Request, visitor: Visitor, query_id: str, form: SuggestionForm
) -> None:
    texts = TEXTS[visitor.language]
    room = room_of(request)
    if form.doc_id in _own_list(request, visitor, query_id):
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "not_suggestible")
    if not form.reason.strip() or form.grade not in room.store.campaign().scale.values:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", texts["suggestion_incomplete"])
    if len(form.reason) > LONGEST_COMMENT:
        problem = texts["comment_too_long"].format(n=LONGEST_COMMENT)
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", problem)
