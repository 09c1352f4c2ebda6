"""Sequence-to-sequence rerankers of the monoT5 kind: how much likelier yes is than no."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import LocatedModel
from normastcu.retrieval.scoring import FloatArray, Pair
from normastcu.retrieval.settings import Seq2SeqReranker

_PLACES = re.compile(r"(\{query\}|\{document\})")
_CHARACTERS_A_TOKEN = 100
"""More than tokens have on average: what lies behind so many characters can't be shown."""


class Seq2SeqScorer:
    """Scores pairs by the first token that the decoder would write.

    The score is the natural logarithm of p(yes) / (p(yes) + p(no)): the softmax over the logits of
    these two tokens alone, computed in double precision, so that two sure texts don't tie at 0. Of
    an input that is too long the end of the document is cut; the query and what follows the
    document in the template always stay.

    Parameters
    ----------
    settings
        Tokens, template, length.
    located
        The weights.

    Raises
    ------
    RetrievalError
        The model can't be loaded, a library is not installed, yes or no is not exactly one token.

    References
    ----------
    Nogueira, Jiang, Pradeep, Lin (2020), Document ranking with a pretrained sequence-to-sequence
    model, Findings of EMNLP.
    """

    def __init__(self, settings: Seq2SeqReranker, located: LocatedModel) -> None:
        try:
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        except ImportError as error:
            raise RetrievalError(
                f"The reranker {settings.name!r} needs torch and transformers, which are not "
                'installed: pip install "normastcu[retrieval]".'
            ) from error
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(
                located.source, revision=located.revision
            )
            model: Any = AutoModelForSeq2SeqLM.from_pretrained(
                located.source, revision=located.revision
            )
        except (OSError, ValueError) as error:
            raise RetrievalError(
                f"The reranker {settings.name!r} can't be loaded from {located.source!r} "
                f"({type(error).__name__}). It must be a sequence-to-sequence model with "
                "its tokenizer."
            ) from error
        self._torch = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = model.to(self._device).eval()
        self._input = Template(settings, tokenizer)
        self._tokens = [
            single_token(tokenizer, settings.yes, settings.name),
            single_token(tokenizer, settings.no, settings.name),
        ]
        if self._tokens[0] == self._tokens[1]:
            raise RetrievalError(
                f"The reranker {settings.name!r}: yes ({settings.yes!r}) and no ({settings.no!r}) "
                "are the same token. Give the two that the model was trained with."
            )
        self._tokenizer = tokenizer

    def scores(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the log-probability of yes for each pair, shape (pairs,), at most 0."""
        inputs = [{"input_ids": self._input.token_ids(pair)} for pair in pairs]
        batch = self._tokenizer.pad(inputs, return_tensors="pt").to(self._device)
        first = self._torch.full(
            (len(pairs), 1), self._model.config.decoder_start_token_id, device=self._device
        )
        with self._torch.inference_mode():
            logits = self._model(**batch, decoder_input_ids=first).logits[:, 0, self._tokens]
        yes, no = logits.double().cpu().numpy().T
        scores: FloatArray = -np.logaddexp(0.0, no - yes)
        return scores


class Template:
    """The model's input for a pair, cut to its length at the document's end.

    Parameters
    ----------
    settings
        Template and length.
    tokenizer
        A tokenizer of `transformers` that tells where in the text its tokens stand.

    Raises
    ------
    RetrievalError
        The template has not exactly one place for each text; the tokenizer is a slow one.
    """

    def __init__(self, settings: Seq2SeqReranker, tokenizer: Any) -> None:
        self._parts = _PLACES.split(settings.template)
        self._settings = settings
        self._tokenizer = tokenizer
        for place in ("{query}", "{document}"):
            if self._parts.count(place) != 1:
                raise RetrievalError(
                    f"The template of the reranker {settings.name!r} holds {place} "
                    f"{self._parts.count(place)} times: once is expected."
                )
        if not tokenizer.is_fast:
            raise RetrievalError(
                f"The tokenizer of the reranker {settings.name!r} does not tell where its tokens "
                "stand. Give the model's folder a `tokenizer.json` (a fast tokenizer)."
            )

    def token_ids(self, pair: Pair) -> list[int]:
        """Return the tokens of the input, at most `max_length`.

        Raises
        ------
        RetrievalError
            The query alone, with the template around it, is too long.
        """
        window = self._settings.max_length * _CHARACTERS_A_TOKEN
        ids, kept = self._shortened(pair.query, pair.text[:window])
        if kept == window < len(pair.text):
            ids, _ = self._shortened(pair.query, pair.text)
        return ids

    def _shortened(self, query: str, document: str) -> tuple[list[int], int]:
        """Return the tokens, and how many of the document's characters they show."""
        kept = len(document)
        while True:
            text, start = self._filled(query, document[:kept])
            encoded = self._tokenizer(text, return_offsets_mapping=True, verbose=False)
            ids: list[int] = encoded["input_ids"]
            excess = len(ids) - self._settings.max_length
            if excess <= 0:
                return ids, kept
            if not kept:
                raise RetrievalError(
                    f"The query {query[:60]!r} takes {len(ids)} tokens with the template of the "
                    f"reranker {self._settings.name!r}, without any document; `max_length` is "
                    f"{self._settings.max_length}. Raise it as far as the model allows."
                )
            inside = [
                first - start
                for first, last in encoded["offset_mapping"]
                if first < start + kept and last > start
            ]
            kept = min(max(inside[-excess:][0] if inside else 0, 0), kept - 1)

    def _filled(self, query: str, document: str) -> tuple[str, int]:
        """Return the input, and where in it the document starts."""
        texts = {"{query}": query, "{document}": document}
        place = self._parts.index("{document}")
        start = sum(len(texts.get(part, part)) for part in self._parts[:place])
        return "".join(texts.get(part, part) for part in self._parts), start


def single_token(tokenizer: Any, token: str, reranker: str) -> int:
    """Return the id of a token of the vocabulary, or of a word that is exactly one token.

    Raises
    ------
    RetrievalError
        The word is several tokens, or unknown.
    """
    known = tokenizer.get_vocab().get(token)
    if known is not None:
        return int(known)
    ids = tokenizer.encode(token, add_special_tokens=False)
    if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
        return int(ids[0])
    raise RetrievalError(
        f"The reranker {reranker!r}: {token!r} is not one token of the model's tokenizer but "
        f"{tokenizer.convert_ids_to_tokens(ids)}. Set `yes` and `no` to the tokens that the model "
        "was trained with, as the tokenizer writes them (such as '▁yes')."
    )
