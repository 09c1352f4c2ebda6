"""The pool: which documents of each query are judged, and why."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import pandas as pd
from pydantic import Field, field_validator

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.fusion import check_ranks, of_systems, reciprocal_rank_fusion
from normastcu.collection.manual_pool import ADD, MANUAL_COLUMNS
from normastcu.collection.settings import Settings

Policy = Literal["intersection", "depth", "fusion"]
MANUAL = "manual"
FILLED = "filled"
REASONS = ("intersection", "depth", "fusion", MANUAL, FILLED)
NOTE_KINDS = ("nothing retrieved", "unknown query", "short", "too large", "removed in vain")
POOL_TYPES = {
    "query_id": "str",
    "doc_id": "str",
    "rank": "Int64",
    "reason": "str",
    "filled_at": "Int64",
    "note": "str",
}
POOL_SYSTEM_TYPES = {"query_id": "str", "doc_id": "str", "system": "str", "rank": "Int64"}
POOL_NOTE_TYPES = {"query_id": "str", "kind": "str", "note": "str"}


class PoolSettings(Settings):
    """How the documents of a pool are chosen.

    Attributes
    ----------
    policy
        ``intersection``: the documents that all systems retrieved, the best `size` of them,
        filled up to `size` from the other documents of the lists; ``depth``: every document of
        every list, whatever their number (`size` does not apply); ``fusion``: the best `size`
        documents of the lists. Best is by reciprocal rank fusion of the lists.
    systems
        The systems whose runs are pooled.
    depth
        How much of each list is looked at: its ranks up to this one.
    size
        Documents for each query.
    rrf_k
        The constant of the reciprocal rank fusion.
    """

    policy: Policy = "intersection"
    systems: tuple[str, ...] = Field(min_length=1)
    depth: int = Field(default=50, gt=0)
    size: int = Field(default=20, gt=0)
    rrf_k: float = Field(default=60, ge=0)

    @field_validator("systems")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError(f"the systems {', '.join(value)} must be distinct")
        return value


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool and what is to be said about it.

    Attributes
    ----------
    pool : DataFrame
        query_id, doc_id, rank (position in the query's pool, from 1), reason (one of `REASONS`),
        filled_at (for a filled document its rank in the fusion of the lists, else missing), note
        (what the file of manual changes gives as the reason, else missing).
    systems : DataFrame
        query_id, doc_id, system, rank: which systems retrieved each pooled document within the
        depth, and where. A document added by hand may have no row.
    notes : DataFrame
        query_id, kind (one of `NOTE_KINDS`), note (a sentence): what a reader should know.
    """

    pool: pd.DataFrame
    systems: pd.DataFrame
    notes: pd.DataFrame


def build_pool(
    runs: pd.DataFrame,
    queries: Sequence[str],
    documents: Collection[str],
    manual: pd.DataFrame,
    settings: PoolSettings,
) -> Pool:
    """Choose the documents of each query that are to be judged.

    Manual changes come first: a removed document never enters (the others keep their ranks, so
    that none moves up into the depth); an added one is in the pool with the reason `manual`,
    whoever else retrieved it, and counts towards the size. The order within a query is: what the
    policy takes by reciprocal rank fusion, then the added documents in the order of their file,
    then the filled ones by reciprocal rank fusion. A system that retrieved nothing for a query
    leaves the intersection of that query empty, and a note says so.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id` (text), `rank` (from 1); the rows in any order.
    queries : sequence of str
        The query_ids of the collection, in the order of the pool.
    documents : collection of str
        The doc_ids of the collection.
    manual : DataFrame
        `query_id`, `doc_id`, `action`, `reason`, see `manual_pool.read_manual_pool`.
    settings : PoolSettings
        Policy, systems, depth, size.

    Returns
    -------
    Pool

    Raises
    ------
    CollectionError
        Where the runs lack a system, see `fusion.check_ranks`; where the collection lacks a
        pooled document.
    """
    retrieved = of_systems(runs, settings.systems)
    check_ranks(retrieved)
    lists = retrieved[retrieved["rank"] <= settings.depth]
    changes = _Changes.of(manual)
    candidates = _candidates(lists, settings)
    rows = []
    for query_id in queries:
        chosen = _choose(candidates.get(query_id, ()), changes, query_id, settings)
        rows += [(query_id, entry[0], rank, *entry[1:]) for rank, entry in enumerate(chosen, 1)]
    pool = typed_frame(rows, POOL_TYPES)
    _check_documents(pool, documents)
    notes = [
        *_notes_on_lists(lists, queries, settings),
        *_notes_on_sizes(pool, queries, settings),
        *_notes_on_removals(lists, changes),
    ]
    return Pool(pool, _retrieved_by(pool, lists, settings), typed_frame(notes, POOL_NOTE_TYPES))


@dataclass(frozen=True)
class _Candidate:
    doc_id: str
    fused_rank: int
    n_systems: int


@dataclass(frozen=True)
class _Changes:
    """Manual changes by query: documents added, with the reason given, and removed."""

    added: Mapping[str, Mapping[str, str | None]]
    removed: Mapping[str, Collection[str]]

    @classmethod
    def of(cls, manual: pd.DataFrame) -> Self:
        added: dict[str, dict[str, str | None]] = {}
        removed: dict[str, list[str]] = {}
        for query_id, doc_id, action, reason in zip(
            *(manual[column] for column in MANUAL_COLUMNS), strict=True
        ):
            if action == ADD:
                added.setdefault(query_id, {})[doc_id] = None if pd.isna(reason) else reason
            else:
                removed.setdefault(query_id, []).append(doc_id)
        return cls(added, removed)


