"""The assessment screen as a web application."""

import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from normastcu.annotation.errors import (
    AnnotationError,
    CampaignClosedError,
    DatabaseUnavailableError,
    NotAssignedError,
    NotSuggestibleError,
)
from normastcu.annotation.store import AnnotationStore
from normastcu.annotation.web import administration, judging, orientation, sign_in, suggesting
from normastcu.annotation.web.overviews import Overviews
from normastcu.annotation.web.pages import page
from normastcu.annotation.web.security import (
    HEADERS,
    BodyLimit,
    ProtectiveHeaders,
    Sessions,
    SignInLimit,
)
from normastcu.annotation.web.settings import ServerSettings
from normastcu.annotation.web.texts import TEXTS
from normastcu.annotation.web.visitors import (
    Detour,
    Refusal,
    Room,
    Visitor,
    language_for,
    visitor_of,
)

__all__ = ["ServerSettings", "create_app"]

_STATIC = Path(__file__).parent / "static"


def create_app(
    store: AnnotationStore,
    settings: ServerSettings,
    clock: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """Return the assessment screen.

    Parameters
    ----------
    store
        Where the campaign lies; it stays open as long as the app runs.
    settings
        How the pages are served.
    clock
        Seconds that never go back; failed sign-ins are counted by it, and overviews grow old.
    """
    app = FastAPI(title="assessment", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.room = Room(
        store,
        settings,
        Sessions(settings.signing_key, secure=settings.secure_cookies),
        SignInLimit(clock),
        Overviews(store.overview, clock),
    )
    for purpose in (sign_in, orientation, judging, suggesting, administration):
        app.include_router(purpose.router)
    app.add_api_route("/healthz", _health, include_in_schema=False)
    app.mount("/static", _OwnFiles(directory=_STATIC), name="static")
    _say_errors(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(ProtectiveHeaders)
    return app


class _OwnFiles(StaticFiles):
    """Files of the app; a browser keeps them, and asks each time whether they have changed."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _health(request: Request) -> PlainTextResponse:
    request.app.state.room.store.ping()
    return PlainTextResponse("ok")


def _say_errors(app: FastAPI) -> None:
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(Detour, _detour)
    app.add_exception_handler(AnnotationError, _refused_by_the_store)
    app.add_exception_handler(DatabaseUnavailableError, _unavailable)
    app.add_exception_handler(HTTPException, _no_such_page)
    app.add_exception_handler(RequestValidationError, _no_such_page)
    app.add_exception_handler(Exception, _failed)


def _detour(_request: Request, error: Exception) -> Response:
    return RedirectResponse(str(error), HTTPStatus.SEE_OTHER)


def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, Refusal):
        raise error
    return _said(request, error)


def _refused_by_the_store(request: Request, error: Exception) -> Response:
    if isinstance(error, CampaignClosedError):
        return _said(request, Refusal(HTTPStatus.CONFLICT, "closed"))
    if isinstance(error, NotAssignedError):
        return _said(request, Refusal(HTTPStatus.NOT_FOUND, "not_found"))
    if isinstance(error, NotSuggestibleError):
        return _said(request, Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "not_suggestible"))
    return _said(request, Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", str(error)))


def _unavailable(request: Request, _error: Exception) -> Response:
    """Answer without asking the database who it is; a browser sends again what it has."""
    return _answered(request, None, Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "failed"))


def _no_such_page(request: Request, error: Exception) -> Response:
    known = isinstance(error, HTTPException) and error.status_code != HTTPStatus.NOT_FOUND
    if known and isinstance(error, HTTPException):
        return _said(request, Refusal(HTTPStatus(error.status_code), "invalid"))
    return _said(request, Refusal(HTTPStatus.NOT_FOUND, "not_found"))


def _failed(request: Request, _error: Exception) -> Response:
    """Answer after a fault; this lies outside the middleware, so it brings the headers itself."""
    response = _answered(request, None, Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "failed"))
    response.headers.update(HEADERS)
    return response


def _said(request: Request, refusal: Refusal) -> Response:
    response = _answered(request, visitor_of(request), refusal)
    if "seconds" in refusal.values:
        response.headers["Retry-After"] = str(refusal.values["seconds"])
    return response


def _answered(request: Request, visitor: Visitor | None, refusal: Refusal) -> Response:
    texts = TEXTS[language_for(request, visitor)]
    message = refusal.detail or texts[f"{refusal.reason}_body"].format(**refusal.values)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"saved": False, "message": message}, refusal.status)
    heading = texts[f"{refusal.reason}_heading"]
    return page(
        request, "message", visitor, status=refusal.status, heading=heading, message=message
    )
