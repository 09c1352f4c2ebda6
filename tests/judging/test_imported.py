"""Raw replies from files: what they are, once each, never more than the file says."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.collection.errors import CollectionError
from normastcu.collection.sources import RawFile, local_file
from normastcu.judging.errors import JudgingError
from normastcu.judging.imported import (
    GradeDifference,
    ReleasedComparison,
    ReplyFileFormat,
    compare_with_released,
    read_released_replies,
)
from normastcu.judging.replies import read_attempt
from normastcu.judging.requests import Attempt
from normastcu.judging.store import Merged, ReplyStore

SCALE = (0, 1, 2)
RELEASED = ("QUERY_KEY", "DOC_KEY", "AVALIACAO", "MODELO", "PROMPT", "PAYLOAD_LLM")
PAPER_NAMES = {
    "sabiazinho-4-2026-01-06_simple": "sabiazinho-4_simple",
    "sabiazinho-4-2026-01-06_cot": "sabiazinho-4_rationale",
    "deepseek-chat_simple": "deepseek-3.2_simple",
    "deepseek-chat_cot": "deepseek-3.2_rationale",
}
TWO = '{"score": 2}'


def write(path: Path, *rows: tuple[str, ...], header: tuple[str, ...] = RELEASED) -> RawFile:
    """Write rows as a CSV file under a header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return local_file(path)


def read(file: RawFile, **names: str) -> list[Attempt]:
    return list(read_released_replies(file, names, SCALE))


@pytest.fixture
def real(shared_data: Path) -> RawFile:
    """Return the released sample of 86 real replies."""
    return local_file(shared_data / "normastcu" / "raw_llm_eval_sample.csv")


def test_every_grade_of_the_real_replies_is_the_released_one(real: RawFile) -> None:
    assert compare_with_released(real, PAPER_NAMES, SCALE) == ReleasedComparison(86, 86, 0, ())


def test_the_real_replies_are_those_of_two_models_under_two_prompts(real: RawFile) -> None:
    attempts = list(read_released_replies(real, PAPER_NAMES, SCALE))

    assert Counter((attempt.judge, attempt.query_id) for attempt in attempts) == {
        ("sabiazinho-4_simple", "1"): 24,
        ("sabiazinho-4_rationale", "1"): 24,
        ("deepseek-3.2_simple", "29"): 19,
        ("deepseek-3.2_rationale", "29"): 19,
    }
    assert len({attempt.key for attempt in attempts}) == 86
    for attempt in attempts:
        # A reason came under the rationale prompt, and only there.
        assert bool(attempt.rationale) == attempt.judge.endswith("_rationale")
    with real.path.open(encoding="utf-8", newline="") as stream:
        payloads = [row["PAYLOAD_LLM"] for row in csv.DictReader(stream)]
    assert [attempt.reply for attempt in attempts] == payloads
    assert any("\n" in payload for payload in payloads)


def test_the_real_replies_go_through_the_store_once(real: RawFile, tmp_path: Path) -> None:
    with ReplyStore(tmp_path / "replies.sqlite") as store:
        first = store.merge(read_released_replies(real, PAPER_NAMES, SCALE))
        again = store.merge(read_released_replies(real, PAPER_NAMES, SCALE))
        stored = list(store.attempts())

    assert (first, again) == (Merged(86, 0), Merged(0, 86))
    assert stored == list(read_released_replies(real, PAPER_NAMES, SCALE))
    readings = [
        read_attempt(attempt, scale=SCALE, field="score", rationale_field="justificativa")
        for attempt in stored
    ]
    assert [reading.grade for reading in readings] == [attempt.grade for attempt in stored]


def test_a_reply_is_an_attempt_that_says_no_more_than_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", ("00123", "NORMA-7", "2", "m-1", "cot", f"Sim.\r\n{TWO}"))

    attempts = read(file, **{"m-1_cot": "m_rationale"})

    assert attempts == [
        Attempt(
            key=attempts[0].key,
            query_id="00123",
            doc_id="NORMA-7",
            judge="m_rationale",
            sample=0,
            attempt=1,
            outcome="ok",
            reply=f"Sim.\r\n{TWO}",
            finish_reason=None,
            refusal=None,
            grade=2,
            rationale=None,
            tokens_in=None,
            tokens_out=None,
            latency_s=None,
            model_returned="m-1",
            characters_shown=None,
            error_kind=None,
            error_status=None,
            created="",
        )
    ]


