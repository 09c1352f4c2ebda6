"""Pages in files, and what Kedro-Viz shows of them."""

import inspect

import pytest
from kedro.io.core import DatasetError

from normastcu.datasets.pages import HtmlPageDataset

PAGE = """<!DOCTYPE html>
<html><head><title>Páginas</title></head><body><h1>Título</h1>
<table><thead><tr><th>Query</th><th>Reason</th></tr></thead><tbody>
<tr><td><span>00123</span>
diárias</td><td>[x](javascript:alert(1)) &lt;b&gt; *é*</td></tr>
<tr><td>2</td><td></td></tr>
</tbody></table><table><thead><tr><th>Other</th></tr></thead></table></body></html>
"""


def test_a_page_comes_back_letter_by_letter(tmp_path):
    path = tmp_path / "deep" / "p.html"
    dataset = HtmlPageDataset(filepath=str(path))
    assert not dataset.exists()
    page = PAGE + "\r\n\u2028é\r"
    dataset.save(page)
    assert dataset.exists()
    assert dataset.load() == page
    assert path.read_bytes() == page.encode("utf-8")


def test_a_page_that_cant_be_written_leaves_the_earlier_one(tmp_path):
    dataset = HtmlPageDataset(filepath=str(tmp_path / "p.html"))
    dataset.save(PAGE)
    with pytest.raises(DatasetError, match="surrogates not allowed"):
        dataset.save("\ud800")
    assert dataset.load() == PAGE
    assert [path.name for path in tmp_path.iterdir()] == ["p.html"]


def test_the_preview_is_the_first_table(tmp_path):
    dataset = HtmlPageDataset(filepath=str(tmp_path / "p.html"))
    dataset.save(PAGE)
    assert dataset.preview() == {
        "index": [0, 1],
        "columns": ["Query", "Reason"],
        "data": [["00123 diárias", "[x](javascript:alert(1)) <b> *é*"], ["2", ""]],
    }
    assert dataset.preview(nrows=1)["index"] == [0]
    # Kedro-Viz goes by the name of the returned type.
    assert inspect.signature(dataset.preview).return_annotation.__name__ == "TablePreview"


def test_a_page_without_a_table_has_an_empty_preview(tmp_path):
    dataset = HtmlPageDataset(filepath=str(tmp_path / "p.html"))
    dataset.save("<p>Nothing.</p>")
    assert dataset.preview() == {}
