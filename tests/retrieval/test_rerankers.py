"""Rerankers from their settings: what is kept, and what a killed process leaves."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
import torch
from tests.retrieval.rerank_job import N_DOCUMENTS, QUERIES, rerank
from tests.retrieval.tiny_rerankers import save_cross_encoder, save_seq2seq

from normastcu.retrieval import rerankers
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import locate_model
from normastcu.retrieval.rerankers import identity, open_reranker
from normastcu.retrieval.scores import ScoreStore
from normastcu.retrieval.scoring import Pair
from normastcu.retrieval.settings import CrossEncoderReranker, LexicalReranker, Seq2SeqReranker

N_PAIRS = len(QUERIES) * N_DOCUMENTS
PAIRS = [Pair("pagamento", "pagamento de diárias"), Pair("pagamento", "licença")]


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    return save_seq2seq(tmp_path_factory.mktemp("models") / "t5")


@pytest.fixture
def _one_thread(monkeypatch):
    """Let torch use one thread here and in child processes: more only wait for each other."""
    threads = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def n_stored(path):
    """Return how many scores another process has stored so far."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM scores").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.usefixtures("_one_thread")
def test_a_process_killed_while_it_reranks_goes_on_to_the_same_run(
    t5, tmp_path, project_root, monkeypatch
):
    path = tmp_path / "killed.sqlite"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.retrieval.rerank_job", str(t5), str(path)],
        cwd=project_root,
        env=os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while n_stored(path) < 10:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
    left = n_stored(path)
    assert 10 <= left < N_PAIRS
    assert left % 2 == 0, "a batch is stored as a whole"
    run = rerank(str(t5), path)
    undisturbed = rerank(str(t5), tmp_path / "undisturbed.sqlite")
    pd.testing.assert_frame_equal(run, undisturbed, rtol=1e-6)
    assert n_stored(path) == n_stored(tmp_path / "undisturbed.sqlite") == N_PAIRS
    monkeypatch.setattr(rerankers, "Seq2SeqScorer", _never)
    pd.testing.assert_frame_equal(rerank(str(t5), path), run)


def _never(*_):
    raise AssertionError("a model was loaded although every score is stored")


def test_changed_weights_are_scored_anew(t5, tmp_path):
    scores = {}
    with ScoreStore(tmp_path / "s") as store:
        for folder in (t5, save_seq2seq(tmp_path / "other", seed=1)):
            settings = Seq2SeqReranker(name="t5", model=str(folder), yes="yes", no="no")
            scores[folder] = open_reranker(settings, store).scores(PAIRS).tolist()
        assert store.count() == 2 * len(PAIRS)
    first, other = scores.values()
    assert set(first).isdisjoint(other)


def test_a_cross_encoder_is_stored_too(tmp_path, monkeypatch):
    folder = save_cross_encoder(tmp_path / "bert")
    settings = CrossEncoderReranker(name="bert", model=str(folder))
    with ScoreStore(tmp_path / "s") as store:
        scores = open_reranker(settings, store).scores(PAIRS)
        assert scores[0] != scores[1]
        monkeypatch.setattr(rerankers, "CrossEncoderScorer", _never)
        np.testing.assert_array_equal(open_reranker(settings, store).scores(PAIRS), scores)


def test_the_lexical_reranker_needs_no_store(tmp_path):
    with ScoreStore(tmp_path / "s") as store:
        scorer = open_reranker(LexicalReranker(name="lexical"), store)
        assert scorer.scores(PAIRS).tolist() == [1.5, 0.0]
        assert store.count() == 0


def test_a_model_that_is_not_there_fails_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    settings = CrossEncoderReranker(name="bert", model="owner/nowhere", revision="v1")
    with (
        ScoreStore(tmp_path / "s") as store,
        pytest.raises(RetrievalError, match=r"'owner/nowhere' \(revision v1\) was not found"),
    ):
        open_reranker(settings, store)


def test_the_identity_holds_what_changes_a_score_and_nothing_else(t5):
    located = locate_model(str(t5))
    given = {"name": "a", "model": str(t5), "yes": "▁yes", "no": "▁no"}
    usual = identity(Seq2SeqReranker(**given), located)
    same = Seq2SeqReranker(**given | {"name": "b", "batch_size": 64})
    assert identity(same, located) == usual
    for change in ({"yes": "sim"}, {"max_length": 256}, {"template": "{query} {document}"}):
        assert identity(Seq2SeqReranker(**given | change), located) != usual
