"""Pages and fragments of pages from templates, in the language of who asks."""

import functools
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from normastcu.annotation.web.security import PATH_OF_LINKS
from normastcu.annotation.web.texts import IN_THE_BROWSER, LANGUAGE_NAMES, TEXTS, undefined_reason
from normastcu.annotation.web.visitors import Visitor, language_for, room_of


def page(
    request: Request,
    template: str,
    visitor: Visitor | None,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    **values: object,
) -> HTMLResponse:
    """Return a page, or a part of one that a script asked for.

    Parameters
    ----------
    template
        Its file's name without ``.html.j2``.
    visitor
        Who asks; None before they have signed in.
    values
        What the template shows.
    """
    shared = _shared(request, visitor)
    body = _environment().get_template(f"{template}.html.j2").render(shared | values)
    return HTMLResponse(_encodable(body), status)


def path_of(*parts: object) -> str:
    """Return the path of a page; ids of any text are safe in it.

    Examples
    --------
    >>> path_of("document", "a/b?c")
    '/document/a%2Fb%3Fc'
    """
    return "".join(f"/{quote(_encodable(str(part)), safe='')}" for part in parts)


def own_path(path: str) -> str:
    """Return a path of this server as it is, the start page in place of any other address.

    Examples
    --------
    >>> own_path("/pair/3"), own_path("//other.example"), own_path("https://other.example")
    ('/pair/3', '/', '/')
    """
    inside = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if inside and path.isprintable() and path.isascii() else "/"


def _shared(request: Request, visitor: Visitor | None) -> dict[str, Any]:
    room = room_of(request)
    language = language_for(request, visitor)
    texts = TEXTS[language]
    campaign = room.store.campaign() if visitor else None
    return {
        "t": texts,
        "language": language,
        "languages": {code: LANGUAGE_NAMES[code] for code in room.settings.languages},
        "visitor": visitor,
        "campaign": campaign,
        "content_language": room.settings.content_language,
        "path": _path_to_come_back_to(request),
        "csrf": room.sessions.change_token(visitor.session) if visitor else "",
        "in_browser": _in_browser(visitor, campaign.key if campaign else "", texts),
    }


def _path_to_come_back_to(request: Request) -> str:
    """Return the path of a page; never a personal link, which no page may hold."""
    path = request.url.path
    return path if request.method == "GET" and not path.startswith(PATH_OF_LINKS) else "/"


def _in_browser(visitor: Visitor | None, campaign: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what the scripts know; choices that wait in a browser are kept under `store`."""
    owner = visitor.person.id if visitor else ""
    return {
        "store": f"assessment.{campaign}.{owner}",
        "texts": {name: texts[name] for name in IN_THE_BROWSER},
    }


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("normastcu.annotation.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"path_of": path_of, "why": undefined_reason}
    return environment


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
