"""The sequence-to-sequence reranker, beside what transformers computes directly."""

import math

import numpy as np
import pytest
import torch
from tests.retrieval.tiny_rerankers import DOCUMENTS, save_cross_encoder, save_seq2seq
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import locate_model
from normastcu.retrieval.scoring import Pair
from normastcu.retrieval.seq2seq import Seq2SeqScorer, Template
from normastcu.retrieval.settings import Seq2SeqReranker

QUERY = "pagamento de diárias"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_seq2seq(tmp_path_factory.mktemp("models") / "t5")


def settings(folder, **changes):
    given = {"name": "t5", "model": str(folder), "yes": "▁yes", "no": "▁no"} | changes
    return Seq2SeqReranker(**given)


def scorer(folder, **changes):
    return Seq2SeqScorer(settings(folder, **changes), locate_model(str(folder)))


def test_the_scores_are_those_of_transformers(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    expected = []
    for document in DOCUMENTS:
        text = f"Query: {QUERY} Document: {document} Relevant:"
        with torch.no_grad():
            logits = model(
                **tokenizer(text, return_tensors="pt"), decoder_input_ids=torch.tensor([[0]])
            ).logits
        two = logits[0, 0, tokenizer.convert_tokens_to_ids(["▁no", "▁yes"])]
        expected.append(torch.log_softmax(two, dim=0)[1].item())
    pairs = [Pair(QUERY, document) for document in DOCUMENTS]
    scores = scorer(folder).scores(pairs)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    assert (scores < 0).all()
    assert len(set(scores)) == len(DOCUMENTS)
    # One at a time, without padding, gives the same.
    alone = [scorer(folder).scores([pair])[0] for pair in pairs]
    np.testing.assert_allclose(alone, scores, rtol=1e-5, atol=1e-6)


def test_yes_and_no_change_places(folder):
    pairs = [Pair(QUERY, document) for document in DOCUMENTS]
    yes = np.exp(scorer(folder).scores(pairs))
    no = np.exp(scorer(folder, yes="no", no="yes").scores(pairs))
    np.testing.assert_allclose(yes + no, 1)


def shown(folder, pair, max_length, **changes):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = Template(settings(folder, max_length=max_length, **changes), tokenizer).token_ids(pair)
    return tokenizer.convert_ids_to_tokens(ids)


def test_only_the_document_is_cut(folder):
    pair = Pair(QUERY, "licença férias " * 150_000)
    tokens = shown(folder, pair, max_length=12)
    assert tokens == [
        *["▁Query:", "▁pagamento", "▁de", "▁diárias", "▁Document:"],
        *["▁licença", "▁férias", "▁licença", "▁férias", "▁licença"],
        *["▁Relevant:", "</s>"],
    ]
    # What fits is as the tokenizer reads the whole input.
    tokenizer = AutoTokenizer.from_pretrained(folder)
    whole = tokenizer(f"Query: {QUERY} Document: a prazo Relevant:")["input_ids"]
    assert shown(folder, Pair(QUERY, "a prazo"), 12) == tokenizer.convert_ids_to_tokens(whole)


@pytest.mark.parametrize("max_length", range(8, 30))
def test_every_length_keeps_query_and_ending(folder, max_length):
    tokens = shown(folder, Pair(QUERY, "férias xyzxyz de   licença " * 4), max_length)
    assert len(tokens) <= max_length
    assert tokens[:5] == ["▁Query:", "▁pagamento", "▁de", "▁diárias", "▁Document:"]
    assert tokens[-2:] == ["▁Relevant:", "</s>"]


def test_a_text_of_blanks_before_its_words_is_read_to_its_words(folder):
    pair = Pair(QUERY, "\u00a0" * 3 + " " * 5_000 + "prazo")
    assert "▁prazo" in shown(folder, pair, max_length=6_000)


def test_the_document_may_come_first(folder):
    template = "Document: {document} Query: {query} Relevant:"
    tokens = shown(folder, Pair("de", "licença " * 90), max_length=7, template=template)
    assert tokens == [
        *["▁Document:", "▁licença", "▁licença"],
        *["▁Query:", "▁de", "▁Relevant:", "</s>"],
    ]


def test_texts_that_look_like_places_stay_texts(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    template = Template(settings(folder), tokenizer)
    ids = template.token_ids(Pair("{document} a", "{query} b"))
    assert ids == tokenizer("Query: {document} a Document: {query} b Relevant:")["input_ids"]


def test_a_query_that_does_not_fit_is_an_error(folder):
    with pytest.raises(RetrievalError, match=r"takes 8 tokens .* `max_length` is 7"):
        shown(folder, Pair(QUERY, "a"), max_length=7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"yes": "sim"}, r"'sim' is not one token of the model's tokenizer but \["),
        ({"yes": "yes", "no": "▁yes"}, "are the same token"),
        ({"no": "€"}, "'€' is not one token"),
        (
            {"template": "{query} {document} {document}"},
            r"holds \{document\} 2 times: once is expected",
        ),
    ],
)
def test_settings_that_do_not_fit_the_model_are_errors(folder, changes, message):
    with pytest.raises(RetrievalError, match=message):
        scorer(folder, **changes)


def test_another_kind_of_model_is_an_error(tmp_path):
    bert = save_cross_encoder(tmp_path / "bert")
    with pytest.raises(RetrievalError, match=r"'t5' can't be loaded from .*sequence-to-sequence"):
        scorer(bert)


def test_sure_scores_do_not_tie_at_zero(folder):
    """exp(-20) and exp(-30) beside 1 are lost in a softmax of single precision."""
    sure = scorer(folder)
    sure._model = _Fixed([20.0, 30.0, -800.0], sure._tokens)
    scores = sure.scores([Pair("a", "a")] * 3)
    np.testing.assert_allclose(scores, [-math.exp(-20), -math.exp(-30), -800], rtol=1e-6)


class _Fixed:
    """A model that prefers yes to no by the given logits."""

    def __init__(self, logits, tokens):
        self.config = type("Config", (), {"decoder_start_token_id": 0})
        self._logits, self._yes = torch.tensor(logits), tokens[0]

    def __call__(self, **inputs):
        table = torch.zeros(len(self._logits), 1, 99)
        table[:, 0, self._yes] = self._logits
        return type("Output", (), {"logits": table.to(inputs["input_ids"].device)})
