"""HTML to plain text: the rules of the method, broken markup, and comparison with the stdlib."""

import re
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.collection.html_text import html_to_text

# Carriage returns are left out: an HTML parser reads them as newlines.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
PLAIN_TEXT = st.text(CHARACTERS)


def blanks_collapsed(text: str) -> str:
    return re.sub("[ \t\xa0]+", " ", text).strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        pytest.param(None, "", id="none"),
        pytest.param("", "", id="empty"),
        pytest.param(" \n\t&nbsp;", "", id="only-blanks"),
        pytest.param("<p></p><br><b></b>", "", id="only-tags"),
        pytest.param("sem marca", "sem marca", id="no-markup"),
        pytest.param("<p>um</p><p>dois</p>", "um\ndois", id="paragraphs"),
        pytest.param("<P CLASS='x'>um</P>\n<P>dois", "um\n\ndois", id="uppercase"),
        pytest.param("um<p>dois<p>três", "um\ndois\ntrês", id="unclosed-paragraphs"),
        pytest.param("um<p><p>dois", "um\n\ndois", id="two-newlines"),
        pytest.param("um<p/>dois", "um\ndois", id="self-closed"),
        pytest.param("um</p>dois</p>três", "umdoistrês", id="stray-end"),
        pytest.param("um<o:p>dois</o:p><pre>três</pre><param>", "umdoistrês", id="not-p"),
        pytest.param("um<br>dois<div>três</div>", "umdoistrês", id="other-tags-leave-nothing"),
        pytest.param("apro<b>va</b>do", "aprovado", id="inline"),
        pytest.param("a<pre>\n b\n  c</pre>", "a\n b\n c", id="pre"),
        pytest.param("a&nbsp;&nbsp; &#160;\t b", "a b", id="blanks"),
        pytest.param(
            "&lt;p&gt; &amp;amp; &ccedil;&#227;o &sect;", "<p> &amp; ção §", id="entities"
        ),
        pytest.param("&AMP &bogus; R&D; 5 < 6 & 7 > 2", "& &bogus; R&D; 5 < 6 & 7 > 2", id="loose"),
        pytest.param("<ul><li>a<p>b</li><li>c</ul>", "a\nbc", id="list"),
        pytest.param("<table>t<tr><td><p>a<td>b<p>c</table>d", "t\nab\ncd", id="table"),
        pytest.param("a<select><option>b<p>c</select>", "ab\nc", id="select"),
        pytest.param("</div></div>a<p>b", "a\nb", id="closes-wrapper"),
        pytest.param("</body>a</html>b<p>c", "ab\nc", id="after-the-end"),
        pytest.param(
            "<html><head><title>t</title></head><body>a</body></html>b", "tab", id="whole-page"
        ),
        pytest.param("<html><body>a</body></html><html><body>b", "ab", id="two-pages"),
        pytest.param("<template>a<p>b</template>", "a\nb", id="template"),
        pytest.param("<noscript>a<p>b</noscript>", "a\nb", id="noscript"),
        pytest.param("<textarea>a<p>&amp;</textarea>b", "a<p>&b", id="textarea"),
        pytest.param("<title>a<p>b</title>c", "a<p>bc", id="title"),
        pytest.param("<textarea>a", "a", id="unclosed-textarea"),
        pytest.param('<a title="<p>">a</a>', "a", id="tag-in-attribute"),
        pytest.param("a<!-- <p>b -->c", "ac", id="comment"),
        pytest.param("a<!-- <p>b", "a", id="unclosed-comment"),
        pytest.param("<!DOCTYPE html>a<!x>b<?xml c?>d", "abd", id="declarations"),
        pytest.param("<![CDATA[a]]>b", "b", id="cdata"),
        pytest.param("a<script>x('<p>')</script>b", "ab", id="script"),
        pytest.param("a<STYLE>p {}</STYLE>b<style></style>c", "abc", id="style"),
        # As in XHTML, so that no text is lost.
        pytest.param("a<script/>b</script>c", "abc", id="self-closed-script"),
        pytest.param("a<script>b<p>c", "a", id="unclosed-script"),
        pytest.param("a<svg><script>b</script><style>c</style></svg>d", "ad", id="svg"),
        pytest.param("a<p", "a", id="cut-in-a-tag"),
        pytest.param("a\0b<p\0>\0", "ab", id="nul"),
        pytest.param("a\x01b\x1f.&#2;c", "a\x01b\x1f.\x02c", id="control-characters"),
        pytest.param("a\ud800b", "a\ufffdb", id="lone-surrogate"),
        pytest.param("a\ud83d\ude00b", "a😀b", id="surrogate-pair"),
        pytest.param("\ufeffa", "\ufeffa", id="byte-order-mark"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line-ends"),
        pytest.param('<meta charset="iso-8859-1">ação', "ação", id="declared-charset"),
        pytest.param("<img src=x onerror='alert(1)'>a<form>b</form>", "ab", id="hostile"),
    ],
)
def test_text_of_html(html: str | None, text: str) -> None:
    assert html_to_text(html) == text


