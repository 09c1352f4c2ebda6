"""People and their personal links."""

import hashlib
import json

import pytest
from tests.annotation.campaigns import id_of, prepare, tasks_of

from normastcu.annotation.errors import AnnotationError


def stored_people(store):
    with store.database.reading() as connection:
        found = connection.exec_driver_sql("SELECT * FROM people").mappings().all()
    return {row["name"]: dict(row) for row in found}


def test_a_token_has_256_bits_and_only_its_digest_is_stored(store):
    token = store.add_person("A")
    row = stored_people(store)["A"]
    assert len(token) == 43  # 32 bytes in base 64 without padding
    assert token not in json.dumps(row)
    assert row["token_hash"] == hashlib.sha256(token.encode()).hexdigest()


def test_a_link_belongs_to_its_person(campaign):
    for name, token in campaign.tokens.items():
        assert campaign.store.person_of_token(token).name == name
    assert campaign.store.person_of_token("guess") is None
    assert campaign.store.person_of_token("\ud800") is None


def test_a_new_person_has_confirmed_nothing(campaign):
    person = campaign.store.person(campaign.a)
    assert (person.role, person.language, person.confirmed_instructions) == (
        "assessor",
        "pt",
        False,
    )


def test_confirming_and_the_language_are_kept(campaign):
    campaign.store.confirm_instructions(campaign.a)
    campaign.store.set_language(campaign.a, "en")
    person = campaign.store.person(campaign.a)
    assert (person.language, person.confirmed_instructions) == ("en", True)
    assert not campaign.store.person(campaign.b).confirmed_instructions


def test_a_language_is_a_code(campaign):
    with pytest.raises(AnnotationError, match="no language"):
        campaign.store.set_language(campaign.a, "<b>")


def test_a_revoked_link_ends_sessions_and_sign_in(campaign):
    campaign.store.revoke("A")
    assert campaign.store.person(campaign.a) is None
    assert campaign.store.person_of_token(campaign.tokens["A"]) is None
    assert [person.revoked for person in campaign.store.people()] == [True, False]
    assert campaign.store.person(campaign.b).name == "B"


def test_a_renewed_link_replaces_the_old_one_and_numbers_sessions_anew(campaign):
    before = campaign.store.person(campaign.a)
    token = campaign.store.renew_token("A")
    after = campaign.store.person_of_token(token)
    assert campaign.store.person_of_token(campaign.tokens["A"]) is None
    assert (after.id, after.link_number) == (before.id, before.link_number + 1)


def test_renewing_lets_a_revoked_person_go_on(campaign):
    campaign.store.revoke("A")
    assert tasks_of(campaign.store, campaign.a) == []
    campaign.store.renew_token("A")
    assert len(tasks_of(campaign.store, campaign.a)) == 5


@pytest.mark.parametrize(
    "name", ["", "A 1", "a/b", "a\\b", ".a", "a,b", "reference", "without_A", "\ud800"]
)
def test_a_name_must_be_able_to_name_an_annotator(store, name):
    with pytest.raises(AnnotationError, match="can't be the name of a person"):
        store.add_person(name)


def test_a_name_is_given_once(campaign):
    with pytest.raises(AnnotationError, match="person named 'A' already"):
        campaign.store.add_person("A")
    with pytest.raises(AnnotationError, match="person named 'C' already"):
        campaign.store.add_people(["C", "C"])
    assert [person.name for person in campaign.store.people()] == ["A", "B"]


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(campaign):
    with pytest.raises(AnnotationError, match=r"nobody named 'Z'\. Known: A, B"):
        campaign.store.revoke("Z")


def test_administrators_get_no_pairs(store):
    store.add_person("boss", "administrator")
    store.add_person("A")
    assert prepare(store).loads == {"A": 5}
    assert store.progress(id_of(store, "boss")) == []


@pytest.mark.parametrize("number", [0, -1, 10**30, 99])
def test_an_impossible_number_is_nobody(campaign, number):
    assert campaign.store.person(number) is None
    assert campaign.store.task(number, 1) is None
    assert campaign.store.task(campaign.a, 10**30) is None
