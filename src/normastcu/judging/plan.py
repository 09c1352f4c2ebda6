"""What remains to be asked of a judge: all pairs, minus what the store holds a last word on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, overload

import pandas as pd

from normastcu.collection.settings import GradeScale
from normastcu.judging.content import FencedDocument, fence, shorten
from normastcu.judging.cost import money
from normastcu.judging.errors import JudgingError
from normastcu.judging.keys import request_key
from normastcu.judging.prompts import Prompt, Renderer, remind, reply_schema, response_format
from normastcu.judging.replies import as_read_today
from normastcu.judging.requests import Attempt, Message, Outcome, Request
from normastcu.judging.settings import Judge, ModelSettings
from normastcu.judging.steps import next_step
from normastcu.judging.texts import PairTexts, check_pairs
from normastcu.services.tokens import Cut, CutPolicy, cut, shown_text, token_counter

LastAttempts = Callable[[Sequence[str]], Mapping[str, Attempt]]
"""The last attempt under each of the given keys that has one, such as a store's method."""

TOKENS_PER_MESSAGE = 8
"""Allowed for what a chat protocol puts around a message."""

SHORTER_SHARE = 0.5
"""Of a document that a service found too long, the share that is shown next."""


@dataclass(frozen=True)
class Estimate:
    """What a plan would need before anything is spent; None is unknown.

    Attributes
    ----------
    pairs
        All pairs, done or not.
    calls
        Calls to make, retries apart; documents that are too long need none, and what waits in a
        batch is asked already.
    tokens_in
        Tokens of the messages, by the counter used.
    tokens_out
        Tokens of the replies if each used its whole limit: the most.
    cost
        The most these tokens cost.
    seconds
        The least time that the provider's limits allow; None where no limit is set.
    """

    pairs: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    seconds: float | None


@dataclass(frozen=True)
class Plan:
    """Everything that a judge is asked, and what of it is left to do.

    Attributes
    ----------
    planned
        One request for every pair and sample, in the order of the pairs. Where two documents have
        the same text, their requests share a key, and one reply serves both.
    requests
        Those to make now, each key once.
    done
        Those on which the last attempt stands.
    estimate
        What `requests` would need.
    """

    planned: tuple[Request, ...]
    requests: tuple[Request, ...]
    done: tuple[Request, ...]
    estimate: Estimate


def plan_judge(
    pairs: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    judge: Judge,
    prompt: Prompt,
    scale: GradeScale,
    last_attempts: LastAttempts,
    again: AbstractSet[Outcome] = frozenset(),
    waiting: AbstractSet[str] = frozenset(),
) -> Plan:
    """Plan what to ask of a judge.

    Parameters
    ----------
    pairs : DataFrame
        `query_id`, `doc_id`, each pair once.
    queries, documents : DataFrame
        The collection.
    judge : Judge
        A judge that is asked: it has a model.
    prompt : Prompt
        Its prompt.
    scale : GradeScale
        The grades.
    last_attempts : callable
        Gives the last attempt under each key, see `LastAttempts`.
    again : set of str
        Outcomes that are asked again although the last word is spoken.
    waiting : set of str
        Keys that were handed in by batches which have not been collected yet: they are among the
        requests, but no longer cost anything.

    Returns
    -------
    Plan
        What is left to do follows from the last attempt as it is read today, see
        `normastcu.judging.steps.next_step`.

    Raises
    ------
    JudgingError
        For a judge without a model, a repeated pair, an unknown query or document.
    """
    model = _model(judge)
    planned = _requests(check_pairs(pairs), PairTexts(queries, documents), judge, prompt, scale)
    last = last_attempts(list({request.key: None for request in planned}))
    left = {
        key
        for key in {request.key for request in planned}
        if _is_left(last.get(key), model, prompt, scale, again)
    }
    requests = {request.key: request for request in reversed(planned) if request.key in left}
    ordered = tuple(reversed(requests.values()))
    return Plan(
        planned=tuple(planned),
        requests=ordered,
        done=tuple(request for request in planned if request.key not in left),
        estimate=_estimate(len(pairs), [one for one in ordered if one.key not in waiting], model),
    )


def shorten_request(request: Request, policy: CutPolicy) -> Request | None:
    """Return the request with half of the document that it showed, under the same key.

    For a service that finds the messages too long although they should fit; None where nothing
    would be left, or the policy is to show documents whole or not at all.
    """
    shortened = shorten(tuple(request.messages), request.characters_shown, SHORTER_SHARE, policy)
    if shortened is None:
        return None
    messages, characters = shortened
    return replace(request, messages=messages, characters_shown=characters)


