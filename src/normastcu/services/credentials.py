"""Keys of services: named by the settings, never in them."""

import os
from collections.abc import Mapping
from typing import Protocol

from normastcu.services.errors import ServiceError

_KEY_OF_KEYLESS_SERVERS = "none"


class Keyed(Protocol):
    """Settings that name where the key of a model is."""

    @property
    def name(self) -> str:
        """Return the model's name in the project."""
        ...

    @property
    def credentials(self) -> str | None:
        """Return the entry that holds the key, None for a server that asks for none."""
        ...


def api_key(settings: Keyed, credentials: Mapping[str, object]) -> str:
    """Return the key of a model; a placeholder for a server that needs none.

    Raises
    ------
    ServiceError
        The entry is missing, empty or not a key; the message names it, never its value.
    """
    entry = settings.credentials
    if entry is None:
        return _KEY_OF_KEYLESS_SERVERS
    key = _key(credentials.get(entry)) or _key(os.environ.get(entry))
    if not key:
        raise ServiceError(
            f"The model {settings.name!r} needs the credentials entry {entry!r}, which is missing "
            "or empty. Add it to conf/local/credentials.yml (an entry with that name whose value, "
            "or whose `api_key`, is the key), or set the environment variable of that name."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ServiceError(
            f"The credentials entry {entry!r} of the model {settings.name!r} is not a key: it "
            "holds a blank, a line break or a character outside ASCII. Copy the key again."
        )
    return key


def _key(stated: object) -> str:
    if isinstance(stated, Mapping):
        stated = stated.get("api_key")
    return stated.strip() if isinstance(stated, str) else ""
