"""The store of vectors: what is put in comes out, whatever happens in between."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.vectors import EncoderVectors, VectorStore

ENCODER = {"kind": "api", "base_url": "http://127.0.0.1:1/v1", "model": "m", "dimensions": None}


def opened(folder: Path, **changes: object) -> EncoderVectors:
    return VectorStore(folder).of(ENCODER | changes)


def rows(*numbers: float) -> np.ndarray:
    """Return a vector for each number that begins with it."""
    return np.array([[number, 0.5, -0.25] for number in numbers], np.float16)


def append(vectors: EncoderVectors, **numbers: float) -> None:
    keys = [vectors.key(text) for text in numbers]
    vectors.append(keys, rows(*numbers.values()), [len(text) for text in numbers])


def test_vectors_come_back_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    first = opened(tmp_path)
    append(first, a=1, bb=2)
    append(first, ccc=3)
    for vectors in (first, opened(tmp_path)):
        chosen = vectors.select([vectors.key(text) for text in ("ccc", "a", "bb", "a")])
        assert chosen.shape == (4, 3)
        np.testing.assert_array_equal(chosen[slice(None)], rows(3, 1, 2, 1))
        np.testing.assert_array_equal(chosen[slice(1, 3)], rows(1, 2))
        assert chosen.shown.tolist() == [3, 1, 2, 1]
        assert len(vectors) == 3
        assert vectors.key("d") not in vectors


@settings(max_examples=40, deadline=None)  # a disk takes its time
@given(st.lists(st.lists(st.tuples(st.text(max_size=2), st.integers(-99, 99)), max_size=4)))
def test_any_batches_are_a_dictionary_in_which_the_first_stays(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[str, int]]]
) -> None:
    folder, expected = tmp_path_factory.mktemp("store"), {}
    for batch in batches:
        vectors = opened(folder)
        new = {text: number for text, number in batch if vectors.key(text) not in vectors}
        if new:
            append(vectors, **new)
        expected = new | expected
    vectors = opened(folder)
    chosen = vectors.select([vectors.key(text) for text in expected])
    assert len(vectors) == len(expected)
    assert chosen[slice(None)][:, :1].ravel().tolist() == list(expected.values())


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"base_url": "http://127.0.0.1:2/v1"},
        {"dimensions": 3},
        {"max_tokens": 5},
        {"kind": "svd"},
    ],
)
def test_another_encoder_has_other_keys_and_its_own_folder(
    tmp_path: Path, change: dict[str, object]
) -> None:
    append(opened(tmp_path), a=1)
    other = opened(tmp_path, **change)
    assert other.key("a") not in other
    assert other.key("a") != opened(tmp_path).key("a")
    assert other.folder != opened(tmp_path).folder
    assert opened(tmp_path).key("a") in opened(tmp_path)


def test_the_folder_says_which_encoder_it_belongs_to(tmp_path: Path) -> None:
    append(opened(tmp_path), a=1)
    (written,) = tmp_path.glob("api-*/encoder.json")
    assert json.loads(written.read_text(encoding="utf-8")) == ENCODER


def test_an_empty_choice_has_no_rows(tmp_path: Path) -> None:
    chosen = opened(tmp_path).select([])
    assert chosen.shape == (0, 0)
    assert chosen[slice(0, 5)].shape == (0, 0)


def test_what_was_being_written_when_the_process_ended_is_not_there(tmp_path: Path) -> None:
    vectors = opened(tmp_path)
    append(vectors, a=1)
    (segment,) = vectors.folder.glob("*.npy")
    for cut in (0, 40, segment.stat().st_size - 1):
        (vectors.folder / ".unfinished-0").write_bytes(segment.read_bytes()[:cut])
        assert len(opened(tmp_path)) == 1


@pytest.mark.parametrize("left", [0, 5, 200, -1])
def test_a_damaged_file_is_named(tmp_path: Path, left: int) -> None:
    vectors = opened(tmp_path)
    append(vectors, a=1, b=2)
    (segment,) = vectors.folder.glob("*.npy")
    segment.write_bytes(segment.read_bytes()[:left])
    with pytest.raises(RetrievalError, match=rf"{segment.name} .* is damaged .* encoded again"):
        opened(tmp_path)


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    vectors = opened(tmp_path)
    append(vectors, a=1)
    with pytest.raises(RetrievalError, match=r"length 2, but those in .* have 3"):
        vectors.append([vectors.key("b")], np.zeros((1, 2), np.float16), [1])
    assert vectors.key("b") not in opened(tmp_path)


def test_many_small_files_become_one(tmp_path: Path) -> None:
    vectors, beside = opened(tmp_path), opened(tmp_path)
    texts = [f"t{number}" for number in range(40)]
    for number, text in enumerate(texts):
        append(vectors, **{text: number})
        if number == 20:
            beside = opened(tmp_path)
    vectors.tidy()
    assert len(list(vectors.folder.glob("*.npy"))) == 1
    expected = rows(*range(40))
    for one in (vectors, opened(tmp_path)):
        chosen = one.select([one.key(text) for text in texts])
        np.testing.assert_array_equal(chosen[slice(None)], expected)
        assert chosen.shown.tolist() == [len(text) for text in texts]
    # Whoever had the old files open still reads them.
    early = beside.select([beside.key(text) for text in texts[:21]])
    np.testing.assert_array_equal(early[slice(None)], expected[:21])


def test_few_files_stay_as_they_are(tmp_path: Path) -> None:
    vectors = opened(tmp_path)
    append(vectors, a=1)
    append(vectors, b=2)
    vectors.tidy()
    assert len(list(vectors.folder.glob("*.npy"))) == 2


def test_a_folder_that_can_not_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RetrievalError, match=r"can't be written .* what was stored is safe"):
        append(opened(tmp_path / "file"), a=1)


def test_tidying_keeps_what_another_process_has_written(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    for number in range(40):
        append(one, **{f"one{number}": number})
        append(other, **{f"other{number}": number})
    one.tidy()
    append(other, late=1)
    other.tidy()
    texts = [f"{name}{number}" for name in ("one", "other") for number in range(40)] + ["late"]
    both = opened(tmp_path)
    assert all(both.key(text) in both for text in texts)
    assert len(both) == len(texts)
