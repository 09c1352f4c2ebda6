"""A server on the loopback interface that speaks the OpenAI chat protocol, scripted by request.

In the test's own process the script is any function of a `Call`; as a process of its own
(`LlmProcess`) it is one of `SCRIPTS`. Both count what was asked, what is being answered and what
was answered when.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.types import Receive, Scope, Send

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Call:
    """One request as it arrived; `number` counts from 0, `repeat` those of the same messages."""

    number: int
    repeat: int
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """The messages as one text."""
        return "\n".join(message["content"] for message in self.body["messages"])

    @property
    def user(self) -> str:
        """The first message of the user."""
        users = (one["content"] for one in self.body["messages"] if one["role"] == "user")
        return next(users, "")

    @property
    def reply_limit(self) -> int | None:
        return self.body.get("max_completion_tokens", self.body.get("max_tokens"))


@dataclass(frozen=True)
class Answer:
    """What the server does with a call.

    `body` replaces the reply of the protocol; the connection ends after `cut_after` bytes of it;
    `drip` sends a blank every so many seconds instead of an end.
    """

    content: str | None = '{"score": 1}'
    finish_reason: str | None = "stop"
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    usage: bool = True
    latency: float = 0.0
    cut_after: int | None = None
    drip: float | None = None

    def encoded(self, call: Call) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        reply = {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 1,
            "model": f"{call.body['model']}-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
        }
        if self.usage:
            words = len(call.text.split()), len((self.content or "").split())
            names = ("prompt_tokens", "completion_tokens", "total_tokens")
            reply["usage"] = dict(zip(names, (*words, sum(words)), strict=True))
        return json.dumps(reply).encode()


def failure(status: int, code: str = "", message: str = "", **headers: str) -> Answer:
    """Return an error in the protocol's form."""
    error = {"message": message or "no", "type": code or None, "code": code or None}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers=named, body=json.dumps({"error": error}).encode())


Script = Callable[[Call], Answer]


def grade_of(text: str) -> int:
    """Return the grade that the scripts give to a message: the last digit's rest by three."""
    return int(next((sign for sign in reversed(text) if sign.isdigit()), "0")) % 3


@dataclass
class Counts:
    """What the server has seen."""

    calls: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    answered: list[tuple[str, float, float]] = field(default_factory=list)


class ScriptedLlm:
    """The application; `address` is known once it runs."""

    call_type = Call

    def __init__(self, script: Script) -> None:
        self.keep_calls = True
        self.follow(script)
        self.app = FastAPI()
        self.app.post("/v1/chat/completions")(self.complete)
        self.app.get("/counts")(self.report)
        self.app.get("/answered")(self.answered)

    def follow(self, script: Script) -> None:
        """Answer by another script, and forget what was counted."""
        self.script = script
        self.counts = Counts()
        self.calls: list[Call] = []
        self._repeats: dict[str, int] = {}

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        counts = self.counts
        call = self.call_type(counts.calls, 0, body, request.headers)
        call = replace(call, repeat=self._repeats.get(call.user, 0))
        self._repeats[call.user] = call.repeat + 1
        counts.calls += 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        if self.keep_calls:
            self.calls.append(call)
        return ScriptedResponse(self, call)

    def report(self) -> dict[str, Any]:
        counts = self.counts
        return {
            "calls": counts.calls,
            "in_flight": counts.in_flight,
            "most_in_flight": counts.most_in_flight,
        }

    def answered(self) -> list[tuple[str, float, float]]:
        return self.counts.answered


class ScriptedResponse(Response):
    """Sends the script's answer as slowly, as wrongly or as little as it says."""

    def __init__(self, server: ScriptedLlm, call: Call) -> None:
        super().__init__()
        self._script, self._counts, self._call = server.script, server.counts, call

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        arrived = time.time()
        try:
            answer = self._script(self._call)
            await asyncio.sleep(answer.latency)
            await self._send(answer, send)
            self._counts.answered.append((self._call.user, arrived, time.time()))
        finally:
            self._counts.in_flight -= 1

    async def _send(self, answer: Answer, send: Send) -> None:
        body = answer.encoded(self._call)
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        headers |= {name.lower(): value for name, value in answer.headers.items()}
        if answer.drip is not None:
            del headers["content-length"]
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
        while answer.drip is not None:
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(answer.drip)
        await send({"type": "http.response.body", "body": body[: answer.cut_after]})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _configuration(server: ScriptedLlm, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        server.app, host="127.0.0.1", port=port, log_level="critical", access_log=False
    )


class LoopbackLlm(ScriptedLlm):
    """The server in a thread of this process while the context is entered."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._server = uvicorn.Server(_configuration(self, 0))
        self._server.force_exit = True
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        _wait_until_up(self.base_url)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        self._thread.join()


def _wait_until_up(base_url: str) -> None:
    address = f"{base_url.removesuffix('/v1')}/counts"
    deadline = time.monotonic() + 30
    while True:
        with contextlib.suppress(httpx.TransportError):
            httpx.get(address)
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"the loopback server does not answer at {address}")
        time.sleep(0.02)


def _graded(latency: float) -> Script:
    return lambda call: Answer(f'{{"score": {grade_of(call.user)}}}', latency=latency)


def _half_answered(latency: float) -> Script:
    """Answer every other call, and leave the others without an answer for a minute."""
    return lambda call: Answer(latency=60.0 if call.number % 2 else latency)


SCRIPTS: dict[str, Callable[[float], Script]] = {
    "graded": _graded,
    "half_answered": _half_answered,
}


@dataclass(frozen=True)
class LlmProcess:
    """The server in a process of its own."""

    base_url: str

    def counts(self) -> dict[str, int]:
        """Return calls, in_flight and most_in_flight so far."""
        return cast("dict[str, int]", self._get("counts"))

    def answered(self) -> list[tuple[str, float, float]]:
        """Return the first message of the user, and when it came and was answered (since 1970)."""
        return cast("list[tuple[str, float, float]]", self._get("answered"))

    def _get(self, name: str) -> object:
        return httpx.get(f"{self.base_url.removesuffix('/v1')}/{name}").json()


@contextlib.contextmanager
def llm_process(script: str = "graded", latency: float = 0.0) -> Iterator[LlmProcess]:
    """Run one of `SCRIPTS` in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", __name__, script, str(latency), str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        base_url = f"http://127.0.0.1:{port}/v1"
        _wait_until_up(base_url)
        yield LlmProcess(base_url)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    server = ScriptedLlm(SCRIPTS[sys.argv[1]](float(sys.argv[2])))
    server.keep_calls = False
    uvicorn.Server(_configuration(server, int(sys.argv[3]))).run()
