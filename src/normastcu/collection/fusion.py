"""Putting the lists of several systems into one: reciprocal rank fusion, and turns by share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import pandas as pd
from pydantic import Field, field_validator

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.run_order import RUN_TYPES
from normastcu.collection.settings import Settings

CANDIDATE_TYPES = {
    "query_id": "str",
    "doc_id": "str",
    "rank": "Int64",
    "taken_from": "str",
    "taken_at": "Int64",
}
SCORE_DECIMALS = 12
"""Fused scores are compared to so many decimals, so that no rounding error decides a tie."""


class CandidateSettings(Settings):
    """How many documents a first stage hands on, and from which systems.

    Attributes
    ----------
    n
        Distinct documents for each query.
    shares
        System to its share; only their proportion counts. The default of a pool is a quarter
        from BM25 and three quarters from embeddings.

    Examples
    --------
    >>> CandidateSettings(shares={"bm25": 0.25, "dense": 0.75}).n
    570
    """

    n: int = Field(default=570, gt=0)
    shares: dict[str, float] = Field(min_length=1)

    @field_validator("shares")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        wrong = [name for name, share in value.items() if not 0 < share < float("inf")]
        if wrong:
            raise ValueError(f"the share of {wrong[0]} is {value[wrong[0]]}, it must be above 0")
        return value


def reciprocal_rank_fusion(runs: pd.DataFrame, k: float = 60, name: str = "rrf") -> pd.DataFrame:
    """Fuse the lists of all systems of some runs into one list for each query.

    A document's score is the sum of 1 / (k + rank) over the systems that retrieved it. Ties go
    by the best rank that any system gave, then by document id ascending, compared as text.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id` (text), `rank` (from 1); the rows in any order.
    k : int
        What is added to every rank, from 0: the larger, the less the first ranks stand out.
    name : str
        The name of the fused system.

    Returns
    -------
    DataFrame
        system, query_id, doc_id, rank, score, sorted by query and rank. Scores can tie; the
        ranks say the order.

    Raises
    ------
    CollectionError
        See `check_ranks`.

    References
    ----------
    Cormack, Clarke, Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods, SIGIR.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A", "A", "B"], "query_id": ["q", "q", "q"],
    ...     "doc_id": ["d1", "d2", "d2"], "rank": [1, 2, 1],
    ... })
    >>> reciprocal_rank_fusion(runs)[["doc_id", "rank"]].values.tolist()
    [['d2', 1], ['d1', 2]]
    """
    check_ranks(runs)
    rows = runs[["query_id", "doc_id", "rank"]].astype({"query_id": "str", "doc_id": "str"})
    # One order of the addends, so that the sum doesn't depend on the order of the rows.
    rows = rows.sort_values(["query_id", "doc_id", "rank"])
    rows["score"] = 1 / (k + rows["rank"].astype("float64"))
    fused = rows.groupby(["query_id", "doc_id"], as_index=False).agg(
        score=("score", "sum"), best=("rank", "min")
    )
    fused["score"] = fused["score"].round(SCORE_DECIMALS)
    fused = fused.sort_values(
        ["query_id", "score", "best", "doc_id"], ascending=[True, False, True, True]
    )
    fused["rank"] = fused.groupby("query_id").cumcount() + 1
    fused["system"] = name
    return fused[list(RUN_TYPES)].astype(RUN_TYPES).reset_index(drop=True)


def take_candidates(runs: pd.DataFrame, settings: CandidateSettings) -> pd.DataFrame:
    """Take documents from the lists of several systems in turn, in proportion to their shares.

    Each turn belongs to the system whose ranks read so far, and one more, are fewest for its
    share (ties: the larger share, then the order of the settings); it reads its next rank, and a
    document that another system has brought already is passed over. The turns end when `n`
    distinct documents are there, or when all lists are read; a list that is read to its end drops
    out. With shares of 25 and 75 % and 570 documents, the first 570 turns are 142 ranks of the one
    and 428 of the other; where the two share documents, further ranks follow in the same
    proportion.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id` (text), `rank` (from 1); the rows in any order; other
        systems are ignored.
    settings : CandidateSettings
        Number of documents and shares.

    Returns
    -------
    DataFrame
        query_id, doc_id, rank (the order in which they were taken), taken_from (the system that
        brought the document), taken_at (its rank there), sorted by query and rank.

    Raises
    ------
    CollectionError
        Where the runs lack a system, and see `check_ranks`.

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "system": ["A", "A", "B"], "query_id": ["q", "q", "q"],
    ...     "doc_id": ["d1", "d2", "d1"], "rank": [1, 2, 1],
    ... })
    >>> taken = take_candidates(runs, CandidateSettings(n=2, shares={"A": 1, "B": 1}))
    >>> taken[["doc_id", "taken_from", "taken_at"]].values.tolist()
    [['d1', 'A', 1], ['d2', 'A', 2]]
    """
    own = of_systems(runs, tuple(settings.shares))
    check_ranks(own)
    rows: list[tuple[str, str, int, str, int]] = []
    for query_id, group in own.sort_values("rank").groupby("query_id"):
        lists = {
            str(system): list(zip(part["doc_id"], part["rank"], strict=True))
            for system, part in group.groupby("system")
        }
        taken = _take_in_turns(lists, settings)
        rows += [
            (str(query_id), doc_id, position, system, rank)
            for position, (doc_id, (system, rank)) in enumerate(taken.items(), start=1)
        ]
    return typed_frame(rows, CANDIDATE_TYPES)


def of_systems(runs: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Return the rows of some systems.

    Raises
    ------
    CollectionError
        Where the runs lack one of them.
    """
    known = sorted(runs["system"].unique())
    missing = [name for name in systems if name not in known]
    if missing:
        raise CollectionError(
            f"The runs have nothing of a system called {missing[0]!r}. There are: "
            f"{', '.join(known) or 'none'}. Correct the name, make its run first, or see why it "
            "retrieves nothing for any query."
        )
    return runs[runs["system"].isin(systems)]


