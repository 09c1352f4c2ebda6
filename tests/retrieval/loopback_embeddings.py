"""A server on the loopback interface that speaks the OpenAI embeddings protocol, scripted."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.judging.loopback_llm import Answer, Call, LoopbackLlm

LENGTH = 8


def vector_of(text: str) -> list[float]:
    """Return the vector that the server gives to a text: bytes of its hash, around 0."""
    return (np.frombuffer(hashlib.sha256(text.encode()).digest()[:LENGTH], np.int8) / 16).tolist()


@dataclass(frozen=True)
class EmbeddingCall(Call):
    """One request as it arrived."""

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])

    @property
    def user(self) -> str:
        """What tells repeated requests: the texts."""
        return json.dumps(self.body["input"])


@dataclass(frozen=True)
class Vectors(Answer):
    """Vectors of all texts, unless others are given; `order` is that in which they are listed."""

    vectors: Sequence[Sequence[float]] | None = None
    order: Sequence[int] | None = None

    def encoded(self, call: Call) -> bytes:
        if self.body is not None:
            return self.body
        assert isinstance(call, EmbeddingCall)
        vectors = self.vectors or [vector_of(text) for text in call.texts]
        data = [
            {"object": "embedding", "index": place, "embedding": vectors[place]}
            for place in self.order or range(len(vectors))
        ]
        reply: dict[str, Any] = {"object": "list", "data": data, "model": call.body["model"]}
        if self.usage:
            words = sum(len(text.split()) for text in call.texts)
            reply["usage"] = {"prompt_tokens": words, "total_tokens": words}
        return json.dumps(reply).encode()


class LoopbackEmbeddings(LoopbackLlm):
    """The server in a thread of this process while the context is entered."""

    call_type = EmbeddingCall

    def __init__(self, script: Callable[[EmbeddingCall], Answer] | Answer) -> None:
        super().__init__(self._following(script))
        self.app.post("/v1/embeddings")(self.complete)

    def answer(self, script: Callable[[EmbeddingCall], Answer] | Answer) -> None:
        """Answer one thing, or by a script, and forget what was counted."""
        self.follow(self._following(script))

    @property
    def texts(self) -> list[str]:
        """All texts that were sent, in the order in which they came."""
        return [text for call in self.calls for text in call.texts]

    @property
    def sent_headers(self) -> list[Mapping[str, str]]:
        return [call.headers for call in self.calls]

    @staticmethod
    def _following(script: Any) -> Callable[[Call], Answer]:
        return (lambda _: script) if isinstance(script, Answer) else script
