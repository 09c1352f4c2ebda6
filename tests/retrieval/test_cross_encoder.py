"""The cross-encoder, beside what transformers computes directly."""

import numpy as np
import pytest
import torch
from tests.retrieval.tiny_rerankers import DOCUMENTS, save_cross_encoder
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from normastcu.retrieval.cross_encoder import CrossEncoderScorer
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import locate_model
from normastcu.retrieval.scoring import Pair
from normastcu.retrieval.settings import CrossEncoderReranker

QUERY = "pagamento de diárias"
LONG = "licença férias " * 100


def scorer(folder, **changes):
    settings = CrossEncoderReranker(name="bert", model=str(folder), **changes)
    return CrossEncoderScorer(settings, locate_model(str(folder)))


@pytest.mark.parametrize("max_length", [None, 16])
def test_the_scores_are_the_logits_of_transformers(tmp_path, max_length):
    folder = save_cross_encoder(tmp_path / "bert")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    texts = [*DOCUMENTS, LONG]
    expected = []
    for text in texts:
        inputs = tokenizer(
            QUERY, text, truncation=True, max_length=max_length or 64, return_tensors="pt"
        )
        with torch.no_grad():
            expected.append(model(**inputs).logits[0, 0].item())
    scores = scorer(folder, max_length=max_length).scores([Pair(QUERY, text) for text in texts])
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert len(set(scores)) == len(texts)
    assert scores.max() > 1, "a sigmoid would end at 1"


def test_a_model_with_two_outputs_is_an_error(tmp_path):
    folder = save_cross_encoder(tmp_path / "bert", outputs=2)
    with pytest.raises(RetrievalError, match="'bert' has 2 outputs for a pair"):
        scorer(folder)


def test_a_folder_without_a_model_is_an_error(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RetrievalError, match=r"'bert' can't be loaded from"):
        scorer(tmp_path)