def check_ranks(runs: pd.DataFrame) -> None:
    """Raise where runs give no one order of distinct documents for a query.

    Parameters
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id`, `rank`.

    Raises
    ------
    CollectionError
        For ids that are not text; for a missing rank, or one below 1; for a document or a rank
        twice in a query of a system.
    """
    for column in ("system", "query_id", "doc_id"):
        if len(runs) and not pd.api.types.is_string_dtype(runs[column]):
            raise CollectionError(
                f"The column {column} of the runs holds {runs[column].dtype}, not text: read ids "
                "as text, so that 1, 01 and 1e0 stay three ids."
            )
    unranked = runs["rank"].isna() | (runs["rank"] < 1).fillna(False)
    if unranked.any():
        raise CollectionError(f"{_where(runs, unranked)} has no rank from 1 on: rank every row.")
    for column, what in (("doc_id", "twice"), ("rank", "on the rank of another one")):
        repeated = runs.duplicated(["system", "query_id", column])
        if repeated.any():
            raise CollectionError(f"{_where(runs, repeated)} stands there {what}. Keep one row.")


def _where(runs: pd.DataFrame, mask: "pd.Series[bool]") -> str:
    row = runs[mask].iloc[0]
    return f"Document {row['doc_id']!r} for query {row['query_id']!r} of the system {row['system']}"


def _take_in_turns(
    lists: Mapping[str, Sequence[tuple[str, int]]], settings: CandidateSettings
) -> dict[str, tuple[str, int]]:
    """Return the documents taken, in order, with the system that brought each and its rank."""
    unread = {system: iter(entries) for system, entries in lists.items()}
    taken: dict[str, tuple[str, int]] = {}
    for system in _turns(settings.shares, unread):
        entry = next(unread[system], None)
        if entry is None:
            del unread[system]
            continue
        doc_id, rank = entry
        taken.setdefault(doc_id, (system, rank))
        if len(taken) == settings.n:
            break
    return taken


def _turns(shares: Mapping[str, float], present: Iterable[str]) -> Iterator[str]:
    """Yield whose turn it is, among the systems that are still `present`, while there are any."""
    exact = {system: Fraction(str(share)) for system, share in shares.items()}
    by_share = sorted(shares, key=lambda system: -exact[system])
    n_read = dict.fromkeys(shares, 0)
    while waiting := [system for system in by_share if system in present]:
        system = min(waiting, key=lambda name: (n_read[name] + 1) / exact[name])
        n_read[system] += 1
        yield system
