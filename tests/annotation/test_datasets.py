"""The annotation database in the catalog, read while people judge."""

import stat

import pandas as pd
import pytest
from kedro.io.core import DatasetError
from tests.annotation.campaigns import campaign_settings, grade

from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.schemas import AssessorJudgments
from normastcu.collection.settings import AssessorFormat
from normastcu.datasets.annotation import (
    AnnotationFileDataset,
    AnnotationJudgmentsDataset,
    AnnotationStoreDataset,
)
from normastcu.pipelines.human_qrels.nodes import average_grades
from normastcu.pipelines.ingestion.nodes import ingest_assessor_judgments


@pytest.fixture
def judged(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    grade(campaign.store, campaign.b, ("q1", "d1"), 1)
    grade(campaign.store, campaign.a, ("q1", "d2"), "unknown")
    grade(campaign.store, campaign.a, ("q1", "d3"), "skipped")
    campaign.store.suggest(campaign.a, "q1", "d5", grade=1, reason="", submission_id="s")
    return campaign


EXPECTED = [
    ["q1", "d1", "A", 2, "pool"],
    ["q1", "d1", "B", 1, "pool"],
    ["q1", "d2", "A", None, "pool"],
    ["q1", "d5", "A", 1, "suggested"],
]


def rows(table):
    return table.astype(object).where(table.notna(), None).to_numpy().tolist()


def test_judgments_are_those_of_this_moment(judged):
    dataset = AnnotationJudgmentsDataset(filepath=str(judged.store.path))
    table = dataset.load()
    assert rows(table) == EXPECTED
    AssessorJudgments.validate(table)
    grade(judged.store, judged.b, ("q2", "d4"), 0)
    assert len(dataset.load()) == len(EXPECTED) + 1


def test_ingestion_reads_the_database_as_a_raw_file(judged, tmp_path):
    file = AnnotationFileDataset(filepath=str(judged.store.path)).load()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    queries = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["a", "b"]}, dtype="str")
    table, record = ingest_assessor_judgments(
        file, AssessorFormat(), campaign_settings().scale, queries
    )
    assert sorted(rows(table), key=str) == sorted(EXPECTED, key=str)
    assert record["location"].tolist() == [str(judged.store.path)]
    assert average_grades(table)["mean_grade"].tolist() == [1.5, 1.0]


def test_the_round_that_counts_can_be_chosen(judged):
    judged.store.start_adjudication(["A"], [("q1", "d1")])
    grade(judged.store, judged.a, ("q1", "d1"), 0, "again", "adjudication")
    path = str(judged.store.path)
    first = AnnotationJudgmentsDataset(filepath=path, counts="first").load()
    again = AnnotationJudgmentsDataset(filepath=path, counts="adjudicated").load()
    assert rows(first) == EXPECTED
    assert rows(again)[:1] == [["q1", "d1", "A", 0, "pool"]]
    assert len(again) == len(EXPECTED) - 1


@pytest.mark.parametrize("kind", [AnnotationJudgmentsDataset, AnnotationFileDataset])
def test_a_missing_database_is_an_error_and_is_not_made(kind, tmp_path):
    dataset = kind(filepath=str(tmp_path / "no.sqlite"))
    assert not dataset.exists()
    with pytest.raises(DatasetError, match="kedro annotate prepare") as raised:
        dataset.load()
    assert isinstance(raised.value.__cause__, AnnotationError)
    assert list(tmp_path.iterdir()) == []


def test_judgments_are_never_saved(judged):
    with pytest.raises(DatasetError, match="never written"):
        AnnotationJudgmentsDataset(filepath=str(judged.store.path)).save(pd.DataFrame())


def test_the_store_is_handed_out_open(tmp_path):
    dataset = AnnotationStoreDataset(filepath=str(tmp_path / "a.sqlite"))
    assert not dataset.exists()
    with dataset.load() as store:
        assert isinstance(store, AnnotationStore)
    assert dataset.exists()


def test_previews_show_the_first_judgments(judged):
    path = str(judged.store.path)
    assert AnnotationJudgmentsDataset(filepath=path).preview(1)["data"] == [EXPECTED[0]]
    dataset = AnnotationFileDataset(filepath=path)
    assert dataset.preview() == {}
    dataset.load()
    assert dataset.preview(1)["data"] == [["q1", "d1", "A", "2", "pool"]]
