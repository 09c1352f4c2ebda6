"""The settings of a judge and of a comparison as parameters of an MLflow run."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from normastcu.judging.prompts import Prompt
from normastcu.judging.settings import Judge, ModelSettings

HIDDEN = "(not logged)"
_NESTED = (Mapping, list, tuple)
_SECRET = re.compile(
    r"api[-_]?key|authori[sz]ation|bearer|cookie|credential|header|passw|secret|"
    r"(access|auth)[-_]?token",
    re.IGNORECASE,
)


def asked_settings(judge: Judge, prompt: Prompt | None) -> dict[str, str]:
    """Return the settings of a judge of ``judges.yml``; the prompt by its hash, never its text.

    Parameters
    ----------
    judge
        The judge.
    prompt
        Its prompt; None for a judge that is not asked.
    """
    settings: dict[str, Any] = {
        "source": judge.kind,
        "samples": judge.samples,
        "least_coverage": judge.least_coverage,
        "model": judge.kind,
    }
    if judge.kind == "lexical":
        settings["lexical"] = judge.lexical
    if judge.model is not None:
        settings |= _model_settings(judge.model)
    if judge.prompt is not None and prompt is not None:
        settings |= {
            "prompt": judge.prompt.name,
            "prompt_id": prompt.id,
            "prompt_file": judge.prompt.file,
            "prompt_sha256": prompt.sha256,
        }
    return flattened(settings)


def flattened(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return nested settings as texts under dotted names; what is None or empty is left out.

    What is called like a secret is not shown, whatever it holds.

    Examples
    --------
    >>> flattened({"bootstrap": {"resamples": 200, "seed": 1}, "names": ["P@10", "MRR"], "x": None})
    {'bootstrap.resamples': '200', 'bootstrap.seed': '1', 'names': 'P@10, MRR'}
    >>> flattened({"model_parameters": {"extra_headers": {"X-Key": "abc"}}})
    {'model_parameters.extra_headers': '(not logged)'}
    """
    found: dict[str, str] = {}
    for name, given in settings.items():
        value = given.model_dump(mode="json") if isinstance(given, BaseModel) else given
        key = re.sub(r"[^\w.-]", "_", str(name))
        if _SECRET.search(key):
            found[key] = HIDDEN
        elif isinstance(value, Mapping):
            found |= {f"{key}.{part}": text for part, text in flattened(value).items()}
        elif value is not None and value not in ([], ()):
            found[key] = _text(value)
    return found


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; one that was cut ends with the whole's hash.

    Examples
    --------
    >>> shortened("short", 100)
    'short'
    >>> cut = shortened("x" * 200, 100)
    >>> len(cut), cut[:33]
    (100, 'xxxxxxxx… (200 characters, SHA-25')
    """
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    end = f"… ({len(text)} characters, SHA-256 {digest})"
    return text[: limit - len(end)] + end if limit > len(end) else digest[:limit]


def _model_settings(model: ModelSettings) -> dict[str, Any]:
    return {
        "model": model.model,
        "model_name": model.name,
        "model_kind": model.kind,
        "base_url": model.base_url,
        "model_parameters": model.parameters,
        "structured_output": model.structured_output,
        "batch": model.batch,
        "max_reply_tokens": model.max_reply_tokens,
        "reply_token_cap": model.reply_token_cap,
        "context_window": model.context_window,
        "tokenizer": model.tokenizer,
        "cut_policy": model.cut_policy,
        "price_in": model.price_in,
        "price_out": model.price_out,
    }


def _text(value: Any) -> str:
    """Return a value as people write it; a list of plain values without brackets."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and not any(isinstance(one, _NESTED) for one in value):
        return ", ".join(str(one) for one in value)
    return json.dumps(_without_secrets(value), ensure_ascii=False)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: HIDDEN if _SECRET.search(str(name)) else _without_secrets(part)
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_secrets(part) for part in value]
    return value
