"""Documents as inert HTML: their structure is kept, nothing in them runs or loads.

A sanitiser (ammonia, through nh3) parses the HTML as a browser does and writes it anew from a list
of allowed elements without attributes, but for the spans of cells. What it writes is therefore
regular: every ``<`` begins a tag, every other character is text. Headings and query words are
marked on that form, in text only.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html import escape, unescape

import nh3
from lxml import etree
from lxml import html as lxml_html
from markupsafe import Markup

from normastcu.collection.html_text import html_to_text

_ALLOWED = """
p br hr div span b strong i em u s del ins sub sup small blockquote pre code q cite abbr
ul ol li dl dt dd h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr th td
"""
ALLOWED_ELEMENTS = frozenset(_ALLOWED.split())
ALLOWED_ATTRIBUTES = {cell: frozenset({"colspan", "rowspan"}) for cell in ("td", "th")}
_NOT_TEXT = """
script style svg math template noembed noframes iframe frame frameset object embed applet
audio video canvas title
"""
_DROPPED_WITH_CONTENT = frozenset(_NOT_TEXT.split())
_LARGEST_SPAN = 1000

_FEW_TAGS = 3_000
"""The sanitiser's time grows with the square of the tags at worst; so many take 0.5 s at most."""
_DEEPEST = 200
_PAGE_TAG = re.compile(r"</?(?:html|body)\b[^<>]*>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^>]*>")
_KEPT_SHARE = 0.99

_TAG_OR_TEXT = re.compile(r"(<[^>]*>)")
_EMPTY_PARAGRAPH = re.compile(r"<p>(?:\s|&nbsp;|<br>|</?(?:span|b|strong|i|em)>)*</p>")
_HEADING = re.compile(r"<(/?)h([1-6])>")
_DEEPEST_HEADING = 6
_HEADINGS_ABOVE = 2

_WORD = re.compile(r"[^\W_]+")
_WORD_OR_GAP = re.compile(r"[^\W_]+|[\W_]+")
_SHORTEST_WORD = 3
_FUNCTIONAL = """
about and are com como das dos ela ele entre for from how mas nas nao nos para pela pelas pelo
pelos por qual quais quando que quem sem ser seu seus sob sobre sua suas the uma umas uns was
what when which who with
"""
_FUNCTION_WORDS = frozenset(_FUNCTIONAL.split())


@dataclass(frozen=True)
class Content:
    """A document for the page.

    Attributes
    ----------
    markup
        Elements of `ALLOWED_ELEMENTS` only, without attributes but the spans of cells; headings
        begin below the page's own. Empty where there is no text at all.
    flattened
        Whether the document's structure was too tangled to be kept, so that only its text is
        there.
    """

    markup: Markup
    flattened: bool = False


def readable(html: str | None, text: str | None = None) -> Content:
    """Return a document for the page: sanitised HTML, or its text in paragraphs.

    Parameters
    ----------
    html
        The document's HTML, of any origin and shape.
    text
        Its plain text, shown where the HTML holds no text or is too tangled.

    Examples
    --------
    >>> readable('<h1 onclick="x()">Ato</h1><p>Art. 1º <a href="//b.example">aqui</a></p>').markup
    Markup('<h3>Ato</h3><p>Art. 1º aqui</p>')
    >>> readable(None, "um < dois").markup
    Markup('<p>um &lt; dois</p>')
    """
    if not html:
        return Content(_paragraphs(text or ""))
    if html.count("<") > _FEW_TAGS:
        return _readable_at_length(html, text)
    return Content(_structured(html) if html_to_text(html) else _paragraphs(text or ""))


def highlighted(content: Markup, query: str) -> Markup:
    """Return a document with the words of a query in ``<mark>``.

    Words are compared without case, accents and a final s; function words and words of one or
    two letters count only where the query has no others.

    Parameters
    ----------
    content
        The markup that `readable` returned.
    query
        Plain text.

    Examples
    --------
    >>> content = readable("<p>Das DIÁRIAS &amp; passagens</p>").markup
    >>> highlighted(content, "pagamento de diária")
    Markup('<p>Das <mark>DIÁRIAS</mark> &amp; passagens</p>')
    """
    terms = _terms(query)
    if not terms:
        return content
    is_term = cache(lambda word: _stem(_folded(word)) in terms)
    pieces = _TAG_OR_TEXT.split(str(content))
    marked = (piece if piece.startswith("<") else _marked(piece, is_term) for piece in pieces)
    return Markup("".join(marked))


def _readable_at_length(html: str, text: str | None) -> Content:
    """Return a long document; its structure is kept where that takes time in proportion."""
    regular = _regular(html)
    if regular is not None and _holds(html_to_text(regular), text):
        return Content(_structured(regular))
    return Content(_paragraphs(text or unescape(_ANY_TAG.sub("\n", html))), flattened=True)


def _regular(html: str) -> str | None:
    """Return HTML with every element closed where it ends; None for one nested too deeply.

    libxml2 stops at a depth, so that its time grows with the length alone; and what it writes
    has no stray tags, so that neither does the sanitiser's.
    """
    # A tree has one page, and drops what follows it.
    source = _PAGE_TAG.sub("", _encodable(html).replace("\0", ""))
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = lxml_html.fragment_fromstring(source.encode(), create_parent="div", parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    written = etree.tostring(tree, method="html", encoding="unicode")
    return None if _is_deep(tree) else written


def _is_deep(tree: lxml_html.HtmlElement) -> bool:
    deepest = depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _holds(found: str, text: str | None) -> bool:
    """Tell whether a text was found as a whole, whatever its blanks."""
    wanted = sum(map(len, (text or "").split()))
    return sum(map(len, found.split())) >= _KEPT_SHARE * wanted


def _structured(html: str) -> Markup:
    return Markup(_lower_headings(_EMPTY_PARAGRAPH.sub("", _sanitised(html))))


def _paragraphs(text: str) -> Markup:
    lines = (line.strip() for line in text.splitlines())
    return Markup("").join(Markup("<p>{}</p>").format(line) for line in lines if line)


def _sanitised(html: str) -> str:
    return nh3.clean(
        _encodable(html),
        tags=set(ALLOWED_ELEMENTS),
        clean_content_tags=set(_DROPPED_WITH_CONTENT),
        attributes={tag: set(names) for tag, names in ALLOWED_ATTRIBUTES.items()},
        attribute_filter=_span,
        link_rel=None,
        generic_attribute_prefixes=set(),
        url_schemes=set(),
    )


def _span(_tag: str, _attribute: str, value: str) -> str | None:
    digits = value.strip()
    if digits.isascii() and digits.isdigit() and 0 < int(digits[:9]) <= _LARGEST_SPAN:
        return digits
    return None


def _lower_headings(html: str) -> str:
    def lowered(match: re.Match[str]) -> str:
        level = min(int(match[2]) + _HEADINGS_ABOVE, _DEEPEST_HEADING)
        return f"<{match[1]}h{level}>"

    return _HEADING.sub(lowered, html)


def _terms(query: str) -> frozenset[str]:
    words = {_folded(word) for word in _WORD.findall(query)}
    telling = {word for word in words if len(word) >= _SHORTEST_WORD} - _FUNCTION_WORDS
    return frozenset(map(_stem, telling or words))


def _marked(text: str, is_term: Callable[[str], bool]) -> str:
    def piece(match: re.Match[str]) -> str:
        shown = escape(match[0], quote=False)
        return f"<mark>{shown}</mark>" if is_term(match[0]) else shown

    return _WORD_OR_GAP.sub(piece, unescape(text))


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > _SHORTEST_WORD else word


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
