"""Asking a judge by the provider's batches, which take up to a day and cost less.

What was handed in is written to a ledger before and after, so that a run that ends in between
goes on where it stopped: a batch is neither paid twice nor forgotten. Keys, outcomes and records
are those of asking call by call (`normastcu.judging.runner`), with which batches can be mixed.
"""

import json
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Protocol, TypeVar

from normastcu.collection.settings import GradeScale
from normastcu.judging.batch_ledger import BatchLedger, HandedIn, Item
from normastcu.judging.client import RawReply
from normastcu.judging.errors import JudgingError, unexpected
from normastcu.judging.progress import JudgeProgress
from normastcu.judging.prompts import Prompt, remind
from normastcu.judging.replies import Reply
from normastcu.judging.requests import Attempt, Message, Outcome, Request
from normastcu.judging.runner import JudgeRun, Shorten
from normastcu.judging.settings import ModelSettings
from normastcu.judging.steps import Asking, Open, Step, next_step
from normastcu.judging.store import ReplyStore
from normastcu.judging.transport import advice
from normastcu.services.failures import PASSING, CallFailure
from normastcu.services.patience import Clock, Patience

LOGGER = logging.getLogger(__name__)

POLL_S = 30.0
"""Seconds between two questions how far a batch is."""

MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_NEVER_RUN = frozenset({"batch_expired", "batch_cancelled"})

T = TypeVar("T")


@dataclass(frozen=True)
class BatchState:
    """What the service says about a batch.

    Attributes
    ----------
    status
        ``validating``, ``in_progress``, ``finalizing``, ``completed``, ``failed``, ``expired``,
        ``cancelling`` or ``cancelled``.
    done, total
        Requests.
    files
        Ids of the files with replies and errors.
    problems
        Codes of errors that concern the whole batch.
    ended_at
        Seconds since 1970.
    """

    status: str
    done: int
    total: int
    files: tuple[str, ...]
    problems: tuple[str, ...]
    ended_at: int | None


