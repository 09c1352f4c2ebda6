"""Download one file over HTTP: resumed when cut, asked for again only when it changed."""

import hashlib
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import BaseModel, ConfigDict

from normastcu.collection.errors import CollectionError
from normastcu.collection.progress import progress

LOGGER = logging.getLogger(__name__)

_LONGEST_WAIT_S = 60.0
_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_FILE_TYPES = frozenset(
    {
        "application/csv",
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/vnd.ms-excel",
        "application/x-csv",
        "application/x-download",
        "binary/octet-stream",
        "text/comma-separated-values",
        "text/csv",
        "text/plain",
        "text/tab-separated-values",
        "text/x-csv",
    }
)


@dataclass(frozen=True)
class Download:
    """A downloaded file and what the server said about it.

    Attributes
    ----------
    path
        The file.
    url
        Where it came from, without user, password and query (they may hold a key).
    etag, last_modified
        The server's marks of this version, "" where it gave none.
    sha256
        Hexadecimal digest of the bytes.
    size
        Bytes.
    retrieved
        When the server last sent this version, ISO 8601 in UTC.
    """

    path: Path
    url: str
    etag: str
    last_modified: str
    sha256: str
    size: int
    retrieved: str


def download(
    url: str,
    folder: Path,
    *,
    attempts: int,
    timeout_s: float,
    wait: Callable[[float], None] = time.sleep,
) -> Download:
    """Return the file behind a URL, downloaded into `folder` unless the copy there is current.

    The file is written to ``<name>.part`` and moved to its name when it is whole; beside it
    ``<name>.json`` keeps what the server said. A download that was cut, in this process or an
    earlier one, goes on where it stopped (RFC 9110, sections 13 and 14) if the server still has
    the same version.

    Parameters
    ----------
    url
        An http or https address.
    folder
        Where the file is kept; made if need be.
    attempts
        How often the server is asked before it is given up, at least 1.
    timeout_s
        Seconds without a byte after which an attempt has failed.
    wait
        Called with the seconds to wait before the next attempt.

    Raises
    ------
    CollectionError
        If the server has no such file, refuses, answers with something that isn't a data file,
        or can't be reached in `attempts` attempts while there is no earlier copy. (With an
        earlier copy that one is returned, and a warning logged.)
    """
    target = _Target(url, folder / _file_name(url))
    kept = target.kept()
    folder.mkdir(parents=True, exist_ok=True)
    with httpx.Client(follow_redirects=True, timeout=timeout_s) as client:
        for attempt in range(1, attempts + 1):
            try:
                return _attempt(client, target, kept)
            except _TemporaryError as error:
                if attempt == attempts or (kept and error.unreachable):
                    failure = error
                    break
                seconds = error.retry_after or min(2.0 ** (attempt - 1), _LONGEST_WAIT_S)
                LOGGER.warning(
                    "%s Attempt %d of %d in %g s.", error, attempt + 1, attempts, seconds
                )
                wait(seconds)
    if kept:
        LOGGER.warning("%s The copy of %s is used: %s", failure, kept.retrieved, kept.path)
        return kept
    raise CollectionError(
        f"{failure} Given up after {attempts} attempts. Check the network and the address; the "
        "next run goes on where this one stopped, if the server allows it. Or download the file "
        "by hand and use the source `files`."
    ) from failure


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def public_url(url: str) -> str:
    """Return a URL without user, password, query and fragment, which may hold a key.

    Examples
    --------
    >>> public_url("https://me@example.org:8443/norma.csv?key=secret")
    'https://example.org:8443/norma.csv'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _file_name(url: str) -> str:
    return urlsplit(url).path.rpartition("/")[2] or "download"


class _TemporaryError(Exception):
    """A failure that may be over at the next attempt."""

    def __init__(
        self, message: str, *, unreachable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.unreachable = unreachable
        self.retry_after = retry_after


class _Version(BaseModel):
    """What a server says to tell one version of a file from the next."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def range_condition(self) -> str:
        """The mark under which a server may send the rest of this version, "" if there is none."""
        return self.last_modified if self.etag.startswith("W/") else self.etag or self.last_modified


class _Note(_Version):
    """What is kept about a whole file."""

    sha256: str
    size: int
    retrieved: str


_AnyVersion = TypeVar("_AnyVersion", bound=_Version)


