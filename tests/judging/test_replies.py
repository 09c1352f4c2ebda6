"""Reading replies: every row of the table, and what no text and every valid reply must do."""

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from normastcu.judging.replies import STRAY_BRACKETS, Reply, read_attempt, read_reply
from normastcu.judging.requests import Attempt

SCALE = (0, 1, 2)


def read(content: str | None, **how: Any) -> Reply:
    return read_reply(content, **{"finish_reason": "stop", "scale": SCALE} | how)


@pytest.mark.parametrize(
    ("content", "grade"),
    [
        pytest.param('{"score": 2}', 2, id="bare"),
        pytest.param('```json\n{"score": 2}\n```', 2, id="fenced"),
        pytest.param(
            'Avaliação:\n```\n{"score": 2}\n```\nEspero ter ajudado!', 2, id="words-fence"
        ),
        pytest.param('A nota do art. 1º é {"score": 2}, por óbvio.', 2, id="among-words"),
        pytest.param(
            '{"justificativa": "trata do art. 3º, ver ```x```", "score": 1}', 1, id="fence-inside"
        ),
        pytest.param('{"score": "2"}', 2, id="text"),
        pytest.param('{"score": 2.0}', 2, id="float"),
        pytest.param('{"score": "2.0"}', 2, id="float-as-text"),
        pytest.param('{"score": 2e0}', 2, id="exponent"),
        pytest.param('{"score": -0}', 0, id="minus-zero"),
        pytest.param('{" SCORE ": 1}', 1, id="case-and-blanks-of-the-key"),
        pytest.param('{"\\u0073core": 1}', 1, id="escaped-key"),
        pytest.param('{"score": 2} e de novo {"score": "2"}', 2, id="twice-the-same"),
        pytest.param('{"score": 2, "score": 2.0}', 2, id="twice-in-one"),
        pytest.param('{"nota": 0} {"score": 1}', 1, id="another-object-without-the-field"),
        pytest.param('{"justificativa": "{\\"score\\": 0}", "score": 2}', 2, id="json-in-a-text"),
        pytest.param('{"justificativa": "linha 1\nlinha 2", "score": 2}', 2, id="raw-newline"),
        pytest.param('{"exemplo": {"score": 0}, "score": 2}', 2, id="nested-beside"),
        pytest.param('{"outros": [{"score": 0}], "score": 2}', 2, id="listed-beside"),
        pytest.param('{"fim": null, "ok": true, "n": NaN, "score": 2}', 2, id="constants-beside"),
        pytest.param('[art. 5º, "caput"] {"score": 2}', 2, id="brackets-in-words"),
        pytest.param('no intervalo [0, 2[ fica {"score": 2}', 2, id="stray-brackets"),
        pytest.param('use { e depois {"score": 2}', 2, id="stray-brace"),
        pytest.param('{campo} {"score": 2}', 2, id="braced-word"),
        pytest.param('{"score": 2} {', 2, id="stray-brace-behind"),
        pytest.param('<think>{"score": 0}?</think>{"score": 2}', 2, id="thoughts"),
        pytest.param(' \n<think>\n1 ou 2?\n</think>\n\n{"score": 2}', 2, id="thoughts-with-blanks"),
    ],
)
def test_a_reply_that_states_one_grade(content: str, grade: int) -> None:
    reply = read(content)

    assert (reply.outcome, reply.grade) == ("ok", grade)


