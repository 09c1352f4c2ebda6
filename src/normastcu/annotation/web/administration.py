"""The administrator's page: progress, agreement, the second round, the export."""

import json
import shutil
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.background import BackgroundTask

from normastcu.annotation.exchange import export_campaign
from normastcu.annotation.web.pages import page
from normastcu.annotation.web.paging import PageNumber, Part
from normastcu.annotation.web.visitors import Administrator, Asked, Refusal, administrator, room_of

router = APIRouter()


@router.get("/admin")
def overview(
    request: Request,
    visitor: Administrator,
    started: Annotated[int | None, Query(ge=0)] = None,
    number: PageNumber = None,
) -> HTMLResponse:
    """Show how far everybody is, how well they agree, and where they don't."""
    found = room_of(request).overviews.latest()
    part = Part.of(len(found.queries), number or 1)
    queries = found.queries[part.first - 1 : part.last]
    return page(
        request, "admin", visitor, overview=found, queries=queries, part=part, started=started
    )


@router.post("/admin/adjudicate")
def adjudicate(request: Request, asked: Asked) -> RedirectResponse:
    """Show disputed pairs again to chosen assessors."""
    administrator(asked.visitor)
    names = asked.lists.get("assessor", [])
    pairs = [_pair(value) for value in asked.lists.get("pair", [])]
    started = 0
    if names and pairs:
        room = room_of(request)
        started = room.store.start_adjudication(names, pairs)
        room.overviews.forget()
    return RedirectResponse(f"/admin?started={started}", HTTPStatus.SEE_OTHER)


@router.get("/admin/export")
def export(request: Request, _visitor: Administrator) -> FileResponse:
    """Send everything that was recorded as one file."""
    store = room_of(request).store
    folder = Path(tempfile.mkdtemp(prefix="assessment-"))
    path = folder / "campaign.zip"
    try:
        export_campaign(store, path)
    except BaseException:
        shutil.rmtree(folder)
        raise
    name = f"{store.campaign().collection}-campaign.zip"
    clean_up = BackgroundTask(shutil.rmtree, folder)
    return FileResponse(path, media_type="application/zip", filename=name, background=clean_up)


def _pair(value: str) -> tuple[str, str]:
    try:
        query_id, doc_id = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid") from error
    return str(query_id), str(doc_id)
