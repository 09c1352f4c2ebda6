"""Whole pipelines: the sample collection, a fabricated world, and the published numbers."""

import pandas as pd
import pytest
from lxml import html

from normastcu.collection.errors import CollectionError
from normastcu.configuration import ParameterError


def table(project, collection, name):
    """Read a table of the report."""
    folder = project / "data" / "08_reporting" / collection / "tables"
    return pd.read_parquet(folder / f"{name}.parquet")


def test_the_default_run_ends_with_the_judges_and_the_place_of_the_results(
    kedro_run, project, project_root, capfd
):
    kedro_run()
    printed = capfd.readouterr().out
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    lines = [line.rstrip() for line in printed.splitlines() if line.startswith("  modelo-")]
    assert len(lines) == 2
    assert all(line in readme for line in lines)
    summary = table(project, "sample", "judge_summary")
    assert all(judge in printed for judge in summary["judge"])
    assert "data/08_reporting/sample/tables" in printed
    assert "data/08_reporting/sample/figures" in printed
    for language, badge in (("en", "no judge to trust"), ("pt", "nenhuma confiança")):
        page = html.parse(project / f"data/08_reporting/sample/report_{language}.html")
        badges = {
            judge.findtext("h4"): judge.findtext("p") for judge in page.iterfind(".//article")
        }
        assert badges["smollm2-135m-instruct_simple"] == badge
        assert badges["smollm2-135m-instruct_rationale"] == badge
        assert set(badges) == set(summary["judge"])
    figures = project / "data" / "08_reporting" / "sample" / "figures"
    assert {path.suffix for path in figures.iterdir()} == {".svg", ".png"}


def test_the_fabricated_world_by_hand(kedro_run, project, world):
    """Another scale, other columns, ids that look like numbers, a query that nobody judged."""
    kedro_run(env="test")
    documents = pd.read_parquet(project / "data/03_primary/test/documents.parquet")
    assert documents["doc_id"].tolist() == ["00123", "1e5", "LEI", "lei", "x"]
    assert documents["text"].tolist() == ['um, "dois"', "tês", "a", "b", "c\nd"]
    queries = pd.read_parquet(project / "data/03_primary/test/queries.parquet")
    assert queries["text"].tolist() == ['a "b", c\nd', "férias?", "ninguém julgou"]
    qrels = project / "data/05_model_input/test/human_qrels"
    # Means: 7/3, 0, 1/2, 3/2, 0; halves go to the even grade.
    assert (qrels / "reference.qrels").read_text() == (
        "01 0 LEI 0\n01 0 lei 2\n01 0 x 0\n1 0 00123 2\n1 0 1e5 0\n"
    )
    assert (qrels / "Caio.qrels").read_text() == "1 0 00123 2\n"
    assert (qrels / "without_Ana.qrels").read_text() == (
        "01 0 LEI 0\n01 0 lei 0\n1 0 00123 2\n1 0 1e5 0\n"
    )
    answers = table(project, "test", "assessor_answers").set_index(["annotator", "answer"])["n"]
    assert answers["Caio"].to_dict() == {"graded": 1, "cannot judge": 1, "no answer": 3}
    coverage = table(project, "test", "coverage").set_index(["judge", "outcome"])["n"]
    assert coverage["first"].to_dict() == {"ok": 4, "not judged": 1, "outside the reference": 0}
    assert coverage["second"].to_dict() == {"ok": 2, "not judged": 3, "outside the reference": 1}
    kappa = table(project, "test", "kappa")
    assert list(dict.fromkeys(kappa["annotator_a"])) == [
        "reference",
        "Ana",
        "Bia",
        "Caio",
        "second",
    ]
    alone = kappa[(kappa["annotator_a"] == "Ana") & (kappa["annotator_b"] == "Caio")].iloc[0]
    # They share one pair, graded 3 and 2: the disagreement is what chance would give.
    assert (alone["n"], alone["exact"], alone["kappa_quadratic"]) == (1, 0, 0)
    bias = table(project, "test", "bias").set_index("annotator")
    # The two errors of `second` are two minus seven thirds, and nought.
    assert bias.loc["second", "me"] == pytest.approx(-1 / 6)
    assert bias.loc["second", "mae"] == pytest.approx(1 / 6)


