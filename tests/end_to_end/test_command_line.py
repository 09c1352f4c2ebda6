"""The command line: both spellings, sentences instead of tracebacks, exit codes."""

import sqlite3
import subprocess
import sys

import pytest
from click.testing import CliRunner
from kedro.framework.startup import bootstrap_project

from normastcu.cli import cli


@pytest.fixture
def command(project):
    """Return a function that runs a command of the project and gives its result."""
    bootstrap_project(project)
    return lambda *arguments: CliRunner().invoke(cli, ["run", *arguments])


@pytest.mark.parametrize("spelling", ["--pipelines", "--pipeline"])
def test_both_spellings_run_a_pipeline(command, project, spelling):
    assert command(spelling, "human_qrels").exit_code == 0
    assert (project / "data/05_model_input/sample/human_qrels/reference.qrels").is_file()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--params", "bootstrap.sed=1"], "`bootstrap.sed` (--params)"),
        (["--pipelines", "human_qrels", "--env", "normastcu"], "set NORMASTCU_RAW"),
        (
            ["--pipelines", "llm_judging"],
            "Run first: kedro run --pipelines ingestion (with the same --env)",
        ),
        (
            ["--pipelines", "llm_judging", "--namespaces", "llm_judging.nobody"],
            "['llm_judging.nobody']. This environment has llm_judging.lexical, llm_judging.smollm2",
        ),
        (["--env", "nowhere"], "conf/nowhere. An environment is a folder there: base, juristcu,"),
    ],
)
def test_an_error_of_the_input_is_one_sentence(command, arguments, sentence):
    result = command(*arguments)
    assert result.exit_code == 1
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_a_run_in_its_own_process_is_tracked_and_leaves_the_project_as_it_was(project):
    """Kedro's telemetry, where it is on, writes an id into pyproject.toml."""
    before = (project / "pyproject.toml").read_bytes()
    command = [sys.executable, "-m", "kedro", "run", "--pipelines", "human_qrels"]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert (project / "pyproject.toml").read_bytes() == before
    with sqlite3.connect(project / "mlflow.db") as tracked:
        assert tracked.execute("select name, status from runs").fetchall() == [
            ("human_qrels", "FINISHED")
        ]
