"""Judging: the progress page, a pair, its document, an answer, and taking one back."""

import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from normastcu.annotation.errors import AnswerChangedError
from normastcu.annotation.records import Answer, Campaign, Task
from normastcu.annotation.web.content import highlighted, readable
from normastcu.annotation.web.pages import page, path_of
from normastcu.annotation.web.paging import PageNumber, Part
from normastcu.annotation.web.scale import choices
from normastcu.annotation.web.settings import Language
from normastcu.annotation.web.texts import TEXTS, grade_name, grade_names
from normastcu.annotation.web.visitors import (
    Asked,
    Informed,
    Refusal,
    Visitor,
    informed,
    room_of,
)

router = APIRouter()

LONGEST_COMMENT = 5000
_LARGEST_ID = 2**63 - 1
_MOST_REPLACED = 500
_SECONDS_OF_A_DAY = 86_400

PairId = Annotated[int, Path(ge=1, le=_LARGEST_ID)]
SubmissionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]


class AnswerForm(BaseModel):
    """An answer as a script or a form without scripts sends it (there `choice` is the grade)."""

    model_config = ConfigDict(allow_inf_nan=False)

    choice: Literal["grade", "unknown", "skipped"]
    grade: int | None = Field(default=None, ge=0, le=_LARGEST_ID)
    comment: str = ""
    seconds: float = Field(default=0, ge=0)
    submission_id: SubmissionId
    based_on: int | None = Field(default=None, ge=0, le=_LARGEST_ID)
    replaces: list[SubmissionId] = Field(default=[], max_length=_MOST_REPLACED)

    @model_validator(mode="before")
    @classmethod
    def _grade_as_choice(cls, values: Any) -> Any:
        choice = values.get("choice")
        if isinstance(choice, str) and choice.isascii() and choice.isdigit():
            return values | {"choice": "grade", "grade": choice}
        return values

    @model_validator(mode="after")
    def _grade_with_its_choice(self) -> Self:
        if (self.choice == "grade") != (self.grade is not None):
            raise ValueError("a grade comes with the choice 'grade', and only with it")
        return self


class UndoForm(BaseModel):
    """Which answer to take back, 0 for none; sent twice, it is taken back once."""

    event: int = Field(ge=0, le=_LARGEST_ID)


@dataclass(frozen=True)
class Step:
    """One document of the query in the strip above the pair."""

    path: str
    position: int
    state: str
    label: str
    is_here: bool


@router.get("/")
def progress(request: Request, visitor: Informed, number: PageNumber = None) -> Response:
    """Show how far a person is, query by query; at first where they go on."""
    if visitor.person.role == "administrator":
        return RedirectResponse("/admin", HTTPStatus.SEE_OTHER)
    store = room_of(request).store
    person_id = visitor.person.id
    totals = store.total_progress(person_id)
    n_queries = {name: total.n_queries for name, total in totals.items()}
    following = store.next_open(person_id)
    here = following.query_position if following and following.round == "first" else 1
    part = Part.of(n_queries.get("first", 0), number or Part.number_of(here))
    again = store.progress_part(person_id, "adjudication", 1, n_queries.get("adjudication", 0))
    return page(
        request,
        "progress",
        visitor,
        part=part,
        rows=store.progress_part(person_id, "first", part.first, part.last),
        second_round=again,
        done=sum(total.n_answered for total in totals.values()),
        all=sum(total.n_documents for total in totals.values()),
        skipped=sum(total.n_skipped for total in totals.values()),
        following=path_of("pair", following.pair_id) if following else "",
    )


@router.get("/skipped")
def first_skipped(request: Request, visitor: Informed) -> RedirectResponse:
    """Go to the first pair that a person has put off."""
    task = room_of(request).store.first_skipped(visitor.person.id)
    path = path_of("pair", task.pair_id) if task else "/"
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


@router.get("/pair/{pair_id}")
def pair(request: Request, pair_id: PairId, visitor: Informed) -> HTMLResponse:
    """Show a pair to judge; only those assigned to the person exist for them."""
    store = room_of(request).store
    task = _task(request, visitor, pair_id)
    campaign = store.campaign()
    previous, following = store.neighbours(visitor.person.id, pair_id)
    tasks = store.query_tasks(visitor.person.id, task.query_id, task.round)
    return page(
        request,
        "pair",
        visitor,
        task=task,
        document=store.document(task.doc_id),
        choices=choices(campaign, visitor.language, task.answer),
        steps=[_step(one, pair_id, campaign, visitor.language) for one in tasks],
        previous=path_of("pair", previous) if previous else "",
        following=path_of("pair", following) if following else "/",
        suggestions=store.suggestions(visitor.person.id, task.query_id),
        names=grade_names(campaign, visitor.language),
        longest_comment=LONGEST_COMMENT,
        submission_id=secrets.token_urlsafe(16),
        last_change=store.last_change(visitor.person.id) or 0,
    )


