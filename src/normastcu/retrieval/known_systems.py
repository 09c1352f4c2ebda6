"""The library of systems: ``systems.yml``, and the systems of it that an environment runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from normastcu.collection.named_settings import check_parts, part_of, slugs, validated
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import (
    AnySystem,
    HybridSystem,
    RerankSystem,
)

FILE = "systems.yml"
PARTS = ("encoders", "rerankers", "systems")


@dataclass(frozen=True)
class Systems:
    """The systems that an environment runs.

    Attributes
    ----------
    active, pooling
        Names of the systems that are compared, and of those that the pool is made of.
    all
        These, and the systems that they are made of, each behind those it needs.
    slugs
        Name to namespace (``[a-z0-9_]``).
    """

    active: tuple[str, ...]
    pooling: tuple[str, ...]
    all: tuple[AnySystem, ...]
    slugs: Mapping[str, str]


def load_systems(
    library: Mapping[str, Any], active: Sequence[str], pooling: Sequence[str] = ()
) -> Systems:
    """Look systems up in the library.

    Parameters
    ----------
    library
        ``systems.yml``: the mappings ``encoders``, ``rerankers`` and ``systems``, each from a name
        to settings; a system names its encoder or reranker.
    active, pooling
        Names of systems.

    Raises
    ------
    CollectionError
        For a wrong setting, a name twice, two systems of one namespace.
    RetrievalError
        For an unknown system, encoder or reranker, and for systems that need each other.

    Examples
    --------
    >>> bm25 = {"kind": "bm25", "family": "bm25", "fields": ["text"], "k1": 0.9, "b": 0.4}
    >>> again = {"kind": "rerank", "family": "two-stage", "first": "S_1", "depth": 50, "by": "S_1"}
    >>> systems = load_systems({"systems": {"S_1": bm25, "S_2": again}}, ["S_2"])
    >>> systems.active, [system.name for system in systems.all]
    (('S_2',), ['S_1', 'S_2'])
    """
    known = _Library(library)
    ordered: dict[str, AnySystem] = {}
    for name in [*active, *pooling]:
        known.add(name, ordered, ())
    slugs(active, "systems")
    slugs(pooling, "pooling systems")
    return Systems(
        active=tuple(active),
        pooling=tuple(pooling),
        all=tuple(ordered.values()),
        slugs=slugs(ordered, "systems"),
    )


def needed(system: AnySystem) -> tuple[str, ...]:
    """Return the names of the systems that a system is made of.

    Examples
    --------
    >>> needed(RerankSystem(name="S", family="f", first="A", depth=9, by="B"))
    ('A', 'B')
    """
    if isinstance(system, RerankSystem):
        return (system.first,) if system.by is None else (system.first, system.by)
    return system.systems if isinstance(system, HybridSystem) else ()


def check_depth(systems: Systems, depth: int) -> None:
    """Refuse runs that are less deep than what a system takes from them.

    Parameters
    ----------
    systems
        Those of the environment.
    depth
        Documents of a query in a run, at most.

    Raises
    ------
    RetrievalError
        For a hybrid system with more `candidates`, and for one that reranks more documents.
    """
    for system in systems.all:
        if isinstance(system, HybridSystem):
            setting, wanted = "candidates", system.candidates
        elif isinstance(system, RerankSystem):
            setting, wanted = "depth", system.depth
        else:
            continue
        if wanted is not None and wanted > depth:
            raise RetrievalError(
                f"The system {system.name} takes {wanted:,} documents of a query (its `{setting}` "
                f"in {FILE}), but `retrieval.depth` keeps only {depth:,} of each run that it is "
                f"made of: raise `retrieval.depth` to at least {wanted}, or lower the `{setting}`."
            )


class _Library:
    """The entries of ``systems.yml``; only what an active system uses is validated."""

    def __init__(self, library: Mapping[str, Any]) -> None:
        check_parts(library, PARTS, FILE)
        self._parts = {part: part_of(library, part, FILE) for part in PARTS}

    def add(self, name: str, ordered: dict[str, AnySystem], above: tuple[str, ...]) -> None:
        """Add a system behind those that it needs; `above` are the systems that need it."""
        if name in above:
            raise RetrievalError(
                f"{FILE}: the systems {' -> '.join((*above, name))} need each other: a system is "
                "made of others that can be run before it."
            )
        if name in ordered:
            return
        system = self._system(name, above)
        for other in needed(system):
            self.add(other, ordered, (*above, name))
        ordered[name] = system

    def _system(self, name: str, above: tuple[str, ...]) -> AnySystem:
        needed_by = f", which {above[-1]} needs" if above else ""
        settings = dict(self._entry("systems", name, needed_by))
        for part in ("encoder", "reranker"):
            if settings.get(part) is not None:
                entry = self._entry(f"{part}s", str(settings[part]), f", which {name} needs")
                settings[part] = {"name": settings[part], **entry}
        system: AnySystem = validated(AnySystem, {"name": name, **settings}, f"{FILE}, {name}")  # type: ignore[arg-type]
        return system

    def _entry(self, part: str, name: str, needed_by: str) -> Mapping[str, Any]:
        entries = self._parts[part]
        if name not in entries:
            raise RetrievalError(
                f"{FILE} has no entry {name!r} under `{part}`{needed_by}. Known: "
                f"{', '.join(entries) or 'none'}."
            )
        return entries[name]
