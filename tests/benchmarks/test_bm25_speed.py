"""Eight BM25 systems on a corpus as large as NormasTCU: ours, bm25s and plain Python.

Each way is a process of its own, timed from its start to its end; figures are printed. bm25s
tokenizes each representation once, with its Portuguese stopwords and PyStemmer's Snowball stemmer;
plain Python splits at blanks. A corpus several times as large:
NORMASTCU_BM25_SCALE=4 pytest -s tests/benchmarks/test_bm25_speed.py (from 16 on without plain
Python).
"""

import json
import os
import subprocess
import sys
import time

import pytest
from tests.benchmarks.generated_texts import QUERIES, write_texts

SCALE = int(os.environ.get("NORMASTCU_BM25_SCALE", "1"))
WAYS = ("lucene", "bm25s", "plain") if SCALE < 16 else ("lucene", "bm25s")
MOST_MIB = 2048
SYSTEMS = 8
DEPTH = 1000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write the generated texts."""
    folder = tmp_path_factory.mktemp("texts")
    write_texts(folder, SCALE)
    return folder


def measured(way, corpus, project_root, work):
    """Run one way in its own process; return its seconds and what it told."""
    command = [sys.executable, "-m", "tests.benchmarks.bm25_ways", way, str(corpus), str(work)]
    paths = f"{project_root / 'src'}:{project_root}"
    start = time.perf_counter()
    result = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=project_root,
        env=os.environ | {"PYTHONPATH": paths},
    )
    seconds = time.perf_counter() - start
    return seconds, json.loads(result.stdout.splitlines()[-1])


def show(way, seconds, told):
    processor = sum(own for _, own in told["stages"].values())
    print(f"{way}: {seconds:.1f} s ({processor:.1f} s of processor), {told['peak_mib']:.0f} MiB")
    for stage, (wall, own) in told["stages"].items():
        print(f"  {stage:20} {wall:7.2f} s ({own:.2f} s)")


@pytest.mark.benchmark(group="bm25")
def test_eight_systems_beside_bm25s_and_plain_python(benchmark, corpus, project_root, tmp_path):
    results = {}

    def all_ways():
        for way in WAYS:
            (tmp_path / way).mkdir()
            results[way] = measured(way, corpus, project_root, tmp_path / way)

    benchmark.pedantic(all_ways, rounds=1)
    size = (corpus / "documents.parquet").stat().st_size / 1e6
    print(f"\n{SCALE} x 98 million characters, {size:.0f} MB of parquet")
    for way, (seconds, told) in results.items():
        show(way, seconds, told)
    for _, told in results.values():
        assert len(told["n"]) == SYSTEMS
        assert min(told["n"].values()) > QUERIES * DEPTH * 0.9
    seconds, told = results["lucene"]
    assert seconds <= results["bm25s"][0]
    assert told["peak_mib"] < MOST_MIB
