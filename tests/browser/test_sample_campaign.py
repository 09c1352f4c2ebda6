"""Four people judge the sample's pool at the same time; whatever leaves the screen is their clicks.

The pool is made by the real pipelines, the screen is served by a process of its own, and the people
sit in four browser contexts whose clicks and keys run concurrently.
"""

import asyncio
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pandas as pd
import pytest
from click.testing import CliRunner
from playwright.async_api import Locator, Page, async_playwright, expect
from tests.annotation.served import serve_campaign
from tests.browser.test_judging import READY, SAVED, result
from tests.end_to_end.projects import copy_project, end_tracked_runs, enter_project, run_pipelines

from normastcu.cli import cli

ENV = ("--env", "screen")
QUERIES = ("regimento interno", "metas e jornada de trabalho no teletrabalho")
KEYS = {"Ana": "1234112233", "Bia": "3322114321", "Caio": "1111444123", "Davi": "2132132132"}
"""What each one presses or clicks on: five documents of the first query, then of the second."""
CHANGED = {"Ana": "3", "Bia": "4", "Caio": "2", "Davi": "3"}
"""What each one makes of the last answer to the first query."""
PROGRESS = "#main h1:text('Seu progresso')"


class Hand(Protocol):
    """A way of working the screen."""

    async def choose(self, page: Page, key: str) -> None: ...

    async def go_on(self, page: Page) -> None: ...

    async def go_back(self, page: Page) -> None: ...

    async def suggest(self, page: Page, turn: int) -> tuple[str, int]:
        """Suggest what a search finds outside the pool; return the document and the grade."""


class Mouse:
    async def choose(self, page: Page, key: str) -> None:
        await page.locator(f".choice:has([data-key='{key}'])").click()

    async def go_on(self, page: Page) -> None:
        await page.click("#next")

    async def go_back(self, page: Page) -> None:
        await page.click("#previous")

    async def suggest(self, page: Page, turn: int) -> tuple[str, int]:
        await page.click("#suggest summary")
        await page.fill("#search-text", "regimento")
        await page.click("#search button")
        hit = page.locator(".hit:has(input:enabled)").nth(turn)
        doc_id = str(await hit.locator("input").get_attribute("value"))
        await hit.click()
        await page.locator(".grades label").nth(2 - turn).click()
        await page.fill("#reason", "Também trata disso.")
        await page.click("#suggestion button")
        return doc_id, turn


class Keyboard:
    async def choose(self, page: Page, key: str) -> None:
        await page.keyboard.press(key)

    async def go_on(self, page: Page) -> None:
        await page.keyboard.press("Enter")

    async def go_back(self, page: Page) -> None:
        await page.keyboard.press("ArrowLeft")

    async def suggest(self, page: Page, turn: int) -> tuple[str, int]:
        await page.keyboard.press("g")
        await page.keyboard.type("regimento")
        await page.keyboard.press("Enter")
        await seen(page.locator(".hit input:focus"))
        doc_id = str(await page.locator(".hit input:focus").get_attribute("value"))
        await page.keyboard.press("Space")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Space")
        if turn:
            await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Tab")
        await page.keyboard.type("Também trata disso.")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        return doc_id, 2 - turn


HANDS: dict[str, tuple[Hand, int]] = {
    "Ana": (Mouse(), 0),
    "Bia": (Keyboard(), 0),
    "Caio": (Keyboard(), 1),
    "Davi": (Mouse(), 1),
}


@dataclass
class Person:
    """Somebody in a browser of their own, and what they clicked in the order of clicking."""

    name: str
    page: Page
    clicks: list[tuple[str, str, str, str, int | None]] = field(default_factory=list)
    """query_id, doc_id, origin, choice, grade."""

    @property
    def standing(self) -> dict[tuple[str, str, str], tuple[str, int | None]]:
        """Return the last word on each pair."""
        return {
            (query, doc, origin): (choice, grade)
            for query, doc, origin, choice, grade in self.clicks
        }

    async def judge(self) -> None:
        hand, turn = HANDS[self.name]
        page, keys = self.page, iter(KEYS[self.name])
        for query in QUERIES:
            await page.get_by_role("link", name=query, exact=True).click()
            await page.locator(READY).wait_for()
            for number in range(5):
                await self.answer(hand, next(keys))
                if number < 4:
                    await self.turn_page(hand.go_on)
            if query == QUERIES[0]:
                await self.change_mind(hand)
                await self.suggest(hand, turn)
            await page.goto(page.url.split("/pair")[0])

    async def answer(self, hand: Hand, key: str) -> None:
        choice, grade = result(key)
        self.clicks.append((*await self.pair(), "pool", choice, grade))
        await hand.choose(self.page, key)
        await seen(self.page.locator(SAVED))

    async def change_mind(self, hand: Hand) -> None:
        """Leave the pair, come back, and choose anew."""
        await self.turn_page(hand.go_on)
        await self.turn_page(hand.go_back)
        await self.answer(hand, CHANGED[self.name])

    async def suggest(self, hand: Hand, turn: int) -> None:
        query, _ = await self.pair()
        doc_id, grade = await hand.suggest(self.page, turn)
        await seen(self.page.get_by_text("Sugestão salva."))
        self.clicks.append((query, doc_id, "suggested", "grade", grade))

    async def turn_page(self, move: Callable[[Page], Awaitable[None]]) -> None:
        async with self.page.expect_navigation():
            await move(self.page)
        await self.page.locator(READY).wait_for()

    async def pair(self) -> tuple[str, str]:
        """Return the query and the document on the page."""
        query = re.findall(r"nº (\S+)", await self.page.inner_text(".query .eyebrow"))[0]
        return query, await self.page.inner_text(".facts div:last-child dd")


