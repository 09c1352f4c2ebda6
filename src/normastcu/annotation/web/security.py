"""What keeps the screen's pages to the people they are meant for.

Sessions are signed cookies that name a person and the link they came by; a revoked or renewed link
therefore ends them. A change needs the token of its own session. Headers let a page run the app's
scripts and styles and talk to the app, nothing else.
"""

import hashlib
import secrets
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH_OF_LINKS: Final = "/enter/"
"""What the paths of personal links begin with; the rest is the token."""
SESSION_SECONDS: Final = 45 * 24 * 3600
"""How long a session lasts: longer than a campaign of a month."""
LARGEST_BODY: Final = 64 * 1024
"""Bytes of a request's body; a comment of 5,000 characters takes at most 60,000 in a form."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Session:
    """Who a browser acts for.

    Attributes
    ----------
    person_id
        The person.
    link_number
        Which of the person's links they came by.
    nonce
        Random; tells this session from the same person's others.
    """

    person_id: int
    link_number: int
    nonce: str


class Sessions:
    """Writes and reads the signed cookie, and the tokens that changes need.

    Parameters
    ----------
    signing_key
        At least 32 random bytes.
    secure
        Whether the cookie is sent over TLS only.

    Examples
    --------
    >>> sessions = Sessions(bytes(32), secure=False)
    >>> session = sessions.begin(7, 1)
    >>> sessions.read(sessions.sealed(session)) == session
    True
    >>> sessions.read("forged") is None
    True
    """

    def __init__(self, signing_key: bytes, *, secure: bool) -> None:
        self.cookie = "__Host-assessment" if secure else "assessment"
        self._secure = secure
        self._cookies = _serializer(signing_key, "session")
        self._changes = _serializer(signing_key, "change")

    def begin(self, person_id: int, link_number: int) -> Session:
        """Return a new session of a person."""
        return Session(person_id, link_number, secrets.token_urlsafe(18))

    def sealed(self, session: Session) -> str:
        """Return the value of a session's cookie."""
        value = self._cookies.dumps([session.person_id, session.link_number, session.nonce])
        return value if isinstance(value, str) else value.decode()

    def read(self, value: str | None) -> Session | None:
        """Return the session of a cookie; None if absent, forged or too old."""
        try:
            return Session(*self._cookies.loads(value or "", max_age=SESSION_SECONDS))
        except (BadData, TypeError):
            return None

    def change_token(self, session: Session) -> str:
        """Return the token by which a page of this session may change something."""
        value = self._changes.dumps(session.nonce)
        return value if isinstance(value, str) else value.decode()

    def may_change(self, session: Session, token: str) -> bool:
        """Return whether a token is one of this session's."""
        try:
            nonce = self._changes.loads(token, max_age=SESSION_SECONDS)
        except BadData:
            return False
        return secrets.compare_digest(str(nonce).encode(), session.nonce.encode())

    def keep(self, response: Response, session: Session) -> None:
        """Have the browser keep a session."""
        response.set_cookie(
            self.cookie,
            self.sealed(session),
            max_age=SESSION_SECONDS,
            httponly=True,
            secure=self._secure,
            # A strict cookie would not be sent after the redirect from a link in a message.
            samesite="lax",
        )

    def forget(self, response: Response) -> None:
        """Have the browser drop its session."""
        response.delete_cookie(self.cookie, httponly=True, secure=self._secure, samesite="lax")


class SignInLimit:
    """Counts failed sign-ins by address; too many within a while close the door for a while.

    Parameters
    ----------
    clock
        Seconds that never go back.
    failures
        Failures of one address within `seconds` from which it is turned away.
    seconds
        The while.
    addresses
        Addresses remembered at most; the one that failed longest ago is forgotten first.

    Examples
    --------
    >>> limit = SignInLimit(lambda: 0.0, failures=1)
    >>> limit.seconds_to_wait("127.0.0.1")
    0
    >>> limit.note_failure("127.0.0.1")
    >>> limit.seconds_to_wait("127.0.0.1")
    60
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        failures: int = 10,
        seconds: int = 60,
        addresses: int = 10_000,
    ) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._addresses = addresses
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def seconds_to_wait(self, address: str) -> int:
        """Return for how long this address is turned away; 0 lets it try."""
        times = self._times.get(address)
        if times is None or len(times) < self._failures:
            return 0
        left = times[0] + self._seconds - self._clock()
        return max(0, -int(-left // 1))

    def note_failure(self, address: str) -> None:
        """Count a failed sign-in."""
        times = self._times.setdefault(address, deque(maxlen=self._failures))
        times.append(self._clock())
        self._times.move_to_end(address)
        if len(self._times) > self._addresses:
            self._times.popitem(last=False)


class ProtectiveHeaders:
    """Adds `HEADERS` to every answer; an answer's own header of the same name stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(PATH_OF_LINKS):
                    headers["Referrer-Policy"] = "no-referrer"
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class BodyLimit:
    """Refuses bodies over `LARGEST_BODY` before anything reads them."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self._app = app
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._read(scope, receive)
        if body is None:
            refusal = PlainTextResponse(
                f"The request is larger than {self._largest} bytes.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                {"Connection": "close"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replaying(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self._largest:
            return None
        body = b""
        while True:
            message = await receive()
            body += bytes(message.get("body", b""))
            if len(body) > self._largest:
                return None
            if not message.get("more_body", False):
                return body


def _replaying(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return whole.pop() if whole else await receive()

    return replay


def _serializer(signing_key: bytes, purpose: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(
        signing_key,
        salt=f"assessment.{purpose}",
        signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
    )
