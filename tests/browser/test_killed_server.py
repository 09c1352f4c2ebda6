"""The server is killed with ``kill -9`` under the eyes of somebody who judges."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.annotation.served import ServedScreen, serve_campaign
from tests.annotation.web.screens import campaign
from tests.browser.conftest import Enter, Site
from tests.browser.test_judging import SAVED, begin, by_keyboard, go_on, judged_pair


@pytest.fixture
def server(site: Site) -> ServedScreen:
    assert isinstance(site.server, ServedScreen)
    return site.server


@pytest.fixture
def site(tmp_path: Path, project_root: Path) -> Iterator[Site]:
    """Return the screen of a campaign in a process of its own."""
    store, tokens = campaign(tmp_path / "annotation.sqlite")
    with store:
        server = serve_campaign(project_root, store.path)
        yield Site(store, tokens, server)
        server.stop()


def test_the_last_choice_is_kept_and_sent_after_the_restart(
    site: Site, server: ServedScreen, enter: Enter
) -> None:
    page = enter("Ana")
    begin(page)
    first = judged_pair(page)
    by_keyboard(page, "2")
    go_on(page)
    second = judged_pair(page)
    server.stop()

    page.keyboard.press("1")
    state = page.locator("#save-state")
    expect(state).to_contain_text("Sem conexão. A última escolha está guardada")
    page.keyboard.press("3")
    expect(page.locator("[data-key='3']")).to_be_checked()
    assert site.answers("Ana") == {first: ("grade", 1)}

    server.start()
    expect(page.locator(SAVED)).to_be_visible(timeout=30_000)
    go_on(page)

    assert site.answers("Ana") == {first: ("grade", 1), second: ("grade", 0)}
    assert len(site.store.answers()) == 2
    assert judged_pair(page) not in (first, second)
