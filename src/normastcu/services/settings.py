"""Settings that every service has: its address, and the name of its key."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

_ENTRY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def _address_without_secrets(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as http://127.0.0.1:8080/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("must hold no user, password, query or fragment; keys go to `credentials`")
    return value


def _entry_not_key(value: str) -> str:
    if not _ENTRY_NAME.fullmatch(value) or value.startswith("sk-"):
        raise ValueError(
            "must be the name of an entry of credentials.yml or of an environment variable, "
            "not the key itself"
        )
    return value


BaseUrl = Annotated[str, AfterValidator(_address_without_secrets)]
"""The address of a server, without anything secret in it."""

CredentialsEntry = Annotated[str, AfterValidator(_entry_not_key)]
"""Entry of ``credentials.yml`` or environment variable that holds a key, never the key."""
