"""Runs as a folder of TREC files."""

import pandas as pd
import pytest
from kedro.io.core import DatasetError

from normastcu.collection.run_order import order_run
from normastcu.datasets.runs import TrecRunsDataset


def runs():
    rows = [("S_1", "2", "00123", 2.0), ("S_1", "2", "1e5", 1.0), ("S_10", "2", "lei", 3.5)]
    return order_run(pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "score"]))


def test_runs_come_back_as_they_went_in(tmp_path):
    dataset = TrecRunsDataset(filepath=str(tmp_path / "deep" / "runs"))
    assert not dataset.exists()
    dataset.save(runs())
    assert (tmp_path / "deep" / "runs" / "S_1.run").read_text() == (
        "2 Q0 00123 1 2.0 S_1\n2 Q0 1e5 2 1.0 S_1\n"
    )
    pd.testing.assert_frame_equal(dataset.load(), runs())
    assert dataset.preview(1)["data"] == [["S_1", "2", "00123", 1, 2.0]]


def test_runs_replace_the_folder_as_a_whole(tmp_path):
    dataset = TrecRunsDataset(filepath=str(tmp_path / "runs"))
    dataset.save(runs())
    dataset.save(runs()[2:])
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["S_10.run"]


def test_a_failed_save_leaves_the_earlier_runs(tmp_path):
    dataset = TrecRunsDataset(filepath=str(tmp_path / "runs"))
    dataset.save(runs())
    outside = runs().replace({"system": {"S_10": "../S_10"}})
    with pytest.raises(DatasetError, match="would lie outside its folder"):
        dataset.save(outside)
    pd.testing.assert_frame_equal(dataset.load(), runs())
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_an_empty_folder_is_named(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(DatasetError, match=r"has no file \*\.run: run the pipeline"):
        TrecRunsDataset(filepath=str(tmp_path / "runs")).load()
