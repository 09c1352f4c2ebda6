"""The report in a browser: on a desk, on a phone, in the dark and on paper."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page
from tests.reporting.report_world import report_content, report_tables

from normastcu.reporting.report import report_page

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the report in both languages, as a run leaves it."""
    folder = tmp_path_factory.mktemp("report")
    paths = {language: folder / f"report_{language}.html" for language in ("en", "pt")}
    for language, path in paths.items():
        page = report_page(report_content(report_tables()), language)  # type: ignore[arg-type]
        path.write_text(page, encoding="utf-8")
    return paths


@pytest.fixture
def open_report(files: dict[str, Path], contexts: Callable[..., BrowserContext]) -> Open:
    """Return a function that opens the report; whatever goes wrong on the page is an error."""

    def open_one(language: str = "en", width: int = 1280, **options: object) -> Page:
        page = contexts(viewport={"width": width, "height": 900}, **options).new_page()
        page.on("request", lambda request: _only_local(request.url))
        page.on("console", lambda message: pytest.fail(message.text[:200]))
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(files[language].as_uri())
        return page

    return open_one


def _only_local(url: str) -> None:
    assert url.startswith(("file:", "data:")), url


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("pt", 400), ("pt", 320)])
def test_nothing_but_tables_and_figures_scrolls_sideways(
    open_report: Open, language: str, width: int
) -> None:
    page = open_report(language, width)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("pt", "dark")])
def test_axe_finds_nothing_serious(open_report: Open, language: str, scheme: str) -> None:
    page = open_report(language, color_scheme=scheme)
    # Long tables are built like the short ones, and take axe minutes.
    page.evaluate("for (const one of document.querySelectorAll('details .scroll')) one.remove()")
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []


def test_figures_stand_on_white_in_the_dark(open_report: Open) -> None:
    page = open_report(color_scheme="dark")
    colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    assert page.evaluate(colour.format(".card")) == "rgb(255, 255, 255)"
    assert page.evaluate(colour.format("body")) != "rgb(255, 255, 255)"
    assert page.locator(".card svg").count() == 9


def test_a_map_is_drawn(open_report: Open) -> None:
    image = open_report().locator("#figure-system_ranks image").first
    box = image.bounding_box()
    assert box is not None
    assert box["width"] > 100


def test_folded_tables_are_on_paper_and_folded_again_afterwards(open_report: Open) -> None:
    page = open_report()
    folded = page.locator("details:not([open])").count()
    assert folded > 5
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == folded


def test_it_can_be_printed(open_report: Open) -> None:
    page = open_report()
    page.emulate_media(media="print")
    assert page.locator("#table-kappa tbody tr").last.is_visible()
    paper = page.pdf(prefer_css_page_size=True)
    assert paper.startswith(b"%PDF")
    # A4 in points.
    assert b"/MediaBox [0 0 594.95996 841.91998]" in paper or b"/MediaBox [0 0 595" in paper


def test_a_link_of_the_contents_unfolds_its_table(open_report: Open) -> None:
    page = open_report("pt")
    row = page.locator("#table-rank_correlation tbody tr").first
    assert not row.is_visible()
    page.click("#contents a[href='#table-rank_correlation']")
    row.wait_for(state="visible")


def test_a_keyboard_reaches_the_summary_first(open_report: Open) -> None:
    page = open_report()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#summary"
