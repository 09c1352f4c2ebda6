"""Judges in MLflow after whole runs: one finished run each, and none of what must not be there."""

import csv
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from mlflow.entities import Run
from mlflow.tracking import MlflowClient
from tests.judging.loopback_llm import Answer, Call, LoopbackLlm

KEY = "test-key-that-nobody-may-see"
REPLY = "palavradaresposta"
PIPELINES = ("meta_evaluation",)


@pytest.fixture(autouse=True)
def _own_store(project: Path) -> None:
    """Give each test its store; MLflow keeps one open for each address, relative ones too."""
    change_mlflow_yml(project, lambda settings: settings["server"].update(store_of(project)))


def store_of(project: Path) -> dict[str, str]:
    return {"mlflow_tracking_uri": f"sqlite:///{project / 'mlflow.db'}"}


def change_mlflow_yml(project: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = project / "conf" / "base" / "mlflow.yml"
    settings = yaml.safe_load(path.read_text())
    change(settings)
    path.write_text(yaml.safe_dump(settings))


def tracked(project: Path) -> list[Run]:
    """Return all tracked runs, the first one first."""
    client = MlflowClient(store_of(project)["mlflow_tracking_uri"])
    experiment = client.get_experiment_by_name("normastcu")
    return client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"])


def of_judges(project: Path) -> list[Run]:
    return [run for run in tracked(project) if run.data.tags.get("normastcu.kind") == "judge"]


def artifacts(run: Run) -> Path:
    return Path(run.info.artifact_uri.removeprefix("file://"))


def test_each_judge_is_a_finished_run_below_the_comparison(kedro_run, project, world):
    kedro_run(*PIPELINES, env="test")
    comparison_run, *judges = tracked(project)
    assert comparison_run.info.run_name == "meta_evaluation"
    assert comparison_run.data.tags["normastcu.kind"] == "comparison"
    assert comparison_run.data.metrics == {}
    assert {run.info.status for run in (comparison_run, *judges)} == {"FINISHED"}
    assert [run.info.run_name for run in judges] == ["second", "first"]
    assert {run.data.tags["mlflow.parentRunId"] for run in judges} == {comparison_run.info.run_id}
    second = judges[0].data
    # It graded two of the five pairs: one a third too low, one exactly.
    assert second.metrics["coverage"] == pytest.approx(2 / 5)
    assert second.metrics["me"] == pytest.approx(-1 / 6)
    assert second.metrics["mae"] == pytest.approx(1 / 6)
    assert second.metrics["exact"] == 1
    assert second.metrics["kappa_reference"] == 1
    # Beside Ana's grades 3 and 0 it has 2 and 0. Squared distances: 1/2 observed, 14/4 by chance.
    assert second.metrics["kappa_Ana"] == pytest.approx(6 / 7)
    assert second.params["model"] == "second"
    assert second.params["source"].startswith("imported: ")
    assert second.params["collection"] == "test"
    assert second.params["bootstrap.resamples"] == "200"
    assert second.params["bootstrap.seed"] == "20260829"
    assert '"name": "hardly"' in second.params["scale.grades"]
    assert second.tags["normastcu.git_commit"] == "unknown"
    for name in ("collection", "pairs", "parameters", "labels", "judge_settings", "results"):
        assert len(second.tags[f"normastcu.hash.{name}"]) == 64
    assert "normastcu.same_as" not in second.tags
    # Its rows of the tables, and the figures.
    folder = artifacts(judges[0])
    kappa = pd.read_csv(folder / "tables" / "kappa.csv")
    assert len(kappa) == 5
    assert ((kappa["annotator_a"] == "second") | (kappa["annotator_b"] == "second")).all()
    assert set(pd.read_csv(folder / "tables" / "coverage.csv")["judge"]) == {"second"}
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert {"kappa.png", "kappa.svg"} <= figures


def test_running_again_says_what_is_the_same_and_mixes_nothing(kedro_run, project, world):
    kedro_run(*PIPELINES, env="test")
    first = {run.info.run_name: run for run in of_judges(project)}
    labels = world / "labels" / "first.qrels"
    labels.write_text(labels.read_text().replace("1 0 1e5 1", "1 0 1e5 0"))
    kedro_run(*PIPELINES, env="test")
    again = {run.info.run_name: run for run in of_judges(project)[2:]}
    assert {run.info.run_id for run in first.values()}.isdisjoint(
        run.info.run_id for run in again.values()
    )
    everything = [*first.values(), *again.values()]
    assert len({run.data.tags["mlflow.parentRunId"] for run in everything}) == 2
    assert again["second"].data.tags["normastcu.same_as"] == first["second"].info.run_id
    assert "normastcu.same_as" not in again["first"].data.tags
    before, after = first["first"].data.tags, again["first"].data.tags
    for name in ("collection", "pairs", "parameters"):
        assert after[f"normastcu.hash.{name}"] == before[f"normastcu.hash.{name}"]
    assert after["normastcu.hash.labels"] != before["normastcu.hash.labels"]


def results(project: Path) -> dict[str, bytes]:
    folder = project / "data" / "08_reporting" / "test" / "tables"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def switch_off(settings: dict[str, Any]) -> None:
    """Let mlflow.yml say that the pipelines are not tracked."""
    settings["tracking"]["disable_tracking"]["pipelines"] = list(PIPELINES)


def test_tracking_that_is_switched_off_in_mlflow_yml_writes_nothing(kedro_run, project, world):
    kedro_run(*PIPELINES, env="test")
    on, n_runs = results(project), len(tracked(project))
    change_mlflow_yml(project, switch_off)
    kedro_run(*PIPELINES, env="test")
    assert results(project) == on
    assert len(tracked(project)) == n_runs


def test_without_the_plugin_everything_works_and_nothing_is_written(project, world):
    code = (
        "import sys, normastcu.settings as settings\n"
        "settings.DISABLE_HOOKS_FOR_PLUGINS = ('kedro_mlflow',)\n"
        "from kedro.framework.cli.cli import main\n"
        f"sys.argv = ['kedro', 'run', '--env', 'test', '--pipelines', '{','.join(PIPELINES)}']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "kappa.csv" in results(project)
    assert not (project / "mlflow.db").exists()
    assert not (project / "mlartifacts").exists()


def test_a_store_that_fails_costs_no_result_and_leaves_no_open_run(
    kedro_run, project, world, monkeypatch, caplog
):
    def full(*arguments: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(MlflowClient, "log_artifacts", full)
    kedro_run(*PIPELINES, env="test")
    assert "MLflow does not hold all judges of this run (OSError: No space left" in caplog.text
    assert "kedro run --pipelines meta_evaluation" in caplog.text
    assert {"kappa.csv", "judge_summary.csv"} <= set(results(project))
    assert [(run.info.run_name, run.info.status) for run in tracked(project)] == [
        ("meta_evaluation", "FINISHED"),
        ("second", "FAILED"),
    ]


def test_a_run_that_fails_has_no_judges(kedro_run, project, world):
    (world / "labels" / "Ana.qrels").write_text("1 0 x 1\n")
    with pytest.raises(Exception, match="names two annotators"):
        kedro_run(*PIPELINES, env="test")
    assert [run.info.status for run in tracked(project)] == ["FAILED"]


@pytest.fixture
def asked(project, world, monkeypatch) -> dict[str, str]:
    """Let the environment ask a judge, with a key, over all pairs that people judged."""
    monkeypatch.setenv("TEST_KEY", KEY)
    with (world / "pairs.csv").open("w", newline="") as stream:
        pairs = [("1", "00123"), ("1", "1e5"), ("01", "LEI"), ("01", "lei"), ("01", "x")]
        csv.writer(stream).writerows([("query_id", "doc_id"), *pairs])
    return {"pairs": str(world / "pairs.csv")}


def graded(call: Call) -> Answer:
    """Answer every call alike."""
    return Answer(json.dumps({"justificativa": REPLY, "score": 1}))


def ask(project: Path, server: LoopbackLlm) -> None:
    model = {
        "kind": "openai",
        "model": "asked-for",
        "base_url": server.base_url,
        "credentials": "TEST_KEY",
        "context_window": 8192,
        "price_in": 1.0,
        "price_out": 2.0,
        "parameters": {"temperature": 0},
    }
    folder = project / "conf" / "test"
    (folder / "judges.yml").write_text(yaml.safe_dump({"models": {"m": model}}))
    active = {"active_judges": ["m_rationale"]}
    (folder / "parameters_llm_judging.yml").write_text(yaml.safe_dump(active))


def test_the_settings_of_an_asked_judge_are_there_and_no_key_and_no_text(
    kedro_run, project, world, asked
):
    in_document = "palavradodocumento"
    docs = world / "docs.csv"
    docs.write_text(docs.read_text().replace("<p>a</p>", f"<p>{in_document}</p>"))

    with LoopbackLlm(graded) as server:
        ask(project, server)
        names = ("ingestion", "human_qrels", "llm_judging", "meta_evaluation")
        kedro_run(*names, env="test", params=asked)
    told = {run.info.run_name: run for run in of_judges(project)}["m_rationale"].data
    prompt = project / "conf" / "base" / "prompts" / "rationale.pt.md"
    assert told.params["model"] == "asked-for"
    assert told.params["model_returned"]
    assert told.params["prompt_sha256"] == hashlib.sha256(prompt.read_bytes()).hexdigest()
    assert told.params["model_parameters.temperature"] == "0"
    assert told.params["cut_policy"] == "head"
    assert told.params["least_coverage"] == "0.95"
    assert told.metrics["tokens_in"] > 0
    assert told.metrics["cost_per_1000_pairs"] > 0
    written = [project / "mlflow.db", *(project / "mlartifacts").rglob("*")]
    for path in (path for path in written if path.is_file()):
        content = path.read_bytes()
        for secret in (KEY, in_document, REPLY):
            assert secret.encode() not in content, path


def test_settings_that_have_changed_since_the_judge_was_asked_are_not_told_as_its_own(
    kedro_run, project, world, asked
):
    with LoopbackLlm(graded) as server:
        ask(project, server)
        kedro_run("ingestion", "human_qrels", "llm_judging", env="test", params=asked)
    prompt = project / "conf" / "base" / "prompts" / "rationale.pt.md"
    prompt.write_text(prompt.read_text() + "\n")
    kedro_run("meta_evaluation", env="test", params=asked)
    told = {run.info.run_name: run for run in of_judges(project)}["m_rationale"].data
    assert told.tags["normastcu.settings"] == "changed since the judge was asked"
    assert told.params["model"] == "asked-for"
    assert "prompt_sha256" not in told.params
