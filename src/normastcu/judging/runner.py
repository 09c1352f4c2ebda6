"""Asking one judge: every request that has no final outcome yet, stored as soon as it has one.

Threads, because the clients are blocking and a judge spends its time waiting. A thread goes on
to its next request only when the outcome of the last one is on the disk: at most as many paid
replies as there are threads can be lost, whatever ends the process. Requests come one by one from
an iterator, so that memory does not grow with their number.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Event, Lock

from normastcu.collection.settings import GradeScale
from normastcu.judging.client import ChatClient, RawReply
from normastcu.judging.errors import JudgingError, unexpected
from normastcu.judging.progress import JudgeProgress, Tally
from normastcu.judging.prompts import Prompt, remind
from normastcu.judging.replies import Reply
from normastcu.judging.requests import Attempt, Outcome, Request
from normastcu.judging.settings import ModelSettings
from normastcu.judging.steps import Asking, Open, Step, next_step
from normastcu.judging.store import ReplyStore, StoreError
from normastcu.judging.transport import Transport, advice
from normastcu.services.crew import work_off
from normastcu.services.failures import PASSING, CallFailure, place
from normastcu.services.patience import Clock, Stopped

LOGGER = logging.getLogger(__name__)

Shorten = Callable[[Request], Request | None]
"""Returns the request with less of the document, None where nothing would be left."""

_FAILURES_IN_A_ROW = 20


@dataclass(frozen=True)
class JudgeRun:
    """How the run of a judge ended.

    Attributes
    ----------
    judge
        Its name.
    tally
        Outcomes, calls, tokens and money of this run.
    stopped
        Why it was stopped before its end, as a sentence; None where everything was asked.
    """

    judge: str
    tally: Tally
    stopped: str | None


def run_judge(
    requests: Iterable[Request],
    open_client: Callable[[], ChatClient],
    store: ReplyStore,
    model: ModelSettings,
    *,
    judge: str,
    prompt: Prompt,
    scale: GradeScale,
    total: int | None = None,
    shorten: Shorten | None = None,
    again: AbstractSet[Outcome] = frozenset(),
    progress: JudgeProgress | None = None,
    clock: Clock | None = None,
) -> JudgeRun:
    """Ask a judge for everything that the store has no final outcome of.

    Parameters
    ----------
    requests
        The planned requests, each key once, read one by one and from several threads. Those with
        a final outcome are passed over.
    open_client
        Makes the client; not called where nothing is left to ask.
    store
        Where the outcomes go.
    model
        Concurrency, limits and prices.
    judge
        Its name, for messages.
    prompt, scale
        How a reply is read, and what the reminder says.
    total
        Number of requests, for the time left.
    shorten
        Called where the service says that a request is too long, once for each request.
    again
        Final outcomes that are asked anew, such as ``unparseable``.
    progress
        Shows how far it is; made here unless given.
    clock
        Time and chance of the transport.

    Returns
    -------
    JudgeRun
        A run that was stopped because a key is missing, a setting is wrong, the service is down or
        the store can't be written says so there, and in an error line of the log; it raises
        nothing, so that the other judges go on.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C: within two seconds; what was answered until then is stored.
    """
    with progress or JudgeProgress(judge, model, total) as shown:
        asking = Asking(store, model, prompt, scale, again, shown)
        run = _Run(asking, shorten)
        left = asking.open_requests(requests)
        first = next(left, None)
        if first is not None:
            try:
                client = open_client()
            except JudgingError as error:
                run.stop(str(error))
            except Exception as error:
                run.stop(unexpected(error))
            else:
                _ask_all(run, chain([first], left), client, clock)
    if run.problem is not None:
        LOGGER.error("The judge %r was stopped. %s", judge, run.problem)
    return JudgeRun(judge, shown.tally, run.problem)


class _Run:
    """What the threads of one judge share."""

    def __init__(self, asking: Asking, shorten: Shorten | None) -> None:
        self.asking = asking
        self.model = asking.model
        self.shorten: Shorten = shorten or (lambda _: None)
        self.stopping = Event()
        self.problem: str | None = None
        self._lock = Lock()
        self._failures_in_a_row = 0

    def stop(self, problem: str) -> None:
        """Let no further call begin; the first problem is the one that is told."""
        with self._lock:
            self.problem = self.problem or problem
        self.stopping.set()

    def replied(self) -> None:
        """Take note of a reply."""
        with self._lock:
            self._failures_in_a_row = 0

    def gave_up(self, failure: CallFailure) -> None:
        """Take note of a request that brought no reply."""
        if failure.kind not in PASSING:
            self.stop(advice(failure, self.model))
            return
        with self._lock:
            self._failures_in_a_row += 1
            in_a_row = self._failures_in_a_row
        if in_a_row >= max(_FAILURES_IN_A_ROW, self.model.concurrency):
            self.stop(
                f"{in_a_row} requests in a row brought no reply in {self.model.attempts} attempts "
                f"each; the last failure was: {failure}. Check the {place(self.model)} and "
                f"`timeout_s` of the model {self.model.name!r} in judges.yml; the same command "
                "goes on where this one stopped."
            )


def _ask_all(run: _Run, requests: Iterator[Open], client: ChatClient, clock: Clock | None) -> None:
    """Have all requests asked, and return when the last one has ended."""
    transport = Transport(client, run.model, run.stopping, clock)

    def hold(one: Open) -> None:
        try:
            _Dialogue(run, transport, one).hold(one.step)
        except (JudgingError, Stopped):
            raise
        except Exception as error:
            run.stop(unexpected(error))

    try:
        work_off(
            requests,
            hold,
            threads=run.model.concurrency,
            stop=run.stopping,
            tick=run.asking.progress.tick,
        )
    except KeyboardInterrupt:
        LOGGER.warning(
            "Interrupted. What was answered is stored; the same command goes on where it stopped."
        )
        raise
    except StoreError as error:
        run.stop(str(error))
    client.close()


class _Dialogue:
    """The attempts at one request, each stored before the next begins."""

    _last_failure: Attempt

    def __init__(self, run: _Run, transport: Transport, one: Open) -> None:
        self._run = run
        self._transport = transport
        self._request = one.request
        self._number = one.number
        self._shortened = False

    def hold(self, step: Step) -> None:
        """Ask until there is an outcome that is final, at least in this run."""
        if self._request.too_long:
            self._record(Reply("too_long"))
            self._run.asking.progress.ended("too_long")
            return
        following: Step | None = step
        while following is not None:
            attempt = self._attempt(following)
            failed = attempt.outcome == "error"
            following = None if failed else next_step(attempt, self._run.model)
        self._run.asking.progress.ended(attempt.outcome)

    def _attempt(self, step: Step) -> Attempt:
        """Make one step, with less of the document where the service says that it is too long."""
        messages = list(self._request.messages)
        if step.reminded:
            messages = remind(messages, self._run.asking.prompt, self._run.asking.scale)
        try:
            raw, seconds = self._transport.ask(
                messages,
                max_tokens=step.max_tokens,
                tokens_estimate=self._request.tokens_estimate,
                failed=partial(self._failed, step),
            )
        except CallFailure as failure:
            if failure.kind != "context_length":
                self._run.gave_up(failure)
            elif self._last_failure.outcome == "error":
                return self._attempt(step)
            return self._last_failure
        self._run.replied()
        return self._record(self._run.asking.read(raw), step, raw, seconds=seconds)

    def _failed(self, step: Step, failure: CallFailure, seconds: float) -> None:
        too_long = failure.kind == "context_length"
        shorter = self._shorter() if too_long else None
        reply = Reply("too_long" if too_long and shorter is None else "error")
        self._last_failure = self._record(reply, step, failure=failure, seconds=seconds)
        self._request = shorter or self._request

    def _shorter(self) -> Request | None:
        """Return the request with less of the document, the first time it is too long."""
        if self._shortened:
            return None
        self._shortened = True
        return self._run.shorten(self._request)

    def _record(
        self,
        reply: Reply,
        step: Step | None = None,
        raw: RawReply | None = None,
        failure: CallFailure | None = None,
        seconds: float | None = None,
    ) -> Attempt:
        attempt = self._run.asking.record(
            self._request,
            self._number,
            reply,
            step=step,
            raw=raw or RawReply(None),
            failure=failure,
            seconds=seconds,
        )
        self._number += 1
        return attempt
