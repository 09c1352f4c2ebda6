"""A run that is killed while it encodes, indexes and reranks ends as if nothing had happened."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
import yaml
from tests.end_to_end.hostile_world import write_quoted
from tests.end_to_end.projects import enter_project
from tests.retrieval.loopback_embeddings import LoopbackEmbeddings, Vectors
from tests.retrieval.tiny_rerankers import DOCUMENTS, WORDS, save_seq2seq

N_DOCUMENTS = 1500
DEPTH = 60
QUERIES = [("1", "pagamento de diárias"), ("01", "licença e férias"), ("q", "zzz")]
ANSWERED = 5
# On a busy machine the threads of a tiny model wait for each other longer than they work.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
COMMAND = ("-m", "kedro", "run", "--env", "test", "--pipelines", "retrieval_runs")


def write_collection(raw) -> None:
    """Write documents long enough that indexing takes a while, and queries."""
    rows = [
        (f"d{n}", f"<p>{DOCUMENTS[n % 4]} {WORDS[n % len(WORDS)]} {n} " * (5 + n % 40) + "</p>")
        for n in range(N_DOCUMENTS)
    ]
    write_quoted(raw / "docs.csv", ["id", "body"], rows)
    write_quoted(raw / "query.csv", ["query_id", "text"], QUERIES)
    for name in ("labels", "runs"):
        shutil.rmtree(raw / name)
    (raw / "raw_human_eval.csv").write_text("query_id,doc_id,annotator,grade\n1,d0,Ana,3\n")


def configure(project, base_url: str, model: str) -> None:
    """Let the environment encode by a service and rerank with a tiny model, a pair at a time."""
    rerank = {"kind": "rerank", "family": "t5", "first": "S_2", "depth": DEPTH}
    library = {
        "encoders": {
            "api": {"kind": "api", "model": "m", "base_url": base_url, "max_tokens": 8192}
        },
        "rerankers": {
            "t5": {"kind": "seq2seq", "model": model, "yes": "▁yes", "no": "▁no", "batch_size": 1}
        },
        "systems": {
            "by_api": {"kind": "dense", "family": "api", "encoder": "api", "fields": ["text"]},
            "reranked": rerank | {"reranker": "t5", "fields": ["text"]},
        },
    }
    folder = project / "conf" / "test"
    (folder / "systems.yml").write_text(yaml.safe_dump(library))
    active = ["S_1", "S_2", "svd_text", "by_api", "reranked"]
    (folder / "parameters_retrieval_runs.yml").write_text(
        yaml.safe_dump({"active_systems": active})
    )
    (folder / "parameters_pooling.yml").unlink()
    parameters = yaml.safe_load((folder / "parameters_ingestion.yml").read_text())
    parameters["documents"]["chunk_size"] = 100
    parameters["assessor_judgments"]["assessors"] = ["Ana"]
    parameters.pop("imported_judges")
    (folder / "parameters_ingestion.yml").write_text(yaml.safe_dump(parameters))
    globals_file = folder / "globals.yml"
    stated = yaml.safe_load(globals_file.read_text())
    globals_file.write_text(yaml.safe_dump(stated | {"judge_labels": None, "external_runs": None}))


def run_until(root, log, reached) -> None:
    """Run the pipeline in a process of its own; kill it once something has appeared on the disk."""
    with (
        log.open("w") as stream,
        subprocess.Popen(
            [sys.executable, *COMMAND],
            cwd=root,
            env=os.environ | ONE_THREAD,
            stdout=stream,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        while not reached():
            assert process.poll() is None, log.read_text()
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def run_to_the_end(root) -> None:
    done = subprocess.run(
        [sys.executable, *COMMAND],
        cwd=root,
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def n_scores(root) -> int:
    """Return how many scores are stored."""
    path = root / "data/01_raw/test/reranker_scores.sqlite"
    if not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return store.execute("select count(*) from scores").fetchone()[0]
    except sqlite3.OperationalError:  # the table is not made yet
        return 0


def outcome(root) -> dict[str, bytes]:
    """Return every file of runs."""
    folder = root / "data/07_model_output/test"
    paths = [folder / "runs.parquet", *folder.glob("runs/*.run"), *folder.glob("systems/*/run.*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture
def projects(kedro_run, project, world, tmp_path, monkeypatch):
    """Return two projects with the same documents, before anything was searched, and a server."""
    write_collection(world)
    model = save_seq2seq(tmp_path / "t5")
    with LoopbackEmbeddings(Vectors()) as server:
        configure(project, server.base_url, str(model))
        kedro_run("ingestion", "human_qrels", env="test")
        other = tmp_path / "other"
        shutil.copytree(project, other)
        enter_project(other, monkeypatch)
        yield project, other, server


def test_a_run_killed_in_three_places_ends_like_an_undisturbed_one(projects, tmp_path):
    killed, undisturbed, server = projects
    vectors, indexes = (
        killed / "data/01_raw/test/vectors",
        killed / "data/05_model_input/test/lucene",
    )
    log = tmp_path / "killed.log"

    server.answer(lambda call: Vectors() if call.number < ANSWERED else Vectors(latency=600))
    run_until(killed, log, lambda: len(list(vectors.glob("api-*/*.npy"))) == ANSWERED)
    assert not indexes.exists()

    server.answer(Vectors())
    run_until(killed, log, lambda: any(indexes.glob(".unfinished.*/*/*")))
    assert not list(indexes.glob("[!.]*"))
    encoded_before = len(server.texts)
    assert 0 < encoded_before < N_DOCUMENTS

    run_until(killed, log, lambda: n_scores(killed) > 2)
    n_before = n_scores(killed)
    assert 2 < n_before < 2 * DEPTH
    assert not (killed / "data/07_model_output/test/runs").exists()

    run_to_the_end(killed)
    assert len(server.texts) == encoded_before, "nothing is encoded twice"
    run_to_the_end(undisturbed)
    assert n_scores(killed) == n_scores(undisturbed) == 2 * DEPTH
    expected = outcome(undisturbed)
    assert len(expected) == 1 + 5 + 5
    assert outcome(killed) == expected
