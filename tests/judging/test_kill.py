"""A job that is killed again and again ends as if nothing had happened, and pays once.

The size can be set: NORMASTCU_KILL_PAIRS=2000 NORMASTCU_KILLS=20 pytest tests/judging/test_kill.py
"""

import logging
import os
import random
import signal
import subprocess
import sys
import time
from bisect import bisect
from contextlib import contextmanager
from functools import partial

from tests.judging.asking import requests
from tests.judging.judge_job import judge_pairs
from tests.judging.loopback_llm import grade_of, llm_process

from normastcu.judging.store import ReplyStore

LOGGER = logging.getLogger(__name__)
PAIRS = int(os.environ.get("NORMASTCU_KILL_PAIRS", "300"))
KILLS = int(os.environ.get("NORMASTCU_KILLS", "3"))
THREADS = 8
LATENCY_S = 0.03
INTERRUPTED_WITHIN_S = 2
DURABLE_AFTER_S = 1
"""A reply that the server sent so long before a kill is on the disk."""


@contextmanager
def job(project_root, base_url, path, pairs):
    """Run the judge in a process; what it logs is in `stderr`."""
    command = [sys.executable, "-m", "tests.judging.judge_job"]
    with subprocess.Popen(
        [*command, base_url, str(path), str(pairs), str(THREADS)],
        cwd=project_root,
        env=os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_calls(server, calls, process):
    while server.counts()["calls"] < calls:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)


def repeated(answered):
    """Return the calls that were made again later."""
    ordered = sorted(answered, key=lambda call: call[1])
    last = {text: came for text, came, _ in ordered}
    return [call for call in ordered if call[1] != last[call[0]]]


def end_of_job(starts, kills, came):
    """Return when the job that made a call was killed; the last one is not."""
    return [*kills, float("inf")][bisect(starts, came) - 1]


def grades(path):
    """Return the grade under each key, and the keys in the order of their records."""
    with ReplyStore(path) as store:
        attempts = list(store.attempts())
    return {one.key: one.grade for one in attempts}, [one.key for one in attempts]


def test_a_job_killed_at_random_moments_equals_an_undisturbed_one(project_root, tmp_path):
    path, chance = tmp_path / "killed.db", random.Random(20260)
    key_of = {one.messages[1]["content"]: one.key for one in requests(PAIRS)}
    starts, kills = [], []
    with llm_process("graded", LATENCY_S) as server:
        for calls in sorted(chance.sample(range(1, PAIRS), KILLS)):
            starts.append(time.time())
            with job(project_root, server.base_url, path, PAIRS) as process:
                wait_for_calls(server, calls, process)
                time.sleep(chance.random() * LATENCY_S)
                kills.append(time.time())
                process.send_signal(signal.SIGKILL)
                process.wait()
            stored = grades(path)[0]
            lost = {
                text
                for text, came, answered in server.answered()
                if starts[-1] < came
                and answered < kills[-1] - DURABLE_AFTER_S
                and key_of[text] not in stored
            }
            assert lost == set()
        starts.append(time.time())
        judge_pairs(server.base_url, path, PAIRS, THREADS)
        calls = server.counts()["calls"]
        judge_pairs(server.base_url, path, PAIRS, THREADS)
        assert server.counts()["calls"] == calls
        answered = server.answered()
    with llm_process("graded") as server:
        judge_pairs(server.base_url, tmp_path / "undisturbed.db", PAIRS, THREADS)
    again = repeated(answered)
    # The server may come to a call of a killed process only after the kill.
    killed_at = partial(end_of_job, starts, kills)
    in_flight = sum(killed_at(came) < end for _, came, end in answered)
    LOGGER.warning(
        "%d pairs, %d kills: %d calls made again, %d in flight at a kill",
        PAIRS,
        KILLS,
        len(again),
        in_flight,
    )
    # What was answered in the last moment may not have reached the disk, so it is asked again too.
    for _, came, end in again:
        assert killed_at(came) < end + DURABLE_AFTER_S
    final, records = grades(path)
    assert final == grades(tmp_path / "undisturbed.db")[0]
    assert final == {key: grade_of(text) for text, key in key_of.items()}
    assert len(records) == PAIRS
    assert calls <= PAIRS + KILLS * THREADS


def test_ctrl_c_ends_within_two_seconds_and_keeps_what_was_answered(project_root, tmp_path):
    """The best of three tries counts: other work on the machine only adds to the time."""
    seconds = []
    for attempt in range(3):
        seconds.append(interrupt(project_root, tmp_path / f"replies-{attempt}.db"))
        if seconds[-1] < INTERRUPTED_WITHIN_S:
            return
    assert min(seconds) < INTERRUPTED_WITHIN_S


def interrupt(project_root, path):
    """Interrupt a job with calls under way, look at what it leaves, return how long it took."""
    with (
        llm_process("half_answered") as server,
        job(project_root, server.base_url, path, 100) as process,
    ):
        wait_for_calls(server, 2 * THREADS - 1, process)
        while server.counts()["in_flight"] < THREADS:
            time.sleep(0.005)
        interrupted = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
        seconds = time.monotonic() - interrupted
        said = process.stderr.read()
        answered = len(server.answered())
    assert "the same command goes on where it stopped" in said
    assert len(grades(path)[1]) == answered > 0
    return seconds
