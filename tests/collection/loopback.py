"""Servers on the loopback interface that speak the protocols of the sources.

`LoopbackServer` answers with what a function of the request returns and keeps the requests.
`FileSite` is such a function for one file behind one URL (conditional requests and ranges, RFC
9110); `HubSite` for data sets on the Hugging Face hub.
"""

import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]

    def header(self, name: str) -> str:
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True)
class Reply:
    """An answer; the connection ends after `cut_after` bytes of the body, orderly or by a reset."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    reset: bool = False


class LoopbackServer:
    """Serves `site` on a free port while the context is entered."""

    def __init__(self, site: Callable[[Request], Reply]) -> None:
        self.site = site
        self.requests: list[Request] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, self.path, headers)
                server.requests.append(request)
                self.send(server.site(request))

            do_GET = do_HEAD = answer  # noqa: N815

            def send(self, reply: Reply) -> None:
                headers = {"Content-Length": str(len(reply.body))} | reply.headers
                self.send_response(reply.status)
                for name, value in (headers | {"Connection": "close"}).items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body[: reply.cut_after])
                    self.wfile.flush()
                if reply.reset:
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    socket.close(self.connection.detach())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked(self, method: str, part: str = "") -> list[Request]:
        """Return the requests of one method whose path contains `part`."""
        return [one for one in self.requests if one.method == method and part in one.path]


@dataclass
class FileSite:
    """One file behind every path; `cuts` holds after how many bytes the next answers end."""

    content: bytes
    etag: str = '"v1"'
    last_modified: str = "Mon, 01 Jul 2024 00:00:00 GMT"
    content_type: str = "text/csv"
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        reply = self._whole_or_rest(request)
        return replace(reply, cut_after=self.cuts.pop(0)) if self.cuts else reply

    def _whole_or_rest(self, request: Request) -> Reply:
        marks = {"ETag": self.etag, "Last-Modified": self.last_modified}
        headers = {name: value for name, value in marks.items() if value}
        if self._is_current(request):
            return Reply(304, headers=headers)
        headers["Content-Type"] = self.content_type
        wanted = re.fullmatch(r"bytes=(\d+)-", request.header("Range"))
        condition = request.header("If-Range")
        if not self.ranges or not wanted or condition not in ("", *headers.values()):
            return Reply(200, self.content, headers)
        size, start = len(self.content), int(wanted[1])
        if start >= size:
            return Reply(416, headers={"Content-Range": f"bytes */{size}"})
        headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        return Reply(206, self.content[start:], headers)

    def _is_current(self, request: Request) -> bool:
        if request.header("If-None-Match"):
            return request.header("If-None-Match") == self.etag
        since = request.header("If-Modified-Since")
        return bool(since) and since == self.last_modified


@dataclass
class HubSite:
    """One data set on the hub: commits with their files, and branches that name commits.

    Files are served as the hub serves large ones: the resolve address answers with the file's
    marks and sends on to a store under another host name.
    """

    repo_id: str
    branches: dict[str, str]
    files: dict[str, dict[str, bytes]]
    access: Reply | None = None
    info: Reply | None = None
    cuts: list[int] = field(default_factory=list)
    reset: bool = False

    def __call__(self, request: Request) -> Reply:
        path = unquote(request.path)
        if match := re.fullmatch(r"/api/datasets/(.+)/revision/(.+)", path):
            return self.info or self._about(*match.groups())
        if match := re.fullmatch(r"/datasets/(.+)/resolve/([^/]+)/(.+)", path):
            return self.access or self._resolved(request, *match.groups())
        if match := re.fullmatch(r"/store/([^/]+)/(.+)", path):
            return self._stored(request, self.files[match[1]][match[2]])
        return Reply(404)

    def _about(self, repo_id: str, revision: str) -> Reply:
        if repo_id != self.repo_id:
            return _hub_error(401, "RepoNotFound")
        commit = self.branches.get(revision, revision)
        if commit not in self.files:
            return _hub_error(404, "RevisionNotFound")
        about = {
            "id": repo_id,
            "sha": commit,
            "siblings": [{"rfilename": name} for name in self.files[commit]],
        }
        return Reply(200, json.dumps(about).encode(), {"Content-Type": "application/json"})

    def _resolved(self, request: Request, repo_id: str, revision: str, name: str) -> Reply:
        about = self._about(repo_id, revision)
        if about.status != 200:
            return about
        commit = self.branches.get(revision, revision)
        if name not in self.files[commit]:
            return _hub_error(404, "EntryNotFound", commit)
        content = self.files[commit][name]
        store = request.header("Host").replace("127.0.0.1", "localhost")
        headers = {
            "X-Repo-Commit": commit,
            "X-Linked-ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Linked-Size": str(len(content)),
            "Location": f"http://{store}/store/{commit}/{name}",
        }
        return Reply(302, headers=headers)

    def _stored(self, request: Request, content: bytes) -> Reply:
        site = FileSite(content, etag='"stored"', content_type="application/octet-stream")
        site.cuts, reset = self.cuts, self.reset and bool(self.cuts)
        return replace(site(request), reset=reset)


def _hub_error(status: int, code: str, commit: str = "") -> Reply:
    headers = {"X-Error-Code": code, "X-Error-Message": code}
    return Reply(status, headers=headers | ({"X-Repo-Commit": commit} if commit else {}))
