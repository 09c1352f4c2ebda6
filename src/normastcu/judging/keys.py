"""The key of a call: what was planned, as a SHA-256."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from normastcu.judging.requests import Message


def request_key(
    provider: str,
    base_url: str | None,
    model: str,
    messages: Sequence[Message],
    parameters: Mapping[str, Any],
    sample: int,
    *,
    shared: str = "",
) -> str:
    """Identify a call by everything that was planned about it.

    Parameters
    ----------
    provider
        The kind of the model, ``openai`` or ``huggingface``.
    base_url
        The server; a slash at its end makes no difference. None for a model in process.
    model
        The provider's id of the model.
    messages
        The full messages, after the cut policy.
    parameters
        What is sent beside them and changes the reply, such as the temperature. Limits of time
        and of reply tokens are no part of it: a larger limit is another attempt at the same call.
    sample
        Index of the repetition, from 0.
    shared
        A part of the messages, such as a document, that many calls have in common. It is written
        as JSON once for all of them; the key is the same without it.

    Returns
    -------
    str
        SHA-256 in hexadecimal over canonical JSON: sorted keys, no blanks, ASCII only. Whole
        numbers are the same call with and without a decimal point.

    Examples
    --------
    >>> ask = [{"role": "user", "content": "?"}]
    >>> zero = request_key("openai", "http://a/v1", "m", ask, {"temperature": 0}, 0)
    >>> zero == request_key("openai", "http://a/v1/", "m", ask, {"temperature": 0.0}, 0)
    True
    >>> zero == request_key("openai", "http://b/v1", "m", ask, {"temperature": 0}, 0)
    False
    """
    # Written in the order of sorted keys; the texts apart, because they are nearly all of it.
    base = _json({"base_url": base_url.rstrip("/") if base_url else None})
    texts = ",".join(
        f"[{_json(message['role'])},{_text(message['content'], shared)}]" for message in messages
    )
    rest = _json(
        {
            "model": model,
            "parameters": _canonical(parameters),
            "provider": provider,
            "sample": sample,
        }
    )
    written = f'{base[:-1]},"messages":[{texts}],{rest[1:]}'
    return hashlib.sha256(written.encode("ascii")).hexdigest()


_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def _text(content: str, shared: str) -> str:
    """Write a text as JSON; its characters are escaped one by one, so that parts can be joined."""
    before, found, after = content.partition(shared) if shared else (content, "", "")
    return f'"{_json(before)[1:-1]}{_escaped(shared) if found else ""}{_json(after)[1:-1]}"'


@lru_cache(maxsize=8)
def _escaped(text: str) -> str:
    return _json(text)[1:-1]


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