async def seen(found: Locator) -> None:
    await expect(found).to_be_visible(timeout=30_000)


async def campaign(
    chromium_path: str, links: dict[str, str], meanwhile: Callable[[], None]
) -> list[Person]:
    """Have everybody judge at once; run something while they are still signed in."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox"]
        )
        people = []
        for name, link in links.items():
            context = await browser.new_context(locale="pt-BR")
            people.append(Person(name, await context.new_page()))
            await people[-1].page.goto(link)
            await people[-1].page.get_by_role("button", name="Li e entendi").click()
        await asyncio.gather(*(person.judge() for person in people))
        await asyncio.to_thread(meanwhile)
        for person in people:
            await person.page.reload()
            await seen(person.page.locator(PROGRESS))
            await seen(person.page.get_by_text("10 de 240"))
        await browser.close()
    return people


def kedro(*words: str) -> list[str]:
    """Run a command of the project; return its lines."""
    done = CliRunner().invoke(cli, [*words, *ENV])
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


@pytest.fixture
def project(tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the project with the pool of `screen`, prepared for judging."""
    root = copy_project(project_root, tmp_path / "project")
    enter_project(root, monkeypatch)
    run_pipelines(root, "ingestion", "retrieval_runs", "pooling", env="screen")
    kedro("annotate", "prepare")
    yield root
    end_tracked_runs()


def test_four_people_judge_the_samples_pool_at_once(
    project: Path, project_root: Path, chromium_path: str
) -> None:
    said = kedro("annotate", "assessors", *KEYS)
    server = serve_campaign(project_root, project / "data/01_raw/screen/annotation.sqlite")
    links = {
        name: f"{server.address}/enter/{link.rsplit('/', 1)[1]}"
        for name, link in (line.split(": ") for line in said if "/enter/" in line)
    }

    def take_out() -> None:
        kedro("annotate", "publish", "released")
        kedro("annotate", "export", "campaign.zip")
        run_pipelines(project, "human_qrels", env="screen")

    try:
        # In a thread of its own: another test's browser may have left a loop in this one.
        with ThreadPoolExecutor(1) as thread:
            people = thread.submit(
                lambda: asyncio.run(campaign(chromium_path, links, take_out))
            ).result()
    finally:
        server.stop()

    assert "Traceback" not in "".join(server.log)
    check_published(project / "released", people)
    check_export(project / "campaign.zip", people)
    check_qrels(project / "data/05_model_input/screen/human_qrels.parquet", people)


def check_published(folder: Path, people: list[Person]) -> None:
    given = {
        (query, doc, person.name, grade, origin)
        for person in people
        for (query, doc, origin), (_, grade) in person.standing.items()
    }
    assert len(given) == 4 * (10 + 1)
    judgments = pd.read_parquet(folder / "judgments.parquet").astype(object)
    rows = judgments.where(judgments.notna(), None).itertuples(index=False, name=None)
    assert sorted(rows, key=str) == sorted(given, key=str)
    released = pd.read_csv(folder / "raw_human_eval.csv", dtype={"QUERY_KEY": str})
    assert sorted(released.itertuples(index=False, name=None)) == sorted(
        (query, doc, grade, name) for query, doc, name, grade, _ in given if grade is not None
    )


def check_export(path: Path, people: list[Person]) -> None:
    """Compare every click, also those of a changed mind, and whether it stands."""
    with zipfile.ZipFile(path) as archive:
        answers = [json.loads(line) for line in archive.read("answers.jsonl").splitlines()]
    names = ("query_id", "doc_id", "origin", "choice", "grade")
    for person in people:
        own = [answer for answer in answers if answer["annotator"] == person.name]
        # Suggestions stand behind all answers.
        clicks = sorted(person.clicks, key=lambda click: click[2] == "suggested")
        assert [tuple(answer[name] for name in names) for answer in own] == clicks
        assert [answer["counts"] for answer in own] == [True] * 4 + [False] + [True] * 7
        assert all(answer["seconds"] > 0 for answer in own if answer["origin"] == "pool")
    times = pd.DataFrame(answers).groupby("annotator")["answered_at"].agg(["min", "max"])
    assert times["min"].max() < times["max"].min(), "they did not judge at the same time"


def check_qrels(path: Path, people: list[Person]) -> None:
    """Compare with means worked out from the clicks; 0.5 and 1.5 go to the even number."""
    expected = {}
    grades = defaultdict(list)
    for person in people:
        for (query, doc, _), (_, grade) in person.standing.items():
            if grade is not None:
                expected[person.name, query, doc] = grade
                grades[query, doc].append(grade)
    assert max(map(len, grades.values())) > 2
    expected |= {("reference", *pair): round(sum(g) / len(g)) for pair, g in grades.items()}
    qrels = pd.read_parquet(path)
    own = qrels[qrels["qrels"].isin(["reference", *KEYS])]
    assert own.set_index(["qrels", "query_id", "doc_id"])["grade"].to_dict() == expected