@pytest.mark.parametrize(
    "value",
    [
        "2.5",
        "90",
        "-1",
        "1e400",
        "NaN",
        "Infinity",
        "-Infinity",
        "9" * 5000,
        "1.99999999999999999999",
        "1e99999999999999999999",
        "1e-400",
        "3",
        '"90"',
        '"-1"',
        '"2.5"',
    ],
)
def test_a_number_that_is_no_grade(value: str) -> None:
    assert read(f'{{"score": {value}}}') == Reply("out_of_range")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"score": true}', id="true"),
        pytest.param('{"score": false}', id="false"),
        pytest.param('{"score": null}', id="null"),
        pytest.param('{"score": "dois"}', id="word"),
        pytest.param('{"score": "２"}', id="fullwidth-digit"),
        pytest.param('{"score": "1_0"}', id="underscore"),
        pytest.param('{"score": "02"}', id="leading-zero"),
        pytest.param('{"score": ""}', id="empty-value"),
        pytest.param('{"score": [2]}', id="list"),
        pytest.param('{"score": {"score": 2}}', id="object"),
        pytest.param('{"nota": 2}', id="another-field"),
        pytest.param('{"score": 2} … {"score": 0}', id="two-objects"),
        pytest.param('{"score": 2, "score": 0}', id="two-values"),
        pytest.param('{"Score": 2, "score": 0}', id="two-cases"),
        pytest.param('{"score": 2} {"score": 7}', id="a-grade-and-another-number"),
        pytest.param('{"score": 2} {"score": null}', id="a-grade-and-no-number"),
        pytest.param('{"resultado": {"score": 2}}', id="nested"),
        pytest.param('[{"score": 2}]', id="in-a-list"),
        pytest.param("2", id="a-number"),
        pytest.param('"2"', id="a-text"),
        pytest.param("Artigo 1º da Resolução 253/2012 não trata do tema.", id="prose"),
        pytest.param("Answer: two", id="answer"),
        pytest.param("score: 2", id="without-braces"),
        pytest.param('"score": 2', id="member-alone"),
        pytest.param("", id="empty"),
        pytest.param(None, id="none"),
        pytest.param("{}", id="empty-object"),
        pytest.param("{score: 2}", id="unquoted-key"),
        pytest.param("{'score': 2}", id="single-quotes"),
        pytest.param('{"score": 0 | 1 | 2}', id="the-format-itself"),
        pytest.param('{"score": 2', id="without-an-end"),
        pytest.param('{"score": 2,}', id="comma-at-the-end"),
        pytest.param('{"exemplo": {"score": 0}, "score": 2,}', id="broken-around-another"),
        pytest.param('{"exemplo": {"score": 0}, "score": 2', id="unclosed-around-another"),
        pytest.param("{'exemplo': {\"score\": 0}, 'score': 2}", id="python-around-another"),
        pytest.param('{exemplo: {"score": 0}, score: 2', id="unquoted-unclosed-around-another"),
        pytest.param('{"score": 2 "x": 1}', id="comma-missing"),
        pytest.param('{"score" 2}', id="colon-missing"),
        pytest.param('{"score": 2}'[:-1] + "]", id="wrong-bracket"),
        pytest.param('{"score": 02}', id="leading-zero-in-a-number"),
        pytest.param('{"score": "\\q2"}', id="wrong-escape"),
        pytest.param('{"ſcore": 2}', id="long-s-is-another-letter"),
        pytest.param('<think>{"score": 2}', id="thoughts-without-an-end"),
        pytest.param("[" * 100_000, id="opening-brackets"),
        pytest.param("{" * 100_000, id="opening-braces"),
    ],
)
def test_a_reply_without_a_grade(content: str | None) -> None:
    assert read(content) == Reply("unparseable")


def test_finish_reason_and_refusal_come_before_the_text() -> None:
    assert read('{"score": ', finish_reason="length") == Reply("truncated")
    assert read('{"score": 2}', finish_reason="length") == Reply("truncated")
    assert read("", finish_reason="length") == Reply("truncated")
    assert read('{"score": 2}', finish_reason="content_filter") == Reply("refused")
    assert read('{"score": 2}', refusal="I can't help with that.") == Reply("refused")
    assert read('{"score": 2}', finish_reason="length", refusal="No.") == Reply("refused")
    assert read('{"score": 2}', finish_reason=None, refusal="") == Reply("ok", 2)


def test_scale_and_fields_are_the_callers() -> None:
    assert read('{"score": 3}', scale=(0, 1, 2, 3)) == Reply("ok", 3)
    assert read('{"score": 3}', scale=(1, 5)) == Reply("out_of_range")
    assert read('{"nota": 2, "motivo": "m"}', field=" Nota ", rationale_field="motivo") == Reply(
        "ok", 2, "m"
    )
    assert read('{"justificativa": "m", "score": 2}', rationale_field=None) == Reply("ok", 2)


