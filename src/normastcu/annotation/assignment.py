"""Who judges which pair, and in which order: pure functions of a seed.

Everything random here is a hash of the seed and of the ids, so that it depends on neither the
order of the input nor on what was prepared before: a pair that comes later leaves the order of
the others as it was.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

Pair = tuple[str, str]
"""query_id and doc_id."""

_SEPARATOR = "\x1f"
_NOBODY: frozenset[str] = frozenset()


def person_seed(seed: int, name: str) -> int:
    """Return the seed of one person's order, below 2 ** 63.

    Examples
    --------
    >>> person_seed(7, "A_1") == person_seed(7, "A_1") != person_seed(7, "A_2")
    True
    """
    return int.from_bytes(_hash(seed, "person", name)[:8]) >> 1


def shuffled(items: Iterable[str], seed: int, *context: str) -> list[str]:
    """Return items in an order that the seed and the context alone decide.

    Parameters
    ----------
    items
        Distinct texts, such as query_ids.
    seed
        Of one person, see `person_seed`.
    context
        What the items belong to, such as a query_id.

    Examples
    --------
    >>> shuffled(["a", "b", "c"], 1) == shuffled(["c", "b", "a"], 1)
    True
    >>> [item for item in shuffled(["a", "b", "c", "d"], 1) if item != "d"] == shuffled(
    ...     ["a", "b", "c"], 1)
    True
    """
    start = _hashing(seed, *context)

    def key(item: str) -> tuple[bytes, str]:
        hashed = start.copy()
        hashed.update(item.encode())
        return hashed.digest(), item

    return sorted(items, key=key)


def assign(
    pairs: Iterable[Pair],
    assessors: Sequence[str],
    overlap: int | None,
    seed: int,
    judged: Mapping[Pair, AbstractSet[str]],
) -> dict[str, list[Pair]]:
    """Give every pair to assessors.

    Parameters
    ----------
    pairs
        Distinct pairs.
    assessors
        Who can be given pairs.
    overlap
        How many assessors judge a pair; None for all of them. Where there are fewer assessors,
        all of them do.
    seed
        Of the campaign.
    judged
        Pair to the people who answered it already, also such as are no assessors any more. They
        keep it, and count among the `overlap` people of the pair.

    Returns
    -------
    dict
        Person to pairs. The numbers of pairs of the assessors lie as close together as `judged`
        allows; where nothing is judged they differ by one at most.

    Examples
    --------
    >>> given = assign([("q", "d1"), ("q", "d2")], ["A", "B"], 1, seed=3, judged={})
    >>> {name: len(pairs) for name, pairs in given.items()}
    {'A': 1, 'B': 1}
    """
    names = sorted(set(assessors))
    if overlap is None:
        members = {pair: {*judged.get(pair, _NOBODY), *names} for pair in pairs}
    else:
        members = _balanced(pairs, names, overlap, seed, judged)
    given: dict[str, list[Pair]] = {name: [] for name in names}
    for pair, people in members.items():
        for name in people:
            given.setdefault(name, []).append(pair)
    return given


def _balanced(
    pairs: Iterable[Pair],
    names: Sequence[str],
    overlap: int,
    seed: int,
    judged: Mapping[Pair, AbstractSet[str]],
) -> dict[Pair, set[str]]:
    """Give each pair to those with the fewest pairs so far, then level what `judged` tilted."""
    members = {pair: set(judged.get(pair, _NOBODY)) for pair in pairs}
    loads = dict.fromkeys(names, 0)
    for people in members.values():
        for name in people & loads.keys():
            loads[name] += 1
    digests = {pair: _hash(seed, *pair) for pair in members}
    # Pairs with the fewest people to choose from come first.
    for pair in sorted(members, key=lambda pair: (-len(members[pair]), digests[pair], pair)):
        people = members[pair]
        ties = hashlib.shake_128(digests[pair]).digest(2 * len(names))
        free = [
            (loads[n], ties[2 * i : 2 * i + 2], n) for i, n in enumerate(names) if n not in people
        ]
        for _, _, name in sorted(free)[: max(0, overlap - len(people))]:
            people.add(name)
            loads[name] += 1
    if loads and max(loads.values()) - min(loads.values()) > 1:
        _Levelling(members, judged, loads).run()
    return members


class _Levelling:
    """Moves pairs that nobody answered from people with many to people with few.

    The people are the nodes of a graph; an edge leads from a to b where a has a pair that can be
    moved and b lacks it. Shifting one pair along each edge of a path from a person to one with at
    least two pairs fewer brings the numbers closer; where there is no such path, they are as close
    as can be.
    """

    def __init__(
        self,
        members: dict[Pair, set[str]],
        judged: Mapping[Pair, AbstractSet[str]],
        loads: dict[str, int],
    ) -> None:
        self._members, self._judged, self._loads = members, judged, loads
        self._edges: dict[tuple[str, str], list[Pair]] = {
            (a, b): [] for a in loads for b in loads if a != b
        }
        for pair in sorted(members, reverse=True):
            for name in sorted(members[pair]):
                self._offer(pair, name)

    def run(self) -> None:
        """Shift pairs until no shift brings the numbers closer."""
        while path := self._path():
            for giver, taker in pairwise(path):
                self._move(giver, taker)

    def _path(self) -> list[str]:
        for start in sorted(self._loads, key=lambda name: (-self._loads[name], name)):
            before = {start: start}
            waiting = deque([start])
            while waiting:
                name = waiting.popleft()
                if self._loads[name] <= self._loads[start] - 2:
                    return self._back(before, name)
                for other in self._loads:
                    if other not in before and self._movable(name, other) is not None:
                        before[other] = name
                        waiting.append(other)
        return []

    @staticmethod
    def _back(before: Mapping[str, str], name: str) -> list[str]:
        path = [name]
        while before[path[-1]] != path[-1]:
            path.append(before[path[-1]])
        return path[::-1]

    def _movable(self, giver: str, taker: str) -> Pair | None:
        """Return a pair that can go from one to the other; entries of the past are dropped."""
        offered = self._edges[giver, taker]
        while offered:
            people = self._members[offered[-1]]
            if giver in people and taker not in people:
                return offered[-1]
            offered.pop()
        return None

    def _move(self, giver: str, taker: str) -> None:
        pair = self._movable(giver, taker)
        # A pair moved for an earlier edge of the path can only be offered more, never less.
        assert pair is not None
        self._members[pair].symmetric_difference_update({giver, taker})
        self._loads[giver] -= 1
        self._loads[taker] += 1
        self._offer(pair, taker)
        for name in self._members[pair] - {taker}:
            self._offer_to(pair, name, giver)

    def _offer(self, pair: Pair, name: str) -> None:
        for other in self._loads:
            if other != name and other not in self._members[pair]:
                self._offer_to(pair, name, other)

    def _offer_to(self, pair: Pair, name: str, other: str) -> None:
        if name in self._loads and name not in self._judged.get(pair, _NOBODY):
            self._edges[name, other].append(pair)


def _hash(seed: int, *parts: str) -> bytes:
    return _hashing(seed, *parts).digest()


def _hashing(seed: int, *parts: str) -> hashlib.blake2b:
    key = "".join(f"{part}{_SEPARATOR}" for part in (seed, *parts))
    return hashlib.blake2b(key.encode(), digest_size=16)
