"""The commands, with a catalog of dictionaries behind them."""

import functools

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.annotation.campaigns import campaign_settings, documents, grade, id_of, pool, queries

from normastcu.annotation.commands import annotate_group
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.store import AnnotationStore
from normastcu.datasets.annotation import AnnotationStoreDataset


class FakeCatalog(dict):
    def load(self, name):
        value = self[name]
        if isinstance(value, AnnotationStoreDataset):
            return value.load()
        return value() if callable(value) else value

    def exists(self, name):
        value = self.get(name)
        return value.exists() if isinstance(value, AnnotationStoreDataset) else name in self


def guard(command):
    @functools.wraps(command)
    def wrapped(*args, **kwargs):
        try:
            return command(*args, **kwargs)
        except AnnotationError as error:
            raise click.ClickException(str(error)) from error

    return wrapped


@pytest.fixture
def path(tmp_path):
    return tmp_path / "annotation.sqlite"


@pytest.fixture
def catalog(path):
    settings = campaign_settings()
    return FakeCatalog(
        {
            "annotation_store": AnnotationStoreDataset(filepath=str(path)),
            "params:annotation": settings.annotation.model_dump(),
            "params:collection": settings.collection,
            "params:scale": settings.scale.model_dump(),
            "pool": pool(),
            "queries": queries(),
            "documents@chunks": lambda: iter([documents()]),
        }
    )


@pytest.fixture
def annotate(catalog):
    """Return a function that runs a command and returns its result."""
    group = annotate_group(lambda _: catalog, guard)
    return lambda *arguments: CliRunner().invoke(group, [str(argument) for argument in arguments])


def test_a_campaign_from_the_first_command_to_the_last(annotate, path, tmp_path):
    assert annotate("prepare").output.splitlines() == [
        "5 pairs of 2 queries; new: 5. Documents in the collection: 5.",
        "1 assessor still to be added: kedro annotate assessors NAME...",
    ]
    links = annotate("assessors", "A", "B", "--address", "https://host/").output.splitlines()
    assert [line.split("/enter/")[0] for line in links] == ["A: https://host", "B: https://host"]
    with AnnotationStore(path) as store:
        assert store.person_of_token(links[1].split("/enter/")[1]).name == "B"
        grade(store, id_of(store, "A"), ("q1", "d1"), 2)
        grade(store, id_of(store, "A"), ("q1", "d2"), "unknown")
    assert annotate("publish", tmp_path / "out").output == (
        f"Written to {tmp_path}/out: 1 graded judgment to raw_human_eval.csv; these and 1 without a"
        " grade (don't know) to judgments.parquet.\n"
    )
    assert len(pd.read_csv(tmp_path / "out" / "raw_human_eval.csv")) == 1
    assert len(pd.read_parquet(tmp_path / "out" / "judgments.parquet")) == 2
    assert annotate("close").output == "The campaign is closed.\n"
    assert annotate("export", tmp_path / "c.zip").exit_code == 0
    assert annotate("import", tmp_path / "c.zip").output == "This campaign is there already.\n"
    assert annotate("reopen").output == "The campaign is open.\n"


def test_a_campaign_is_imported_into_a_new_database(annotate, catalog, tmp_path):
    annotate("prepare")
    annotate("export", tmp_path / "c.zip")
    catalog["annotation_store"] = AnnotationStoreDataset(filepath=str(tmp_path / "new.sqlite"))
    assert annotate("import", tmp_path / "c.zip").output == "The campaign is imported.\n"


