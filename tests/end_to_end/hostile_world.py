"""The tiny world with texts that break files, in which everything up to the averages ran once."""

import csv
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from tests.end_to_end.projects import copy_project, enter_project, run_pipelines, write_world

HOSTILE = 'férias, "prazo"; 5º\rparágrafo\n<b>único</b> & [/INST]'
HOSTILE_HTML = (
    "<p>férias, &quot;prazo&quot;; 5º&#13;parágrafo\n&lt;b&gt;único&lt;/b&gt; &amp; [/INST]</p>"
)
DOCUMENTS = [
    ("00123", '<p>diárias, "prazo" <br>\nde pagamento</p>'),
    ("1e5", "<p>licen&ccedil;a e f&eacute;rias</p>"),
    ("LEI", HOSTILE_HTML),
    ("lei", "<p>férias do servidor</p>"),
    ("x", "<p></p>"),
]
QUERIES = [("1", "prazo de diárias"), ("01", HOSTILE), ("q", "zzz, 'nada'\rigual")]
PIPELINES = ("ingestion", "human_qrels", "retrieval_runs", "pooling")
AVERAGES = [
    f"meta_evaluation.{name}"
    for name in ("join_labels", "gather_grades", "measure_runs", "average_systems")
]


@dataclass(frozen=True)
class Finished:
    """A project in which everything ran once, and what it said."""

    root: Path
    said: str

    def data(self, path: str) -> pd.DataFrame:
        """Read a parquet file below data/."""
        return pd.read_parquet(self.root / "data" / path)

    def table(self, name: str) -> pd.DataFrame:
        """Read a table of the report."""
        return self.data(f"08_reporting/test/tables/{name}.parquet")

    @property
    def runs(self) -> pd.DataFrame:
        return self.data("07_model_output/test/runs.parquet")


def finish_world(project_root: Path, root: Path) -> Finished:
    """Write the world into a copy of the project and run everything up to the averages."""
    copy_project(project_root, root)
    raw = write_world(root)
    write_quoted(raw / "docs.csv", ["id", "body"], DOCUMENTS)
    write_quoted(raw / "query.csv", ["query_id", "text"], QUERIES)
    with pytest.MonkeyPatch.context() as patch, warnings_of("normastcu") as said:
        enter_project(root, patch)
        run_pipelines(root, *PIPELINES, env="test")
        run_pipelines(root, "full", env="test", nodes=AVERAGES)
    return Finished(root, "\n".join(said))


def write_quoted(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV in which every cell is quoted."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([header, *rows])


@contextmanager
def warnings_of(logger: str) -> Iterator[list[str]]:
    """Collect the warnings that a logger and those below it give in the block."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger(logger).addHandler(handler)
    try:
        yield said
    finally:
        logging.getLogger(logger).removeHandler(handler)
