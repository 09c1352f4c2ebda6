"""What MLflow is told of judges: numbers by hand, a real SQLite store, and what may go wrong."""

import re
import subprocess
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow.entities import RunStatus
from mlflow.tracking import MlflowClient

from normastcu.collection.frames import table_hash
from normastcu.judging.settings import load_judges
from normastcu.tracking.hashes import UNKNOWN, content_hash, git_commit
from normastcu.tracking.metrics import judge_metrics, judge_verdicts, safe_names
from normastcu.tracking.records import JudgeRecord
from normastcu.tracking.runs import (
    ABANDONED_AFTER_S,
    Parent,
    end_abandoned,
    tag_run,
    write_judge,
)
from normastcu.tracking.settings import HIDDEN, asked_settings, flattened, shortened

NAME = re.compile(r"[A-Za-z0-9_./-]+")
TABLES = {
    "judge_summary": pd.DataFrame(
        {
            "judge": ["good", "mute"],
            "kappa_quadratic": [0.75, None],
            "ci90_low": [0.5, None],
            "ci90_high": [0.875, None],
            "kappa_assessors": [0.625, None],
            "me": [-0.25, None],
            "mae": [0.5, None],
            "exact": [0.0, None],
            "coverage": [1.0, 0.0],
            "n": [8, 0],
        }
    ).convert_dtypes(),
    "bias": pd.DataFrame(
        {
            "annotator": ["A 1", "A_2", "good", "mute"],
            "kind": ["assessor", "assessor", "judge", "judge"],
        }
    ),
    "kappa": pd.DataFrame(
        [
            ("reference", "good", 0.75),
            ("reference", "A 1", 0.9),
            ("A 1", "A_2", 0.8),
            ("A 1", "good", 0.5),
            ("good", "A_2", 0.7),
            ("A_2", "mute", None),
            ("good", "mute", 0.1),
        ],
        columns=["annotator_a", "annotator_b", "kappa_quadratic"],
    ),
    "cost": pd.DataFrame(
        {
            "judge": ["good"],
            "calls": [8],
            "tokens_in": [800],
            "tokens_out": [None],
            "cost": [0.0],
            "cost_per_1000_pairs": [0.0],
        }
    ).convert_dtypes(),
    "rank_correlation": pd.DataFrame(
        [
            ("good", "P@10", "common", "all", "tau_b", 3, 7, 0.9, 0.8, 1.0),
            ("good", "P@10", "per_qrels", "all", "tau_b", 3, 9, 0.7, 0.6, 0.8),
            ("good", "P@10", "common", "one_per_family", "tau_b", 2, 7, 1.0, 1.0, 1.0),
            ("good", "RBP(p=0.8)", "common", "all", "rho", 3, 7, 0.4, None, float("inf")),
            ("good", "MRR", "common", "all", "tau_b", 3, 7, None, None, None),
            ("good", "P@10", "common", "all", "rbo", 3, 7, 0.95, 0.9, 1.0),
            ("mute", "P@10", "common", "all", "tau_b", 3, 0, None, None, None),
        ],
        columns=[
            *("qrels", "measure", "query_set", "system_set", "coefficient"),
            *("n_systems", "n_queries", "value", "ci90_low", "ci90_high"),
        ],
    ),
    "verdict": pd.DataFrame(
        {
            "judge": ["good", "good", "mute"],
            "measure": ["P@10", "MRR", "P@10"],
            "verdict": ["not shown", "undefined", "undefined"],
        }
    ),
}


def test_the_numbers_of_a_judge_have_plain_names_and_what_is_undefined_is_absent():
    assert judge_metrics("good", TABLES) == {
        "kappa_reference": 0.75,
        "kappa_reference.ci90_low": 0.5,
        "kappa_reference.ci90_high": 0.875,
        "kappa_A_1": 0.5,
        "kappa_A_2": 0.7,
        "kappa_people_mean": 0.625,
        "me": -0.25,
        "mae": 0.5,
        "exact": 0.0,
        "coverage": 1.0,
        "n_pairs": 8.0,
        "calls": 8.0,
        "tokens_in": 800.0,
        "cost": 0.0,
        "cost_per_1000_pairs": 0.0,
        "tau_b.P_10": 0.9,
        "tau_b.P_10.ci90_low": 0.8,
        "tau_b.P_10.ci90_high": 1.0,
        "tau_b_per_qrels.P_10": 0.7,
        "tau_b_per_qrels.P_10.ci90_low": 0.6,
        "tau_b_per_qrels.P_10.ci90_high": 0.8,
        "rho.RBP_p_0.8": 0.4,
        "n_systems": 3.0,
        "n_queries_common": 7.0,
        "n_queries_per_qrels": 9.0,
    }
    assert judge_metrics("mute", TABLES) == {
        "coverage": 0.0,
        "n_pairs": 0.0,
        "n_systems": 3.0,
        "n_queries_common": 0.0,
    }


