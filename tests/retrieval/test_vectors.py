"""The store of vectors: what is put in comes out, whatever happens in between."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.retrieval import vectors as module
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


def files(vectors: EncoderVectors) -> int:
    return len(list(vectors.folder.glob("*.npy")))


def test_many_small_files_become_one(tmp_path: Path) -> None:
    vectors, beside = opened(tmp_path), opened(tmp_path)
    texts = [f"t{number}" for number in range(32)]
    for number, text in enumerate(texts):
        assert files(vectors) == number
        append(vectors, **{text: number})
        if number == 20:
            beside = opened(tmp_path)
    assert files(vectors) == 1
    expected = rows(*range(32))
    for one in (vectors, opened(tmp_path)):
        chosen = one.select([one.key(text) for text in texts])
        np.testing.assert_array_equal(chosen[slice(None)], expected)
        assert chosen.shown.tolist() == [len(text) for text in texts]
    # Whoever had the old files open still reads them.
    early = beside.select([beside.key(text) for text in texts[:21]])
    np.testing.assert_array_equal(early[slice(None)], expected[:21])


@contextmanager
def few_descriptors(more: int) -> Iterator[None]:
    """Let this process open only some more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    free = (number for number in count() if number not in in_use)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(islice(free, more, None)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_the_files_of_a_long_encoding_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(module, "_SMALL_BYTES", small)
    monkeypatch.setattr(module, "MANY_SEGMENTS", 4)
    n = 107
    with few_descriptors(40):
        vectors = opened(tmp_path)
        for number in range(n):
            append(vectors, **{f"t{number}": number})
        # 107 = 1 x 64 + 2 x 16 + 2 x 4 + 3: as many files as the sum of these digits.
        assert files(vectors) == 8
        for one in (vectors, opened(tmp_path)):
            chosen = one.select([one.key(f"t{number}") for number in range(n)])
            np.testing.assert_array_equal(chosen[slice(None)], rows(*range(n)))


def test_many_small_files_of_earlier_runs_can_be_opened(tmp_path: Path) -> None:
    for number, vectors in enumerate([opened(tmp_path) for _ in range(100)]):
        append(vectors, **{f"t{number}": number})
    with few_descriptors(10):
        vectors = opened(tmp_path)
        assert (len(vectors), files(vectors)) == (100, 100)
        append(vectors, late=1)
    assert (len(opened(tmp_path)), files(vectors)) == (101, 1)


def test_too_many_open_files_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SMALL_BYTES", 0)
    for number, vectors in enumerate([opened(tmp_path) for _ in range(20)]):
        append(vectors, **{f"t{number}": number})
    with (
        few_descriptors(10),
        pytest.raises(RetrievalError, match=r"can't be read .*ulimit -n.* is safe"),
    ):
        opened(tmp_path)


def test_a_process_that_ends_while_files_become_one_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = opened(tmp_path)
    for number in range(31):
        append(vectors, **{f"t{number}": number})

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", end)
    with pytest.raises(KeyboardInterrupt):
        vectors.append([vectors.key("t31")], rows(31), [3])
    monkeypatch.undo()
    again = opened(tmp_path)
    chosen = again.select([again.key(f"t{number}") for number in range(32)])
    np.testing.assert_array_equal(chosen[slice(None)], rows(*range(32)))


def test_a_folder_that_can_not_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RetrievalError, match=r"can't be written .* what was stored is safe"):
        append(opened(tmp_path / "file"), a=1)


def test_merging_keeps_what_another_process_has_written(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    for number in range(40):
        append(one, **{f"one{number}": number})
        append(other, **{f"other{number}": number})
    texts = [f"{name}{number}" for name in ("one", "other") for number in range(40)]
    both = opened(tmp_path)
    chosen = both.select([both.key(text) for text in texts])
    np.testing.assert_array_equal(chosen[slice(None)], rows(*range(40), *range(40)))
    assert len(both) == len(texts)
