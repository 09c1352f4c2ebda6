"""Reading the grade out of a judge's reply, never more than the reply says.

A reply counts where it states the declared field in a JSON object of its own. Nothing is guessed:
no digits are searched for in free text, nothing is taken from inside another value.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal, NamedTuple

from normastcu.judging.requests import Attempt, Outcome

TRUNCATED = "length"
FILTERED = "content_filter"
STRAY_BRACKETS = 16
"""Brackets without an end that are passed over as words; a reply with more is read no further."""
CACHED_READINGS = 100_000
"""Readings that are kept: a run reads every reply twice, and short ones are often alike."""

_BLANKS = r"[ \t\n\r]*+"
_STRING = r'"(?:[^"\\]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
# JSON has no NaN and no Infinity, but many writers write them.
_WORD = r"true|false|null|NaN|-?Infinity"

_OPENING = re.compile(r"[{\[]")
_OBJECT_START = re.compile(rf"\{{{_BLANKS}(?:[\"'}}]|\w++{_BLANKS}:)")
_KEY = re.compile(rf"{_BLANKS}({_STRING}){_BLANKS}:{_BLANKS}")
_SCALAR = re.compile(rf"(?P<string>{_STRING})|(?P<number>{_NUMBER})|(?P<word>{_WORD})")
_AFTER_VALUE = re.compile(rf"{_BLANKS}([,}}])")
_EMPTY_OBJECT = re.compile(rf"\{{{_BLANKS}\}}")
# A string without an end reaches to the end of the text, so that no character is read twice.
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[{}\[\]]', re.DOTALL)
_NUMBER_TEXT = re.compile(_NUMBER)
_THOUGHTS = re.compile(r"\s*<think>(?:.*?</think>|.*)", re.DOTALL)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class Reply:
    """What a reply says; the grade is there exactly where the outcome is ``ok``."""

    outcome: Outcome
    grade: int | None = None
    rationale: str | None = None


def read_reply(
    content: str | None,
    *,
    finish_reason: str | None,
    scale: Sequence[int],
    field: str = "score",
    rationale_field: str | None = "justificativa",
    refusal: str | None = None,
) -> Reply:
    """Read the grade and the reason out of a reply.

    A refusal is ``refused``; a reply that the provider ended at its limit is ``truncated``,
    whatever it says. Else a leading ``<think>`` block is dropped (all of the reply, where the
    block has no end), and every JSON object that stands by itself in the text is read: its
    declared field only, case and surrounding blanks of the key forgiven.

    Parameters
    ----------
    content
        The text of the reply; None and "" say nothing.
    finish_reason
        Why the provider stopped: ``stop``, ``length``, ``content_filter``, ….
    scale
        The grades that exist.
    field, rationale_field
        The fields of the grade and of the reason, as the prompt declares them.
    refusal
        The provider's explicit refusal, None or empty where there is none.

    Returns
    -------
    Reply
        ``ok`` with the grade where the field is stated, once or more, always as one and the same
        grade: a number of the scale, or a string that holds it (``2``, ``2.0``, ``"2"``).
        ``out_of_range`` where it holds numbers, none of which is on the scale. Everything else is
        ``unparseable``. The reason is the first text in the reason's field, if there is one,
        beside a grade's field.

    Examples
    --------
    >>> read_reply('{"score": 2}', finish_reason="stop", scale=(0, 1, 2))
    Reply(outcome='ok', grade=2, rationale=None)
    >>> read_reply("Trata do art. 2º.", finish_reason="stop", scale=(0, 1, 2)).outcome
    'unparseable'
    >>> read_reply('{"score": 90}', finish_reason="stop", scale=(0, 1, 2)).outcome
    'out_of_range'
    """
    return _read(content, finish_reason, tuple(scale), field, rationale_field, refusal)


@lru_cache(maxsize=CACHED_READINGS)
def _read(
    content: str | None,
    finish_reason: str | None,
    scale: tuple[int, ...],
    field: str,
    rationale_field: str | None,
    refusal: str | None,
) -> Reply:
    """Read a reply; a run reads each one when it plans and when it collects, and many are alike."""
    if refusal or finish_reason == FILTERED:
        return Reply("refused")
    if finish_reason == TRUNCATED:
        return Reply("truncated")
    graded = [members for members in _objects(content or "") if _values(members, field)]
    readings = {_grade(value, scale) for members in graded for value in _values(members, field)}
    rationale = _rationale(graded, rationale_field)
    if readings == {_OUT_OF_RANGE}:
        return Reply("out_of_range", rationale=rationale)
    grade = readings.pop() if len(readings) == 1 else None
    if not isinstance(grade, int):
        return Reply("unparseable", rationale=rationale)
    return Reply("ok", grade, rationale)


def read_attempt(
    attempt: Attempt, *, scale: Sequence[int], field: str, rationale_field: str | None
) -> Reply:
    """Read the raw reply of a stored attempt again.

    Grades are derived from raw replies, so that a better reader needs no new call. Where no reply
    came (``too_long``, ``error``), the stored outcome stands.
    """
    if attempt.outcome in ("too_long", "error"):
        return Reply(attempt.outcome)
    return read_reply(
        attempt.reply,
        finish_reason=attempt.finish_reason,
        scale=scale,
        field=field,
        rationale_field=rationale_field,
        refusal=attempt.refusal,
    )


def as_read_today(
    attempt: Attempt, *, scale: Sequence[int], field: str, rationale_field: str | None
) -> Attempt:
    """Return a stored attempt with the outcome that our reader finds today."""
    reply = read_attempt(attempt, scale=scale, field=field, rationale_field=rationale_field)
    same = reply.outcome == attempt.outcome
    return attempt if same else replace(attempt, outcome=reply.outcome)


_Kind = Literal["string", "number", "word", "nested"]
_OUT_OF_RANGE: Literal["out_of_range"] = "out_of_range"


class _Value(NamedTuple):
    """A value as written, and what kind of value it is."""

    kind: _Kind
    written: str


class _Member(NamedTuple):
    """One key of an object with its value, and where the value ends in the text."""

    key: str
    value: _Value
    end: int


_Members = list[_Member]


def _objects(content: str) -> Iterator[_Members]:
    """Read every object that no bracket surrounds; every character is looked at a few times.

    What a bracket opens that isn't an object, or a broken one, is passed over as a whole: a grade
    inside is not the reply's. Without an end, it is either the beginning of an object, which makes
    the rest of the text a part of it, or a word.
    """
    thoughts = _THOUGHTS.match(content)
    position, strays = (thoughts.end() if thoughts else 0), 0
    while opening := _OPENING.search(content, position):
        start = opening.start()
        members = _read_object(content, start)
        if members is not None:
            yield members
        end = _closing(content, start)
        if end is not None:
            position = end
        elif strays == STRAY_BRACKETS or _OBJECT_START.match(content, start):
            return
        else:
            position, strays = start + 1, strays + 1


def _closing(text: str, start: int) -> int | None:
    """Return the place behind the bracket that closes the one at `start`."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        bracket = found[0]
        if bracket in "{[":
            depth += 1
        elif bracket in "}]":
            depth -= 1
        if depth == 0:
            return found.end()
    return None