def test_without_systems_there_are_the_numbers_of_pairs():
    pairs = {name: TABLES[name] for name in ("judge_summary", "bias", "kappa")}
    assert "kappa_reference" in judge_metrics("good", pairs)
    assert not [name for name in judge_metrics("good", pairs) if name.startswith(("tau", "cost"))]
    assert judge_verdicts("good", pairs) == {}


def test_the_verdict_stands_beside_each_measure():
    assert judge_verdicts("good", TABLES) == {
        "verdict.P_10": "not shown",
        "verdict.MRR": "undefined",
    }


def test_a_person_called_like_a_number_of_ours_does_not_take_its_place():
    names = safe_names(["Reference", "people_mean", "Ana"], taken=("reference", "people_mean"))
    assert names["Ana"] == "Ana"
    assert not {name.casefold() for name in names.values()} & {"reference", "people_mean"}


@given(st.sets(st.text(), max_size=8))
def test_names_are_safe_and_stay_different(given_names):
    names = safe_names(given_names)
    assert set(names) == given_names
    assert len({name.casefold() for name in names.values()}) == len(given_names)
    assert all(NAME.fullmatch(name) and len(name) <= 107 for name in names.values())


@given(st.text(), st.integers(1, 200))
def test_a_text_that_is_cut_keeps_the_limit(text, limit):
    cut = shortened(text, limit)
    assert len(cut) <= limit
    assert (cut == text) == (len(text) <= limit)


def test_two_long_texts_that_begin_alike_stay_different():
    one, other = (shortened("x" * 9000 + end, 6000) for end in "ab")
    assert one != other
    assert len(one) == 6000
    assert "9001 characters, SHA-256 " in one


def test_the_settings_of_a_judge_are_told_and_nothing_secret_among_them():
    model = {
        "kind": "openai",
        "model": "id-of-the-provider",
        "base_url": "http://127.0.0.1:1/v1",
        "credentials": "SOME_KEY",
        "context_window": 8192,
        "cut_policy": "head",
        "parameters": {
            "temperature": 0,
            "extra_headers": {"X-Token": "hidden"},
            "extra_body": {"auth_token": "hidden", "steps": [{"password": "hidden", "n": 1}]},
            "stop": [],
        },
    }
    library = {"models": {"m": model}, "prompts": {"p": {"file": "p.md"}}}
    (judge,) = load_judges(library, ["m_p"])
    told = asked_settings(judge, None)
    assert told["model"] == "id-of-the-provider"
    assert told["model_name"] == "m"
    assert told["cut_policy"] == "head"
    assert told["least_coverage"] == "0.95"
    assert told["model_parameters.temperature"] == "0"
    assert told["model_parameters.extra_headers"] == HIDDEN
    assert told["model_parameters.extra_body.auth_token"] == HIDDEN
    steps = told["model_parameters.extra_body.steps"]
    assert steps == f'[{{"password": "{HIDDEN}", "n": 1}}]'
    assert "SOME_KEY" not in told.values()
    assert "hidden" not in str(told)


def test_the_lexical_baseline_has_its_own_settings_and_no_model():
    (judge,) = load_judges({"judges": {"lexical": {"kind": "lexical"}}}, ["lexical"])
    told = asked_settings(judge, None)
    assert told["model"] == told["source"] == "lexical"
    assert told["lexical.prefix"] == "6"
    assert "prompt_sha256" not in told


def test_a_name_that_mlflow_would_refuse_is_written_another_way():
    assert flattened({"model_parameters": {"a@b": 1}}) == {"model_parameters.a_b": "1"}


