"""MLflow's own screen on the runs of judges: sorted by a tau, two compared, kappa against tau."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
from mlflow.tracking import MlflowClient
from playwright.sync_api import BrowserContext, Page

from normastcu.tracking.records import JudgeRecord
from normastcu.tracking.runs import Parent, write_judge

JUDGES = {"careful": (0.82, 0.95), "hasty": (0.41, 0.62), "lucky": (0.35, 0.88)}
TAU = "tau_b.P_10"
KAPPA = "kappa_reference"
STARTED = "Application startup complete"
LONG_S = 120
QUIET = {
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


def no_files(folder: Path) -> None:
    """Make none."""


def write_store(folder: Path) -> str:
    """Track three judges and one without a tau, in the order of their names; return the store."""
    store = f"sqlite:///{folder / 'mlflow.db'}"
    client = MlflowClient(store)
    experiment = client.create_experiment("normastcu", (folder / "artifacts").as_uri())
    parent = Parent(client.create_run(experiment, run_name="comparison").info.run_id, experiment)
    numbers = {name: {KAPPA: kappa, TAU: tau} for name, (kappa, tau) in JUDGES.items()}
    for name, metrics in {**numbers, "mute": {KAPPA: 0.1}}.items():
        record = JudgeRecord(name, {"model": f"{name}-1"}, metrics, {}, identity=name)
        write_judge(client, parent, record, no_files)
    client.set_terminated(parent.run_id)
    return store


@contextmanager
def served(folder: Path, store: str) -> Iterator[str]:
    """Yield the address of MLflow's server on a store."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1", "--backend-store-uri", store]
    said = folder / "server.log"
    with said.open("w") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | QUIET,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started = threading.Event()
        reader = threading.Thread(target=read_along, args=(server, log, started), daemon=True)
        reader.start()
        try:
            assert started.wait(LONG_S), f"MLflow's server did not start: {said.read_text()}"
            yield f"http://127.0.0.1:{port}"
        finally:
            # The server has workers of its own, which end with their group.
            os.killpg(server.pid, signal.SIGTERM)
            reader.join(LONG_S)
            server.communicate()


def read_along(server: subprocess.Popen[str], log: TextIO, started: threading.Event) -> None:
    """Keep what the server prints, so that it never waits for a reader; say when it answers."""
    assert server.stdout is not None
    for line in server.stdout:
        log.write(line)
        if STARTED in line:
            log.flush()
            started.set()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of MLflow's server on a store with three judges."""
    folder = tmp_path_factory.mktemp("tracked")
    with served(folder, write_store(folder)) as address:
        yield address


@pytest.fixture
def page(contexts: Callable[..., BrowserContext], address: str) -> Iterator[Page]:
    """Return the runs of the experiment, as somebody sees them who comes for the first time."""
    context = contexts(viewport={"width": 1600, "height": 900})
    context.set_default_timeout(LONG_S * 1000)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(f"{address}/#/experiments/1/runs")
    page.get_by_role("link", name="comparison").wait_for()
    # An assistant takes a third of the width at the first visit.
    page.get_by_role("button", name="Close", exact=True).click()
    yield page
    assert [url for url in asked if not url.startswith((f"{address}/", "data:", "blob:"))] == []


def sort_by(page: Page, metric: str) -> None:
    """Choose a metric in the menu `Sort`."""
    page.get_by_role("button", name="Sort:").click()
    page.get_by_placeholder("Search", exact=True).fill(metric)
    page.get_by_role("menuitemcheckbox", name=metric, exact=True).click()
    page.get_by_role("button", name=f"Sort: {metric}").wait_for()


def show_column(page: Page, name: str) -> None:
    """Tick a column in the menu `Columns`; the one that is sorted by is there already."""
    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_placeholder("Search columns").fill(name)
    page.get_by_role("dialog").get_by_text(name, exact=True).first.click()
    page.keyboard.press("Escape")


def rows(page: Page) -> list[str]:
    """Return the texts of the table's rows, from the top; a row consists of several parts."""
    parts: dict[int, str] = {}
    for part in page.locator("[role=row][row-index]:has([role=gridcell])").all():
        index = int(part.get_attribute("row-index") or 0)
        parts[index] = f"{parts.get(index, '')} {part.inner_text()}"
    return [parts[index] for index in sorted(parts)]


def choose(page: Page, axis: str, metric: str) -> None:
    """Choose what an axis of the scatter plot shows."""
    page.locator(f"#{axis}-axis-selector").click()
    page.get_by_role("option", name=metric, exact=True).click()


def test_the_table_is_sorted_by_a_tau_and_the_undefined_comes_last(page: Page):
    sort_by(page, TAU)
    show_column(page, KAPPA)
    page.get_by_role("gridcell", name="0.82", exact=True).wait_for()
    page.get_by_role("gridcell", name="0.95", exact=True).wait_for()
    names = "|".join([*JUDGES, "mute", "comparison"])
    shown = rows(page)
    found = [match.group() for row in shown if (match := re.search(names, row))]
    assert found[:3] == ["careful", "lucky", "hasty"]
    assert set(found[3:]) == {"mute", "comparison"}
    assert all(tau in row for tau, row in zip(("0.95", "0.88", "0.62"), shown[:3], strict=True))


def test_two_judges_are_compared_and_kappa_is_drawn_against_tau(page: Page):
    sort_by(page, TAU)
    page.get_by_role("link", name="lucky").wait_for()
    for name in ("careful", "lucky"):
        row = page.locator("[role=row]").filter(has=page.get_by_role("link", name=name))
        row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Comparing 2 Runs").wait_for()
    page.get_by_role("tab", name="Scatter Plot").click()
    for text in ("careful-1", "lucky-1"):
        page.locator("span").get_by_text(text, exact=True).wait_for()
    choose(page, "x", KAPPA)
    choose(page, "y", TAU)
    page.locator(".js-plotly-plot .ytitle").filter(has_text=TAU).wait_for()
    plot = page.locator(".js-plotly-plot").first
    drawn = plot.evaluate("plot => plot.data[0].x.map((x, i) => [x, plot.data[0].y[i]])")
    assert sorted(map(tuple, drawn)) == [JUDGES["lucky"], JUDGES["careful"]]