COMMANDS = [
    ["assessors", "A"],
    ["assessors"],
    ["serve"],
    ["close"],
    ["reopen"],
    ["export", "c.zip"],
    ["import", "judgments.csv"],
    ["publish", "out"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_campaign_a_command_says_so_and_makes_nothing(
    annotate, path, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    given = tmp_path / "judgments.csv"
    given.write_text("query_id,doc_id,annotator,grade\nq1,d1,A,2\n", encoding="utf-8")
    result = annotate(*command)
    assert result.exit_code == 1
    assert f"There is no campaign in the annotation database {path}." in result.output
    assert all(word in result.output for word in ("--env", "annotate prepare", "annotate import"))
    assert list(tmp_path.iterdir()) == [given]


def test_a_database_without_a_campaign_takes_no_people_and_is_not_exported(
    annotate, path, tmp_path
):
    AnnotationStore(path).close()
    for command in (["assessors", "A"], ["export", tmp_path / "c.zip"]):
        assert "There is no campaign" in annotate(*command).output
    assert not (tmp_path / "c.zip").exists()
    with AnnotationStore(path) as store:
        assert store.people() == []


def test_judgments_are_imported_from_a_csv(annotate, tmp_path):
    annotate("prepare")
    annotate("assessors", "A")
    file = tmp_path / "judgments.csv"
    file.write_text("query_id,doc_id,annotator,grade\nq1,d1,A,2\n", encoding="utf-8")
    assert annotate("import", file).output == "1 judgment imported.\n"


def test_links_are_renewed_and_revoked_and_people_listed(annotate):
    annotate("prepare")
    assert "nobody yet" in annotate("assessors").output
    annotate("assessors", "boss", "--administrator")
    first = annotate("assessors", "A").output
    assert annotate("assessors", "--renew", "A").output not in ("", first)
    assert annotate("assessors", "--revoke", "A").output == "A: the link is revoked.\n"
    assert annotate("assessors").output == "A: assessor, revoked\nboss: administrator\n"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--renew", "TYPO"], "nobody named 'TYPO'"),
        (["--revoke", "A", "--renew", "TYPO"], "nobody named 'TYPO'"),
        (["--revoke", "A", "--revoke", "TYPO"], "nobody named 'TYPO'"),
        (["B"], "a person named 'B' already"),
        (["New", "a/b"], "'a/b' can't be the name"),
    ],
)
def test_a_wrong_name_changes_nobodys_link(annotate, path, wrong, message):
    annotate("prepare")
    links = annotate("assessors", "A", "B").output.splitlines()
    result = annotate("assessors", "--renew", "A", *wrong)
    assert message in result.output
    assert "/enter/" not in result.output
    assert "revoked" not in result.output
    assert annotate("assessors").output == "A: assessor\nB: assessor\n"
    with AnnotationStore(path) as store:
        tokens = [line.split("/enter/")[1] for line in links]
        assert [store.person_of_token(token).name for token in tokens] == ["A", "B"]


def test_links_end_are_renewed_and_made_by_one_command(annotate, path):
    annotate("prepare")
    old = annotate("assessors", "A", "B").output.splitlines()
    lines = annotate("assessors", "C", "--renew", "A", "--revoke", "B").output.splitlines()
    assert [line.split(":")[0] for line in lines] == ["B", "A", "C"]
    with AnnotationStore(path) as store:
        assert [store.person_of_token(line.split("/enter/")[1]) for line in old] == [None, None]
        names = [store.person_of_token(line.split("/enter/")[1]).name for line in lines[1:]]
        assert names == ["A", "C"]
        assert len(store.query_tasks(id_of(store, "C"), "q1")) == 3


def test_a_pool_can_come_from_a_file(annotate, catalog, tmp_path):
    del catalog["pool"]
    missing = annotate("prepare")
    assert missing.exit_code == 1
    assert "There is no pool yet" in missing.output
    file = tmp_path / "pairs.csv"
    file.write_text("query_id,doc_id\nq1,d1\n", encoding="utf-8")
    assert annotate("prepare", "--pool", file).output.startswith("1 pair of 1 query; new: 1.")


def test_without_documents_the_message_names_the_pipeline(annotate, catalog):
    del catalog["documents@chunks"]
    assert "kedro run --pipelines ingestion" in annotate("prepare").output


def test_serving_openly_without_tls_is_warned_of(annotate):
    result = annotate("serve", "--host", "0.0.0.0")
    assert "without TLS" in result.output
    assert "There is no campaign" in result.output
    assert result.exit_code == 1