def test_the_hash_of_a_table_is_that_of_its_rows():
    table = pd.DataFrame({"query_id": ["1", "01"], "grade": pd.array([2, None], dtype="Int64")})
    assert table_hash(table) == table_hash(table.iloc[::-1])
    assert table_hash(table) != table_hash(table.assign(query_id=["1", "1"]))
    assert table_hash(table) != table_hash(table.assign(grade=[2, 0]))
    assert content_hash(["a", "a"]) != content_hash(["a"])


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_commit_says_whether_files_differ_from_it(tmp_path):
    assert git_commit(tmp_path) == UNKNOWN
    _git(tmp_path, "init", "--quiet")
    assert git_commit(tmp_path) == UNKNOWN
    (tmp_path / ".gitignore").write_text("made\n")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "first")
    commit = _git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "made").write_text("ignored")
    assert git_commit(tmp_path) == commit
    (tmp_path / "new.py").write_text("")
    assert git_commit(tmp_path) == f"{commit}-dirty"


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> MlflowClient:
    """Return a client of a store of its own."""
    return MlflowClient(f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db")


@pytest.fixture
def parent(client, tmp_path, request) -> Parent:
    """Return the open run of a comparison in an experiment of its own."""
    experiment = client.create_experiment(request.node.name, (tmp_path / "artifacts").as_uri())
    return Parent(client.create_run(experiment).info.run_id, experiment)


def record(judge: str = "good", identity: str = "1", **more) -> JudgeRecord:
    told = {"params": {"model": "m"}, "metrics": {"tau_b.P_10": 0.5}, "tags": {"x": "y"}}
    return JudgeRecord(name=judge, identity=identity, **(told | more))


def nothing(folder: Path) -> None:
    """Make no files."""


def statuses(client: MlflowClient, parent: Parent) -> dict[str, str]:
    """Return the status of every judge's run, by its name."""
    runs = client.search_runs([parent.experiment_id], "tags.`normastcu.kind` = 'judge'")
    return {run.info.run_name: run.info.status for run in runs}


def test_a_judge_is_a_finished_run_below_the_comparison_and_no_run_becomes_active(client, parent):
    def files(folder: Path) -> None:
        (folder / "tables").mkdir()
        (folder / "tables" / "kappa.csv").write_text("a\n")

    run = client.get_run(write_judge(client, parent, record(), files))
    assert (run.info.run_name, run.info.status) == ("good", "FINISHED")
    assert run.data.params == {"model": "m"}
    assert run.data.metrics == {"tau_b.P_10": 0.5}
    assert run.data.tags["mlflow.parentRunId"] == parent.run_id
    assert run.data.tags["normastcu.kind"] == "judge"
    assert run.data.tags["x"] == "y"
    assert [one.path for one in client.list_artifacts(run.info.run_id, "tables")] == [
        "tables/kappa.csv"
    ]
    assert client.get_run(parent.run_id).info.status == "RUNNING"
    assert mlflow.active_run() is None


def test_a_run_of_the_same_things_names_the_first_one(client, parent):
    first, second, third, other = (
        client.get_run(write_judge(client, parent, record(identity=identity), nothing))
        for identity in ("1", "1", "1", "2")
    )
    assert "normastcu.same_as" not in first.data.tags
    assert "normastcu.same_as" not in other.data.tags
    assert second.data.tags["normastcu.same_as"] == first.info.run_id
    assert third.data.tags["normastcu.same_as"] == first.info.run_id
    assert len({run.info.run_id for run in (first, second, third, other)}) == 4


@pytest.mark.parametrize(
    ("error", "status"), [(OSError("disk full"), "FAILED"), (KeyboardInterrupt(), "KILLED")]
)
def test_a_run_that_can_not_be_written_is_not_left_open_nor_taken_for_the_first(
    client, parent, error, status
):
    def files(folder: Path) -> None:
        raise error

    with pytest.raises(type(error)):
        write_judge(client, parent, record(), files)
    assert statuses(client, parent) == {"good": status}
    again = client.get_run(write_judge(client, parent, record("again"), nothing))
    assert "normastcu.same_as" not in again.data.tags


def test_a_run_that_a_killed_process_left_is_ended_by_a_later_one(client, parent):
    now = client.get_run(parent.run_id).info.start_time
    kind = {"normastcu.kind": "judge"}
    left = now - 1000 * (ABANDONED_AFTER_S + 60)
    client.create_run(parent.experiment_id, start_time=left, tags=kind, run_name="left")
    client.create_run(parent.experiment_id, start_time=now, tags=kind, run_name="under way")
    client.create_run(parent.experiment_id, start_time=left, run_name="not ours")
    end_abandoned(client, parent.experiment_id)
    assert statuses(client, parent) == {"left": "KILLED", "under way": "RUNNING"}
    assert len(client.search_runs([parent.experiment_id], "attributes.status = 'RUNNING'")) == 3


def test_long_texts_and_very_many_of_them_are_taken(client, parent):
    many = {f"p{n}": "x" * 7000 for n in range(120)}
    numbers = {f"m{n}": float(n) for n in range(1100)}
    tags = {f"t{n}": "y" * 9000 for n in range(120)}
    written = write_judge(client, parent, record(params=many, metrics=numbers, tags=tags), nothing)
    data = client.get_run(written).data
    assert {len(data.params[name]) for name in many} == {6000}
    assert {len(data.tags[name]) for name in tags} == {8000}
    assert data.metrics == numbers
    tag_run(client, parent.run_id, tags)
    assert {len(client.get_run(parent.run_id).data.tags[name]) for name in tags} == {8000}
    assert client.get_run(written).info.status == RunStatus.to_string(RunStatus.FINISHED)
