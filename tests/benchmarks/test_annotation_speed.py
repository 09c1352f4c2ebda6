"""Pages of the assessment screen in a large campaign, beside a static file of the same server."""

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import pytest
from tests.annotation.served import ServedScreen, serve_campaign, signed_in
from tests.benchmarks.large_campaign import ADMINISTRATOR, NAMES, make_campaign

from normastcu.annotation.store import AnnotationStore

PAIRS = int(os.environ.get("NORMASTCU_BENCHMARK_PAIRS", "200000"))
REQUESTS = 200
SECONDS_AT_ONCE = 20
TARGET_MS = 100
STATIC = "/static/screen.css"


@dataclass
class Campaign:
    database: Path
    server: ServedScreen
    people: list[httpx.Client]
    administrator: httpx.Client
    pairs: list[list[int]]

    def turn(self, number: int) -> tuple[httpx.Client, int]:
        """Return a person and one of their pairs, another one at each turn."""
        person = number % len(self.people)
        pairs = self.pairs[person]
        return self.people[person], pairs[number // len(self.people) % len(pairs)]


@dataclass
class Times:
    """Milliseconds of requests: on the clock, and of the server's processor."""

    wall: list[float]
    cpu: list[float]

    def __str__(self) -> str:
        described = (
            f"p50 {_percentile(numbers, 50):6.1f}  p95 {_percentile(numbers, 95):6.1f} ms"
            for numbers in (self.wall, self.cpu)
        )
        return "  processor ".join(described)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory, project_root):
    """Serve a campaign in which eight people have judged seven eighths of their pairs."""
    path = tmp_path_factory.mktemp("large") / "annotation.sqlite"
    start = time.perf_counter()
    tokens = make_campaign(path, PAIRS)
    print(f"\n{PAIRS:,} pairs, {len(NAMES)} people: made in {time.perf_counter() - start:.0f} s")
    with AnnotationStore(path) as store:
        pairs = [_open_pairs(store, tokens[name]) for name in NAMES]
    server = serve_campaign(project_root, path)
    people = [signed_in(server.address, tokens[name]) for name in NAMES]
    chief = signed_in(server.address, tokens[ADMINISTRATOR])
    del chief.headers["Accept"]
    yield Campaign(path, server, people, chief, pairs)
    server.stop()
    for client in (*people, chief):
        client.close()


def test_people_at_once_while_the_overview_is_computed(benchmark, campaign):
    """Everybody opens a pair and judges it, once a second each."""
    walls: list[float] = []
    began = time.perf_counter()

    def judge(person: int) -> None:
        for turn in count():
            due = began + turn + person / len(NAMES)
            if due - began > SECONDS_AT_ONCE:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            client, pair = campaign.turn(turn * len(NAMES) + person)
            start = time.perf_counter()
            assert client.get(f"/pair/{pair}").status_code == 200
            walls.append(1000 * (time.perf_counter() - start))
            answer(client, pair)

    def open_overview() -> None:
        start = time.perf_counter()
        assert campaign.administrator.get("/admin").status_code == 200
        print(f"\nthe first overview: {time.perf_counter() - start:.1f} s")

    threads = [threading.Thread(target=judge, args=(n,)) for n in range(len(NAMES))]
    threads.append(threading.Thread(target=open_overview))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    benchmark.pedantic(lambda: None)
    print(
        f"\n{len(NAMES)} people at once: a pair at p50 {_percentile(walls, 50):.1f}, p95 "
        f"{_percentile(walls, 95):.1f} ms; load average {os.getloadavg()[0]:.1f}"
    )


def test_pages_beside_a_static_file(benchmark, campaign):
    actions = {
        "static file": lambda client, _: client.get(STATIC),
        "pair": lambda client, pair: client.get(f"/pair/{pair}"),
        "progress": lambda client, _: client.get("/"),
        "document": lambda client, pair: client.get(f"/document/ATO-{pair % 20_000}"),
        "words marked": lambda client, pair: client.get(
            f"/document/ATO-{pair % 20_000}", params={"highlight": pair}
        ),
        "answer": answer,
        "search, rare": lambda client, pair: search(client, f"portaria {pair % 20_000}"),
        "search, common": lambda client, _: search(client, "portaria"),
    }
    campaign.administrator.get("/admin")
    times = {name: measured(campaign, action) for name, action in actions.items()}
    times["overview"] = measured(campaign, lambda _, __: campaign.administrator.get("/admin"))
    benchmark.pedantic(lambda: None)
    benchmark.extra_info |= {name: str(one) for name, one in times.items()}
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for name, one in times.items():
        print(f"{name:15s} {one}")
    slowest = max(_percentile(one.cpu, 95) for one in times.values())
    assert slowest < TARGET_MS


def test_a_person_is_added(benchmark, campaign):
    with AnnotationStore(campaign.database) as store:
        cpu = time.process_time()
        benchmark.pedantic(store.add_person, args=("late",), rounds=1)
        print(f"\na person added: {time.process_time() - cpu:.1f} s of the processor")
        assert store.person_of_token("late") is None


def answer(client: httpx.Client, pair: int) -> httpx.Response:
    return client.post(
        f"/pair/{pair}/answer",
        json={
            "choice": "grade",
            "grade": pair % 3,
            "seconds": 2.5,
            "submission_id": f"benchmark-{pair}-{time.perf_counter_ns()}",
        },
    )


def search(client: httpx.Client, text: str) -> httpx.Response:
    return client.get("/search", params={"q": text, "query": "1"})


def measured(campaign: Campaign, action: Callable[[httpx.Client, int], httpx.Response]) -> Times:
    times = Times([], [])
    for number in range(-10, REQUESTS):
        client, pair = campaign.turn(abs(number))
        cpu, wall = _processor_ms(campaign.server.pid), time.perf_counter()
        response = action(client, pair)
        wall = time.perf_counter() - wall
        assert response.status_code == 200, response.text
        if number >= 0:
            times.wall.append(1000 * wall)
            times.cpu.append(_processor_ms(campaign.server.pid) - cpu)
    return times


def _open_pairs(store: AnnotationStore, token: str) -> list[int]:
    person = store.person_of_token(token)
    assert person is not None
    task = store.next_open(person.id)
    assert task is not None
    part = store.progress_part(person.id, "first", task.query_position, task.query_position + 60)
    return [row.first_pair_id for row in part]


def _processor_ms(pid: int) -> float:
    """Return the processor's time that all threads of a process took so far (Linux)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


def _percentile(numbers: list[float], percent: int) -> float:
    return statistics.quantiles(numbers, n=100, method="inclusive")[percent - 1]
