"""Encoders of sentence-transformers, on a tiny BERT made here."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.retrieval.tiny_bert import LONGEST, make_tiny_bert

from normastcu.retrieval import sentence_encoder
from normastcu.retrieval.dense import DenseRun, run_dense
from normastcu.retrieval.encoders import LazyEncoder, plan_encoder
from normastcu.retrieval.encoding import encode_texts, unit_vectors
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import DenseSystem, SentenceTransformersEncoder
from normastcu.retrieval.vectors import VectorStore

TEXTS = ["prazo de férias", "diária", "norma do tribunal que", "o servidor", "licença a", "zz top"]
DOCUMENTS = pd.DataFrame({"doc_id": [f"d{n}" for n in range(6)], "text": TEXTS})
QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["prazo", "tribunal de férias"]})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bert(tmp_path_factory.mktemp("bert"))


def settings(model: Path, **changes: object) -> SentenceTransformersEncoder:
    return SentenceTransformersEncoder(
        **{"name": "tiny", "model": str(model), "batch_size": 2} | changes
    )


def ran(model: Path, store: Path, documents: pd.DataFrame = DOCUMENTS, **changes: object):
    system = DenseSystem(
        name="S", family="tiny", encoder=settings(model, **changes), fields=("text",)
    )
    return run_dense(system, documents, QUERIES, VectorStore(store))


def encoded(model: Path, store: Path, texts: list[str], **changes: object):
    plan = plan_encoder(settings(model, **changes), [], {})
    with LazyEncoder(plan) as encoder:
        return encode_texts(encoder, texts, texts, VectorStore(store).of(plan.identity))


def test_vectors_are_those_of_the_library(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(tiny)).encode(TEXTS)
    found = encoded(tiny, tmp_path, TEXTS).vectors[slice(None)]
    np.testing.assert_allclose(found, unit_vectors(expected), atol=1e-3)
    assert np.abs(found - found[0]).max() > 0.1


def test_prefixes_stand_before_the_texts(tiny: Path, tmp_path: Path) -> None:
    prefixes = {"query_prefix": "query: ", "document_prefix": "passage: "}
    run = ran(tiny, tmp_path, **prefixes).run.set_index(["query_id", "doc_id"])["score"]
    sent = ["query: prazo", "passage: diária"]
    query, document = encoded(tiny, tmp_path / "other", sent).vectors[slice(None)].astype(float)
    expected = query @ document / np.linalg.norm(query) / np.linalg.norm(document)
    assert run["q1", "d1"] == pytest.approx(expected, abs=2e-3)
    assert run["q1", "d1"] != pytest.approx(
        ran(tiny, tmp_path).run.set_index(["query_id", "doc_id"])["score"]["q1", "d1"], abs=2e-3
    )


def test_no_prompt_of_the_model_is_added(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    prompting = SentenceTransformer(
        str(tiny), prompts={"query": "norma norma "}, default_prompt_name="query"
    )
    prompting.save(str(tmp_path / "prompting"))
    plain, other = (
        encoded(model, tmp_path / "store", TEXTS).vectors[slice(None)]
        for model in (tiny, tmp_path / "prompting")
    )
    np.testing.assert_array_equal(plain, other)


def test_a_long_text_is_cut_and_the_cut_is_recorded(tiny: Path, tmp_path: Path) -> None:
    long = "prazo " * 300_000
    documents = pd.DataFrame({"doc_id": ["long", "short"], "text": [long, "prazo " * 14]})
    texts = ran(tiny, tmp_path, documents).texts.set_index("doc_id")
    # Of 16 tokens two are special.
    assert texts["characters_shown"].to_dict() == {"long": 14 * 6 - 1, "short": 14 * 6}
    assert texts["n_cut"].to_dict() == {"long": 1, "short": 0}
    shorter = ran(tiny, tmp_path, documents[1:], max_length=4).texts.set_index("doc_id")
    assert shorter["characters_shown"].to_dict() == {"short": 11}


def test_another_longest_text_makes_other_vectors(tiny: Path, tmp_path: Path) -> None:
    ran(tiny, tmp_path)
    assert ran(tiny, tmp_path, max_length=4).usage["n_known"].tolist() == [0, 0]


def test_a_second_run_loads_no_model(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ran(tiny, tmp_path)
    monkeypatch.setattr(sentence_encoder, "_loaded", lambda *_: pytest.fail("a model was loaded"))
    second = ran(tiny, tmp_path)
    pd.testing.assert_frame_equal(first.run, second.run)
    assert first.usage["n_encoded"].tolist() == [6, 2]
    assert second.usage["n_encoded"].tolist() == [0, 0]


def test_a_changed_document_is_encoded_alone(tiny: Path, tmp_path: Path) -> None:
    ran(tiny, tmp_path)
    changed = DOCUMENTS.assign(text=["prazo de diária", *TEXTS[1:]])
    usage = ran(tiny, tmp_path, changed).usage
    assert usage["n_encoded"].tolist() == [1, 0]


def test_a_copy_of_the_model_is_the_same_and_other_weights_are_not(
    tiny: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ran(tiny, tmp_path / "store")
    copy = shutil.copytree(tiny, tmp_path / "copy")
    assert ran(copy, tmp_path / "store").usage["n_encoded"].tolist() == [0, 0]
    other = make_tiny_bert(tmp_path_factory.mktemp("other"), seed=8)
    assert ran(other, tmp_path / "store").usage["n_encoded"].tolist() == [6, 2]


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interrupted_run_goes_on_to_the_same_bits(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    undisturbed: DenseRun = ran(tiny, tmp_path / "undisturbed")
    encode, batches = sentence_encoder.SentenceEncoder.encode, []

    def interrupted(self, texts):
        if len(batches) == after:
            raise KeyboardInterrupt
        batches.append(texts)
        return encode(self, texts)

    with monkeypatch.context() as patch:
        patch.setattr(sentence_encoder.SentenceEncoder, "encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ran(tiny, tmp_path / "store")
    resumed = ran(tiny, tmp_path / "store")
    pd.testing.assert_frame_equal(resumed.run, undisturbed.run)
    assert resumed.usage["n_known"].sum() == sum(map(len, batches))


def test_a_vector_that_is_no_number_names_the_document(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = sentence_encoder.SentenceEncoder.encode

    def broken(self, texts):
        result = encode(self, texts)
        result.vectors[[text == "diária" for text in texts], 3] = np.nan
        return result

    monkeypatch.setattr(sentence_encoder.SentenceEncoder, "encode", broken)
    with pytest.raises(RetrievalError, match=r"'tiny' gives the text of document 'd1' a vector"):
        ran(tiny, tmp_path)


def test_a_longest_text_above_the_models_own_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match=rf"max_length of 17, .* takes {LONGEST} tokens"):
        ran(tiny, tmp_path, max_length=17)


def test_a_folder_without_a_model_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RetrievalError, match=r"'tiny' can't load .*`model` and `revision`"):
        ran(tmp_path / "empty", tmp_path / "store")
