"""Serving the assessment screen: the signing key, and a log without anybody's link."""

import copy
import logging
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.store import AnnotationStore
from normastcu.annotation.web.app import create_app
from normastcu.annotation.web.settings import ServerSettings
from normastcu.collection.files import PRIVATE

KEY_BYTES = 32
HOST, PORT = "127.0.0.1", 8000
_LOCAL = ("127.0.0.1", "::1", "localhost")
_LINK = re.compile(r"(/enter/)[^/\s?#]+")
_PATIENCE_S = 5
"""For open connections, once the server is to stop."""


@dataclass(frozen=True)
class Address:
    """Where the screen is served.

    Attributes
    ----------
    host, port
        What the server listens on; only this machine reaches the default.
    certificate, key
        Files in PEM format; both or none.
    behind_tls
        Whether another server in front of this one speaks TLS with the browsers.
    """

    host: str = HOST
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    behind_tls: bool = False

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise AnnotationError("TLS needs both --certificate and --key, or neither.")

    @property
    def secure(self) -> bool:
        """Return whether browsers speak TLS."""
        return self.behind_tls or self.certificate is not None

    @property
    def exposed(self) -> bool:
        """Return whether links and grades would cross a network unencrypted."""
        return self.host not in _LOCAL and not self.secure


def key_path(database: Path) -> Path:
    """Return where the signing key of a database is kept.

    Examples
    --------
    >>> key_path(Path("data/annotation.sqlite")).name
    'annotation.key'
    """
    return database.with_suffix(".key")


def signing_key(path: Path) -> bytes:
    """Return the key that signs sessions, made at the first call and kept for the next ones.

    Raises
    ------
    AnnotationError
        The file holds no key, or can't be read or made.
    """
    try:
        _make_key(path)
        path.chmod(PRIVATE)
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"The signing key {path} can't be used ({error}). Delete the file for a new key: "
            "everybody then signs in again with their link."
        ) from error
    if len(key) < KEY_BYTES:
        raise AnnotationError(
            f"The signing key {path} has {len(key)} bytes instead of {KEY_BYTES}. Delete the file "
            "for a new key: everybody then signs in again with their link."
        )
    return key


def run(store: AnnotationStore, address: Address) -> None:
    """Serve the screen until Ctrl-C, in one process.

    Raises
    ------
    AnnotationError
        There is no campaign in the store yet.
    """
    campaign = store.settings().annotation
    settings = ServerSettings(
        signing_key=signing_key(key_path(store.path)),
        secure_cookies=address.secure,
        languages=campaign.languages,
        content_language=campaign.content_language,
        instructions=campaign.instructions,
    )
    uvicorn.run(
        create_app(store, settings),
        host=address.host,
        port=address.port,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        log_config=log_config(),
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE_S,
    )


def log_config() -> dict[str, Any]:
    """Return uvicorn's logging with a filter that takes the tokens out of what is logged."""
    config = copy.deepcopy(LOGGING_CONFIG)
    config["filters"] = {"without_links": {"()": WithoutLinks}}
    for handler in config["handlers"].values():
        handler["filters"] = ["without_links"]
    return config


class WithoutLinks(logging.Filter):
    """Writes `/enter/…` instead of a personal link, in the message and in its arguments."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without the links in it."""
        record.msg = _without_link(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_without_link(argument) for argument in record.args)
        return True


def _without_link(value: Any) -> Any:
    return _LINK.sub(r"\1…", value) if isinstance(value, str) else value


def _make_key(path: Path) -> None:
    """Make the key unless it is there; it appears with its whole content or not at all."""
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES))
        # Of two servers that start at once the first one's key stays.
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink(missing_ok=True)