@pytest.mark.parametrize(
    ("content", "rationale"),
    [
        ('{"justificativa": "porque \\"sim\\"", "score": 1}', 'porque "sim"'),
        ('{"justificativa": "fora", "score": 9}', "fora"),
        ('{"justificativa": "nada", "score": null}', "nada"),
        ('{"justificativa": 3, "score": 1}', None),
        ('{"justificativa": "sem nota"}', None),
        ('{"justificativa": "\\ud83d\\ude00 \\ud800", "score": 1}', "😀 \ufffd"),
    ],
)
def test_the_reason_stands_beside_the_grade(content: str, rationale: str | None) -> None:
    assert read(content).rationale == rationale


WORDS = st.text(st.characters(exclude_characters='{}[]"'))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def is_another(key: str) -> bool:
    return key.strip().lower() not in ("score", "justificativa")


def spread_out(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def as_ascii(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


@st.composite
def valid_replies(draw: st.DrawFn) -> tuple[str, int, str]:
    """Draw a reply as a writer of JSON makes it, its grade and its reason."""
    grade, reason = draw(st.sampled_from(SCALE)), draw(st.text())
    members = draw(st.dictionaries(st.text().filter(is_another), JSON_VALUES, max_size=3))
    members |= {"justificativa": reason}
    members |= {"score": draw(st.sampled_from([grade, float(grade), str(grade), f"{grade}.0"]))}
    keys = draw(st.permutations(sorted(members)))
    write: Callable[[object], str] = draw(st.sampled_from([spread_out, as_ascii, json.dumps]))
    return write({key: members[key] for key in keys}), grade, reason


def without_halves(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(valid_replies(), WORDS, WORDS, st.sampled_from(["", "```", "```json\n"]))
def test_a_reply_of_a_json_writer_always_yields_its_grade(
    reply: tuple[str, int, str], before: str, after: str, mark: str
) -> None:
    written, grade, reason = reply
    before = before.replace("<think>", "")

    assert read(f"{before}{mark}{written}{mark}{after}") == Reply("ok", grade, reason)


@given(valid_replies(), valid_replies(), st.text().filter(lambda text: "</think>" not in text))
def test_thoughts_are_not_the_reply(
    thought: tuple[str, int, str], reply: tuple[str, int, str], words: str
) -> None:
    thoughts = f"{words}{thought[0].replace('</think>', '')}"

    assert read(f"\n<think>{thoughts}</think>\n{reply[0]}").grade == reply[1]


@given(valid_replies(), st.integers(1, 2000), st.sampled_from(["[]", "{}"]))
def test_what_stands_beside_the_grade_does_not_matter(
    reply: tuple[str, int, str], depth: int, brackets: str
) -> None:
    opening, closing = ("[", "]") if brackets == "[]" else ('{"score":', "}")
    nested = opening * depth + "0" + closing * depth
    members = f'"a": {nested}, "b": NaN, "c": {"7" * 5000}, "c": -Infinity, "d": 1e400, '

    assert read("{" + members + reply[0].lstrip()[1:]).grade == reply[1]


@given(st.integers(1, 10**5000 - 1) | st.integers(3) | st.integers(max_value=-1))
def test_integers_outside_the_scale(number: int) -> None:
    import sys

    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        written = json.dumps({"score": number})
    finally:
        sys.set_int_max_str_digits(limit)

    assert read(written) == (Reply("ok", number) if number in SCALE else Reply("out_of_range"))


JSON_PIECES = st.sampled_from(
    [
        '"',
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        " ",
        "\\",
        "2",
        "0",
        "1.0",
        '"nota"',
        '"scor"',
        "true",
        '{"nota": 2}',
        '{"resultado": 1}',
        "<think>",
        "</think>",
        "```json\n",
        "Art. 2º",
        "\\u00e7",
    ]
)


@given(st.text() | st.lists(JSON_PIECES | st.text(max_size=2), max_size=40).map("".join))
def test_no_text_yields_a_grade_without_the_declared_field(content: str) -> None:
    assume("score" not in content.lower())

    assert read(content).outcome == "unparseable"


@given(JSON_VALUES)
def test_no_json_yields_a_grade_without_the_field_at_its_top(value: object) -> None:
    stated = isinstance(value, dict) and not all(map(is_another, value))
    reply = read(json.dumps(value))

    assert stated or reply.outcome == "unparseable"


@given(st.lists(st.sampled_from(SCALE), min_size=1, max_size=4))
def test_grades_that_contradict_each_other_are_none(grades: list[int]) -> None:
    reply = read(" ou ".join(json.dumps({"score": grade}) for grade in grades))

    assert reply == (Reply("ok", grades[0]) if len(set(grades)) == 1 else Reply("unparseable"))


@given(st.text() | st.lists(JSON_PIECES | st.just('{"score": 1}'), max_size=40).map("".join))
def test_reading_never_raises(content: str) -> None:
    reply = read(content)

    assert (reply.outcome == "ok") == (reply.grade is not None)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "{",
        "{ ",
        '{"',
        '["',
        '{"a":',
        '{"a"',
        '{"a":[',
        "[{",
        '"',
        '"\\',
        '{"\\',
        "{w",
        "\\",
        "<think>",
        '{"score":',
        '{"score":2,',
        '{"score":2}',
        '{"a"}',
        "{}",
        "9",
        " ",
        "{'",
        "{w:",
    ],
)
def test_time_is_linear_in_the_length(piece: str) -> None:
    def seconds(n: int) -> float:
        start = time.process_time()
        read("{" + piece * n)
        read(piece * n + " " * n)
        return time.process_time() - start

    # A linear reader takes 8 times as long, a quadratic one 64 times, which is minutes.
    assert seconds(40_000) < 24 * seconds(5_000) + 0.5


def test_strays_have_a_limit() -> None:
    assert read("[ " * STRAY_BRACKETS + '{"score": 2}').grade == 2
    assert read("[ " * (STRAY_BRACKETS + 1) + '{"score": 2}').outcome == "unparseable"


def attempt(**values: Any) -> Attempt:
    given = dict.fromkeys(Attempt.__dataclass_fields__) | {"key": "k", "outcome": "unparseable"}
    return Attempt(**given | values)


@pytest.mark.parametrize(
    ("stored", "reply"),
    [
        # A better reader finds what an older one did not.
        (attempt(reply='{"score": 2}', finish_reason="stop"), Reply("ok", 2)),
        (attempt(reply="2", finish_reason="stop", outcome="ok", grade=2), Reply("unparseable")),
        (attempt(reply='{"score": 2}', finish_reason="length"), Reply("truncated")),
        (attempt(refusal="No."), Reply("refused")),
        (attempt(outcome="error", error_kind="timeout"), Reply("error")),
        (attempt(outcome="too_long"), Reply("too_long")),
    ],
)
def test_stored_attempts_are_read_again(stored: Attempt, reply: Reply) -> None:
    assert read_attempt(stored, scale=SCALE, field="score", rationale_field=None) == reply


def test_real_replies_have_the_released_grades(shared_data: Path) -> None:
    with (shared_data / "normastcu" / "raw_llm_eval_sample.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    read_again = [read(row["PAYLOAD_LLM"]) for row in rows]

    assert len(rows) == 86
    assert [str(reply.grade) for reply in read_again] == [row["AVALIACAO"] for row in rows]
    with_reason = [reply.rationale is not None for reply in read_again]
    assert with_reason == [row["PROMPT"] == "cot" for row in rows]


def test_real_reasons_with_digits_and_quotes_come_back(shared_data: Path) -> None:
    path = shared_data / "juristcu" / "gpt4_labels_with_reasons.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [(int(row["LLM_SCORE"]), row["LLM_REASONING"]) for row in csv.DictReader(file)]

    written = [spread_out({"justificativa": reason, "score": score}) for score, reason in rows]
    replies = [read(content, scale=(0, 1, 2, 3)) for content in written]

    assert len(rows) == 2250
    assert [(reply.grade, reply.rationale) for reply in replies] == rows
