"""Requests, settings and a prompt for tests of whatever asks a judge."""

import hashlib
from collections.abc import Iterator
from typing import Any

from normastcu.collection.settings import GradeScale
from normastcu.judging.prompts import Prompt, read_prompt
from normastcu.judging.requests import Attempt, Message, Request
from normastcu.judging.settings import ModelSettings

SCALE = GradeScale(
    grades=[
        {"grade": 0, "name": "irrelevant"},
        {"grade": 1, "name": "partially relevant"},
        {"grade": 2, "name": "relevant"},
    ]
)
REMINDER = "Reply with the JSON object only."
PROMPT: Prompt = read_prompt(
    f"""---
id: simple
language: en
reply_fields: {{justificativa: text, score: grade}}
rationale_field: justificativa
other_grades: {{lowest: worst, between: middle, highest: best}}
---
# system
You grade documents: {{{{grades}}}} {{{{format}}}}
# user
Query: {{{{query}}}}

{{{{document}}}}
# reminder
{REMINDER}
""",
    "simple.en.md",
)


def model(base_url: str = "http://127.0.0.1:1/v1", **settings: Any) -> ModelSettings:
    """Return settings of a model; everything but its address may be left out."""
    values = {
        "name": "tiny",
        "kind": "openai",
        "model": "tiny-1",
        "base_url": base_url,
        "context_window": 8192,
        "max_reply_tokens": 64,
        "reply_token_cap": 256,
        "timeout_s": 20,
    }
    return ModelSettings(**values | settings)


def request(number: int, text: str = "", **changes: Any) -> Request:
    """Return a request whose user message ends with its number."""
    content = f"{text}pair {number}"
    values: dict[str, Any] = {
        "key": hashlib.sha256(content.encode()).hexdigest(),
        "query_id": f"q{number % 7}",
        "doc_id": f"d{number}",
        "judge": "tiny_simple",
        "sample": 0,
        "messages": (
            Message(role="system", content="Grade the document."),
            Message(role="user", content=content),
        ),
        "characters_shown": len(content),
        "content_origin": "text",
        "tokens_estimate": 20,
    }
    return Request(**values | changes)


def requests(count: int, text: str = "") -> Iterator[Request]:
    """Return numbered requests, made as they are taken."""
    return (request(number, text) for number in range(count))


def attempt(number: int = 0, **changes: Any) -> Attempt:
    """Return the record of a graded reply."""
    values: dict[str, Any] = {
        "key": request(number).key,
        "query_id": f"q{number % 7}",
        "doc_id": f"d{number}",
        "judge": "tiny_simple",
        "sample": 0,
        "attempt": 1,
        "outcome": "ok",
        "reply": '{"justificativa": "trata do art. 3º", "score": 1}',
        "finish_reason": "stop",
        "refusal": None,
        "grade": 1,
        "rationale": "trata do art. 3º",
        "tokens_in": 120,
        "tokens_out": 12,
        "latency_s": 0.25,
        "model_returned": "tiny-1-2026",
        "characters_shown": 9,
        "error_kind": None,
        "error_status": None,
        "created": "2026-01-02T03:04:05.678+00:00",
        "reminded": False,
        "max_tokens": 64,
    }
    return Attempt(**values | changes)
