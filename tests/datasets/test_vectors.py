"""The dataset of the store of vectors."""

from pathlib import Path

import numpy as np
import pytest
from kedro.io.core import DatasetError

from normastcu.datasets.vectors import VectorStoreDataset

IDENTITY = {"kind": "api", "model": "m"}


def test_the_store_is_the_folder(tmp_path: Path) -> None:
    dataset = VectorStoreDataset(filepath=str(tmp_path / "vectors"))
    vectors = dataset.load().of(IDENTITY)
    vectors.append([vectors.key("a")], np.ones((1, 2), np.float16), [1])
    again = dataset.load().of(IDENTITY)
    assert again.key("a") in again
    assert again.folder.parent == tmp_path / "vectors"


def test_nothing_is_saved_as_a_whole(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="added to, not saved"):
        VectorStoreDataset(filepath=str(tmp_path)).save(1)


def test_the_preview_counts_by_encoder(tmp_path: Path) -> None:
    dataset = VectorStoreDataset(filepath=str(tmp_path / "vectors"))
    assert dataset.preview()["data"] == []
    vectors = dataset.load().of(IDENTITY)
    vectors.append([vectors.key(text) for text in "ab"], np.ones((2, 2), np.float16), [1, 1])
    assert dataset.preview()["data"] == [[vectors.folder.name, "m", 2]]
