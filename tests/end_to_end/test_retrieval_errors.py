"""Wrong systems, lists and runs: one sentence, an exit code, nothing half-written."""

import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner
from kedro.framework.startup import bootstrap_project

from normastcu.cli import cli

BM25 = {"kind": "bm25", "family": "f", "fields": ["text"], "k1": 1, "b": 0.5}
RERANK = {"kind": "rerank", "family": "f", "depth": 3}
LOOP = {
    "A": RERANK | {"first": "B", "by": "S_2"},
    "B": {"kind": "hybrid", "family": "f", "systems": ["C", "S_2"]},
    "C": RERANK | {"first": "S_2", "by": "A"},
}
WRONG_LISTS = {
    "need each other": (["A"], LOOP, "the systems A -> B -> C -> A need each other"),
    "unknown": (["S_2", "S_99"], {}, "has no entry 'S_99' under `systems`. Known: "),
    "unknown part": (
        ["A"],
        {"A": RERANK | {"first": "S_2", "by": "lost"}},
        "has no entry 'lost' under `systems`, which A needs",
    ),
    "unknown encoder": (
        ["A"],
        {"A": {"kind": "dense", "family": "f", "fields": ["text"], "encoder": "lost"}},
        "has no entry 'lost' under `encoders`, which A needs",
    ),
    "one slug": (
        ["a+b", "a-b"],
        {"a+b": BM25, "a-b": BM25 | {"k1": 2}},
        "'a+b' and 'a-b' would share the namespace 'a_b'",
    ),
    "slug of a part": (
        ["A"],
        {"s-2": BM25, "A": {"kind": "hybrid", "family": "f", "systems": ["S_2", "s-2"]}},
        "'S_2' and 's-2' would share the namespace 's_2'",
    ),
    "twice": (["S_2", "S_2"], {}, "Name each one once"),
    "wrong setting": (["A"], {"A": BM25 | {"b": 2}}, "systems.yml, A: bm25.b: Input should be"),
    "unknown setting": (["A"], {"A": BM25 | {"k2": 2}}, "systems.yml, A: bm25.k2: Extra inputs"),
    "shares": (
        ["A"],
        {
            "A": {"kind": "hybrid", "family": "f", "systems": ["S_1", "S_2"]}
            | {"shares": [0.5, 0.6], "candidates": 3}
        },
        "the shares sum to 1.1, not to 1",
    ),
    "field twice": (["A"], {"A": BM25 | {"fields": ["text", "text"]}}, "must be distinct"),
    "system twice": (
        ["A"],
        {"A": {"kind": "hybrid", "family": "f", "systems": ["S_2", "S_2"]}},
        "the systems S_2, S_2 must be distinct",
    ),
    "a slash": (["a/b"], {"a/b": BM25}, "systems.yml, a/b: bm25.name: "),
    "no name": (
        ["S_2", {"name": "S_4"}],
        {},
        "`active_systems` (conf/test/parameters_retrieval_runs.yml) must be a list of names",
    ),
    "no mapping": (["S_2"], ["S_2"], "systems.yml of conf/base and conf/test can't be read"),
    "no list": (
        "S_2",
        {},
        "`active_systems` (conf/test/parameters_retrieval_runs.yml) must be a list of names",
    ),
}


def configure(project, active, systems) -> None:
    """Let the environment `test` compare some systems, and pool none."""
    folder = project / "conf" / "test"
    (folder / "systems.yml").write_text(yaml.safe_dump({"systems": systems}))
    (folder / "parameters_retrieval_runs.yml").write_text(
        yaml.safe_dump({"active_systems": active})
    )
    (folder / "parameters_pooling.yml").unlink()


@pytest.fixture
def command(project, world):
    """Return a function that runs a command of the project and gives its result."""
    bootstrap_project(project)
    return lambda *arguments: CliRunner().invoke(cli, ["run", "--env", "test", *arguments])


