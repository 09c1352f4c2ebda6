"""The store of scores: what was appended stays, and nothing else gets in."""

import sqlite3

import pytest

from normastcu.datasets.scores import ScoreStoreDataset
from normastcu.retrieval import scores
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.scores import ScoreStore, score_key, text_digest


def keys(n):
    return [text_digest(str(number)) for number in range(n)]


def test_scores_come_back_to_the_last_bit_after_the_store_was_closed(tmp_path):
    written = {key: -(0.1**number) for number, key in enumerate(keys(1_201))}
    with ScoreStore(tmp_path / "deep" / "scores.sqlite") as store:
        store.append(written)
        assert store.count() == 1_201
    with ScoreStore(tmp_path / "deep" / "scores.sqlite") as store:
        assert store.known([*keys(1_201), text_digest("unknown")]) == written
        assert store.known([]) == {}


def test_the_first_score_under_a_key_stays(tmp_path):
    (key,) = keys(1)
    with ScoreStore(tmp_path / "s") as first, ScoreStore(tmp_path / "s") as second:
        first.append({key: 1.0})
        second.append({key: 2.0})
        assert first.known([key]) == second.known([key]) == {key: 1.0}


@pytest.mark.parametrize("statement", ["UPDATE scores SET score = 2", "DELETE FROM scores"])
def test_a_score_is_never_changed(tmp_path, statement):
    with ScoreStore(tmp_path / "s") as store:
        store.append({keys(1)[0]: 1.0})
    other = sqlite3.connect(tmp_path / "s")
    with pytest.raises(sqlite3.IntegrityError, match="never changed or deleted"):
        other.execute(statement)
    other.close()


def test_a_batch_is_stored_as_a_whole_or_not_at_all(tmp_path):
    one, two = keys(2)
    with ScoreStore(tmp_path / "s") as store:
        with pytest.raises(RetrievalError, match="can't be written"):
            store.append({one: 1.0, two: None})
        assert store.count() == 0
        store.append({one: 1.0})
        assert store.count() == 1


def test_another_file_is_refused_and_left_as_it_is(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and longer than a header of SQLite would be " * 20)
    before = text.read_bytes()
    with pytest.raises(RetrievalError, match=r"notes\.txt can't be opened"):
        ScoreStore(text)
    assert text.read_bytes() == before
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with pytest.raises(RetrievalError, match="not a store of scores of this version"):
        ScoreStore(tmp_path / "other.sqlite")


def test_a_network_drive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scores, "network_type", lambda _: "nfs4")
    with pytest.raises(RetrievalError, match=r"network drive \(nfs4\)"):
        ScoreStore(tmp_path / "s")
    assert not list(tmp_path.iterdir())


def test_the_key_depends_on_each_part_and_its_place():
    one, two, three = keys(3)
    combinations = [(one, two, three), (two, one, three), (one, three, two), (three, two, one)]
    assert len({score_key(*parts) for parts in combinations}) == 4
    assert text_digest("a\ud800") != text_digest("a?")


def test_the_dataset_opens_the_store_and_refuses_to_save(tmp_path):
    dataset = ScoreStoreDataset(filepath=str(tmp_path / "s"))
    assert dataset.preview() == {}
    with dataset.load() as store:
        store.append({keys(1)[0]: 1.0})
    assert dataset.preview()["data"] == [[1]]
    with pytest.raises(Exception, match="appended to, not saved"):
        dataset.save("x")


def test_a_short_file_is_not_written_over(tmp_path):
    path = tmp_path / "scores.sqlite"
    path.write_text("notes")
    with pytest.raises(RetrievalError, match="can't be opened: it is another file"):
        ScoreStore(path)
    assert path.read_text() == "notes"
