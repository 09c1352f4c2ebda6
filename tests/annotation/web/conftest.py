"""The screen in a test client, and people who have signed in."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.annotation.web.screens import SIGNING_KEY, campaign

from normastcu.annotation.store import AnnotationStore
from normastcu.annotation.web.app import ServerSettings, create_app

_TOKEN = re.compile(r'name="csrf-token" content="([^"]+)"')


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Screen:
    store: AnnotationStore
    tokens: dict[str, str]
    clock: Clock
    client: Callable[..., TestClient]

    def person_id(self, name: str) -> int:
        person = self.store.person_of_token(self.tokens[name])
        assert person is not None
        return person.id


class Browser:
    """One person's browser."""

    def __init__(self, screen: Screen, name: str) -> None:
        self.screen = screen
        self.person_id = screen.person_id(name)
        self.client = screen.client()
        answer = self.client.get(f"/enter/{screen.tokens[name]}", follow_redirects=False)
        assert answer.status_code == 303
        page = self.client.get("/instructions").text
        self.csrf = _TOKEN.findall(page)[0]

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, follow_redirects=False, **more)

    def post(self, path: str, body: dict[str, Any] | None = None, **more: Any) -> Any:
        headers = {"X-CSRF-Token": self.csrf, "Accept": "application/json"}
        headers |= more.pop("headers", {})
        return self.client.post(path, json=body, headers=headers, follow_redirects=False, **more)

    def submit(self, path: str, fields: dict[str, Any]) -> Any:
        data = {"csrf": self.csrf} | fields
        return self.client.post(path, data=data, follow_redirects=False)

    @property
    def pairs(self) -> list[int]:
        store = self.screen.store
        return [
            task.pair_id
            for row in store.progress(self.person_id)
            for task in store.query_tasks(self.person_id, row.query_id, row.round)
        ]

    def pair_of(self, query_id: str, doc_id: str) -> int:
        tasks = self.screen.store.query_tasks(self.person_id, query_id)
        return next(task.pair_id for task in tasks if task.doc_id == doc_id)

    def answer(self, pair_id: int, **body: Any) -> Any:
        given = {
            "choice": "grade",
            "grade": 2,
            "comment": "",
            "seconds": 3.5,
            "submission_id": f"submission-{pair_id}",
        }
        return self.post(f"/pair/{pair_id}/answer", given | body)

    def stored(self, pair_id: int) -> tuple[str, int | None] | None:
        task = self.screen.store.task(self.person_id, pair_id)
        assert task is not None
        return (task.answer.choice, task.answer.grade) if task.answer else None


@pytest.fixture
def screen(tmp_path: Any) -> Iterator[Screen]:
    """Return the screen of a campaign, without TLS."""
    store, tokens = campaign(tmp_path / "annotation.sqlite")
    clock = Clock()

    def client(**settings: Any) -> TestClient:
        app = create_app(store, ServerSettings(signing_key=SIGNING_KEY, **settings), clock)
        scheme = "https" if settings.get("secure_cookies") else "http"
        return TestClient(app, f"{scheme}://127.0.0.1", raise_server_exceptions=False)

    shared = client()
    with store:
        yield Screen(
            store,
            tokens,
            clock,
            lambda **changed: client(**changed) if changed else TestClient(
                shared.app, "http://127.0.0.1", raise_server_exceptions=False
            ),
        )  # fmt: skip


@pytest.fixture
def enter(screen: Screen) -> Callable[[str], Browser]:
    """Return a function that signs somebody in who has read the instructions."""

    def sign_in(name: str) -> Browser:
        screen.store.confirm_instructions(screen.person_id(name))
        return Browser(screen, name)

    return sign_in


@pytest.fixture
def ana(enter: Callable[[str], Browser]) -> Browser:
    """Return the browser of an assessor."""
    return enter("Ana")
