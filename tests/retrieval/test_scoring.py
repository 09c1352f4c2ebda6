"""Every pair is scored once, in batches that don't depend on what is stored already."""

import io
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.scores import ScoreStore
from normastcu.retrieval.scoring import Pair, StoredScorer

PAIRS = [Pair(f"q{n % 2}", "x" * (n % 5) + str(n)) for n in range(11)]


class Recorder:
    """Scores by length, and keeps the batches; ends like a killed process where told to."""

    def __init__(self, ends_after=None):
        self.batches = []
        self._ends_after = ends_after

    def scores(self, pairs):
        if len(self.batches) == self._ends_after:
            raise KeyboardInterrupt
        self.batches.append(list(pairs))
        return np.array([len(query) / 7 + len(text) / 3 for query, text in pairs])


@pytest.fixture
def store(tmp_path):
    with ScoreStore(tmp_path / "scores.sqlite") as store:
        yield store


def stored(scorer, store, batch_size=4, identity="model"):
    console = Console(file=io.StringIO())
    return StoredScorer("tiny", identity, lambda: scorer, store, batch_size, console)


def test_scores_are_in_the_order_of_the_pairs_and_batches_longest_first(store):
    recorder = Recorder()
    scores = stored(recorder, store).scores(PAIRS)
    np.testing.assert_array_equal(scores, Recorder().scores(PAIRS))
    assert [len(batch) for batch in recorder.batches] == [4, 4, 3]
    lengths = [len(pair.query) + len(pair.text) for batch in recorder.batches for pair in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_a_second_run_scores_nothing_and_loads_no_model(store):
    first = stored(Recorder(), store).scores(PAIRS)
    untouched = StoredScorer("tiny", "model", _never, store, 3, Console(file=io.StringIO()))
    np.testing.assert_array_equal(untouched.scores(PAIRS), first)
    assert untouched.scores([]).tolist() == []


def _never():
    raise AssertionError("the model was loaded")


def test_a_pair_that_comes_twice_is_scored_once(store):
    recorder = Recorder()
    scores = stored(recorder, store).scores([PAIRS[0], PAIRS[1], PAIRS[0]])
    assert scores[0] == scores[2]
    assert sum(map(len, recorder.batches)) == 2


def test_only_what_changed_is_scored_anew(store):
    stored(Recorder(), store).scores(PAIRS)
    changed = [Pair("q0", "another text"), *PAIRS[1:]]
    recorder = Recorder()
    stored(recorder, store).scores(changed)
    assert recorder.batches == [[Pair("q0", "another text")]]
    recorder = Recorder()
    stored(recorder, store, identity="other weights").scores(PAIRS)
    assert sum(map(len, recorder.batches)) == len(PAIRS)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 5), st.integers(1, 12))
def test_a_run_that_was_ended_goes_on_with_the_same_batches(tmp_path_factory, ends_after, size):
    folder = tmp_path_factory.mktemp("scores")
    undisturbed, first, second = Recorder(), Recorder(ends_after), Recorder()
    with ScoreStore(folder / "undisturbed") as store:
        stored(undisturbed, store, size).scores(PAIRS)
    with ScoreStore(folder / "ended") as store:
        try:
            stored(first, store, size).scores(PAIRS)
        except KeyboardInterrupt:
            stored(second, store, size).scores(PAIRS)
    assert first.batches + second.batches == undisturbed.batches


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_an_error_and_not_stored(store, wrong):
    class Broken:
        def scores(self, pairs):
            return np.array([wrong] * len(pairs))

    with pytest.raises(RetrievalError, match="tiny gives a score that is no number to a text of"):
        stored(Broken(), store).scores(PAIRS)
    assert store.count() == 0


def test_the_log_says_how_much_is_new_and_no_word_of_a_text(store, caplog):
    caplog.set_level(logging.INFO)
    stored(Recorder(), store).scores(PAIRS[:3])
    stored(Recorder(), store).scores(PAIRS)
    assert "tiny: 11 pairs, 3 of them scored before." in caplog.messages
    assert not any("xx" in message for message in caplog.messages)
