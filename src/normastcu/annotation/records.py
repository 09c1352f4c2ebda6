"""What the annotation store hands out: plain, frozen records without any database behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from normastcu.collection.settings import GradeScale

Role = Literal["assessor", "administrator"]
Choice = Literal["grade", "unknown", "skipped"]
"""A grade; *don't know* (cannot judge); or put off, which is no judgment at all."""
Round = Literal["first", "adjudication"]


@dataclass(frozen=True)
class Person:
    """Somebody who may sign in.

    Attributes
    ----------
    link_number
        How many personal links the person has had. A session that was begun with an older link
        has an older number, and should end.
    """

    id: int
    name: str
    role: Role
    language: str
    confirmed_instructions: bool
    link_number: int = 1


@dataclass(frozen=True)
class PersonStatus:
    """A person as the administrator sees them, also one whose link was revoked.

    Attributes
    ----------
    seed
        Of the person's order; None before there is a campaign.
    """

    name: str
    role: Role
    language: str
    confirmed_instructions: bool
    revoked: bool
    seed: int | None


@dataclass(frozen=True)
class Answer:
    """One person's answer to one pair.

    Attributes
    ----------
    grade
        A grade of the scale where `choice` is ``grade``, else None.
    seconds
        How long the pair was before the person's eyes.
    answered_at
        ISO 8601, UTC.
    event
        Its number in the history.
    """

    choice: Choice
    grade: int | None
    comment: str
    seconds: float
    answered_at: str
    event: int


@dataclass(frozen=True)
class Task:
    """A pair that a person is to judge; positions count from 1, in this person's own order."""

    pair_id: int
    query_id: str
    query_text: str
    query_position: int
    n_queries: int
    doc_id: str
    position: int
    n_documents: int
    answer: Answer | None
    round: Round = "first"


@dataclass(frozen=True)
class DocumentView:
    """A document as it is shown; `html` is the raw, unsanitised markup, else the plain text.

    Attributes
    ----------
    html
        Untrusted: to be sanitised before it is shown. The text, escaped and in paragraphs, where
        the document has no markup; None where it has neither.
    """

    doc_id: str
    title: str | None
    subject: str | None
    type: str | None
    status: str | None
    in_force_since: str | None
    html: str | None
    text: str | None


@dataclass(frozen=True)
class QueryProgress:
    """How far one person is with one query in one round.

    Attributes
    ----------
    position
        Of the query in this person's order of the round, from 1.
    n_answered
        Pairs with a grade or *don't know*; the skipped ones are counted apart.
    first_pair_id
        The first pair of the query in this person's order.
    n_suggested
        Documents that this person suggested; 0 in the adjudication, so that none counts twice.
    """

    query_id: str
    query_text: str
    position: int
    n_documents: int
    n_answered: int
    n_skipped: int
    first_pair_id: int
    n_suggested: int
    round: Round = "first"


@dataclass(frozen=True)
class RoundProgress:
    """How far one person is with all their queries of one round."""

    n_queries: int
    n_documents: int
    n_answered: int
    n_skipped: int


@dataclass(frozen=True)
class Hit:
    """A document that a search found."""

    doc_id: str
    title: str | None
    subject: str | None


@dataclass(frozen=True)
class Suggestion:
    """A further document that a person found for a query, with their own grade and reason."""

    query_id: str
    doc_id: str
    title: str | None
    grade: int
    reason: str
    suggested_at: str


@dataclass(frozen=True)
class Campaign:
    """What everybody judges: the scale and what its grades mean.

    Attributes
    ----------
    key
        32 random hexadecimal digits, made when the campaign was first prepared; an export keeps
        them.
    definitions
        Grade to its definition by language.
    names
        Grade to its name by language; where there is none, the scale's own name.
    unknown_definition
        What *don't know* means, by language.
    """

    key: str
    collection: str
    scale: GradeScale
    definitions: Mapping[int, Mapping[str, str]]
    unknown_definition: Mapping[str, str]
    closed: bool
    names: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Prepared:
    """What `AnnotationStore.prepare` did.

    Attributes
    ----------
    n_withdrawn
        Pairs that are no longer in the pool and that nobody had answered.
    n_kept
        Pairs that are no longer in the pool, kept because somebody had answered them.
    n_changed_documents
        Documents whose content is another one than before.
    short_of
        Assessors missing for the wanted number on each pair; 0 where there are enough.
    loads
        Assessor to number of pairs.
    """

    n_queries: int
    n_pairs: int
    n_new_pairs: int
    n_withdrawn: int
    n_kept: int
    n_documents: int
    n_changed_documents: int
    short_of: int
    loads: Mapping[str, int]


@dataclass(frozen=True)
class AssessorProgress:
    """How far one person is, both rounds together.

    Attributes
    ----------
    n_answered
        Grades and *don't know*; `n_unknown` of them are *don't know*.
    median_seconds
        Of the answers given on the screen; None without any.
    """

    name: str
    revoked: bool
    n_pairs: int
    n_answered: int
    n_unknown: int
    n_skipped: int
    n_suggested: int
    median_seconds: float | None
    last_answer_at: str | None


@dataclass(frozen=True)
class QueryOverview:
    """How far everybody together is with one query: judgments wanted, answered, skipped."""

    query_id: str
    query_text: str
    n_wanted: int
    n_answered: int
    n_skipped: int
    n_suggested: int


@dataclass(frozen=True)
class PairwiseKappa:
    """Cohen's kappa with quadratic weights of two people in the first round.

    Attributes
    ----------
    n
        Pairs that both graded.
    undefined
        Why there is no value; empty where there is one.
    """

    annotator_a: str
    annotator_b: str
    n: int
    kappa_quadratic: float | None
    undefined: str


@dataclass(frozen=True)
class DisputedPair:
    """A pair on which people differ in the first round.

    Attributes
    ----------
    grades
        Ascending, as text.
    given
        Who gave which grade, as text.
    in_adjudication
        Whether the pair is already shown again.
    """

    query_id: str
    doc_id: str
    title: str | None
    grades: str
    range: int
    given: str
    in_adjudication: bool


@dataclass(frozen=True)
class Overview:
    """What the administrator sees.

    Attributes
    ----------
    computed_at
        ISO 8601, UTC.
    n_pairs, n_queries
        Of the first round.
    alpha
        Krippendorff's ordinal alpha of the first round; None where undefined.
    alpha_undefined
        Why there is no alpha; empty where there is one.
    disputed
        The most disputed pairs, the worst first.
    """

    computed_at: str = field(compare=False)
    n_pairs: int
    n_queries: int
    assessors: tuple[AssessorProgress, ...]
    queries: tuple[QueryOverview, ...]
    kappas: tuple[PairwiseKappa, ...]
    alpha: float | None
    alpha_undefined: str
    disputed: tuple[DisputedPair, ...]
