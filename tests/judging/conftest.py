"""Servers that answer as a test says."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.judging.loopback_llm import Answer, LoopbackLlm, Script

Serve = Callable[[Answer | Script], LoopbackLlm]


@pytest.fixture(scope="session")
def loopback_llms() -> Iterator[list[LoopbackLlm]]:
    """Servers that run and that no test uses at the moment."""
    with ExitStack() as running:
        idle = [running.enter_context(LoopbackLlm(lambda _: Answer())) for _ in range(2)]
        yield idle


@pytest.fixture
def serve(loopback_llms: list[LoopbackLlm]) -> Iterator[Serve]:
    """Return a function that has a server answer one thing, or by a script, during the test."""
    used: list[LoopbackLlm] = []

    def start(answer: Answer | Script) -> LoopbackLlm:
        server = loopback_llms.pop()
        used.append(server)
        server.follow((lambda _: answer) if isinstance(answer, Answer) else answer)
        return server

    yield start
    loopback_llms.extend(used)
