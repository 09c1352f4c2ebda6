"""The released data of NormasTCU give the numbers of the paper (method.md, section 9)."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from tests.end_to_end.hostile_world import warnings_of
from tests.end_to_end.projects import copy_project, enter_project, run_pipelines

from normastcu.reporting.summary import print_summary

COUNTS_AND_BIAS = {
    "A_1": (536, 66, 203, 805, 0.00, 0.25),
    "A_2": (477, 80, 156, 713, -0.04, 0.22),
    "A_3": (461, 137, 207, 805, 0.10, 0.29),
    "A_4": (451, 166, 108, 725, -0.08, 0.23),
    "deepseek-3.2_simple": (420, 237, 155, 812, 0.08, 0.46),
    "gpt-5-mini_simple": (215, 332, 265, 812, 0.47, 0.60),
    "sabiazinho-4_simple": (290, 184, 338, 812, 0.47, 0.64),
    "deepseek-3.2_rationale": (397, 208, 207, 812, 0.18, 0.48),
    "gpt-5-mini_rationale": (216, 345, 251, 812, 0.45, 0.58),
    "sabiazinho-4_rationale": (209, 306, 297, 812, 0.52, 0.66),
}
PEOPLE_KAPPA = {
    ("A_1", "A_2"): 0.7301,
    ("A_1", "A_3"): 0.5466,
    ("A_1", "A_4"): 0.6688,
    ("A_2", "A_3"): 0.6055,
    ("A_2", "A_4"): 0.6951,
    ("A_3", "A_4"): 0.5809,
}
DISAGREEMENT = {"0": 360, "1": 11, "2": 66, "0-1": 135, "1-2": 90, "0-2": 150}
PAIRS_BY_ASSESSORS = {4: 675, 3: 82, 2: 47, 1: 8}


@pytest.fixture(scope="module")
def finished_run(shared_data, project_root, tmp_path_factory):
    """Run `human_qrels,meta_evaluation` on the released data; return its folder and warnings."""
    root = copy_project(project_root, tmp_path_factory.mktemp("published") / "project")
    with pytest.MonkeyPatch.context() as patch, warnings_of("normastcu") as said:
        enter_project(root, patch)
        patch.setenv("NORMASTCU_RAW", str(shared_data / "normastcu"))
        run_pipelines(root, "human_qrels", "meta_evaluation", env="normastcu")
    return root, said


@pytest.fixture(scope="module")
def results(finished_run):
    """Return a reader of the tables of the run."""
    data = finished_run[0] / "data"

    def read(name):
        return pd.read_parquet(next(data.glob(f"*/normastcu/**/{name}.parquet")))

    return read


def test_grade_counts(results):
    counts = results("grade_counts").pivot(index="annotator", columns="grade", values="n")
    for annotator, (zero, one, two, total, _, _) in COUNTS_AND_BIAS.items():
        assert counts.loc[annotator].tolist() == [zero, one, two]
        assert counts.loc[annotator].sum() == total
    assert counts.loc["reference"].tolist() == [513, 145, 154]


def test_bias_to_the_printed_digits(results):
    bias = results("bias").set_index("annotator")
    for annotator, (*_, total, me, mae) in COUNTS_AND_BIAS.items():
        assert bias.loc[annotator, "n"] == total
        assert f"{bias.loc[annotator, 'me']:.2f}" == f"{me:.2f}"
        assert f"{bias.loc[annotator, 'mae']:.2f}" == f"{mae:.2f}"


def test_the_annotators_stand_in_the_order_of_the_paper(results):
    assert results("annotators")["annotator"].tolist() == ["reference", *COUNTS_AND_BIAS]
    assert results("bias")["annotator"].tolist() == list(COUNTS_AND_BIAS)


def test_kappas_of_people(results):
    kappas = results("human_kappa").set_index(["annotator_a", "annotator_b"])["kappa_quadratic"]
    assert {pair: round(value, 4) for pair, value in kappas.items()} == PEOPLE_KAPPA


def test_lowest_and_highest_kappa_of_a_judge_with_an_assessor(results):
    kappas = results("kappa")
    people = kappas["annotator_a"].str.fullmatch(r"A_\d")
    judges = kappas["annotator_b"].isin([name for name in COUNTS_AND_BIAS if "_" in name[2:]])
    values = kappas.loc[people & judges, "kappa_quadratic"]
    assert len(values) == 24
    assert (round(values.min(), 2), round(values.max(), 2)) == (0.32, 0.53)


def test_alpha_of_the_assessors(results):
    for name in ("human_alpha", "alpha"):
        alpha = results(name).set_index("group")
        assert round(alpha.loc["assessors", "alpha_ordinal"], 4) == 0.6188
    assert "assessors and deepseek-3.2_simple" in alpha.index


def test_people_against_the_others(results):
    """Leave-one-out references put people and judges on one scale (statistics.md)."""
    ceiling = results("human_ceiling").set_index(["annotator", "statistic", "reference"])
    expected = {
        "A_1": (804, 0.7035, 0.3493),
        "A_2": (711, 0.7611, 0.2979),
        "A_3": (804, 0.6143, 0.4044),
        "A_4": (721, 0.7231, 0.3095),
    }
    for person, (n, kappa, mae) in expected.items():
        row = ceiling.loc[(person, "kappa_quadratic", f"without_{person}")]
        assert (row["n"], round(row["value"], 4)) == (n, kappa)
        assert round(ceiling.loc[(person, "mae", f"without_{person}"), "value"], 4) == mae


def test_disagreement_of_people(results):
    table = results("disagreement")
    assert table.set_index("grades")["n"].to_dict() == DISAGREEMENT
    by_category = table.groupby("category")["n"].sum().to_dict()
    assert by_category == {"consensus": 437, "weak": 225, "strong": 150}
    pairs = results("pairs_by_assessors").groupby("n_assessors")["n"].sum().to_dict()
    assert pairs == PAIRS_BY_ASSESSORS
    assert results("disagreement_by_query")["n_strong"].sum() == 150


def test_float_means_equal_the_released_ones_on_all_pairs(results, shared_data):
    released = pd.read_csv(shared_data / "normastcu" / "qrel_mean.csv", dtype=str)
    expected = released.set_index(["QUERY_KEY", "DOC_KEY"])["SCORE"].astype(float)
    means = results("mean_grades").set_index(["query_id", "doc_id"])["mean_grade"]
    assert len(means) == len(expected) == 812
    np.testing.assert_array_equal(means.loc[expected.index], expected)


def test_the_reference_qrels(results):
    qrels = results("human_qrels")
    reference = qrels[qrels["qrels"] == "reference"]
    assert reference["grade"].value_counts().to_dict() == {0: 513, 2: 154, 1: 145}
    assert reference["query_id"].nunique() == 46
    people = qrels[qrels["qrels"].str.fullmatch(r"A_\d")].groupby("qrels").size()
    assert people.to_dict() == {"A_1": 805, "A_2": 713, "A_3": 805, "A_4": 725}


def test_every_judge_graded_every_pair(results):
    coverage = results("coverage").set_index(["judge", "outcome"])["n"].unstack()
    assert (coverage["ok"] == 812).all()
    assert (coverage["not judged"] == 0).all()


def test_the_summary_is_the_one_of_the_readme(results, project_root):
    console = Console(width=110, file=io.StringIO())
    print_summary(console, results("judge_summary"), results("human_kappa"))
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    shown = [line.rstrip() for line in console.file.getvalue().splitlines() if "-" in line]
    judges = [line for line in shown if line.strip().startswith(("deepseek", "gpt", "sabia"))]
    assert len(judges) == 6
    assert all(line in readme for line in judges)


def test_every_estimate_has_its_interval_over_46_queries(results):
    for name in ("kappa", "bias", "alpha"):
        table = results(name)
        assert (table["ci95_low"] <= table["ci90_low"]).all()
        assert (table["ci90_high"] <= table["ci95_high"]).all()
        assert table["ci_method"].eq("bca").all()
        assert table["n_queries"].between(41, 46).all()
        assert table["undefined"].isna().all()


def test_without_a_run_of_a_system_the_comparison_of_systems_says_so_once(finished_run, results):
    """The fifteen systems are named, but neither corpus nor run is there."""
    _, said = finished_run
    assert sum("No system has been run yet" in message for message in said) == 1
    assert sum("no document lengths" in message for message in said) == 1
    for name in ("measures", "measures_by_query", "table_9", "run_report"):
        assert len(results(name)) == 0
    verdict = results("verdict")
    assert len(verdict) == 6 * 4
    assert set(verdict["verdict"]) == {"not enough systems"}
    assert verdict["n_systems"].eq(0).all()
    assert verdict["tau"].isna().all()
    bias = results("judge_bias")
    assert set(bias["grouping"]) >= {"reference_grade"}
