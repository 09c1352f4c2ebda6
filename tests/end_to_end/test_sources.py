"""`ingestion` from the hub and from the court's open data, served on the loopback interface."""

import csv
import io
from pathlib import Path

import huggingface_hub
import pandas as pd
import pytest
from tests.collection.loopback import FileSite, HubSite, LoopbackServer

from normastcu.collection import hub
from normastcu.collection.documents import RELEASED_DOCUMENTS
from normastcu.collection.errors import CollectionError

COMMIT = "c" * 40
REPOSITORY = "LeandroRibeiro/NormasTCU"


@pytest.fixture(autouse=True)
def direct_connections(monkeypatch):
    """Keep a proxy and the commits resolved by another test away."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    hub._resolve.cache_clear()
    huggingface_hub.close_session()
    yield
    huggingface_hub.close_session()
    hub._resolve.cache_clear()


def corpus(*rows, separator=",", encoding="utf-8", extra=()):
    """Return the bytes of a corpus with the released columns and perhaps further ones."""
    stream = io.StringIO()
    columns = [*RELEASED_DOCUMENTS.values(), *extra]
    writer = csv.DictWriter(stream, columns, restval="", delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode(encoding)


ACTS = [
    {"KEY": "NORMA-1", "TEXTONORMA": "<p>Resolução</p>", "DATAINICIOVIGENCIA": "04/04/0208"},
    {"KEY": "NORMA-2", "TEXTONORMA": "<p>b</p>", "DATAINICIOVIGENCIA": "01/07/2024"},
    {"KEY": "NORMA-3", "TEXTONORMA": "<p>c</p>", "DATAINICIOVIGENCIA": "sem data"},
]
FILES = {
    "doc.csv": corpus(*ACTS),
    "query.csv": b"KEY,TEXT\n1,a\n",
    "raw_human_eval.csv": (
        b"QUERY_KEY,DOC_KEY,AVALIACAO,USUARIO_AVALIADOR\n1,NORMA-1,2,A_1\n1,NORMA-1,1,A_2\n"
    ),
}


def read(project: Path, path: str) -> pd.DataFrame:
    """Read a parquet file of the collection."""
    return pd.read_parquet(project / "data" / path)


def test_the_released_data_set_from_the_hub(kedro_run, project, monkeypatch, tmp_path):
    site = HubSite(REPOSITORY, {"main": COMMIT}, {COMMIT: FILES})
    with LoopbackServer(site) as server:
        monkeypatch.setenv("NORMASTCU_SOURCE", "hub")
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        kedro_run("ingestion", "human_qrels", env="normastcu")
    documents = read(project, "03_primary/normastcu/documents.parquet")
    assert documents["doc_id"].tolist() == ["NORMA-1"]
    assert documents["text"].tolist() == ["Resolução"]
    corpus_file = read(project, "03_primary/normastcu/corpus_provenance.parquet").iloc[0]
    assert corpus_file["location"] == f"{REPOSITORY}/doc.csv"
    others = read(project, "03_primary/normastcu/judgment_provenance.parquet")
    assert {corpus_file["revision"], *others["revision"]} == {COMMIT}


@pytest.mark.parametrize(
    ("separator", "encoding"), [("|", "utf-8"), (",", "utf-8-sig"), (";", "cp1252")]
)
def test_the_open_data_with_its_date_rule(kedro_run, project, monkeypatch, separator, encoding):
    content = corpus(*ACTS, separator=separator, encoding=encoding, extra=["OUTRA", "MAIS_UMA"])
    with LoopbackServer(FileSite(content)) as server:
        _point_to(project, server.address)
        monkeypatch.setenv("NORMASTCU_SOURCE", "open_data")
        from_nodes = ["ingestion.ingest_documents", "ingestion.describe_corpus"]
        kedro_run("ingestion", env="normastcu", nodes=from_nodes)
    documents = read(project, "03_primary/normastcu/documents.parquet")
    assert documents["doc_id"].tolist() == ["NORMA-1"]
    assert documents["text"].tolist() == ["Resolução"]
    assert documents["in_force_since"].tolist() == ["04/04/2018"]
    dropped = read(project, "03_primary/normastcu/dropped_documents.parquet")
    assert dropped["doc_id"].tolist() == ["NORMA-2", "NORMA-3"]
    assert dropped["line"].tolist() == [3, 4]


def test_open_data_without_a_needed_column_writes_nothing(kedro_run, project, monkeypatch):
    content = corpus(*ACTS).replace(b"TEXTONORMA", b"TEXTO")
    with LoopbackServer(FileSite(content)) as server:
        _point_to(project, server.address)
        monkeypatch.setenv("NORMASTCU_SOURCE", "open_data")
        with pytest.raises(CollectionError, match="the column TEXTONORMA is missing"):
            kedro_run("ingestion", env="normastcu", nodes=["ingestion.ingest_documents"])
    assert not (project / "data/03_primary").exists()


def test_open_data_has_no_queries_and_says_so(kedro_run, monkeypatch):
    monkeypatch.setenv("NORMASTCU_SOURCE", "open_data")
    with pytest.raises(Exception, match=r"documents only, no query\.csv"):
        kedro_run("human_qrels", env="normastcu")


def _point_to(project: Path, address: str) -> None:
    path = project / "conf" / "normastcu" / "globals.yml"
    court = "https://sites.tcu.gov.br/dados-abertos/normas/arquivos/"
    text = path.read_text(encoding="utf-8")
    assert court in text
    path.write_text(text.replace(court, f"{address}/"), encoding="utf-8")
