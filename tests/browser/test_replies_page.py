"""The page of replies in a browser: filters, search, sorting, in both languages."""

import pytest
from tests.browser.conftest import wait_until
from tests.reporting.test_replies_page import page_of

REPLIES = [
    {"judge": "a", "doc_id": "D-1", "grade": 2, "rationale": "Fala de férias."},
    {"judge": "a", "doc_id": "D-2", "grade": 0, "rationale": "Não trata do tema."},
    {"judge": "b", "doc_id": "D-1", "grade": None, "outcome": "truncated", "rationale": None},
    {"judge": "b", "doc_id": "D-2", "grade": 1, "rationale": "Menciona diárias."},
]


@pytest.fixture
def opened(contexts, tmp_path):
    """Return a function that opens the page of the replies in a language."""

    def open_page(language="en"):
        path = tmp_path / f"replies_{language}.html"
        path.write_text(page_of(*REPLIES, language=language), encoding="utf-8")
        page = contexts().new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        assert asked == [path.as_uri()], "the page needs nothing else"
        return page

    return open_page


def shown(page):
    """Return judge and document of each visible row, in order."""
    return page.eval_on_selector_all(
        "#replies tbody tr",
        """rows => rows.filter(row => row.offsetParent !== null).map(row =>
            row.querySelector('.judge').dataset.value + ' '
            + row.querySelector('.document').dataset.value)""",
    )


def wait_for_rows(page, n):
    """Wait until so many rows are visible."""
    rows = "[...document.querySelectorAll('#replies tbody tr')]"
    wait_until(page, f"{rows}.filter((row) => row.offsetParent !== null).length === {n}")


@pytest.mark.parametrize("language", ["en", "pt"])
def test_filters_and_search_leave_what_was_asked_for(opened, language):
    page = opened(language)
    assert shown(page) == ["a D-1", "a D-2", "b D-1", "b D-2"]
    page.select_option("#filter-judge", "b")
    assert shown(page) == ["b D-1", "b D-2"]
    page.select_option("#filter-outcome", "truncated")
    assert shown(page) == ["b D-1"]
    page.click("button[type=reset]")
    wait_for_rows(page, len(REPLIES))
    page.fill("#search", "ferias")
    wait_for_rows(page, 1)
    assert shown(page) == ["a D-1"]


def test_sorting_by_grade_both_ways_keeps_missing_ones_at_the_end(opened):
    page = opened()
    page.select_option("#sort", "grade")
    assert shown(page) == ["a D-2", "b D-2", "a D-1", "b D-1"]
    page.select_option("#direction", "descending")
    assert shown(page) == ["a D-1", "b D-2", "a D-2", "b D-1"]
