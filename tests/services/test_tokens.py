"""Tokens are counted or estimated, and a text is cut to a number of them."""

import time
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from normastcu.services.errors import ServiceError
from normastcu.services.tokens import (
    GAP_MARK,
    CutPolicy,
    cut,
    estimate_tokens,
    shown_text,
    token_counter,
)

POLICIES = st.sampled_from(["head", "head_tail", "fail"])


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("limit", "policy", "text", "shown"),
    [
        (10, "head", "abcdefghij", 10),
        (9, "head", "abcdefghi", 9),
        (1, "head", "a", 1),
        (9, "head_tail", f"ab{GAP_MARK}ij", 4),
        (8, "head_tail", f"ab{GAP_MARK}j", 3),
        (6, "head_tail", f"a{GAP_MARK}", 1),
        (10, "fail", "abcdefghij", 10),
    ],
)
def test_a_text_is_cut_to_its_limit(limit: int, policy: CutPolicy, text: str, shown: int) -> None:
    made = cut("abcdefghij", limit, policy, counter=len)

    assert made is not None
    assert (made.text, made.characters_shown, made.characters_total) == (text, shown, 10)
    assert made.was_cut == (shown < 10)
    assert shown_text("abcdefghij", shown, policy) == text


@pytest.mark.parametrize(
    ("limit", "policy"), [(0, "head"), (-5, "head"), (5, "head_tail"), (9, "fail")]
)
def test_a_text_that_does_not_fit(limit: int, policy: CutPolicy) -> None:
    assert cut("abcdefghij", limit, policy, counter=len) is None


@given(st.text(), st.integers(-3, 60), POLICIES, st.sampled_from([len, words, estimate_tokens]))
def test_the_limit_is_kept_and_what_is_shown_is_counted(
    text: str, limit: int, policy: CutPolicy, counter: type[len]
) -> None:
    made = cut(text, limit, policy, counter)

    if made is None:
        assert counter(text) > limit
        return
    assert counter(made.text) <= limit
    assert made.characters_total == len(text)
    if not made.was_cut:
        assert made.text == text
        return
    head = (made.characters_shown + 1) // 2 if policy == "head_tail" else made.characters_shown
    tail = made.characters_shown - head
    gap = GAP_MARK if policy == "head_tail" else ""
    assert made.text == text[:head] + gap + text[len(text) - tail :]
    # One more would be too much.
    more = shown_text(text, made.characters_shown + 1, policy)
    assert counter(more) > limit or counter is words


@given(st.text(min_size=1), st.integers(0, 30), POLICIES)
def test_the_limit_is_kept_by_a_counter_without_order(
    text: str, limit: int, policy: CutPolicy
) -> None:
    def strange(piece: str) -> int:
        return crc32(piece.encode()) % 40

    made = cut(text, limit, policy, strange)

    assert made is None or strange(made.text) <= limit


@pytest.mark.parametrize("policy", ["head", "head_tail"])
def test_a_very_long_text_is_cut_fast(policy: CutPolicy) -> None:
    text = "resolução " * 300_000

    start = time.process_time()
    made = cut(text, 100_000, policy, estimate_tokens)

    # Measured at 0.1 s.
    assert time.process_time() - start < 5
    assert made is not None
    # 12 bytes a word, 2.4 bytes a token: 240,000 bytes are 20,000 words of 10 characters.
    assert made.characters_shown == pytest.approx(200_000, abs=10)


def test_the_estimate_is_too_high_rather_than_too_low() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("a" * 24) == 10
    assert estimate_tokens("ç" * 12) == 10
    assert estimate_tokens("\ud800") == 2


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """Return a tokenizer that knows two words."""
    made = Tokenizer(WordLevel({"[UNK]": 0, "diária": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_tokens_are_counted_by_the_models_tokenizer(tokenizer_file: Path) -> None:
    for place in (tokenizer_file, tokenizer_file.parent):
        assert token_counter(f"huggingface:{place}")("diária é diária") == 3
    assert token_counter(None) is estimate_tokens


@pytest.mark.parametrize("tokenizer", ["huggingface:{}/nothing/here", "tiktoken:no_such_encoding"])
def test_a_tokenizer_that_is_missing_is_not_replaced(tokenizer: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"can't be loaded .* remove the setting `tokenizer`"):
        token_counter(tokenizer.format(tmp_path))
