"""Judgments of four invented assessors and labels of two invented judges.

``content/relevance.txt`` says how relevant each pooled document is, set by hand from what the act
rules: 0, 1, 2, or in between where reasonable people differ. From there, assessors and judges err
each in their own way, by a seed of their own for every pair.
"""

from collections import Counter
from dataclasses import dataclass
from random import Random

from tests.sample_collection.content_folder import CONTENT

ASSESSORS = ("A_1", "A_2", "A_3", "A_4")
_CANNOT_JUDGE = None


@dataclass(frozen=True)
class Pair:
    """A query, a document (as a slug), and how relevant the document really is."""

    query_id: str
    slug: str
    relevance: float


@dataclass(frozen=True)
class Habit:
    """How somebody grades: leniency added to the relevance, spread, reluctance to give a 2."""

    leniency: float
    spread: float
    reluctance: float = 0.0
    slip: float = 0.0


# A_1 is generous, A_2 close to the text, A_3 erratic, A_4 keeps the 2 for the exact answer.
_HABITS = {
    "A_1": Habit(0.14, 0.44, slip=0.11),
    "A_2": Habit(-0.08, 0.42, slip=0.09),
    "A_3": Habit(0.0, 0.52, slip=0.14),
    "A_4": Habit(-0.05, 0.44, reluctance=0.25, slip=0.09),
    "modelo-a_simple": Habit(0.38, 0.74, slip=0.12),
    "modelo-b_rationale": Habit(0.50, 1.30, slip=0.80),
}
JUDGES = ("modelo-a_simple", "modelo-b_rationale")
_SKIPPED_QUERY = ("A_2", "14")
_HOLE_SHARE = 0.04
_CANNOT_JUDGE_SHARE = 0.018


@dataclass(frozen=True)
class Judgment:
    """One row of ``judgments.csv``; a missing grade is *cannot judge*."""

    pair: Pair
    annotator: str
    grade: int | None
    origin: str


def read_queries() -> list[tuple[str, str]]:
    """Return key and text of the queries."""
    lines = (CONTENT / "queries.txt").read_text(encoding="utf-8").splitlines()
    return [(key, text) for key, _, text in (line.partition("\t") for line in lines)]


def read_pool() -> list[Pair]:
    """Return the pooled pairs, query by query."""
    pairs, query_id = [], ""
    for line in _relevance_lines():
        if line.startswith("# "):
            query_id = line[2:]
        elif query_id != "suggested":
            relevance, slug = line.split()
            pairs.append(Pair(query_id, slug, float(relevance)))
    return pairs


def read_suggestions() -> list[Judgment]:
    """Return the documents that an assessor added, each judged by that assessor alone."""
    lines = _relevance_lines()
    added = [line.split() for line in lines[lines.index("# suggested") + 1 :]]
    return [
        Judgment(Pair(query_id, slug, float(grade)), annotator, int(grade), "suggested")
        for annotator, grade, slug, query_id in added
    ]


def assess(pairs: list[Pair]) -> list[Judgment]:
    """Let every assessor judge the pool, with holes and with pairs that they cannot judge."""
    return [
        Judgment(pair, annotator, _answer(annotator, pair), "pool")
        for annotator in ASSESSORS
        for pair in pairs
        if not _is_hole(annotator, pair)
    ]


def label(judge: str, pairs: list[Pair]) -> list[tuple[Pair, int]]:
    """Let a judge grade every pair; the second judge left out what it did not answer."""
    random = Random(f"coverage {judge}")
    kept = [pair for pair in pairs if judge == JUDGES[0] or random.random() > 0.02]
    return [(pair, _grade(judge, pair)) for pair in kept]


def summary(judgments: list[Judgment]) -> Counter[str]:
    """Count what the README states."""
    return Counter(
        "cannot judge" if one.grade is None else one.origin + " grades" for one in judgments
    )


def _relevance_lines() -> list[str]:
    return (CONTENT / "relevance.txt").read_text(encoding="utf-8").splitlines()


def _is_hole(annotator: str, pair: Pair) -> bool:
    if (annotator, pair.query_id) == _SKIPPED_QUERY:
        return True
    return _random("hole", annotator, pair).random() < _HOLE_SHARE


def _answer(annotator: str, pair: Pair) -> int | None:
    unsure = _random("unsure", annotator, pair).random() < _CANNOT_JUDGE_SHARE
    return _CANNOT_JUDGE if unsure else _grade(annotator, pair)


def _grade(annotator: str, pair: Pair) -> int:
    habit = _HABITS[annotator]
    random = _random("grade", annotator, pair)
    slips = random.random() < habit.slip
    relevance = _misread(random, pair) if slips else pair.relevance
    # nobody takes an act on another subject for an answer as easily as a borderline one
    spread = habit.spread if relevance > 0 else habit.spread * 0.6
    felt = relevance + habit.leniency + random.gauss(0, spread)
    if felt >= 1.5 + habit.reluctance:
        return 2
    return 1 if felt >= 0.5 else 0


def _misread(random: Random, pair: Pair) -> float:
    """Take a document for something else; the clearest cases only half so."""
    choices = {0.0: (0.0, 0.8), 2.0: (1.2, 2.0)}
    return random.choice(choices.get(pair.relevance, (0.0, 1.0, 2.0)))


def _random(purpose: str, annotator: str, pair: Pair) -> Random:
    return Random(f"{purpose} {annotator} {pair.query_id} {pair.slug}")