@pytest.mark.parametrize("tag", ["b", "div", "table", "font", "ul", "o:p"])
def test_deep_nesting_loses_nothing(tag: str) -> None:
    depth = 100_000
    html = "início" + f"<{tag}>" * depth + "meio<p>" + f"</{tag}>" * depth + "fim"

    assert html_to_text(html) == "iníciomeio\nfim"


@pytest.mark.parametrize(
    "piece", ["<", "&", "<!--", "<![CDATA[", "<script>", "</p>", "<a b='", "<a b=c ", "&amp;<p>"]
)
def test_long_repetitions_do_not_raise(piece: str) -> None:
    html_to_text(piece * 100_000)


def test_a_very_long_text_is_whole() -> None:
    text = "ação " * 4_000_000

    assert html_to_text(f"<p>{text}</p>") == text.strip()


@given(PLAIN_TEXT)
def test_text_without_markup_is_itself(text: str) -> None:
    unmarked = text.replace("<", "").replace("&", "")

    assert html_to_text(unmarked) == blanks_collapsed(unmarked)


@given(PLAIN_TEXT)
def test_escaped_text_comes_back(text: str) -> None:
    assert html_to_text(f"<p>{escape(text)}</p>") == blanks_collapsed(text)


MARKUP = st.from_regex(
    r"</?(p|div|b|table|td|li|br|html|body|head|title|script|style|textarea|svg|form|select"
    r"|plaintext|template|frameset|iframe)( a='>')?/?>|<!--|-->|<!\[CDATA\[|\]\]>|<\?x|\?>|<!x"
    r"|&(amp|nbsp|#0|#xd800|#x110000);|[&<>'\"/=]",
    fullmatch=True,
)


@given(st.lists(MARKUP | st.text(), max_size=30).map("".join) | st.text())
def test_never_raises(html: str) -> None:
    text = html_to_text(html)

    assert text == text.strip()
    assert "  " not in text


@given(st.lists(MARKUP.filter(lambda piece: not piece.startswith("<p")), max_size=30))
def test_without_paragraphs_no_newline_appears(pieces: list[str]) -> None:
    assert "\n" not in html_to_text("".join(pieces))


class StandardLibraryText(HTMLParser):
    """The same rules on the parser of the standard library."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.text += "\n" if tag == "p" else ""

    def handle_data(self, data: str) -> None:
        self.text += "" if self.lasttag in ("script", "style") and self.cdata_elem else data


ELEMENTS = st.recursive(
    st.text(st.characters(exclude_categories=["Cs", "Cc"])).map(escape),
    lambda inner: st.tuples(
        st.sampled_from(["p", "b", "span", "div", "a", "em", "P", "o:p"]),
        st.sampled_from(["", " class='x>y'", ' style="margin:0"', " hidden"]),
        st.lists(inner, max_size=4).map("".join),
    ).map(lambda parts: f"<{parts[0]}{parts[1]}>{parts[2]}</{parts[0]}>"),
)


@given(st.lists(ELEMENTS | st.just("<script>if (a < b) {}</script>"), max_size=5).map("".join))
def test_agrees_with_the_standard_library_on_well_formed_html(html: str) -> None:
    parser = StandardLibraryText()
    parser.feed(html)
    parser.close()

    assert html_to_text(html) == blanks_collapsed(parser.text)