def test_the_order_of_the_rows_of_a_file_changes_nothing(kedro_run, project, world):
    kedro_run("human_qrels", "meta_evaluation", env="test")
    names = ["kappa", "alpha", "bias", "disagreement", "judge_summary", "disputed_pairs"]
    before = [table(project, "test", name) for name in names]
    path = world / "raw_human_eval.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, *rows[::-1]]), encoding="utf-8")
    kedro_run("human_qrels", "meta_evaluation", env="test")
    for name, expected in zip(names, before, strict=True):
        pd.testing.assert_frame_equal(table(project, "test", name), expected)


def test_a_judged_document_that_the_corpus_lacks_ends_the_run(kedro_run, world):
    path = world / "labels" / "first.qrels"
    path.write_text(path.read_text() + "1 0 Lei 1\n")
    with pytest.raises(CollectionError, match="document 'Lei' for query '1' by first"):
        kedro_run("ingestion", env="test")


def test_judgments_work_without_the_corpus(kedro_run, project, world):
    (world / "docs.csv").unlink()
    kedro_run("human_qrels", "meta_evaluation", env="test")
    assert len(table(project, "test", "kappa")) == 15
    with pytest.raises(Exception, match=r"There is no docs\.csv or doc\.csv"):
        kedro_run("ingestion", env="test")


def test_an_environment_without_its_source_never_falls_back(kedro_run, project):
    with pytest.raises(Exception, match="set NORMASTCU_RAW"):
        kedro_run("human_qrels", env="normastcu")
    assert not (project / "data" / "03_primary").exists()


def test_a_wrong_parameter_stops_before_anything_runs(kedro_run, project):
    with pytest.raises(ParameterError, match=r"`bootstrap\.seed` \(--params\)"):
        kedro_run("human_qrels", params={"bootstrap": {"seed": -1}})
    assert not (project / "data" / "03_primary").exists()


def test_meta_evaluation_alone_follows_the_files(kedro_run, project, world):
    """No reference of an earlier run is compared with judgments that have changed since."""
    kedro_run(env="test")
    path = world / "raw_human_eval.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("1,00123,Ana,3", "1,00123,Ana,0"))
    kedro_run("meta_evaluation", env="test")
    grades = pd.read_parquet(project / "data/07_model_output/test/grades.parquet")
    reference = grades[(grades["annotator"] == "reference") & (grades["doc_id"] == "00123")]
    # The mean of 0, 2 and 2 is four thirds.
    assert reference["grade"].tolist() == [1]


def test_meta_evaluation_runs_in_a_fresh_clone_without_any_judge_asked(kedro_run, project, caplog):
    kedro_run("human_qrels", "meta_evaluation")
    assert "have not been asked yet" in caplog.text
    assert "lexical" not in set(table(project, "sample", "judge_summary")["judge"])


def test_a_judge_without_a_pair_of_the_reference_is_there_and_undefined(kedro_run, project, world):
    (world / "labels" / "lost.qrels").write_text("q 0 x 1\n")
    kedro_run("human_qrels", "meta_evaluation", env="test")
    summary = table(project, "test", "judge_summary").set_index("judge").loc["lost"]
    assert (summary["n"], summary["coverage"]) == (0, 0)
    assert summary["undefined"] == "no pair was graded by both"
    assert pd.isna(summary["kappa_quadratic"])


def test_a_judge_called_like_a_person_is_an_error(kedro_run, world):
    (world / "labels" / "Ana.qrels").write_text("1 0 x 1\n")
    with pytest.raises(CollectionError, match="'Ana' names two annotators"):
        kedro_run("meta_evaluation", env="test")


def test_an_environment_that_names_no_judges_has_none(kedro_run, project, world):
    (project / "conf" / "test" / "parameters_llm_judging.yml").unlink()
    kedro_run("human_qrels", "meta_evaluation", env="test")
    assert set(table(project, "test", "judge_summary")["judge"]) == {"first", "second"}


def test_an_environment_without_a_source_is_an_error_and_not_the_sample(kedro_run, project):
    folder = project / "conf" / "nosource"
    folder.mkdir()
    (folder / "globals.yml").write_text("collection: nosource\njudge_labels: null\n")
    with pytest.raises(ParameterError, match="does not say `source`"):
        kedro_run("human_qrels", env="nosource")
    assert not (project / "data" / "03_primary").exists()