class PairMessages(Sequence[Message]):
    """Messages that are made each time they are read, so that a plan holds no documents."""

    def __init__(self, make: Callable[[], list[Message]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Message]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...

    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        return self._make()[index]


def _model(judge: Judge) -> ModelSettings:
    if judge.model is None:
        raise JudgingError(
            f"The judge {judge.name!r} is of kind {judge.kind} and isn't asked by messages: "
            "only judges with a model and a prompt can be planned."
        )
    return judge.model


def _is_left(
    last: Attempt | None,
    model: ModelSettings,
    prompt: Prompt,
    scale: GradeScale,
    again: AbstractSet[Outcome],
) -> bool:
    if last is None:
        return True
    read = as_read_today(
        last,
        scale=scale.values,
        field=prompt.grade_field,
        rationale_field=prompt.rationale_field,
    )
    return next_step(read, model, again) is not None


def _estimate(pairs: int, requests: Sequence[Request], model: ModelSettings) -> Estimate:
    calls = [request for request in requests if not request.too_long]
    tokens_in = sum(request.tokens_estimate for request in calls)
    tokens_out = len(calls) * model.max_reply_tokens
    rates = [
        60 * amount / limit
        for amount, limit in (
            (len(calls), model.requests_per_minute),
            (tokens_in + tokens_out, model.tokens_per_minute),
        )
        if limit is not None
    ]
    return Estimate(
        pairs=pairs,
        calls=len(calls),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=money(tokens_in, tokens_out, model) if calls else 0.0,
        seconds=max(rates, default=None),
    )


def _requests(
    pairs: Sequence[tuple[str, str]],
    texts: PairTexts,
    judge: Judge,
    prompt: Prompt,
    scale: GradeScale,
) -> list[Request]:
    """Make the requests, document by document, and return them in the order of the pairs."""
    planner = _Planner(texts, judge, prompt, scale)
    by_document = sorted(range(len(pairs)), key=lambda place: pairs[place][1])
    made: dict[int, list[Request]] = {}
    for doc_id, places in groupby(by_document, key=lambda place: pairs[place][1]):
        document = planner.document(doc_id)
        for place in places:
            made[place] = list(planner.requests(pairs[place][0], document))
    return [
        request for _, requests in sorted(made.items(), key=itemgetter(0)) for request in requests
    ]


class _Document(NamedTuple):
    """A document with what is needed for every query that it is judged for."""

    doc_id: str
    text: str
    origin: str
    tokens: int
    whole: FencedDocument


class _Planner:
    """Makes the requests of one judge."""

    def __init__(self, texts: PairTexts, judge: Judge, prompt: Prompt, scale: GradeScale) -> None:
        self._texts = texts
        self._judge = judge
        self._model = _model(judge)
        self._renderer = Renderer(prompt, scale)
        self._count = token_counter(self._model.tokenizer)
        asked = self._renderer.messages("", fence(""))
        reminded = remind(asked, prompt, scale)
        self._reminder_tokens = self._tokens(reminded) - self._tokens(asked)
        self._query_tokens: dict[str, int] = {}
        self._parameters = dict(self._model.parameters)
        if switch := self._model.structured_output:
            schema = reply_schema(prompt, scale)
            # By the schema alone the replies that come with the sample were recorded.
            alone = switch == "json_object"
            self._parameters["response_format"] = (
                schema if alone else response_format(switch, schema)
            )

    def document(self, doc_id: str) -> _Document:
        text, origin = self._content(doc_id)
        return _Document(doc_id, text, origin, self._count(text), fence(text))

    def requests(self, query_id: str, document: _Document) -> Iterator[Request]:
        """Make the requests of a pair, one a sample."""
        around = self._tokens_around(query_id)
        limit = (
            self._model.context_window
            - self._model.reply_token_cap
            - self._reminder_tokens
            - around
        )
        shown = self._cut(document, limit)
        fits = shown is not None
        fenced = document.whole if shown is None or not shown.was_cut else fence(shown.text)
        messages = self._renderer.messages(self._texts.query(query_id), fenced)
        characters = shown.characters_shown if shown else 0
        make = partial(self._messages, query_id, document.doc_id, characters)
        for sample in range(self._judge.samples):
            yield Request(
                key=self._key(messages, sample, None if fits else limit, fenced.text),
                query_id=query_id,
                doc_id=document.doc_id,
                judge=self._judge.name,
                sample=sample,
                messages=PairMessages(make) if fits else (),
                characters_shown=characters,
                content_origin=document.origin,
                tokens_estimate=around + self._shown_tokens(document, shown),
                too_long=not fits,
            )

    def _content(self, doc_id: str) -> tuple[str, str]:
        content = self._texts.content(doc_id)
        return content.text, content.origin

    def _cut(self, document: _Document, limit: int) -> Cut | None:
        if document.tokens <= limit:
            return Cut(document.text, len(document.text), len(document.text))
        return cut(document.text, limit, self._model.cut_policy, self._count)

    def _shown_tokens(self, document: _Document, shown: Cut | None) -> int:
        if shown is None:
            return 0
        return self._count(shown.text) if shown.was_cut else document.tokens

    def _messages(self, query_id: str, doc_id: str, characters: int) -> list[Message]:
        text = shown_text(self._texts.content(doc_id).text, characters, self._model.cut_policy)
        return self._renderer.messages(self._texts.query(query_id), fence(text))

    def _tokens_around(self, query_id: str) -> int:
        """Count the tokens of the messages without the document."""
        if query_id not in self._query_tokens:
            messages = self._renderer.messages(self._texts.query(query_id), fence(""))
            self._query_tokens[query_id] = self._tokens(messages)
        return self._query_tokens[query_id]

    def _tokens(self, messages: Sequence[Message]) -> int:
        return sum(self._count(message["content"]) + TOKENS_PER_MESSAGE for message in messages)

    def _key(
        self, messages: Sequence[Message], sample: int, exceeded: int | None, document: str
    ) -> str:
        """Identify a call; for a document that is too long, also the limit that it exceeds."""
        parameters = self._parameters
        if exceeded is not None:
            parameters = parameters | {"too_long": [exceeded, self._model.cut_policy]}
        return request_key(
            self._model.kind,
            self._model.base_url,
            self._model.model,
            messages,
            parameters,
            sample,
            shared=document,
        )
