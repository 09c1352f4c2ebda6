"""A file of labels in which two replies could not be read."""

import pandas as pd
import pytest

from normastcu.collection.errors import CollectionError

NAME = "llm_labels_first_pass_sabiazinho-4_simple.csv"


@pytest.fixture
def labels(shared_data, monkeypatch, project):
    """Point the environment `normastcu` to the released data; return the file of labels."""
    monkeypatch.setenv("NORMASTCU_RAW", str(shared_data / "normastcu"))
    return str(shared_data / "normastcu" / NAME)


def test_the_two_labels_are_refused_with_file_and_line(kedro_run, labels):
    with pytest.raises(CollectionError) as error:
        kedro_run(
            "human_qrels", "meta_evaluation", env="normastcu", params={"judge_labels": labels}
        )
    assert str(error.value).count("the grade -1 is negative") == 2
    assert str(error.value).count(f"{NAME}, line ") == 2


def test_they_count_as_not_judged_when_the_setting_says_so(kedro_run, labels, project):
    params = {"judge_labels": labels, "imported_judges": {"negative": "unjudged"}}
    kedro_run("human_qrels", "meta_evaluation", env="normastcu", params=params)
    tables = project / "data" / "08_reporting" / "normastcu" / "tables"
    coverage = pd.read_parquet(tables / "coverage.parquet").set_index("outcome")["n"]
    assert coverage.to_dict() == {"ok": 810, "not judged": 2, "outside the reference": 0}
    summary = pd.read_parquet(tables / "judge_summary.parquet").iloc[0]
    assert (summary["judge"], summary["n"], summary["n_asked"]) == ("sabiazinho-4_simple", 810, 812)
    counts = pd.read_parquet(tables / "grade_counts.parquet")
    judge = counts[counts["annotator"] == "sabiazinho-4_simple"]
    assert judge["n"].tolist() == [288, 184, 338]
