"""The page of replies: everything shown, nothing run."""

import base64
import hashlib
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from normastcu.collection.settings import GradeScale
from normastcu.judging.requests import OUTCOMES
from normastcu.reporting.replies_page import COLUMNS, LABELS, LONG_REASON, replies_page

SCALE = GradeScale(
    grades=[
        {"grade": 0, "name": "irrelevant"},
        {"grade": 1, "name": "partially relevant"},
        {"grade": 2, "name": "relevant"},
    ]
)
ROW = {
    "query_id": "00123",
    "query": "concessão de diárias",
    "doc_id": "NORMA-7",
    "title": "Portaria 7",
    "judge": "m_rationale",
    "outcome": "ok",
    "grade": 2,
    "rationale": "Trata do art. 3º.",
    "reference": 4 / 3,
    "grades": "1 1 2",
    "n_samples": 1,
}
TYPES = dict.fromkeys(ROW, "str") | {"grade": "Int64", "reference": "Float64", "n_samples": "Int64"}
UNGRADED = {"outcome": "refused", "grade": None, "rationale": None}
NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></tbody></table><form action=//evil.example>",
    """'"><b onmouseover="alert(1)">x</b>""",
    "{{ 7 * 7 }} {% raw %} {# x #}",
    "<!-- --> <![CDATA[ ]]> &amp; &lt; &#x3c;script&#x3e;",
    "one\u2028two\u2029three",
    "javascript:alert(1) [x](javascript:alert(1))",
]


def page_of(*changes, language="en", collection="sample"):
    """Return the page of a row as above, once with each of the changes."""
    table = pd.DataFrame([ROW | change for change in changes], columns=list(ROW)).astype(TYPES)
    return replies_page(table, collection, SCALE, language)


def parsed(page):
    return html.document_fromstring(page)


def cells(page, column):
    """Return the texts of a column, blanks at the ends taken off."""
    found = parsed(page).xpath(f"//tbody/tr/td[contains(@class, '{column}')]")
    return [cell.text_content().strip() for cell in found]


def values(page, column):
    return parsed(page).xpath(f"//tbody/tr/td[contains(@class, '{column}')]/@data-value")


def test_a_row_by_hand():
    page = page_of({})

    assert [cells(page, column) for column in COLUMNS] == [
        ["00123 concessão de diárias"],
        ["NORMA-7 Portaria 7"],
        ["m_rationale"],
        ["2 relevant"],
        ["graded"],
        ["Trata do art. 3º."],
        ["1.33 1 1 2"],
        ["+0.67"],
    ]
    assert values(page, "query") == ["00123"]
    assert parsed(page).xpath("string(//h1)") == "Replies of the judges: sample"
    assert parsed(page).xpath("string(//p[@id='count'])") == "Rows: 1."


def test_a_row_in_portuguese():
    page = page_of({}, UNGRADED, language="pt")

    assert cells(page, "people")[0] == "1,33 1 1 2"
    assert cells(page, "difference") == ["+0,67", "–"]
    assert cells(page, "grade") == ["2 relevant", "sem nota"]
    assert cells(page, "outcome") == ["com nota", "recusada"]
    assert parsed(page).xpath("string(/html/@lang)") == "pt"
    # Numbers that the script reads have a point in every language.
    assert float(values(page, "difference")[0]) == pytest.approx(2 / 3)


def test_nothing_missing_is_shown_as_a_number():
    page = page_of(UNGRADED, {"reference": None, "grades": ""})

    assert cells(page, "grade") == ["no grade", "2 relevant"]
    assert cells(page, "people") == ["1.33 1 1 2", "–"]
    assert cells(page, "difference") == ["–", "–"]
    assert cells(page, "reason") == ["", "Trata do art. 3º."]
    assert values(page, "grade") == ["none", "2"]
    assert values(page, "difference") == ["", ""]
    assert not re.search(r"\b(nan|None|<NA>)\b", page)


def test_differences_from_two_on_are_marked():
    page = page_of(
        {"grade": 2, "reference": 0.0},
        {"grade": 2, "reference": 0.25},
        {"grade": 0, "reference": 2.0},
        {"grade": 0, "reference": 0.0},
        UNGRADED,
    )

    assert cells(page, "difference") == ["+2.00", "+1.75", "−2.00", "+0.00", "–"]
    assert parsed(page).xpath("//tbody/tr/@class") == ["strong", "strong"]


