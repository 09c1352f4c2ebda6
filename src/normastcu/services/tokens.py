"""Tokens of a text, counted or estimated, and texts cut to a number of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from normastcu.services.errors import ServiceError

CutPolicy = Literal["head", "head_tail", "fail"]
TokenCounter = Callable[[str], int]

BYTES_PER_TOKEN = 3.0
SAFETY_MARGIN = 1.25
GAP_MARK = "\n[…]\n"
"""Stands between the two ends of a text that is cut in the middle."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: a token for 3 bytes of UTF-8, and a quarter more for safety.

    Tokenizers made for many languages need a token for 3.5 to 4.5 bytes of Portuguese prose; the
    estimate is meant to be too high, and is too low for long rows of digits or rare characters.

    Examples
    --------
    >>> estimate_tokens("Resolução")  # 11 bytes
    5
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) * SAFETY_MARGIN / BYTES_PER_TOKEN)


@lru_cache
def token_counter(tokenizer: str | None) -> TokenCounter:
    """Return what counts tokens.

    Parameters
    ----------
    tokenizer
        ``tiktoken:<encoding>``; ``huggingface:<tokenizer.json, its directory or a model id>``;
        None estimates.

    Raises
    ------
    ServiceError
        Where the tokenizer can't be loaded. It is never replaced by the estimate: other cuts
        would be other calls.
    """
    if tokenizer is None:
        return estimate_tokens
    library, _, source = tokenizer.partition(":")
    try:
        return _tiktoken(source) if library == "tiktoken" else _huggingface(source)
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise ServiceError(
            f"The tokenizer {tokenizer!r} can't be loaded ({reason}). "
            "Install its library and make its files available, or remove the setting `tokenizer` "
            "to estimate the tokens."
        ) from error


def _tiktoken(encoding: str) -> TokenCounter:
    import tiktoken

    encoder = tiktoken.get_encoding(encoding)
    return lambda text: len(encoder.encode_ordinary(text))


def _huggingface(source: str) -> TokenCounter:
    from tokenizers import Tokenizer

    path = Path(source).expanduser()
    file = path / "tokenizer.json" if path.is_dir() else path
    loaded = Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(source)
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


@dataclass(frozen=True)
class Cut:
    """What is shown of a text.

    Attributes
    ----------
    text
        The text, with a mark where its middle is missing.
    characters_shown, characters_total
        Characters of the text in it, and of the whole text.
    """

    text: str
    characters_shown: int
    characters_total: int

    @property
    def was_cut(self) -> bool:
        """Return whether something is missing."""
        return self.characters_shown < self.characters_total


def cut(text: str, limit_tokens: int, policy: CutPolicy, counter: TokenCounter) -> Cut | None:
    r"""Cut a text to a number of tokens.

    Parameters
    ----------
    text
        Any text.
    limit_tokens
        The most tokens, by the counter, that the result may have.
    policy
        ``head`` keeps the beginning, ``head_tail`` as much of the end with a mark between, and
        ``fail`` nothing.
    counter
        Counts the tokens of a text.

    Returns
    -------
    Cut or None
        None where the text is too long: under ``fail``, or where not one character fits.

    Examples
    --------
    >>> cut("abcdef", 4, "head", counter=len)
    Cut(text='abcd', characters_shown=4, characters_total=6)
    >>> cut("abcdefghijkl", 9, "head_tail", counter=len).text
    'ab\n[…]\nkl'
    """
    tokens = counter(text)
    if tokens <= limit_tokens:
        return Cut(text, len(text), len(text))
    if policy == "fail":
        return None

    def count(characters: int) -> int:
        return counter(shown_text(text, characters, policy))

    shown = _longest(count, _Probe(len(text), tokens), limit_tokens)
    return Cut(shown_text(text, shown, policy), shown, len(text)) if shown else None


def shown_text(text: str, characters: int, policy: CutPolicy) -> str:
    """Return the text as it is shown when only so many of its characters are.

    Examples
    --------
    >>> shown_text("abcdef", 3, "head")
    'abc'
    """
    if characters >= len(text):
        return text
    if policy == "head":
        return text[:characters]
    return text[: (characters + 1) // 2] + GAP_MARK + text[len(text) - characters // 2 :]


class _Probe(NamedTuple):
    """A number of characters and the tokens they need."""

    characters: int
    tokens: int


def _longest(count: Callable[[int], int], above: _Probe, limit: int) -> int:
    """Return the most characters within the limit, 0 if none; `above` is known to exceed it.

    Between the largest number that fits and the smallest that doesn't, the next one to try lies
    where a straight line through both meets the limit, and every second time in the middle.
    """
    below = _Probe(0, count(0))
    if below.tokens > limit:
        return 0
    straight = True
    while above.characters - below.characters > 1:
        span = above.characters - below.characters
        steepness = max(above.tokens - below.tokens, 1) / span if straight else 0.0
        step = int((limit - below.tokens + 0.5) / steepness) if straight else span // 2
        characters = below.characters + min(max(step, 1), span - 1)
        probe = _Probe(characters, count(characters))
        below, above = (probe, above) if probe.tokens <= limit else (below, probe)
        straight = not straight
    return below.characters
