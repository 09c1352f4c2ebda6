"""Chromium, and the screen on a free port of the loopback interface."""

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tests.annotation.served import ServedScreen
from tests.annotation.web.screens import SIGNING_KEY, campaign

from normastcu.annotation.store import AnnotationStore
from normastcu.annotation.web.app import ServerSettings, create_app


def wait_until(page: Page, condition: str) -> None:
    """Wait until an expression holds; Playwright's own wait needs eval, which a page may bar."""
    page.evaluate(
        f"""async () => {{
            const end = Date.now() + 20000;
            while (!({condition})) {{
                if (Date.now() > end) throw new Error('it did not come true');
                await new Promise((next) => setTimeout(next, 20));
            }}
        }}"""
    )


class Server:
    """Serves a store; it can be stopped and started again on the same port."""

    def __init__(self, store: AnnotationStore, port: int = 0) -> None:
        self._app = create_app(store, ServerSettings(signing_key=SIGNING_KEY))
        self.port = port
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        started = threading.Event()

        class Announcing(uvicorn.Server):
            async def startup(self, sockets: object = None) -> None:
                await super().startup(sockets)  # type: ignore[arg-type]
                started.set()

        config = uvicorn.Config(
            self._app,
            port=self.port,
            log_level="critical",
            timeout_graceful_shutdown=1,
            lifespan="off",
        )
        self._server = Announcing(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        assert started.wait(20), "the server did not start"
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@dataclass
class Site:
    store: AnnotationStore
    tokens: dict[str, str]
    server: Server | ServedScreen
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def person_id(self, name: str) -> int:
        person = self.store.person_of_token(self.tokens[name])
        assert person is not None
        return person.id

    def answers(self, name: str) -> dict[tuple[str, str], tuple[str, int | None]]:
        """Return what a person's answers are, by query and document."""
        person_id = self.person_id(name)
        return {
            (task.query_id, task.doc_id): (task.answer.choice, task.answer.grade)
            for row in self.store.progress(person_id)
            for task in self.store.query_tasks(person_id, row.query_id)
            if task.answer
        }


Enter = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return where Chromium is; skip where there is none."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("There is no chromium on the path: install it to run the browser tests.")
    return path


@pytest.fixture(scope="session")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """Return Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return the screen of a campaign; nothing but it may have been asked for anything."""
    store, tokens = campaign(tmp_path / "annotation.sqlite")
    with store:
        site = Site(store, tokens, Server(store))
        yield site
        site.server.stop()
    elsewhere = [url for url in site.requests if not url.startswith(f"{site.server.address}/")]
    assert elsewhere == []
    assert site.errors == []


@pytest.fixture
def contexts(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that opens a browser of its own."""
    opened: list[BrowserContext] = []

    def open_one(**options: object) -> BrowserContext:
        context = chromium.new_context(**{"locale": "pt-BR"} | options)  # type: ignore[arg-type]
        context.set_default_timeout(15_000)
        opened.append(context)
        return context

    yield open_one
    for context in opened:
        context.close()


@pytest.fixture
def enter(site: Site, contexts: Callable[..., BrowserContext]) -> Enter:
    """Return a function that signs somebody in by their link, in a browser of their own."""

    def sign_in(name: str, *, informed: bool = True, **options: object) -> Page:
        if informed:
            site.store.confirm_instructions(site.person_id(name))
        context = contexts(**options)
        context.on("request", lambda request: site.requests.append(request.url))
        context.on("weberror", lambda error: site.errors.append(str(error.error)))
        page = context.new_page()
        page.goto(f"{site.server.address}/enter/{site.tokens[name]}")
        return page

    return sign_in
