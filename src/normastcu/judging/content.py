"""What of a document a judge is shown: the text or its fallback, cut to size, behind a fence."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Message
from normastcu.services.tokens import CutPolicy, shown_text

ContentOrigin = Literal["text", "subject", "title", "key"]

CONTENT_COLUMNS: tuple[tuple[ContentOrigin, str], ...] = (
    ("text", "text"),
    ("subject", "subject"),
    ("title", "title"),
    ("key", "doc_id"),
)
"""Where the content of a document is looked for, in this order: its origin, the column."""

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


def _ends(shown: str, characters: int) -> str:
    """Return the characters of the document alone, without the mark of an earlier cut."""
    if len(shown) == characters:
        return shown
    return shown[: (characters + 1) // 2] + shown[len(shown) - characters // 2 :]