def test_an_outcome_is_told_in_words():
    page = page_of({"outcome": "not asked", "grade": None}, {"outcome": "new", "grade": None})

    assert cells(page, "outcome") == ["not asked yet", "new"]


def test_samples_are_told_where_there_are_some():
    page = page_of({"n_samples": 3}, {"n_samples": 1}, {"n_samples": None})

    assert cells(page, "grade") == ["2 relevant median of 3 samples", "2 relevant", "2 relevant"]


def test_a_long_reason_can_be_scrolled_by_keyboard():
    page = page_of({"rationale": "x" * (LONG_REASON + 1)}, {"rationale": "x" * LONG_REASON})

    assert len(parsed(page).xpath("//td/div[@tabindex='0']")) == 1


def test_the_filters_hold_what_the_table_holds():
    page = page_of(
        {"judge": "b"},
        {"judge": "a", "query_id": "9", "query": "férias"},
        {"judge": "b", **UNGRADED},
    )

    def choices(column):
        options = parsed(page).xpath(f"//select[@data-column='{column}']/option")
        return {option.get("value"): option.text for option in options}

    assert choices("judge") == {"": "any", "b": "b", "a": "a"}
    assert choices("query") == {
        "": "any",
        "00123": "00123: concessão de diárias",
        "9": "9: férias",
    }
    assert choices("outcome") == {"": "any", "ok": "graded", "refused": "refused"}
    assert choices("grade") == {
        "": "any",
        "0": "0 irrelevant",
        "1": "1 partially relevant",
        "2": "2 relevant",
        "none": "no grade",
    }
    assert set(values(page, "judge")) <= choices("judge").keys()


def test_every_field_has_a_label():
    document = parsed(page_of({}))

    fields = document.xpath("//select/@id | //input/@id")
    assert sorted(document.xpath("//label/@for")) == sorted(fields)


def test_the_labels_of_both_languages_are_complete():
    assert LABELS["en"].keys() == LABELS["pt"].keys()
    assert set(OUTCOMES) | set(COLUMNS) <= LABELS["en"].keys()
    for name, text in LABELS["en"].items():
        fields = [re.findall(r"\{\w*\}", words) for words in (text, LABELS["pt"][name])]
        assert sorted(fields[0]) == sorted(fields[1])


def test_an_empty_table_has_a_page():
    page = page_of()

    assert parsed(page).xpath("string(//p[@id='count'])") == "Rows: 0."


def test_the_same_table_gives_the_same_page():
    assert page_of({}, UNGRADED) == page_of({}, UNGRADED)


@pytest.mark.parametrize("text", NASTY)
def test_texts_stay_texts(text):
    names = ("query_id", "query", "doc_id", "title", "judge", "rationale", "grades")
    page = page_of(dict.fromkeys(names, text), collection=text)

    document = parsed(page)
    assert cells(page, "reason") == [text]
    assert cells(page, "query") == [f"{text} {text}"]
    assert cells(page, "document") == [f"{text} {text}"]
    assert cells(page, "judge") == values(page, "judge") == [text]
    assert document.xpath("string(//select[@data-column='judge']/option[2]/@value)") == text
    assert document.xpath("string(//h1)").endswith(text)
    # The same elements as on a page of harmless texts: none came in, none got lost.
    tags = [element.tag for element in document.iter()]
    assert tags == [element.tag for element in parsed(page_of({})).iter()]


def test_the_page_allows_its_own_script_and_nothing_else():
    document = parsed(page_of({}))

    policy = document.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    for kind in ("script", "style"):
        content = document.xpath(f"string(//{kind})")
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert allowed[f"{kind}-src"] == f"'sha256-{digest}'"
    assert allowed["default-src"] == "'none'"
    assert not document.xpath("//@src | //@href | //@style | //@*[starts-with(name(), 'on')]")


def test_what_no_page_can_hold_is_replaced():
    page = page_of({"rationale": "a\x00b\x1bc\td\ne"}, collection="x\ud800y")

    assert cells(page, "reason") == ["a\ufffdb\ufffdc\td\ne"]
    assert "x\ufffdy" in page
    page.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"])))
def test_any_reason_is_shown_as_it_is(reason):
    assert cells(page_of({"rationale": reason}), "reason") == [reason.strip()]
