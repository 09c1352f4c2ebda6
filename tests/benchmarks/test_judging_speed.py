"""The judging stage beside LangChain's own `batch` and a sequential loop, in the same run."""

import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from langchain_openai import ChatOpenAI
from tests.judging.asking import PROMPT, SCALE, attempt, model, requests
from tests.judging.loopback_llm import llm_process

from normastcu.judging.client import open_client
from normastcu.judging.runner import run_judge
from normastcu.judging.store import ReplyStore

THREADS = 32
PAIRS = int(os.environ.get("NORMASTCU_BENCHMARK_PAIRS", "3000"))
LATENCY_S = 0.5
ROUNDS = 5
DOCUMENT = "O servidor em regime de teletrabalho cumpre as metas fixadas pela chefia. " * 40
NO_KEY = "none"


def judge(server, path, pairs, text=""):
    """Ask for all pairs; return the seconds that the stage took, and the run."""
    settings = model(server.base_url, concurrency=THREADS)
    start = time.perf_counter()
    with ReplyStore(path) as store:
        run = run_judge(
            requests(pairs, text),
            lambda: open_client(settings, {}),
            store,
            settings,
            judge="tiny_simple",
            prompt=PROMPT,
            scale=SCALE,
            total=pairs,
        )
    return time.perf_counter() - start, run


def bare_calls(server, pairs, text=""):
    """Post the same messages from as many threads, read and store nothing; return the seconds."""
    address = f"{server.base_url}/chat/completions"
    with httpx.Client(timeout=20) as client, ThreadPoolExecutor(THREADS) as threads:
        start = time.perf_counter()
        for reply in threads.map(
            lambda one: client.post(address, json={"model": "tiny-1", "messages": one}),
            (list(one.messages) for one in requests(pairs, text)),
        ):
            assert reply.status_code == 200
        return time.perf_counter() - start


def test_rate_at_a_latency_beside_the_ideal(benchmark, tmp_path):
    ideal = THREADS / LATENCY_S
    with llm_process("graded", LATENCY_S) as server:
        bare = PAIRS / bare_calls(server, PAIRS, DOCUMENT)
    with llm_process("graded", LATENCY_S) as server:
        seconds, run = judge(server, tmp_path / "replies.db", PAIRS, DOCUMENT)
        again, second = judge(server, tmp_path / "replies.db", PAIRS, DOCUMENT)
        calls = server.counts()["calls"]
    benchmark.pedantic(lambda: None)
    rate = PAIRS / seconds
    benchmark.extra_info |= {
        "calls_per_second": rate,
        "of_the_ideal": rate / ideal,
        "bare_calls_per_second": bare,
    }
    print(
        f"\n{PAIRS} pairs, {LATENCY_S * 1000:.0f} ms, {THREADS} threads: {rate:.1f} calls/s, "
        f"{rate / ideal:.1%} of the ideal {ideal:.0f} (bare calls, nothing read or stored: "
        f"{bare / ideal:.1%}); a second run makes "
        f"{second.tally.calls} calls in {again:.2f} s"
    )
    assert run.tally.outcomes["ok"] == calls == PAIRS
    assert second.tally.calls == 0
    assert again < 5
    assert rate >= 0.95 * ideal


def test_rate_without_latency_beside_langchain(benchmark, tmp_path):
    count = 1000
    texts = [
        [(one["role"], one["content"]) for one in r.messages] for r in requests(count, DOCUMENT)
    ]
    rates = {"judging stage": [], "LangChain's batch": []}
    with llm_process("graded") as server:
        chat = ChatOpenAI(
            model="tiny-1",
            base_url=server.base_url,
            api_key=NO_KEY,
            max_retries=0,
            timeout=20,
        )

        def langchain():
            chat.batch(texts, config={"max_concurrency": THREADS})

        for number in range(ROUNDS + 1):  # the first round warms up
            start = time.perf_counter()
            langchain()
            rates["LangChain's batch"].append(count / (time.perf_counter() - start))
            seconds, run = judge(server, tmp_path / f"{number}.db", count, DOCUMENT)
            rates["judging stage"].append(count / seconds)
            assert run.tally.outcomes["ok"] == count
        start = time.perf_counter()
        for text in texts[:200]:
            chat.invoke(text)
        sequential = 200 / (time.perf_counter() - start)
    benchmark.pedantic(lambda: None)
    medians = {name: statistics.median(some[1:]) for name, some in rates.items()}
    ratio = medians["judging stage"] / medians["LangChain's batch"]
    benchmark.extra_info |= medians | {"sequential": sequential, "ratio": ratio}
    print(
        f"\nno latency, {THREADS} threads, median of {ROUNDS}: "
        + ", ".join(f"{name} {rate:.0f} calls/s" for name, rate in medians.items())
        + f" (ratio {ratio:.2f}), sequential loop {sequential:.0f}"
    )
    assert ratio >= 0.9


def test_hundred_thousand_stored_replies_are_passed_over(benchmark, tmp_path):
    count = 100_000
    first = attempt(0)
    with ReplyStore(tmp_path / "replies.db") as store:
        store.merge(replace(first, key=one.key) for one in requests(count))

    def again():
        start = time.perf_counter()
        with ReplyStore(tmp_path / "replies.db") as store:
            run = run_judge(
                requests(count),
                lambda: pytest.fail("a client was opened"),
                store,
                model(),
                judge="tiny_simple",
                prompt=PROMPT,
                scale=SCALE,
            )
        assert run.tally.known == count
        return time.perf_counter() - start

    seconds = benchmark.pedantic(again, rounds=1)
    print(f"\na run over {count:,} stored replies: {seconds:.1f} s, 0 calls")
    assert seconds < 15


PEAK = """
import sys
from pathlib import Path
from tests.benchmarks.peak import peak_mib
from tests.judging.judge_job import judge_pairs
judge_pairs(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), 32, sys.argv[4])
print(peak_mib())
"""


def test_memory_does_not_grow_with_the_pairs(benchmark, tmp_path, project_root):
    peaks = {}
    with llm_process("graded") as server:
        for pairs in (1_000, 20_000):
            command = [sys.executable, "-c", PEAK, server.base_url, str(tmp_path / f"{pairs}.db")]
            done = subprocess.run(
                [*command, str(pairs), DOCUMENT],
                cwd=project_root,
                env=os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
                capture_output=True,
                text=True,
                check=True,
            )
            peaks[pairs] = float(done.stdout)
    benchmark.pedantic(lambda: None)
    benchmark.extra_info |= {f"peak_mb_{pairs}": peak for pairs, peak in peaks.items()}
    print(f"\npeak memory: {', '.join(f'{n:,} pairs {mb:.0f} MB' for n, mb in peaks.items())}")
    assert peaks[20_000] - peaks[1_000] < 200
