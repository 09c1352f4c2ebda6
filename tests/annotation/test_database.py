"""The file of a campaign: private, local, and nobody else's."""

import sqlite3
import stat

import pytest
from tests.annotation.campaigns import grade, id_of, prepare

from normastcu.annotation import database
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.store import AnnotationStore


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_file_and_its_side_files_are_the_owners_alone(campaign):
    names = [
        campaign.store.path.with_name(f"annotation.sqlite{end}") for end in ("", "-wal", "-shm")
    ]
    assert [mode(path) for path in names] == [0o600] * 3


def test_a_file_that_others_could_read_is_taken_from_them(tmp_path):
    path = tmp_path / "annotation.sqlite"
    AnnotationStore(path).close()
    path.chmod(0o644)
    AnnotationStore(path).close()
    assert mode(path) == 0o600


def test_commits_go_to_the_disk_in_wal_mode(campaign):
    with campaign.store.database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_network_drive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "network_type", lambda _: "nfs4")
    with pytest.raises(AnnotationError, match=r"network drive \(nfs4\)"):
        AnnotationStore(tmp_path / "annotation.sqlite")
    assert not list(tmp_path.iterdir())


def test_another_kind_of_file_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes", encoding="utf-8")
    with pytest.raises(AnnotationError, match="not an annotation database, but another file"):
        AnnotationStore(path)
    assert path.read_text(encoding="utf-8") == "notes"


def test_another_database_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(AnnotationError, match="not an annotation database of this version"):
        AnnotationStore(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(AnnotationError, match="can't be opened"):
        AnnotationStore(tmp_path)


def test_the_history_can_be_neither_changed_nor_deleted(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    for statement in ("UPDATE events SET grade = 0", "DELETE FROM events"):
        with (
            pytest.raises(AnnotationError, match="history of a campaign is never changed"),
            campaign.store.database.writing() as connection,
        ):
            connection.exec_driver_sql(statement)


def test_a_reopened_database_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "annotation.sqlite"
    with AnnotationStore(path) as store:
        token = store.add_person("A")
        prepare(store)
        person_id = id_of(store, "A")
        first = store.next_open(person_id)
        grade(store, person_id, (first.query_id, first.doc_id), 1)
        expected = store.next_open(person_id)
    with AnnotationStore(path) as store:
        assert store.person_of_token(token).id == person_id
        assert store.next_open(person_id) == expected


def test_before_there_is_a_campaign_the_message_says_how_to_make_one(store):
    with pytest.raises(AnnotationError, match="kedro annotate prepare"):
        store.campaign()
    store.ping()