@pytest.mark.parametrize("kind", WRONG_LISTS)
def test_what_is_wrong_with_the_systems_is_one_sentence(command, project, kind):
    active, systems, sentence = WRONG_LISTS[kind]
    configure(project, active, systems)
    result = command("--pipelines", "retrieval_runs")
    assert result.exit_code == 1
    assert sentence in result.output
    assert "Traceback" not in result.output
    assert not (project / "data" / "03_primary").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--pipelines", "retrieval_runs"], "Run first: kedro run --pipelines ingestion"),
        (["--pipelines", "pooling"], "Run first: kedro run --pipelines ingestion"),
        (["--params", "active_systems=S_2"], "`active_systems` can't be given with --params"),
        (["--params", "pooling_systems=S_2"], "`pooling_systems` can't be given with --params"),
        (["--params", "retrieval.depht=5"], "`retrieval.depht` (--params)"),
        (["--params", "retrieval.depth=2"], "The system reordered takes 3 documents of a query"),
        (["--params", "retrieval.lucene.language=xx"], "`retrieval.lucene.language` (--params)"),
        (["--params", "pooling.policy=all"], "`pooling.policy` (--params)"),
        (["--params", "pooling.size=0"], "`pooling.size` (--params)"),
    ],
)
def test_a_wrong_command_is_one_sentence(command, project, arguments, sentence):
    result = command(*arguments)
    assert result.exit_code == 1
    assert sentence in result.output
    assert "Traceback" not in result.output
    assert not (project / "data" / "03_primary").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 Q0 x 1 3.0\n", "elsewhere.run, line 1: 5 fields"),
        ("1 Q0 x 1 3,5 t\n", "elsewhere.run, line 1: '3,5' is not a score"),
        ("1 Q0 x 1 nan t\n", "elsewhere.run, line 1: 'nan' is not a score"),
        ("1 Q0 x 1 3 t\n1 Q0 x 2 2 t\n", "elsewhere.run, line 2: document 'x'"),
        ("", "elsewhere.run has no documents"),
        (None, "which is not among the files of `external_runs` (other.run)"),
    ],
)
def test_a_wrong_run_made_elsewhere_is_one_sentence(command, world, project, content, sentence):
    path = world / "runs" / "elsewhere.run"
    if content is None:
        path.rename(path.with_name("other.run"))
    else:
        path.write_text(content)
    result = command(
        *("--pipelines", "ingestion,retrieval_runs"),
        *("--nodes", "ingestion.ingest_documents,retrieval_runs.elsewhere.read"),
    )
    assert result.exit_code == 1
    assert sentence in result.output
    assert "Traceback" not in result.output
    assert not (project / "data/07_model_output/test/systems").exists()


def test_a_process_of_its_own_says_the_same_and_ends_with_an_error(project, world):
    configure(project, ["A"], LOOP)
    command = [sys.executable, "-m", "kedro", "run", "--env", "test"]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    said = " ".join((result.stdout + result.stderr).split())
    assert "the systems A -> B -> C -> A need each other" in said
    assert "Traceback" not in said


def test_a_pipeline_that_the_environment_does_not_have_says_what_to_name(command, project):
    configure(project, [], {})
    result = command("--pipelines", "retrieval_runs")
    assert result.exit_code == 1
    assert "where the environment names systems (active_systems)" in result.output
    assert "Traceback" not in result.output


def test_a_library_that_is_no_yaml_is_one_sentence(command, project):
    (project / "conf" / "test" / "systems.yml").write_text("systems: {a: [")
    result = command("--pipelines", "human_qrels")
    assert result.exit_code == 1
    assert "systems.yml of conf/base and conf/test can't be read together" in result.output


def test_lists_are_found_wherever_kedro_reads_parameters(command, project):
    configure(project, [], {})
    (project / "conf" / "test" / "parameters_retrieval_runs.yml").unlink()
    folder = project / "conf" / "test" / "parameters"
    folder.mkdir()
    (folder / "retrieval.yaml").write_text("active_systems: [S_99]")
    assert "has no entry 'S_99'" in command("--pipelines", "human_qrels").output
