"""A hostile document in a real browser: nothing runs, nothing is fetched."""

from playwright.sync_api import Page, expect
from tests.annotation.web.screens import ADMINISTRATOR
from tests.browser.conftest import Enter, Site


def open_hostile(site: Site, enter: Enter) -> Page:
    page = enter("Ana")
    tasks = site.store.query_tasks(site.person_id("Ana"), "7")
    pair_id = next(task.pair_id for task in tasks if task.doc_id == "ATO-1")
    page.goto(f"{site.server.address}/pair/{pair_id}")
    page.locator("#save-state:not(:empty)").wait_for()
    return page


def test_it_is_shown_as_inert_text(site: Site, enter: Enter) -> None:
    page = open_hostile(site, enter)
    title = page.title()
    address = page.url

    page.keyboard.press("d")
    content = page.locator("#document-content")
    expect(content).to_contain_text("serão pagas")
    content.get_by_text("veja").click()
    content.get_by_text("Classe").click()
    page.keyboard.press("h")
    expect(content.locator("mark")).to_have_text(["diárias"])

    assert content.locator("table td").count() == 3
    assert content.locator("li").count() == 2
    assert content.locator("script, img, svg, form, a, style, iframe, [style]").count() == 0
    assert page.title() == title
    assert page.url == address
    assert not any("tracker" in url for url in site.requests)


def test_its_title_is_text_on_every_page(site: Site, enter: Enter) -> None:
    page = open_hostile(site, enter)
    expect(page.locator("#title")).to_contain_text("<img src=x onerror=")
    page.keyboard.press("g")
    page.keyboard.type("portaria 1")
    page.keyboard.press("Enter")
    expect(page.locator(".hit-title").first).to_contain_text("<img")
    for name, grade in (("Ana", 0), ("Bruno", 2)):
        person_id = site.person_id(name)
        task = next(one for one in site.store.query_tasks(person_id, "7") if one.doc_id == "ATO-1")
        site.store.answer(
            person_id,
            task.pair_id,
            choice="grade",
            grade=grade,
            comment="",
            seconds=1,
            submission_id=f"answer-{name}",
        )

    administrator = enter(ADMINISTRATOR)

    expect(administrator.get_by_text("Portaria <img src=x")).to_be_visible()
    assert administrator.title() == "Andamento da campanha · Avaliação de relevância"


def test_even_unsanitised_nothing_would_run(site: Site, enter: Enter) -> None:
    """The page's policy is a second wall: here the first is broken on purpose."""
    page = open_hostile(site, enter)
    hostile = """<p onclick="document.title='ran'">parágrafo</p>
        <img src="/static/none.png" onerror="document.title='ran'">
        <svg onload="document.title='ran'"></svg>
        <a href="javascript:document.title='ran'">veja</a>
        <iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>"""
    page.route(
        "**/document/**", lambda route: route.fulfill(body=hostile, content_type="text/html")
    )
    title = page.title()

    page.keyboard.press("d")
    page.get_by_text("parágrafo").click()
    page.get_by_text("veja").click()

    assert page.locator("#document-content img").evaluate("(image) => image.onerror") is None
    assert page.title() == title