class BatchService(Protocol):
    """A service that takes batches; every method may raise `CallFailure`."""

    def line(self, key: str, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        """Return one request as a line of the file that is handed in."""
        ...

    def upload(self, path: Path) -> str:
        """Send a file of requests, and return its id."""
        ...

    def create(self, file_id: str, token: str) -> str:
        """Hand in a file of requests, and return the batch's id."""
        ...

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was handed in under a token."""
        ...

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        ...

    def fetch(self, file_id: str, path: Path) -> None:
        """Load a file of results."""
        ...

    def read(self, body: Mapping[str, Any]) -> RawReply | CallFailure:
        """Read one reply."""
        ...

    def failed(self, status: int, error: object) -> RawReply | CallFailure:
        """Say what the status of a request that was not answered means."""
        ...

    def close(self) -> None:
        """End what the service holds."""
        ...


def run_batches(
    requests: Iterable[Request],
    open_service: Callable[[], BatchService],
    ledger: BatchLedger,
    store: ReplyStore,
    model: ModelSettings,
    *,
    judge: str,
    prompt: Prompt,
    scale: GradeScale,
    total: int | None = None,
    shorten: Shorten | None = None,
    again: AbstractSet[Outcome] = frozenset(),
    wait: bool = True,
    most_requests: int = MOST_REQUESTS,
    progress: JudgeProgress | None = None,
    clock: Clock | None = None,
) -> JudgeRun:
    """Ask a judge by batches for everything that the store has no final outcome of.

    Parameters
    ----------
    requests, store, judge, prompt, scale, total, shorten, again, progress, clock
        See `normastcu.judging.runner.run_judge`.
    open_service
        Makes the service; not called where nothing is left to do.
    ledger
        What was handed in.
    model
        Prices are those of batches.
    wait
        Wait until the batches have ended; else hand in, collect what is there and return.
    most_requests
        Requests of one batch.

    Returns
    -------
    JudgeRun
        Says in `stopped` why not everything has been asked; the same call goes on.
    """
    with progress or JudgeProgress(judge, model, total) as shown:
        asking = Asking(store, model, prompt, scale, again, shown)
        planned = {request.key: request for request in requests}
        left = {one.request.key: one for one in asking.open_requests(planned.values())}
        if not left and not ledger.open_batches():
            return JudgeRun(judge, shown.tally, None)
        patience = Patience(model, Event(), clock)

        def ask() -> None:
            service = open_service()
            run = _Batches(asking, service, ledger, patience, shorten, most_requests, planned)
            run.ask(left, wait=wait)
            service.close()

        problem = _said(ask)
    if problem is not None:
        LOGGER.error("The judge %r has not been asked everything. %s", judge, problem)
    return JudgeRun(judge, shown.tally, problem)


class _Halt(Exception):  # noqa: N818 - the way out, with the sentence that says why
    """Nothing more can be handed in or collected in this run."""


def _said(ask: Callable[[], None]) -> str | None:
    """Return why not everything could be asked."""
    try:
        ask()
    except (_Halt, JudgingError) as reason:
        return str(reason)
    except KeyboardInterrupt:
        LOGGER.warning(
            "Interrupted. The batches that were handed in go on at the service; the same command "
            "collects them."
        )
        raise
    except Exception as error:
        return unexpected(error)
    return None


class _Gone(_Halt):
    """The service does not know a batch, or its results, any more."""


class _Batches:
    """The batches of one judge, from handing in to the records of their replies."""

    def __init__(
        self,
        asking: Asking,
        service: BatchService,
        ledger: BatchLedger,
        patience: Patience,
        shorten: Shorten | None,
        most_requests: int,
        planned: Mapping[str, Request],
    ) -> None:
        self._asking, self._service, self._ledger = asking, service, ledger
        self._patience = patience
        self._shorten: Shorten = shorten or (lambda _: None)
        self._most_requests = most_requests
        self._planned = planned
        self._unanswered: dict[str, int] = {}

    def ask(self, left: Mapping[str, Open], *, wait: bool) -> None:
        """Hand in, wait and collect until nothing is left."""
        self._take_up()
        waiting = self._ledger.waiting()
        self._hand_in(one for key, one in left.items() if key not in waiting)
        while batches := self._ledger.open_batches():
            self._hand_in([one for batch in batches for one in self._collected(batch)])
            if not wait and self._ledger.open_batches():
                raise _Halt(
                    f"{len(self._ledger.open_batches())} batches have not ended yet. They go on "
                    "at the service; the same command collects them."
                )
            if self._ledger.open_batches() == batches:
                self._asking.progress.tick()
                self._patience.pause(POLL_S)
        if self._unanswered:
            told = ", ".join(f"{n} {status}" for status, n in self._unanswered.items())
            raise _Halt(
                f"Not all requests of the batches that have ended were answered ({told}). The same "
                "command hands in the rest again."
            )

    def _take_up(self) -> None:
        """Find the batches of a run that ended before the service had told their names."""
        for batch in self._ledger.open_batches():
            if batch.batch_id is not None:
                continue
            found = self._call(partial(self._service.find, batch.token), "look for a batch")
            if found is None:
                self._ledger.closed(batch.token)
            else:
                self._ledger.handed_in(batch.token, found)

    def _hand_in(self, some: Iterable[Open]) -> None:
        """Hand in requests, as many batches as are needed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "requests.jsonl"
            for items in self._written(some, path):
                token = self._ledger.begin(items)
                file_id = self._call(lambda: self._service.upload(path), "take a file")
                batch_id = self._call(partial(self._created, token, file_id), "take a batch")
                self._ledger.handed_in(token, batch_id)

    def _created(self, token: str, file_id: str) -> str:
        """Hand in a file once: the batch may be there although an earlier answer was lost."""
        return self._service.find(token) or self._service.create(file_id, token)

    def _written(self, some: Iterable[Open], path: Path) -> Iterator[list[Item]]:
        """Write the file of one batch after the other, and yield what is in it."""
        items: list[Item] = []
        file = path.open("wb")
        for one in some:
            request = self._fitting(one)
            if request is None:
                continue
            line = self._line(request, one.step)
            if items and (len(items) == self._most_requests or file.tell() > MOST_BYTES):
                file.close()
                yield items
                items, file = [], path.open("wb")
            file.write(line)
            items.append(_item(request, one))
        file.close()
        if items:
            yield items

    def _fitting(self, one: Open) -> Request | None:
        """Return the request with less of the document if that was too long for the service."""
        last, request = one.last, one.request
        if last is not None and last.error_kind == "context_length":
            first_time = last.characters_shown == request.characters_shown
            request = (self._shorten(request) if first_time else None) or replace(
                request, too_long=True
            )
        if not request.too_long:
            return request
        self._asking.record(request, one.number, Reply("too_long"))
        self._asking.progress.ended("too_long")
        return None

    def _line(self, request: Request, step: Step) -> bytes:
        messages = list(request.messages)
        if step.reminded:
            messages = remind(messages, self._asking.prompt, self._asking.scale)
        line = self._service.line(request.key, messages, step.max_tokens)
        return json.dumps(line).encode() + b"\n"

    def _collected(self, batch: HandedIn) -> list[Open]:
        """Store the replies of a batch if it has ended; return what is to be asked once more."""
        batch_id = batch.batch_id
        if batch_id is None:
            return []
        try:
            state = self._call(lambda: self._service.state(batch_id), "find a batch")
        except _Gone:
            self._lost(batch, len(batch.items))
            return []
        LOGGER.info("Batch %s: %s, %d of %d.", batch_id, state.status, state.done, state.total)
        if state.status not in _ENDED:
            return []
        following = self._stored(batch, state)
        if state.status == "failed":
            raise _Halt(
                f"The service refused the batch {batch_id} as a whole "
                f"({', '.join(state.problems) or 'no reason given'}). Check whether its batch "
                f"interface takes the model {self._asking.model.model!r} and this many requests; "
                "then the same command hands it in again."
            )
        return following

    def _stored(self, batch: HandedIn, state: BatchState) -> list[Open]:
        items = {item.key: item for item in batch.items}
        last = self._asking.store.last_by_key(items)
        created = datetime.fromtimestamp(state.ended_at or 0, UTC).isoformat()
        following: list[Open] = []
        try:
            for key, raw in self._results(state):
                item = items.pop(key, None)
                if item is None:
                    continue
                attempt = self._recorded(item, raw, last.get(key), created)
                step = self._following(attempt)
                if step is not None and key in self._planned:
                    following.append(Open(self._planned[key], attempt, step))
                else:
                    self._asking.progress.ended(attempt.outcome)
        except _Gone:
            self._lost(batch, len(items))
            return following
        self._ledger.closed(batch.token)
        if items:
            self._count_unanswered(state.status, len(items))
        return following

    def _lost(self, batch: HandedIn, n_requests: int) -> None:
        """Expect nothing more of a batch of which the service has nothing more."""
        LOGGER.warning(
            "The service at %s no longer knows the batch %s or its results: it was deleted or is "
            "too old, or the credentials entry %r holds the key of another account. %d requests "
            "of it are asked again by the next run.",
            self._asking.model.base_url,
            batch.batch_id,
            self._asking.model.credentials,
            n_requests,
        )
        self._ledger.closed(batch.token)
        self._count_unanswered("no longer known", n_requests)

    def _count_unanswered(self, why: str, n_requests: int) -> None:
        self._unanswered[why] = self._unanswered.get(why, 0) + n_requests

    def _results(self, state: BatchState) -> Iterator[tuple[str, RawReply | CallFailure]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.jsonl"
            for file_id in state.files:
                self._call(partial(self._service.fetch, file_id, path), "send results")
                with path.open("rb") as lines:
                    for line in lines:
                        result = json.loads(line)
                        raw = self._reply(result)
                        if raw is not None:
                            yield result["custom_id"], raw

    def _reply(self, result: Mapping[str, Any]) -> RawReply | CallFailure | None:
        """Return what a line of the results says; None where the request was never run."""
        error, response = result.get("error") or {}, result.get("response")
        if error.get("code") in _NEVER_RUN:
            return None
        if not response:
            return CallFailure("malformed", cause=str(error.get("code") or "no response"))
        body = response.get("body") or {}
        if response.get("status_code") == 200:
            return self._service.read(body)
        return self._service.failed(response.get("status_code") or 0, body.get("error"))

    def _recorded(
        self, item: Item, raw: RawReply | CallFailure, last: Attempt | None, created: str
    ) -> Attempt:
        """Store the reply, unless an earlier run had come as far as that."""
        content = None if isinstance(raw, CallFailure) else raw.content
        reached = last is not None and last.attempt >= item.attempt
        if last is not None and reached and (last.created, last.reply) == (created, content):
            return last
        number = last.attempt + 1 if last else 1
        step = Step(item.max_tokens, item.reminded)
        if isinstance(raw, CallFailure):
            reply = Reply("error")
            return self._asking.record(item, number, reply, step=step, failure=raw, created=created)
        reply = self._asking.read(raw)
        return self._asking.record(item, number, reply, step=step, raw=raw, created=created)

    def _following(self, attempt: Attempt) -> Step | None:
        """Return what comes next in this run; what is to be asked anew was so at its start."""
        if attempt.outcome == "error" and attempt.error_kind != "context_length":
            return None
        return next_step(attempt, self._asking.model)

    def _call(self, make: Callable[[], T], what: str) -> T:
        try:
            return self._patience.call(make, lambda *_: None)[0]
        except CallFailure as failure:
            model = self._asking.model
            told = advice(failure, model) if failure.kind not in PASSING else ""
            kind = _Gone if failure.kind == "not_found" else _Halt
            reason = kind(
                f"The batch interface of the service at {model.base_url} could not {what}: "
                f"{failure}. {told} What was handed in goes on there; the same command collects it."
            )
        raise reason


def _item(request: Request, one: Open) -> Item:
    return Item(
        key=request.key,
        query_id=request.query_id,
        doc_id=request.doc_id,
        judge=request.judge,
        sample=request.sample,
        attempt=one.number,
        characters_shown=request.characters_shown,
        max_tokens=one.step.max_tokens,
        reminded=one.step.reminded,
    )
