"""Ingestion of a corpus as large as NormasTCU, beside the shortest way with pandas and lxml.

Each way runs in a process of its own, so that its peak memory is its own; figures are printed.
"""

import subprocess
import sys

import pytest
from tests.benchmarks.generated_corpus import write_corpus

MEASURE = """
import sys, time
from tests.benchmarks.peak import peak_mib
start = time.perf_counter()
{body}
seconds = time.perf_counter() - start
print(f"{{seconds:.1f}} {{peak_mib():.0f}}")
"""
OURS = """
from pathlib import Path
from normastcu.collection.documents import corpus_statistics, read_corpus
from normastcu.collection.schemas import DocumentChunksValidator
from normastcu.collection.settings import DocumentFormat
from normastcu.collection.sources import local_file
from normastcu.datasets.tables import DocumentChunksDataset
corpus = read_corpus(local_file(Path(sys.argv[1])), DocumentFormat())
dataset = DocumentChunksDataset(filepath=sys.argv[1] + ".parquet")
dataset.save(DocumentChunksValidator().validate(corpus.chunks))
statistics, _ = corpus_statistics(dataset.load())
print(statistics.round(0).to_string(), file=sys.stderr)
"""
PANDAS = """
import lxml.html
import pandas as pd
table = pd.read_csv(sys.argv[1], dtype="str")
table["text"] = [lxml.html.fromstring(html).text_content() for html in table["TEXTONORMA"]]
table.to_parquet(sys.argv[1] + ".pandas.parquet")
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write the generated corpus."""
    path = tmp_path_factory.mktemp("corpus") / "docs.csv"
    write_corpus(path)
    return path


def measured(corpus, body):
    """Run one way in its own process; return its seconds and its peak in MiB."""
    command = [sys.executable, "-c", MEASURE.format(body=body), str(corpus)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak = map(float, result.stdout.split())
    return seconds, peak, result.stderr


@pytest.mark.benchmark(group="ingestion")
def test_ingestion_of_a_corpus_of_real_size(benchmark, corpus):
    seconds, peak, statistics = benchmark.pedantic(measured, (corpus, OURS), rounds=1)
    rival_seconds, rival_peak, _ = measured(corpus, PANDAS)
    print(f"\n{corpus.stat().st_size / 1e6:.0f} MB of CSV\n{statistics}")
    print(f"chunks, checks, validation, statistics: {seconds:.1f} s, peak {peak:.0f} MiB")
    print(
        f"pandas and lxml, nothing checked:       {rival_seconds:.1f} s, peak {rival_peak:.0f} MiB"
    )
    assert peak < rival_peak