def test_a_judge_keeps_its_name_where_none_is_given(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", ("1", "d", "2", "m", "simple", TWO))

    assert [attempt.judge for attempt in read(file, other_simple="x")] == ["m_simple"]


def test_a_key_is_of_the_files_bytes_judge_prompt_and_pair(tmp_path: Path) -> None:
    rows = [
        ("1", "d", "2", "m", "simple", TWO),
        ("1", "d", "2", "m", "cot", TWO),
        ("1", "e", "2", "m", "simple", TWO),
        ("2", "d", "2", "m", "simple", TWO),
        ("1", "d", "2", "n", "simple", TWO),
    ]
    file = write(tmp_path / "a.csv", *rows)
    same_bytes = write(tmp_path / "elsewhere.csv", *rows)
    other_bytes = write(tmp_path / "b.csv", *rows[::-1])

    keys = [attempt.key for attempt in read(file)]

    assert len(set(keys)) == len(rows)
    assert [attempt.key for attempt in read(same_bytes)] == keys
    assert not set(keys) & {attempt.key for attempt in read(other_bytes)}
    assert not set(keys) & {a.key for a in read(file, m_simple="x", m_cot="y", n_simple="z")}


def test_what_is_not_a_grade_is_none(tmp_path: Path) -> None:
    replies = {
        "": "unparseable",
        "Artigo 1º da Resolução 253/2012.": "unparseable",
        '{"score": 3}': "out_of_range",
        '{"justificativa": "sem fim, {"score": 1': "unparseable",
    }
    rows = [("1", f"d{i}", "0", "m", "simple", reply) for i, reply in enumerate(replies)]

    attempts = read(write(tmp_path / "r.csv", *rows))

    assert [attempt.outcome for attempt in attempts] == list(replies.values())
    assert [attempt.grade for attempt in attempts] == [None] * 4
    assert [attempt.reply for attempt in attempts] == list(replies)


def test_differences_to_the_files_grades_are_named(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.csv",
        ("1", "a", "2", "m", "simple", TWO),
        ("1", "b", "1", "m", "simple", 'Após ler:\n{"score":\n2}'),
        ("1", "c", "0", "m", "simple", "não sei"),
        ("1", "d", "-1", "m", "simple", "não sei"),
        ("1", "e", "", "m", "simple", '{"score": 9}'),
        ("1", "f", "-1", "m", "simple", TWO),
    )

    compared = compare_with_released(file, {"m_simple": "judge"}, SCALE)

    place = GradeDifference(file.name, 3, "1", "b", "judge", 2, 1)
    assert compared == ReleasedComparison(
        n_replies=6,
        n_equal=1,
        n_ungraded=2,
        differences=(
            place,
            replace(place, line=6, doc_id="c", ours=None, theirs=0),
            replace(place, line=9, doc_id="f", ours=2, theirs=None),
        ),
    )


def test_identical_replies_count_once(tmp_path: Path) -> None:
    row = ("1", "d", "2", "m", "simple", TWO)
    file = write(tmp_path / "r.csv", row, ("1", "e", "2", "m", "simple", TWO), row)

    assert [attempt.doc_id for attempt in read(file)] == ["d", "e"]
    assert compare_with_released(file, {}, SCALE).n_replies == 2


@pytest.mark.parametrize(
    "other",
    [
        ("1", "d", "2", "m", "simple", '{"score": 2 }'),
        ("1", "d", "1", "m", "simple", 'De\n"fato": 2'),
        # Two prompts that were given one name.
        ("1", "d", "2", "m", "cot", 'De\n"fato": 2'),
    ],
)
def test_differing_replies_to_one_pair_are_an_error(tmp_path: Path, other: tuple[str, ...]) -> None:
    file = write(
        tmp_path / "r.csv",
        ("1", "d", "2", "m", "simple", 'De\n"fato": 2'),
        ("1", "e", "2", "m", "simple", TWO),
        other,
    )

    with pytest.raises(
        JudgingError, match=r"r\.csv, line 5: j replied .*'d', but otherwise on line 2"
    ):
        read(file, m_simple="j", m_cot="j")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("", "d", "2", "m", "simple", TWO), "line 2: '' can't be a query_id"),
        (("1", "d e", "2", "m", "simple", TWO), "line 2: 'd e' can't be a doc_id"),
        (("1", "d", "2", "", "simple", TWO), "line 2: '' can't be a model"),
        (("1", "d", "2", "m", " ", TWO), "line 2: ' ' can't be a prompt"),
        (("1", "d", "2", "named", "badly", TWO), "line 2: 'a b' can't be a name of a judge"),
        (("1", "d", "2", "m"), "line 2: 4 fields where the header has 6"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, row: tuple[str, ...], message: str) -> None:
    with pytest.raises(CollectionError, match=message):
        read(write(tmp_path / "r.csv", row), named_badly="a b")


def test_a_file_without_replies_or_columns(tmp_path: Path) -> None:
    with pytest.raises(JudgingError, match=r"r\.csv has no replies"):
        read(write(tmp_path / "r.csv"))
    labels = write(tmp_path / "l.csv", ("1", "d", "2"), header=("QUERY_KEY", "DOC_KEY", "SCORE"))
    with pytest.raises(CollectionError, match="MODELO, PROMPT, PAYLOAD_LLM are missing"):
        read(labels)


def test_a_grade_that_is_none_ends_the_comparison(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", ("1", "d", "dois", "m", "simple", TWO))

    with pytest.raises(CollectionError, match=r"line 2: .*'dois'"):
        compare_with_released(file, {}, SCALE)


def test_another_tools_replies(tmp_path: Path) -> None:
    header = ("qid", "did", "llm", "template", "output")
    row = ("1", "d", "m", "en", '{"reason": "Both.", "grade": 1}')
    file = write(tmp_path / "r.csv", row, header=header)
    columns = dict(zip(("query_id", "doc_id", "model", "prompt", "reply"), header, strict=True))
    settings = ReplyFileFormat(
        columns=columns, grade_field="grade", rationale_field="reason", encoding="auto"
    )

    attempts = list(read_released_replies(file, {}, SCALE, settings))

    assert [(a.judge, a.grade, a.rationale) for a in attempts] == [("m_en", 1, "Both.")]
    assert compare_with_released(file, {}, SCALE, settings) == ReleasedComparison(0, 0, 0, ())


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_reply_comes_back_letter_by_letter(payload: str) -> None:
    with TemporaryDirectory() as folder:
        file = write(Path(folder) / "r.csv", ("1", "d", "2", "m", "simple", payload))

        assert [attempt.reply for attempt in read(file)] == [payload]
