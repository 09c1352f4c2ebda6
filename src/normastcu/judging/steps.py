"""Asking step by step: what comes next for a request, how a reply is read, what is stored.

Shared by the two ways of asking: call by call (`runner`) and by the provider's batches (`batch`).
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from normastcu.collection.chunks import chunks
from normastcu.collection.settings import GradeScale
from normastcu.judging.client import RawReply
from normastcu.judging.progress import JudgeProgress
from normastcu.judging.prompts import Prompt
from normastcu.judging.replies import Reply, as_read_today, read_reply
from normastcu.judging.requests import Attempt, Outcome, Request
from normastcu.judging.settings import ModelSettings
from normastcu.judging.store import ReplyStore
from normastcu.services.failures import CallFailure

_LOOKED_UP_AT_A_TIME = 100
_LIMIT_FACTOR = 4
_NOTHING = RawReply(None)


@dataclass(frozen=True)
class Step:
    """The next attempt at a request.

    Attributes
    ----------
    max_tokens
        Limit of reply tokens.
    reminded
        Whether the format of the reply is repeated.
    """

    max_tokens: int
    reminded: bool = False


def next_step(
    last: Attempt | None, model: ModelSettings, again: AbstractSet[Outcome] = frozenset()
) -> Step | None:
    """Return what is to be tried next for a request, None where its outcome is final.

    A failed call is tried again in every run, an unreadable reply once with a reminder, a reply
    that was cut off with a larger limit until the cap is reached.

    Parameters
    ----------
    last
        The last attempt, with the outcome that is read in it today; None where there was none.
    model
        For the limits of reply tokens.
    again
        Outcomes that are asked anew although they are final; a grade never is.
    """
    if last is None:
        return Step(model.max_reply_tokens)
    if last.outcome == "ok":
        return None
    if last.outcome in again:
        return Step(model.max_reply_tokens)
    limit = max(last.max_tokens or 0, model.max_reply_tokens)
    if last.outcome == "error":
        return Step(limit, last.reminded)
    if last.outcome in ("unparseable", "out_of_range") and not last.reminded:
        return Step(limit, reminded=True)
    if last.outcome == "truncated" and (last.max_tokens or 0) < model.reply_token_cap:
        return Step(min(_LIMIT_FACTOR * limit, model.reply_token_cap), last.reminded)
    return None


class Asked(Protocol):
    """What a record says about the request it belongs to, see `Attempt`."""

    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def query_id(self) -> str: ...  # noqa: D102
    @property
    def doc_id(self) -> str: ...  # noqa: D102
    @property
    def judge(self) -> str: ...  # noqa: D102
    @property
    def sample(self) -> int: ...  # noqa: D102
    @property
    def characters_shown(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Open:
    """A request that is still to be asked: its last attempt, if there is one, and the next step."""

    request: Request
    last: Attempt | None
    step: Step

    @property
    def number(self) -> int:
        """Return the number of the next attempt."""
        return self.last.attempt + 1 if self.last else 1


@dataclass(frozen=True)
class Asking:
    """Everything that the ways of asking one judge have in common.

    Attributes
    ----------
    store
        Where the attempts are and go.
    model
        For the limits of reply tokens.
    prompt, scale
        How a reply is read.
    again
        Final outcomes that are asked anew.
    progress
        Told what happens.
    """

    store: ReplyStore
    model: ModelSettings
    prompt: Prompt
    scale: GradeScale
    again: AbstractSet[Outcome]
    progress: JudgeProgress

    def open_requests(self, requests: Iterable[Request]) -> Iterator[Open]:
        """Return the requests that are still to be asked; the others are counted."""
        for some in chunks(requests, _LOOKED_UP_AT_A_TIME):
            last = self.store.last_by_key(request.key for request in some)
            steps = [self._first_step(last.get(request.key)) for request in some]
            self.progress.passed_over(steps.count(None))
            for request, step in zip(some, steps, strict=True):
                if step is not None:
                    yield Open(request, last.get(request.key), step)

    def read(self, raw: RawReply) -> Reply:
        """Read a reply that has just come."""
        return read_reply(
            raw.content,
            finish_reason=raw.finish_reason,
            scale=self.scale.values,
            field=self.prompt.grade_field,
            rationale_field=self.prompt.rationale_field,
            refusal=raw.refusal,
        )

    def record(
        self,
        asked: Asked,
        number: int,
        reply: Reply,
        *,
        step: Step | None = None,
        raw: RawReply = _NOTHING,
        failure: CallFailure | None = None,
        seconds: float | None = None,
        created: str | None = None,
    ) -> Attempt:
        """Store an attempt; it is on the disk when this returns."""
        attempt = Attempt(
            key=asked.key,
            query_id=asked.query_id,
            doc_id=asked.doc_id,
            judge=asked.judge,
            sample=asked.sample,
            attempt=number,
            outcome=reply.outcome,
            reply=raw.content,
            finish_reason=raw.finish_reason,
            refusal=raw.refusal,
            grade=reply.grade,
            rationale=reply.rationale,
            tokens_in=raw.tokens_in,
            tokens_out=raw.tokens_out,
            latency_s=seconds,
            model_returned=raw.model,
            characters_shown=asked.characters_shown,
            error_kind=failure.kind if failure else None,
            error_status=failure.status if failure else raw.status,
            created=created or datetime.now(UTC).isoformat(timespec="milliseconds"),
            reminded=step.reminded if step else False,
            max_tokens=step.max_tokens if step else None,
        )
        self.store.append([attempt])
        self.progress.attempted(attempt)
        return attempt

    def _first_step(self, last: Attempt | None) -> Step | None:
        if last is not None:
            last = as_read_today(
                last,
                scale=self.scale.values,
                field=self.prompt.grade_field,
                rationale_field=self.prompt.rationale_field,
            )
        return next_step(last, self.model, self.again)