_Entry = tuple[str, str, int | None, str | None]
"""A pooled document: doc_id, reason, filled_at, note."""


def _candidates(lists: pd.DataFrame, settings: PoolSettings) -> dict[str, list[_Candidate]]:
    """Return the documents of the lists by query, best first."""
    n_systems = Counter(zip(lists["query_id"], lists["doc_id"], strict=True))
    candidates: dict[str, list[_Candidate]] = {}
    fused = reciprocal_rank_fusion(lists, settings.rrf_k)
    for query_id, doc_id, rank in zip(
        fused["query_id"], fused["doc_id"], fused["rank"], strict=True
    ):
        candidate = _Candidate(doc_id, rank, n_systems[query_id, doc_id])
        candidates.setdefault(query_id, []).append(candidate)
    return candidates


def _choose(
    candidates: Sequence[_Candidate], changes: _Changes, query_id: str, settings: PoolSettings
) -> list[_Entry]:
    """Return the pool of one query in its order."""
    added = changes.added.get(query_id, {})
    fixed = {*added, *changes.removed.get(query_id, ())}
    free = [candidate for candidate in candidates if candidate.doc_id not in fixed]
    room = max(0, settings.size - len(added))
    taken, filled = _split(free, room, settings)
    return [
        *((c.doc_id, settings.policy, None, None) for c in taken),
        *((doc_id, MANUAL, None, reason) for doc_id, reason in added.items()),
        *((c.doc_id, FILLED, c.fused_rank, None) for c in filled),
    ]


def _split(
    free: Sequence[_Candidate], room: int, settings: PoolSettings
) -> tuple[Sequence[_Candidate], Sequence[_Candidate]]:
    """Return what the policy takes, and what fills the room that is left."""
    if settings.policy == "depth":
        return free, ()
    if settings.policy == "fusion":
        return free[:room], ()
    everywhere = [c for c in free if c.n_systems == len(settings.systems)][:room]
    others = [c for c in free if c.n_systems < len(settings.systems)]
    return everywhere, others[: room - len(everywhere)]


def _check_documents(pool: pd.DataFrame, documents: Collection[str]) -> None:
    unknown = pool[~pool["doc_id"].isin(set(documents))]
    if len(unknown):
        first = unknown.iloc[0]
        raise CollectionError(
            f"{len(unknown)} pooled documents are not in the collection; the first: document "
            f"{first['doc_id']!r} for query {first['query_id']!r}. Ids are compared letter by "
            "letter: add the document to the corpus, or make the runs on this corpus."
        )


def _retrieved_by(pool: pd.DataFrame, lists: pd.DataFrame, settings: PoolSettings) -> pd.DataFrame:
    """Return the systems of each pooled document, in the order of the pool and the settings."""
    places = {system: place for place, system in enumerate(settings.systems)}
    found = (
        pool[["query_id", "doc_id"]]
        .assign(pair=range(len(pool)))
        .merge(lists[list(POOL_SYSTEM_TYPES)], on=["query_id", "doc_id"])
    )
    found["place"] = found["system"].map(places)
    found = found.sort_values(["pair", "place"])[list(POOL_SYSTEM_TYPES)]
    return found.astype(POOL_SYSTEM_TYPES).reset_index(drop=True)


def _notes_on_lists(
    lists: pd.DataFrame, queries: Sequence[str], settings: PoolSettings
) -> list[tuple[str, str, str]]:
    present = set(zip(lists["query_id"], lists["system"], strict=True))
    notes = [
        (query_id, "nothing retrieved", f"{system} retrieved nothing for query {query_id!r}.")
        for query_id in queries
        for system in settings.systems
        if (query_id, system) not in present
    ]
    unknown = sorted(set(lists["query_id"]).difference(queries))
    return notes + [
        (
            query_id,
            "unknown query",
            f"The runs have the query {query_id!r}, which the collection lacks: left out.",
        )
        for query_id in unknown
    ]


def _notes_on_sizes(
    pool: pd.DataFrame, queries: Sequence[str], settings: PoolSettings
) -> list[tuple[str, str, str]]:
    sizes = Counter(pool["query_id"])
    notes = []
    for query_id in queries if settings.policy != "depth" else ():
        n = sizes[query_id]
        sentence = f"The pool of query {query_id!r} has {n} documents, not {settings.size}: "
        if n < settings.size:
            notes.append((query_id, "short", sentence + "the lists hold no more."))
        elif n > settings.size:
            notes.append((query_id, "too large", sentence + "so many were added by hand."))
    return notes


def _notes_on_removals(lists: pd.DataFrame, changes: _Changes) -> list[tuple[str, str, str]]:
    retrieved = set(zip(lists["query_id"], lists["doc_id"], strict=True))
    return [
        (
            query_id,
            "removed in vain",
            f"Document {doc_id!r} is removed from the pool of query {query_id!r} by hand, but no "
            "system retrieved it within the depth.",
        )
        for query_id, documents in changes.removed.items()
        for doc_id in documents
        if (query_id, doc_id) not in retrieved
    ]
