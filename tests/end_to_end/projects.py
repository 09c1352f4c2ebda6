"""Copies of the project in which a test may run pipelines, and a tiny world for them."""

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlflow
import pytest
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project


def copy_project(project_root: Path, root: Path) -> Path:
    """Copy the project without any data but the sample collection; return the copy's root."""
    shutil.copytree(project_root / "conf", root / "conf", ignore=shutil.ignore_patterns("local"))
    (root / "conf" / "local").mkdir()
    # Kedro wants the folder; the package itself is imported from where it is installed.
    (root / "src").mkdir()
    for name in ("pyproject.toml", ".telemetry"):
        shutil.copy(project_root / name, root)
    sample = Path("data", "01_raw", "sample")
    shutil.copytree(
        project_root / sample, root / sample, ignore=shutil.ignore_patterns("*.sqlite*", "vectors")
    )
    return root


def enter_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a copy of the project, with no source set from outside."""
    monkeypatch.chdir(root)
    for name in ("NORMASTCU_RAW", "NORMASTCU_SOURCE", "NORMASTCU_LABELS", "NORMASTCU_REPLIES"):
        monkeypatch.delenv(name, raising=False)


def run_pipelines(
    project: Path,
    *pipelines: str,
    env: str | None = None,
    params: dict[str, Any] | None = None,
    nodes: Sequence[str] = (),
    namespaces: Sequence[str] = (),
) -> None:
    """Run pipelines by name in a copy of the project."""
    end_tracked_runs()
    bootstrap_project(project)
    with KedroSession.create(project, env=env, runtime_params=params) as session:
        names = list(pipelines) or ["__default__"]
        session.run(pipeline_names=names, node_names=tuple(nodes), namespaces=list(namespaces))


def end_tracked_runs() -> None:
    """End the run that a failed session leaves: the next one would log into it."""
    while mlflow.active_run():
        mlflow.end_run()


def write_world(project: Path) -> Path:
    """Write 3 queries, 5 documents and 3 assessors with grades 0 to 3; return their folder.

    A run made elsewhere has a document that the collection lacks, two of one score, and nothing
    for the third query.
    """
    raw = project / "data" / "01_raw" / "test"
    (raw / "labels").mkdir(parents=True)
    documents = [
        ("00123", '<p>um, "dois"</p>'),
        ("1e5", "<p>t&ecirc;s</p>"),
        ("LEI", "<p>a</p>"),
        ("lei", "<p>b</p>"),
        ("x", "<p>c\nd</p>"),
    ]
    _write_csv(raw / "docs.csv", ["id", "body"], documents)
    queries = [("1", 'a "b", c\nd'), ("01", "férias?"), ("q", "ninguém julgou")]
    _write_csv(raw / "query.csv", ["query_id", "text"], queries)
    judgments = [
        ("1", "00123", "Ana", 3),
        ("1", "00123", "Bia", 2),
        ("1", "00123", "Caio", 2),
        ("1", "1e5", "Ana", 0),
        ("1", "1e5", "Bia", 0),
        ("1", "1e5", "Caio", -1),
        ("01", "LEI", "Ana", 1),
        ("01", "LEI", "Bia", 0),
        ("01", "lei", "Ana", 3),
        ("01", "lei", "Bia", 0),
        ("01", "x", "Ana", 0),
    ]
    header = ["query_id", "doc_id", "annotator", "grade"]
    _write_csv(raw / "raw_human_eval.csv", header, judgments)
    (raw / "labels" / "first.qrels").write_text("1 0 00123 3\n1 0 1e5 1\n01 0 LEI 0\n01 0 lei 2\n")
    labels = [("1", "00123", 2), ("1", "1e5", 0), ("01", "LEI", None), ("1", "x", 3)]
    lines = [
        json.dumps(dict(zip(("query_id", "doc_id", "grade"), row, strict=True))) for row in labels
    ]
    (raw / "labels" / "second.jsonl").write_text("\n".join(lines))
    (raw / "runs").mkdir()
    (raw / "runs" / "elsewhere.run").write_text(
        "1 Q0 x 1 3 t\n1 Q0 gone 2 2 t\n1 Q0 00123 3 1 t\n01 Q0 LEI 1 0.5 t\n01 Q0 lei 2 0.5 t\n"
    )
    return raw


def _write_csv(path: Path, header: list[str], rows: list[tuple]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
