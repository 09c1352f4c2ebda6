"""Kedro datasets of our own."""

import base64

import pandas as pd
import pytest
from kedro.io.core import DatasetError
from matplotlib.figure import Figure

from normastcu.collection.documents import DOCUMENT_COLUMNS, DocumentChunks
from normastcu.collection.schemas import DocumentChunksValidator
from normastcu.datasets.figures import FigureDataset
from normastcu.datasets.qrels import TrecQrelsDataset
from normastcu.datasets.raw_files import RawFileDataset, RawFilesDataset
from normastcu.datasets.tables import DocumentChunksDataset, ReportTableDataset


def documents(*ids):
    """Return a frame of documents without anything but an id and a text."""
    columns = dict.fromkeys(DOCUMENT_COLUMNS, pd.Series([None] * len(ids), dtype="str"))
    return pd.DataFrame(columns).assign(
        doc_id=pd.Series(ids, dtype="str"), text=pd.Series(["é, “x”\n"] * len(ids), dtype="str")
    )


def test_document_chunks_come_back_as_they_went_in(tmp_path):
    dataset = DocumentChunksDataset(filepath=str(tmp_path / "deep" / "d.parquet"))
    chunks = [documents("a", "b"), documents("c")]
    dataset.save(DocumentChunks(lambda: iter(chunks)))
    loaded = dataset.load()
    for _ in range(2):
        for chunk, expected in zip(loaded, chunks, strict=True):
            pd.testing.assert_frame_equal(chunk, expected[list(DOCUMENT_COLUMNS)])
    assert pd.read_parquet(tmp_path / "deep" / "d.parquet")["doc_id"].tolist() == ["a", "b", "c"]
    assert dataset.preview(1)["data"][0][0] == "a"


def test_an_error_in_a_late_chunk_leaves_the_earlier_file(tmp_path):
    dataset = DocumentChunksDataset(filepath=str(tmp_path / "d.parquet"))
    dataset.save(DocumentChunks(lambda: iter([documents("a")])))

    def broken():
        yield documents("b")
        raise ValueError("the third row is broken")

    with pytest.raises(DatasetError, match="the third row is broken"):
        dataset.save(DocumentChunks(broken))
    assert [list(chunk["doc_id"]) for chunk in dataset.load()] == [["a"]]
    assert [path.name for path in tmp_path.iterdir()] == ["d.parquet"]


def test_each_chunk_is_validated(tmp_path):
    dataset = DocumentChunksDataset(filepath=str(tmp_path / "d.parquet"))
    bad = DocumentChunks(lambda: iter([documents("a b")]))
    with pytest.raises(DatasetError, match="str_matches"):
        dataset.save(DocumentChunksValidator().validate(bad))
    assert not dataset.exists()


def test_a_table_of_the_report_has_three_forms(tmp_path):
    table = pd.DataFrame(
        {
            "annotator": ["A_1", "B"],
            "me": pd.array([0.123456, None], dtype="Float64"),
            "ci95_low": pd.array([0.1, None], dtype="Float64"),
            "ci95_high": pd.array([0.2, None], dtype="Float64"),
            "undefined": pd.Series([None, "no pair"], dtype="str"),
        }
    )
    dataset = ReportTableDataset(filepath=str(tmp_path / "tables" / "bias"))
    dataset.save(table)
    pd.testing.assert_frame_equal(dataset.load(), table)
    assert (tmp_path / "tables" / "bias.csv").read_text() == (
        "annotator,me,ci95_low,ci95_high,undefined\nA_1,0.123456,0.1,0.2,\nB,,,,no pair\n"
    )
    latex = (tmp_path / "tables" / "bias.tex").read_text()
    assert r"A\_1 & 0.1235 & [0.1000, 0.2000] & -- \\" in latex
    assert r"B & -- & -- & no pair \\" in latex
    assert dataset.preview(1)["data"] == [["A_1", 0.1235, 0.1, 0.2, ""]]


def test_a_figure_is_written_twice_and_shown_as_png(tmp_path):
    figure = Figure()
    figure.subplots().plot([0, 1])
    dataset = FigureDataset(filepath=str(tmp_path / "f"))
    dataset.save(figure)
    first = (tmp_path / "f.svg").read_bytes()
    dataset.save(figure)
    assert (tmp_path / "f.svg").read_bytes() == first
    assert base64.b64decode(dataset.preview()).startswith(b"\x89PNG")
    with pytest.raises(DatasetError, match="can't be loaded"):
        dataset.load()


def test_qrels_replace_the_folder_as_a_whole(tmp_path):
    table = pd.DataFrame(
        {
            "qrels": ["A_1", "reference"],
            "query_id": ["1", "1"],
            "doc_id": ["d", "d"],
            "grade": pd.array([2, 1], dtype="Int64"),
        }
    )
    dataset = TrecQrelsDataset(filepath=str(tmp_path / "qrels"))
    dataset.save(table)
    assert (tmp_path / "qrels" / "A_1.qrels").read_text() == "1 0 d 2\n"
    dataset.save(table[1:])
    assert [path.name for path in (tmp_path / "qrels").iterdir()] == ["reference.qrels"]
    pd.testing.assert_frame_equal(
        dataset.load(), table[1:].reset_index(drop=True), check_dtype=False
    )
    assert [path.name for path in tmp_path.iterdir()] == ["qrels"]


def test_a_raw_file_is_handed_out_and_never_written(tmp_path):
    (tmp_path / "query.csv").write_text("KEY,TEXT\n1,a\n")
    source = {"kind": "files", "files": {"path": str(tmp_path)}}
    dataset = RawFileDataset(source=source, names=["queries.csv", "query.csv"])
    assert dataset.load().path == tmp_path / "query.csv"
    assert dataset.preview()["columns"] == ["KEY", "TEXT"]
    with pytest.raises(DatasetError, match="never written"):
        dataset.save("x")


def test_an_unset_directory_names_the_variable():
    dataset = RawFileDataset(source={"kind": "files", "files": {"path": None}}, names=["q.csv"])
    assert dataset.preview() == {}
    with pytest.raises(DatasetError, match="set NORMASTCU_RAW"):
        dataset.load()


def test_label_files_from_a_directory_a_file_a_pattern_or_nowhere(tmp_path):
    for name in ("b.csv", "a.qrels", "c.jsonl", "notes.md"):
        (tmp_path / name).write_text("x")

    def names(location):
        return [
            file.path.name
            for file in RawFilesDataset(location=location, setting="judge_labels").load()
        ]

    assert names(str(tmp_path)) == ["a.qrels", "b.csv", "c.jsonl"]
    assert names(str(tmp_path / "b.csv")) == ["b.csv"]
    assert names(str(tmp_path / "*.jsonl")) == ["c.jsonl"]
    assert names(None) == []
    with pytest.raises(DatasetError, match="There are no files at"):
        names(str(tmp_path / "empty"))
