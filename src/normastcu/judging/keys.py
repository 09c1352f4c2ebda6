"""The key of a call: what was planned, as a SHA-256."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from normastcu.judging.requests import Message


def request_key(
    provider: str,
    base_url: str | None,
    model: str,
    messages: Sequence[Message],
    parameters: Mapping[str, Any],
    sample: int,
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
    planned = {
        "provider": provider,
        "base_url": base_url.rstrip("/") if base_url else None,
        "model": model,
        "messages": [[message["role"], message["content"]] for message in messages],
        "parameters": _canonical(parameters),
        "sample": sample,
    }
    written = json.dumps(planned, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