@dataclass(frozen=True)
class _Target:
    """The files of one download: the whole one, the unfinished one, and a note beside each."""

    url: str
    path: Path

    @property
    def name(self) -> str:
        """How messages call the file."""
        return public_url(self.url)

    @property
    def part(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")

    @property
    def part_note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part.json")

    def kept(self) -> Download | None:
        """Return the whole file of an earlier download if it is still what was downloaded."""
        note = self._read(self.note, _Note)
        if note is None or not self.path.is_file() or sha256_of(self.path) != note.sha256:
            return None
        return Download(path=self.path, **note.model_dump())

    def begun(self) -> _Version | None:
        """Return the version that the unfinished file belongs to, if it can be gone on with."""
        version = self._read(self.part_note, _Version)
        if version is None or not version.range_condition or not self.part.is_file():
            return None
        return version

    def begin(self, version: _Version) -> None:
        """Start an unfinished file of this version."""
        self.part.unlink(missing_ok=True)
        self._write(self.part_note, version)

    def discard_part(self) -> None:
        self.part.unlink(missing_ok=True)
        self.part_note.unlink(missing_ok=True)

    def finish(self, version: _Version) -> Download:
        """Move the whole file into place and note where it came from."""
        note = _Note(
            **version.model_dump(),
            sha256=sha256_of(self.part),
            size=self.part.stat().st_size,
            retrieved=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self.part.replace(self.path)
        self._write(self.note, note)
        self.part_note.unlink(missing_ok=True)
        return Download(path=self.path, **note.model_dump())

    def _write(self, path: Path, note: _Version) -> None:
        unfinished = path.with_name(f"{path.name}.new")
        unfinished.write_text(note.model_dump_json(indent=2), encoding="utf-8")
        unfinished.replace(path)

    def _read(self, path: Path, kind: type[_AnyVersion]) -> _AnyVersion | None:
        try:
            note = kind.model_validate_json(path.read_bytes())
        except (OSError, ValueError):
            return None
        return note if note.url == self.name else None


def _attempt(client: httpx.Client, target: _Target, kept: Download | None) -> Download:
    begun = target.begun()
    try:
        with client.stream("GET", target.url, headers=_headers(target, begun, kept)) as response:
            if response.status_code == httpx.codes.NOT_MODIFIED and kept:
                target.discard_part()
                LOGGER.info("%s is unchanged since %s.", target.name, kept.retrieved)
                return kept
            _check_status(response, target)
            _check_type(response, target)
            return target.finish(_receive(response, target, begun))
    except httpx.RequestError as error:
        unreachable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        problem = "can't be reached" if unreachable else "was cut off"
        raise _TemporaryError(
            f"{target.name} {problem} ({type(error).__name__}: {error}).", unreachable=unreachable
        ) from error


def _headers(target: _Target, begun: _Version | None, kept: Download | None) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if kept and kept.etag:
        headers["If-None-Match"] = kept.etag
    elif kept and kept.last_modified:
        headers["If-Modified-Since"] = kept.last_modified
    if begun:
        headers["Range"] = f"bytes={target.part.stat().st_size}-"
        headers["If-Range"] = begun.range_condition
    return headers


def _check_status(response: httpx.Response, target: _Target) -> None:
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.status_code in (httpx.codes.OK, httpx.codes.PARTIAL_CONTENT):
        return
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        target.discard_part()
        raise _TemporaryError(f"{target.name} can't be continued ({status}): it starts again.")
    if response.status_code in _RETRIED_STATUS:
        raise _TemporaryError(
            f"The server of {target.name} is not able to answer now ({status}).",
            retry_after=_retry_after(response),
        )
    if response.status_code in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        raise CollectionError(
            f"There is no file at {target.name} ({status}). Correct the address, or download the "
            "file by hand and use the source `files`."
        )
    raise CollectionError(
        f"The server refuses to send {target.name} ({status}). Correct the address, or download "
        "the file by hand and use the source `files`."
    )


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds the server asks for; a date, seldom used, counts as no answer."""
    seconds = response.headers.get("Retry-After", "")
    return min(float(seconds), _LONGEST_WAIT_S) if seconds.isdecimal() else None


def _check_type(response: httpx.Response, target: _Target) -> None:
    stated = response.headers.get("Content-Type", "")
    if not stated or stated.partition(";")[0].strip().lower() in _FILE_TYPES:
        return
    start = next(response.iter_bytes(), b"")[:200].decode("utf-8", "replace")
    raise CollectionError(
        f"{target.name} should be a CSV file, but the server sent the type {stated!r}, starting "
        f"with {' '.join(start.split())!r}. Open the address in a browser: a login, a proxy or a "
        "new place of the file may be the reason. Nothing was saved."
    )


def _receive(response: httpx.Response, target: _Target, begun: _Version | None) -> _Version:
    """Write the body to the unfinished file, from its start or where it stopped."""
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        version, received, total = _continued(response, target, begun)
    else:
        version, received, total = _version(response, target), 0, _length(response)
        target.begin(version)
    with target.part.open("ab") as file, progress(target.path.name) as report:
        report(received, total)
        for chunk in response.iter_bytes():
            file.write(chunk)
            received += len(chunk)
            report(received, total)
    if total is not None and received != total:
        raise _TemporaryError(f"{target.name} has {total} bytes, but {received} were sent.")
    if received == 0:
        target.discard_part()
        raise CollectionError(f"The file at {target.name} is empty. Open the address in a browser.")
    return version


def _continued(
    response: httpx.Response, target: _Target, begun: _Version | None
) -> tuple[_Version, int, int | None]:
    """Return the version that goes on, the byte where it does, and the size of the whole file."""
    size = target.part.stat().st_size if begun else 0
    stated = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    same = begun and begun.range_condition == _version(response, target).range_condition
    if not begun or not same or stated is None or int(stated[1]) != size:
        target.discard_part()
        raise _TemporaryError(
            f"The server of {target.name} sent another part of the file, or of another version of "
            "it, than it was asked for: the download starts again."
        )
    LOGGER.info("%s goes on at byte %d.", target.name, size)
    return begun, size, None if stated[2] == "*" else int(stated[2])


def _version(response: httpx.Response, target: _Target) -> _Version:
    if _encoded(response):
        return _Version(url=target.name)  # its marks, ranges and length are of other bytes
    return _Version(
        url=target.name,
        etag=response.headers.get("ETag", ""),
        last_modified=response.headers.get("Last-Modified", ""),
    )


def _encoded(response: httpx.Response) -> bool:
    """Return whether the server compressed the body although it was asked not to."""
    return bool(response.headers.get("Content-Encoding", "identity") != "identity")


def _length(response: httpx.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and not _encoded(response) else None