def _read_object(text: str, start: int) -> _Members | None:
    """Read the members of the object at `start`; None where no valid object stands there.

    Of a value in brackets only the end is looked for: no depth of nesting is too deep.
    """
    if _EMPTY_OBJECT.match(text, start) or text[start] != "{":
        return None
    members: _Members = []
    position = start + 1
    while (member := _read_member(text, position)) is not None:
        members.append(member)
        after = _AFTER_VALUE.match(text, member.end)
        if after is None:
            return None
        if after[1] == "}":
            return members
        position = after.end()
    return None


def _read_member(text: str, position: int) -> _Member | None:
    key = _KEY.match(text, position)
    if key is None:
        return None
    scalar = _SCALAR.match(text, key.end())
    if scalar is not None:
        kind: _Kind = scalar.lastgroup  # type: ignore[assignment]
        return _Member(_decode(key[1]), _Value(kind, scalar[0]), scalar.end())
    end = _closing(text, key.end()) if text[key.end() : key.end() + 1] in ("{", "[") else None
    return None if end is None else _Member(_decode(key[1]), _Value("nested", ""), end)


def _decode(string: str) -> str:
    """Decode a string of JSON; line breaks as they are in it are forgiven."""
    decoded: str = json.loads(string, strict=False)
    return decoded


def _values(members: _Members, field: str) -> list[_Value]:
    return [member.value for member in members if _same_key(member.key, field)]


def _same_key(key: str, field: str) -> bool:
    return key.strip().lower() == field.strip().lower()


def _grade(value: _Value, scale: Sequence[int]) -> int | Literal["out_of_range"] | None:
    """Return the grade that a value states; None where it is no number at all."""
    written = _decode(value.written) if value.kind == "string" else value.written
    if value.kind == "word" and not written.endswith(("NaN", "Infinity")):
        return None
    if value.kind == "word":
        return _OUT_OF_RANGE
    if _NUMBER_TEXT.fullmatch(written) is None:
        return None
    try:
        number = Decimal(written)
    except InvalidOperation:  # an exponent of 20 digits
        return _OUT_OF_RANGE
    return next((grade for grade in scale if number == grade), _OUT_OF_RANGE)


def _rationale(graded: Sequence[_Members], field: str | None) -> str | None:
    """Return the first text in the reason's field, fit to be stored (no half of a character)."""
    if field is None:
        return None
    for members in graded:
        for value in _values(members, field):
            if value.kind == "string":
                return _LONE_SURROGATE.sub("\ufffd", _decode(value.written))
    return None
