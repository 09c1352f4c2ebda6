"""Plain text of an act's HTML."""

import re

from lxml import etree

_NOT_TEXT = frozenset({"script", "style"})
_SPACES = re.compile("  +")


def html_to_text(html: str | None) -> str:
    r"""Return the plain text of a piece of HTML.

    An opening ``<p…>`` becomes a newline and every other tag goes without a trace; entities are
    decoded; a run of spaces, tabs and non-breaking spaces becomes one space; the ends are
    stripped. Newlines of the source stay. The content of ``<script>`` and ``<style>``, comments,
    declarations and processing instructions are not text.

    Parameters
    ----------
    html
        A fragment or a whole page, well-formed or not; None and "" have no text.

    Returns
    -------
    str
        The text. No string raises: NUL characters are dropped, a lone surrogate becomes U+FFFD,
        and what an HTML parser can't see (after an unclosed ``<!--`` or ``<script>``, say) is
        not text.

    Notes
    -----
    The markup is read by libxml2 (2.14 or newer reads tokens as the HTML standard says). Its
    events are used rather than its tree: a tree has a limit of depth, behind which text is lost,
    and drops what follows ``</html>``.

    Examples
    --------
    >>> html_to_text("<p class='x'>Art.&nbsp;&nbsp;1&ordm;</p><p>Fica <b>aprov</b>ada.</p>")
    'Art. 1º\nFica aprovada.'
    """
    if not html:
        return ""
    return _collapse_blanks(_parse(html)).strip()


class _TextCollector:
    """Receives the parser's events and keeps the text.

    Events come by the million: text goes into the list without a call of Python code, and what
    isn't text is taken out again where its element ends (for an unclosed one, at the very end).
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._not_text_since: int | None = None
        self.data = self._parts.append

    def start(self, tag: str, _attributes: object) -> None:
        if tag == "p":
            self._parts.append("\n")
        elif tag in _NOT_TEXT:
            self._not_text_since = len(self._parts)

    def end(self, tag: str) -> None:
        if tag in _NOT_TEXT and self._not_text_since is not None:
            del self._parts[self._not_text_since :]
            self._not_text_since = None

    def close(self) -> str:
        return "".join(self._parts)


def _parse(html: str) -> str:
    # An open element in front keeps the parser from making a paragraph of its own for loose text;
    # it is never closed, so that it can't become part of an unclosed script or text area.
    parser = etree.HTMLParser(target=_TextCollector(), encoding="utf-8", huge_tree=True)
    text: str = etree.fromstring(b"<div>" + _utf8(html.replace("\0", "")), parser)
    return text


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Through UTF-16, halves of a pair that stand side by side become one character again.
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined.encode()


def _collapse_blanks(text: str) -> str:
    return _SPACES.sub(" ", text.replace("\xa0", " ").replace("\t", " "))
