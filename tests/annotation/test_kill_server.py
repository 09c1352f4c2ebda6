"""A server that is killed while people judge loses nothing it confirmed, stores nothing twice.

In the large: NORMASTCU_SERVER_KILLS=20 NORMASTCU_SERVER_JUDGMENTS=250 pytest -s
tests/annotation/test_kill_server.py
"""

import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

import httpx
import pytest
from tests.annotation.campaigns import id_of, prepare, tasks_of
from tests.annotation.served import ServedScreen, serve_campaign, signed_in

from normastcu.annotation.store import AnnotationStore

KILLS = int(os.environ.get("NORMASTCU_SERVER_KILLS", "2"))
FULL_SIZE = "NORMASTCU_SERVER_JUDGMENTS" in os.environ
"""Whether the load must reach its rate; in the default size a busy machine may be slower."""
JUDGMENTS = int(os.environ.get("NORMASTCU_SERVER_JUDGMENTS", "40"))
"""Confirmed before each kill."""
A_SECOND = 50
"""The rate that the load must reach."""
PACE = 60
"""Judgments sent a second: more, because the first and the last confirmation take their time."""
BROWSERS = 5


@dataclass
class Load:
    """People who judge, together so many pairs a second; what is not confirmed is sent again."""

    confirmed: list[tuple[str, int, int]] = field(default_factory=list)
    unconfirmed: int = 0
    _turns: Counter[int] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)
    _enough: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _waiting: dict[int, tuple[str, int, int]] = field(default_factory=dict)

    def until_killed(
        self, server: ServedScreen, browsers: list[tuple[httpx.Client, list[int]]]
    ) -> float:
        """Judge until enough was confirmed, kill the server; return judgments a second."""
        self._stop.clear()
        began, before = time.perf_counter(), len(self.confirmed)
        threads = [
            threading.Thread(target=self._judge, args=(number, client, pairs, began))
            for number, (client, pairs) in enumerate(browsers)
        ]
        for thread in threads:
            thread.start()
        for _ in range(JUDGMENTS):
            assert self._enough.acquire(timeout=120)
        rate = (len(self.confirmed) - before) / (time.perf_counter() - began)
        server.stop()
        self._stop.set()
        for thread in threads:
            thread.join()
        while self._enough.acquire(blocking=False):
            pass
        return rate

    def _judge(self, number: int, client: httpx.Client, pairs: list[int], began: float) -> None:
        for turn in count():
            due = began + (turn * BROWSERS + number) / PACE
            if self._stop.wait(max(0.0, due - time.perf_counter())):
                return
            judgment = self._waiting.get(number) or self._new(number, pairs)
            self._waiting[number] = judgment
            try:
                self._send(client, *judgment)
            except httpx.TransportError:
                self.unconfirmed += 1
                return
            del self._waiting[number]
            self.confirmed.append(judgment)
            self._enough.release()

    def _new(self, number: int, pairs: list[int]) -> tuple[str, int, int]:
        turn = self._turns[number]
        self._turns[number] += 1
        return f"browser-{number}-{turn}", pairs[turn % len(pairs)], (turn + number) % 3

    @staticmethod
    def _send(client: httpx.Client, submission_id: str, pair: int, grade: int) -> None:
        answer = client.post(
            f"/pair/{pair}/answer",
            json={
                "choice": "grade",
                "grade": grade,
                "seconds": 1.5,
                "submission_id": submission_id,
            },
        )
        assert answer.status_code == 200, answer.text
        assert answer.json()["saved"]


@pytest.fixture
def served(tmp_path, project_root):
    """Return a campaign, a server in its own process, and a browser each for its assessors."""
    path = tmp_path / "annotation.sqlite"
    with AnnotationStore(path) as store:
        tokens = store.add_people([f"A_{number}" for number in range(BROWSERS)])
        prepare(store)
        server = serve_campaign(project_root, path)
        browsers = [
            (
                signed_in(server.address, token),
                [task.pair_id for task in tasks_of(store, id_of(store, name))],
            )
            for name, token in tokens.items()
        ]
        yield store, server, browsers
        server.stop()
        for client, _ in browsers:
            client.close()


def test_every_confirmed_judgment_is_there_once_after_kills_of_the_server(served):
    store, server, browsers = served
    load = Load()
    rates = []
    for _ in range(KILLS):
        rates.append(load.until_killed(server, browsers))
        server.start()
    load.until_killed(server, browsers)  # what waited at the last kill is sent again
    with store.database.reading() as connection:
        events = connection.exec_driver_sql(
            "SELECT submission_id, pair, grade FROM events ORDER BY id"
        ).all()
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    stored = [tuple(event) for event in events]
    sys.stdout.write(
        f"\n{KILLS} kills at {min(rates):.0f} to {max(rates):.0f} judgments a second:"
        f" {len(load.confirmed)} confirmed, {load.unconfirmed} cut off,"
        f" {len(set(load.confirmed) - set(stored))} lost,"
        f" {len(stored) - len(set(stored))} stored twice\n"
    )
    assert set(load.confirmed) <= set(stored)
    assert len({name for name, _, _ in stored}) == len(stored)
    assert len(stored) - len(load.confirmed) <= BROWSERS
    counted = sum(
        row.n_answered for number in range(BROWSERS) for row in store.progress(number + 1)
    )
    assert counted == BROWSERS * len(browsers[0][1])
    if FULL_SIZE:
        assert min(rates) >= A_SECOND, f"the load was {min(rates):.1f} judgments a second"
