"""axe-core finds nothing serious on any page, in both languages and both colour schemes."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.annotation.web.screens import ADMINISTRATOR
from tests.browser.conftest import Enter, Site

SCHEMES = [("pt", "light"), ("en", "dark"), ("pt", "dark"), ("en", "light")]


def findings(page: Page) -> list[tuple[str, str]]:
    """Return the serious and critical findings, with the elements."""
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], node["html"][:160])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(("language", "scheme"), SCHEMES)
def test_an_assessors_pages(site: Site, enter: Enter, language: str, scheme: str) -> None:
    site.store.set_language(site.person_id("Ana"), language)
    page = enter("Ana", informed=False, color_scheme=scheme)
    assert findings(page) == []
    page.click("main button.primary")
    assert findings(page) == []
    page.click("#resume")
    page.locator("#save-state:not(:empty)").wait_for()
    assert findings(page) == []

    page.keyboard.press("2")
    page.locator("[data-state=saved]").wait_for()
    page.keyboard.press("h")
    page.locator(".document p").first.wait_for()
    assert findings(page) == []

    page.keyboard.press("c")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.type("portaria")
    page.keyboard.press("Enter")
    page.locator(".hit input:enabled").first.check()
    assert findings(page) == []

    page.keyboard.press("Escape")
    page.locator("#show-keys").click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    site.server.stop()
    page.locator("[data-key='1']").check()
    page.locator("[data-state=offline]").wait_for()
    assert findings(page) == []


@pytest.mark.parametrize(("language", "scheme"), SCHEMES)
def test_the_administrators_page(site: Site, enter: Enter, language: str, scheme: str) -> None:
    for name, grade in (("Ana", 0), ("Bruno", 2), ("Carla", 1)):
        person_id = site.person_id(name)
        for task in site.store.query_tasks(person_id, "7"):
            site.store.answer(
                person_id,
                task.pair_id,
                choice="grade",
                grade=grade if task.doc_id != "ATO-2" else 1,
                comment="",
                seconds=2,
                submission_id=f"{name}-{task.pair_id}-once",
            )
    site.store.set_language(site.person_id(ADMINISTRATOR), language)

    page = enter(ADMINISTRATOR, color_scheme=scheme)

    assert findings(page) == []
    page.goto(f"{site.server.address}/nothing")
    assert findings(page) == []


@pytest.mark.parametrize("locale", ["pt-BR", "en-GB"])
def test_pages_before_signing_in(site: Site, enter: Enter, locale: str) -> None:
    page = enter("Ana", locale=locale)
    page.context.clear_cookies()

    for path in ("/", "/enter/wrong"):
        page.goto(site.server.address + path)
        assert findings(page) == []


def test_the_keyboard_reaches_everything_in_reading_order(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    page.click("#resume")
    page.locator("#save-state:not(:empty)").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip-link"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))

    order = ["open-document", "go-on", "undo", "skip", "next"]
    assert [one for one in reached if one in order] == order
    assert page.evaluate("document.querySelector('#save-state').getAttribute('role')") == "status"
