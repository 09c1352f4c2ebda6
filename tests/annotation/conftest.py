"""A store, and a small campaign in it."""

from types import SimpleNamespace

import pytest
from tests.annotation.campaigns import id_of, prepare

from normastcu.annotation.store import AnnotationStore


@pytest.fixture
def store(tmp_path):
    with AnnotationStore(tmp_path / "annotation.sqlite") as opened:
        yield opened


@pytest.fixture
def campaign(store):
    """Return a prepared campaign with the assessors A and B, their ids and tokens."""
    tokens = store.add_people(["A", "B"])
    prepare(store)
    return SimpleNamespace(store=store, tokens=tokens, a=id_of(store, "A"), b=id_of(store, "B"))