@router.post("/pair/{pair_id}/answer")
def answer(request: Request, pair_id: PairId, asked: Asked) -> Response:
    """Record an answer; it is on the disk when this returns."""
    visitor = informed(asked.visitor)
    form = asked.read(AnswerForm)
    _check_answer(request, visitor, form)
    store = room_of(request).store
    try:
        stored = store.answer(
            visitor.person.id,
            pair_id,
            **form.model_dump(exclude={"seconds"}),
            seconds=min(form.seconds, _SECONDS_OF_A_DAY),
        )
    except AnswerChangedError as error:
        if "csrf" in asked.fields:
            raise Refusal(HTTPStatus.PRECONDITION_FAILED, "changed") from error
        return _asked_again(request, visitor, error.current)
    following = store.next_open(visitor.person.id, pair_id)
    path = path_of("pair", following.pair_id) if following else "/"
    if "csrf" in asked.fields:
        return RedirectResponse(path, HTTPStatus.SEE_OTHER)
    return JSONResponse({"saved": True, "next": path, "event": stored.event})


@router.post("/undo")
def undo(request: Request, asked: Asked) -> RedirectResponse:
    """Take back an answer and show its pair."""
    form = asked.read(UndoForm)
    task = room_of(request).store.undo(asked.visitor.person.id, form.event)
    path = path_of("pair", task.pair_id) if task else "/"
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


@router.get("/document/{doc_id:path}")
def document(
    request: Request,
    doc_id: str,
    visitor: Informed,
    pair_id: Annotated[int | None, Query(alias="highlight", ge=1, le=_LARGEST_ID)] = None,
) -> HTMLResponse:
    """Return a whole document for the side panel, with the words of a pair's query on request."""
    found = room_of(request).store.document(doc_id)
    if found is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "not_found")
    content = readable(found.html, found.text)
    markup = content.markup
    if pair_id is not None:
        markup = highlighted(markup, _task(request, visitor, pair_id).query_text)
    return page(request, "document", visitor, content=markup, flattened=content.flattened)


def _task(request: Request, visitor: Visitor, pair_id: int) -> Task:
    task = room_of(request).store.task(visitor.person.id, pair_id)
    if task is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "not_found")
    return task


def _asked_again(request: Request, visitor: Visitor, current: Answer | None) -> JSONResponse:
    """Return what counts for a pair, so that the page shows it beside what it sent."""
    texts = TEXTS[visitor.language]
    saved = {"choice": None, "grade": None, "comment": "", "event": 0, "name": texts["state_open"]}
    if current is not None:
        names = grade_names(room_of(request).store.campaign(), visitor.language)
        grade = current.grade
        name = texts[f"state_{current.choice}"] if grade is None else names[grade]
        saved = {field: getattr(current, field) for field in saved if field != "name"}
        saved["name"] = name
    answer = {"saved": False, "message": texts["which_counts"], "current": saved}
    return JSONResponse(answer, HTTPStatus.PRECONDITION_FAILED)


def _step(task: Task, here: int, campaign: Campaign, language: Language) -> Step:
    state = task.answer.choice if task.answer else "open"
    grade = task.answer.grade if task.answer else None
    name = grade_name(campaign, grade, language) if grade is not None else ""
    label = TEXTS[language][f"state_{state}"].format(grade=name)
    is_here = task.pair_id == here
    return Step(path_of("pair", task.pair_id), task.position, state, label, is_here)


def _check_answer(request: Request, visitor: Visitor, form: AnswerForm) -> None:
    texts = TEXTS[visitor.language]
    if len(form.comment) > LONGEST_COMMENT:
        problem = texts["comment_too_long"].format(n=LONGEST_COMMENT)
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", problem)
    scale = room_of(request).store.campaign().scale.values
    if form.choice == "grade" and form.grade not in scale:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", texts["not_a_choice"])
