"""Which weights a name means."""

import shutil

import pytest

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import locate_model


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "sub" / "weights.bin").write_bytes(b"\x00\x01")
    return folder


def test_a_copy_is_the_same_model_and_a_changed_byte_another(folder, tmp_path):
    located = locate_model(str(folder))
    assert (located.source, located.revision) == (str(folder), None)
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / ".git").mkdir()
    (copy / ".git" / "index").write_text("what version control keeps is no part of it")
    assert locate_model(str(copy)).identity == located.identity
    (copy / "sub" / "weights.bin").write_bytes(b"\x00\x02")
    assert locate_model(str(copy)).identity != located.identity


def test_a_model_of_the_cache_is_named_by_its_commit_without_a_network(tmp_path, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--owner--tiny"
    (repository / "snapshots" / commit).mkdir(parents=True)
    (repository / "snapshots" / commit / "config.json").write_text("{}")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    located = locate_model("owner/tiny")
    assert (located.source, located.revision) == ("owner/tiny", commit)
    assert located.identity == f"owner/tiny@{commit}"
    with pytest.raises(RetrievalError, match=r"'owner/tiny' \(revision v2\) was not found"):
        locate_model("owner/tiny", "v2")


@pytest.mark.parametrize("name", ["owner/other", "no such/folder/here", "a//b"])
def test_an_unknown_model_is_an_error(tmp_path, monkeypatch, name):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(RetrievalError, match=r"was not found .* there is no such folder"):
        locate_model(name)
