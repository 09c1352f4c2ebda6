"""Documents as inert HTML: what is kept, what goes, and that nothing else can come through."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from markupsafe import Markup
from tests.annotation.web.screens import HOSTILE_HTML

from normastcu.annotation.web.content import (
    ALLOWED_ATTRIBUTES,
    ALLOWED_ELEMENTS,
    Content,
    highlighted,
    readable,
)
from normastcu.collection.html_text import html_to_text

MARKUP = st.from_regex(
    r"</?(p|div|b|table|td|tr|li|a|img|br|html|body|head|title|script|style|textarea|svg|math|mtext"
    r"|form|select|option|input|plaintext|template|noscript|iframe|object|meta|base|link|mglyph"
    r"|foreignObject|annotation-xml|xmp|mark)"
    r"( (onclick|href|src|style|colspan|class|xlink:href|srcdoc)=('>|\"<|javascript:x|2|<!--))?/?>"
    r"|<!--|-->|<!\[CDATA\[|\]\]>|&(amp|lt|gt|nbsp|#0|#60|#xd800);|[&<>'\"/=`]",
    fullmatch=True,
)
PIECES = st.lists(MARKUP | st.text(), max_size=25).map("".join)


def forbidden(markup: str) -> list[str]:
    """Return the elements and attributes that a page may not hold."""
    tree = lxml_html.fragment_fromstring(f"<section>{markup}</section>")
    allowed = ALLOWED_ELEMENTS | {"mark"}
    found = []
    for element in tree.iterdescendants():
        if element.tag not in allowed:
            found.append(str(element.tag))
        attributes = set(element.attrib) - ALLOWED_ATTRIBUTES.get(str(element.tag), frozenset())
        found += [f"{element.tag}@{name}" for name in attributes]
    return found


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        pytest.param("<p>um</p><p>dois</p>", "<p>um</p><p>dois</p>", id="paragraphs"),
        pytest.param("<p class='x' style='y' id=z lang=pt>a</p>", "<p>a</p>", id="attributes"),
        pytest.param("<ol><li>a<li>b</ol>", "<ol><li>a</li><li>b</li></ol>", id="list"),
        pytest.param(
            "<table><tr><td colspan=2 rowspan='3' width=9>a</table>",
            '<table><tbody><tr><td colspan="2" rowspan="3">a</td></tr></tbody></table>',
            id="table",
        ),
        pytest.param(
            "<table><tr><td colspan='99999999999999999999' rowspan='2 onclick=x'>a</table>",
            "<table><tbody><tr><td>a</td></tr></tbody></table>",
            id="wrong-spans",
        ),
        pytest.param("<h1>a</h1><h4>b</h4><h6>c</h6>", "<h3>a</h3><h6>b</h6><h6>c</h6>", id="h"),
        pytest.param("<a href='https://x.example'>b</a>", "b", id="link"),
        pytest.param("<a href='javascript:x()'>b</a>", "b", id="javascript-link"),
        pytest.param("a<script>b</script><style>c</style>", "a", id="script-and-style"),
        pytest.param("a<svg><script>b</script><p>c</p></svg>", "a<p>c</p>", id="svg"),
        pytest.param("a<img src=x onerror=y><video src=z></video>", "a", id="media"),
        pytest.param("<form action=x><button>a</button><input></form>", "a", id="form"),
        pytest.param("<meta http-equiv=refresh content='0;url=//x'>a", "a", id="refresh"),
        pytest.param("<!-- a -->b<!--[if IE]>c<![endif]-->", "b", id="comments"),
        pytest.param("<p>&nbsp;</p><p><b> </b></p><p>a</p>", "<p>a</p>", id="empty-paragraphs"),
        pytest.param("&lt;script&gt;&amp;lt;", "&lt;script&gt;&amp;lt;", id="escaped-text"),
        pytest.param("<xmp><script>a</script></xmp>", "&lt;script&gt;a&lt;/script&gt;", id="xmp"),
        pytest.param("a<o:p>b</o:p>", "ab", id="word-processor"),
    ],
)
def test_what_is_shown(html: str, shown: str) -> None:
    assert readable(html).markup == shown


def test_a_hostile_document_keeps_its_text_and_structure_only() -> None:
    shown = readable(HOSTILE_HTML).markup

    assert forbidden(shown) == []
    assert "tracker" not in shown
    assert "ran" not in shown
    for kept in ("<p>Art. 1º As <b>diárias</b>", '<td colspan="2">Classe</td>', "<li>um</li>"):
        assert kept in shown


@pytest.mark.parametrize("html", [None, "", "<p>&nbsp;</p>", "<script>a</script>"])
def test_without_html_the_text_is_shown_in_paragraphs(html: str | None) -> None:
    shown = readable(html, "um <b>\n\n dois & três ")
    assert shown == Content(Markup("<p>um &lt;b&gt;</p><p>dois &amp; três</p>"))
    assert readable(html, None).markup == ""


N_TAGS = 20_000
TANGLED = {
    **{tag: f"<{tag}>" * N_TAGS for tag in ("b", "div", "table", "ul", "form")},
    "stray": "<div>" * N_TAGS + "</b>" * N_TAGS,
    "hidden": "<div><!--</div>-->" * N_TAGS,
    "lists": "<ol><ul>" * N_TAGS,
    "fonts": "<p>" + "".join(f"<b id={i}>" for i in range(N_TAGS)) + "</p>" + "<p>x</p>" * N_TAGS,
}


@pytest.mark.parametrize("html", TANGLED.values(), ids=TANGLED)
def test_a_tangled_document_is_shown_whole_and_as_soon_as_a_plain_one(html: str) -> None:
    """The sanitiser alone takes the square of the tags: hundreds of times as long, or gigabytes."""
    plain = "<p>a</p>" * html.count("<")

    took = cpu_seconds(lambda: readable(html + "fim", "fim"))

    assert "fim" in readable(html + "fim", "fim").markup
    assert took < 20 * cpu_seconds(lambda: readable(plain))


def cpu_seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def test_what_is_nested_too_deeply_becomes_text() -> None:
    html = "<div>" * N_TAGS + "<p>um</p><p>dois &lt;</p>"

    assert readable(html, "um\ndois <") == Content(
        Markup("<p>um</p><p>dois &lt;</p>"), flattened=True
    )
    assert readable(html) == Content(Markup("<p>um</p><p>dois &lt;</p>"), flattened=True)


def test_a_long_document_keeps_its_structure() -> None:
    row = "<tr><td colspan=2 onclick=x>a<td><b>b</b></tr>"
    html = f"<html><body><script>c</script><h1>d</h1><table>{row * 2_000}</table></body></html>e"

    shown = readable(html, "d" + "ab" * 2_000 + "e")

    assert not shown.flattened
    assert shown.markup.count('<td colspan="2">a</td><td><b>b</b></td>') == 2_000
    assert shown.markup.endswith("e</div>")
    assert "<h3>d</h3>" in shown.markup
    assert forbidden(shown.markup) == []


@settings(deadline=None, max_examples=30)
@given(PIECES)
def test_nothing_forbidden_comes_through_a_long_document(html: str) -> None:
    assert forbidden(readable("<br>" * 3_001 + html, html).markup) == []


@given(PIECES, st.text())
@example("<svg><style><img src=x onerror=y></style></svg>", "img")
@example("<math><mtext><table><mglyph><style><img src=x onerror=y>", "img")
@example("&lt;img src=x onerror=y&gt;", "img onerror")
@example('<td colspan="&lt;b&gt;">x', "b lt")
@example("<p>x\ud800y</p>", "x")
def test_nothing_forbidden_comes_through(html: str, query: str) -> None:
    shown = readable(html, html).markup

    assert forbidden(shown) == []
    assert forbidden(highlighted(shown, query)) == []


@given(PIECES, st.text())
def test_highlighting_changes_no_text(html: str, query: str) -> None:
    shown = readable(html).markup
    marked = highlighted(shown, query)

    assert marked.replace("<mark>", "").replace("</mark>", "").unescape() == shown.unescape()
    assert html_to_text(marked) == html_to_text(shown)


@pytest.mark.parametrize(
    ("html", "query", "shown"),
    [
        pytest.param("<p>Diária</p>", "DIARIAS", "<p><mark>Diária</mark></p>", id="fold"),
        pytest.param(
            "concess&atilde;o de di&aacute;rias",
            "a concessão de diárias",
            "<mark>concessão</mark> de <mark>diárias</mark>",
            id="function-words",
        ),
        pytest.param("de todos", "de", "<mark>de</mark> todos", id="only-function-words"),
        pytest.param("<p>p&amp;b</p>", "p", "<p><mark>p</mark>&amp;b</p>", id="tags-stay"),
        pytest.param("amp &amp; lt", "amp", "<mark>amp</mark> &amp; lt", id="entities-stay"),
        pytest.param("subdiária", "diária", "subdiária", id="whole-words"),
        pytest.param("ato 253/2012", "253", "ato <mark>253</mark>/2012", id="numbers"),
        pytest.param("<td colspan=2>2</td>", "!?", "2", id="no-words"),
        pytest.param("<b>a<i>to</i></b>", "ato", "<b>a<i>to</i></b>", id="across-elements"),
    ],
)
def test_query_words_are_marked(html: str, query: str, shown: str) -> None:
    assert highlighted(readable(html).markup, query) == shown
