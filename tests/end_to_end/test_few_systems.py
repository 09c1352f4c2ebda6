"""Three released runs as the only systems of an environment."""

import csv
import shutil

import pandas as pd
import pytest
import yaml
from tests.end_to_end.projects import copy_project, enter_project, run_pipelines

RELEASED = ("released_S_9", "released_S_14", "released_S_15")
TABLE_9 = {
    # The printed reciprocal rank of S_9 (0.362980) is that of the full list; the file ends at 50.
    "released_S_9": ("0.141304", "0.267714", "0.242242", "0.361496"),
    "released_S_14": ("0.150000", "0.336468", "0.297224", "0.385734"),
    "released_S_15": ("0.171739", "0.327112", "0.310239", "0.434905"),
}
BEST = {
    "P@10": "released_S_15",
    "R@10": "released_S_14",
    "nDCG@10": "released_S_15",
    "MRR": "released_S_15",
}


def file_of(name: str) -> str:
    """Return the released file of a run."""
    return name.removeprefix("released_") + ".csv"


def write_environment(root, source) -> None:
    """Copy what is released, name three runs as systems, and make documents for all their ids."""
    raw = root / "data/01_raw/three"
    raw.mkdir()
    for name in ("query.csv", "raw_human_eval.csv"):
        shutil.copy(source / name, raw)
    ids = [pd.read_csv(path, dtype=str)["DOC_KEY"] for path in (source / "runs").glob("*.csv")]
    ids.append(pd.read_csv(source / "qrel_mean.csv", dtype=str)["DOC_KEY"])
    with (raw / "docs.csv").open("w", newline="") as stream:
        rows = [(doc_id, "texto") for doc_id in pd.concat(ids).unique()]
        csv.writer(stream).writerows([("KEY", "TEXTONORMA"), *rows])
    files = {
        "globals": {
            "collection": "three",
            "source": {"kind": "files", "files": {"path": str(raw)}},
            "judge_labels": str(source / "llm_labels"),
            "external_runs": str(source / "runs"),
            "recorded_replies": None,
        },
        "systems": {
            "systems": {
                name: {"kind": "external", "family": name, "file": file_of(name)}
                for name in RELEASED
            }
        },
        "parameters": {
            "active_systems": list(RELEASED),
            "documents": {"columns": {"doc_id": "KEY", "html": "TEXTONORMA"}},
            "bootstrap": {"resamples": 200},
            "significance": {"flips": 500},
            "shrunken_intervals": {"draws": 200},
        },
    }
    folder = root / "conf/three"
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.yml").write_text(yaml.safe_dump(content))


@pytest.fixture(scope="module")
def table(shared_data, project_root, tmp_path_factory):
    """Run the whole chain; return a reader of the tables of its report."""
    root = copy_project(project_root, tmp_path_factory.mktemp("three") / "project")
    write_environment(root, shared_data / "normastcu")
    with pytest.MonkeyPatch.context() as patch:
        enter_project(root, patch)
        run_pipelines(root, env="three")
    folder = root / "data/08_reporting/three/tables"
    return lambda name: pd.read_parquet(folder / f"{name}.parquet")


def test_their_measures_are_the_published_ones(table):
    measured = table("table_9").set_index("system")
    assert measured.index.tolist() == list(RELEASED)
    found = {
        name: tuple(f"{measured.loc[name, measure]:.6f}" for measure in BEST) for name in RELEASED
    }
    assert found == TABLE_9
    for measure, best in BEST.items():
        assert measured[f"{measure}_rank"].astype(int).idxmin() == best


def test_three_systems_are_not_enough_for_a_verdict(table):
    verdict = table("verdict")
    assert len(verdict) == 6 * 4
    assert set(verdict["verdict"]) == {"not enough systems"}
    assert verdict["n_systems"].eq(3).all()
    assert verdict["sentence"].str.contains("3 that retrieve anything, of at least 10").all()


def test_every_query_is_answered_and_few_of_the_first_documents_are_judged(table):
    counts = table("run_counts").set_index("system")
    assert counts.loc[list(RELEASED), "n_queries"].tolist() == [46, 46, 46]
    assert table("table_9")["Judged@10"].between(0, 0.5, inclusive="neither").all()
