"""What of a document a judge is shown: the text or its fallback, cut to size, behind a fence."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Message
from normastcu.judging.settings import CutPolicy

ContentOrigin = Literal["text", "subject", "title", "key"]
TokenCounter = Callable[[str], int]

CONTENT_COLUMNS: tuple[tuple[ContentOrigin, str], ...] = (
    ("text", "text"),
    ("subject", "subject"),
    ("title", "title"),
    ("key", "doc_id"),
)
"""Where the content of a document is looked for, in this order: its origin, the column."""

BYTES_PER_TOKEN = 3.0
SAFETY_MARGIN = 1.25
GAP_MARK = "\n[…]\n"
"""Stands between the two ends of a document that is cut in the middle."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCE_LIKE = re.compile(r"<(?=\s*+(?:/\s*+)?document-)", re.IGNORECASE)
_HARMLESS = "‹"
_FENCED = re.compile(r"<document-([0-9a-f]{16})>\n(.*)\n</document-\1>", re.DOTALL)


@dataclass(frozen=True)
class Content:
    """The text that stands for a document, and where it was found."""

    text: str
    origin: ContentOrigin


def document_text(row: Mapping[str, object]) -> Content:
    """Return the plain text of a document; where it is blank, its subject, title or key.

    Parameters
    ----------
    row
        The columns `text`, `subject`, `title` (blank or missing values, or no such column) and
        `doc_id`.

    Returns
    -------
    Content
        The first that is not blank, as it is (half a surrogate pair becomes U+FFFD).

    Examples
    --------
    >>> document_text({"doc_id": "NORMA-1", "text": " ", "subject": None, "title": "Portaria 1"})
    Content(text='Portaria 1', origin='title')
    """
    for origin, column in CONTENT_COLUMNS:
        value = row.get(column)
        if isinstance(value, str) and value.strip():
            return Content(_LONE_SURROGATE.sub("\ufffd", value), origin)
    raise JudgingError(f"A document has neither text nor doc_id: {sorted(row)}. Give it an id.")


@dataclass(frozen=True)
class FencedDocument:
    """A document between delimiters that its text can't contain.

    Attributes
    ----------
    text
        The text; where it held something like a delimiter, it has a harmless character of the
        same length instead, so that positions and lengths stay.
    opening, closing
        The delimiters, each on a line of its own.
    """

    text: str
    opening: str
    closing: str

    @property
    def block(self) -> str:
        """Return delimiter, text, delimiter."""
        return f"{self.opening}\n{self.text}\n{self.closing}"


def fence(text: str) -> FencedDocument:
    r"""Put a document between delimiters made from its own hash.

    The same text always has the same delimiters, so that the key of a call is stable. Whatever
    looks like a delimiter in the text, of this document or another, is made harmless.

    Examples
    --------
    >>> print(fence("Art. 1º\n</document-0123456789abcdef>").block)
    <document-c6d1f45585fe1fe3>
    Art. 1º
    ‹/document-0123456789abcdef>
    </document-c6d1f45585fe1fe3>
    """
    code = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return FencedDocument(unfenced(text), f"<document-{code}>", f"</document-{code}>")


def unfenced(text: str) -> str:
    """Return a text without anything that looks like a delimiter of a document."""
    return _FENCE_LIKE.sub(_HARMLESS, text)


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
    JudgingError
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
        raise JudgingError(
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
    """What is shown of a document.

    Attributes
    ----------
    text
        The text, with a mark where its middle is missing.
    characters_shown, characters_total
        Characters of the document in it, and of the whole document.
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
        The document.
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
        None where the document is too long: under ``fail``, or where not one character fits.

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


def shorten(
    messages: Sequence[Message], characters_shown: int, share: float, policy: CutPolicy
) -> tuple[tuple[Message, ...], int] | None:
    """Show less of the document in messages that a service found too long.

    Parameters
    ----------
    messages
        Rendered messages; the fenced document stands in the last one.
    characters_shown
        Characters of the document in them.
    share
        The share of these to keep, between 0 and 1.
    policy
        The policy by which the document was cut, if it was.

    Returns
    -------
    tuple of (messages, characters shown), or None
        None where the document is too long: under ``fail``, or where not one character is left.
    """
    keep = int(characters_shown * share)
    fenced = _FENCED.search(messages[-1]["content"])
    if policy == "fail" or keep <= 0 or fenced is None:
        return None
    ends = _ends(fenced[2], characters_shown)
    kept = shown_text(ends, keep, policy)
    content = fenced.string[: fenced.start(2)] + kept + fenced.string[fenced.end(2) :]
    return (*messages[:-1], Message(role=messages[-1]["role"], content=content)), keep


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


def _ends(shown: str, characters: int) -> str:
    """Return the characters of the document alone, without the mark of an earlier cut."""
    if len(shown) == characters:
        return shown
    return shown[: (characters + 1) // 2] + shown[len(shown) - characters // 2 :]
