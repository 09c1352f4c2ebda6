"""Measures of all systems under all qrels, each annotator compared on the pairs it graded.

A pair that a judge was asked for and did not grade says nothing about the judge, and nothing about
the systems: where that judge is compared, the pair is taken out of every qrels and its document is
skipped in every run. So a judge with such pairs has measures of its own (`SystemMeasures.apart`),
in which the reference is measured without them too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.measures import MEASURES, REPORT_TYPES, QueryMeasures, measure_runs
from normastcu.evaluation.runs import RankedRuns, rank_runs


@dataclass(frozen=True, eq=False)
class SystemMeasures:
    """The measures of all systems under all qrels.

    Attributes
    ----------
    ranked : RankedRuns
        The runs in their order.
    whole : QueryMeasures
        Under every qrels, on all judged pairs.
    apart : mapping of str to QueryMeasures
        For each annotator that left pairs out: its own qrels and those it is compared with, all of
        them without these pairs.
    n_left_out : mapping of str to int
        How many pairs each of these annotators left out.
    without_gaps : mapping of str to QueryMeasures
        For each person who did not grade every pair: its own qrels and the one without it, both
        without these pairs; so that people are held to the rule that judges are held to.
    """

    ranked: RankedRuns
    whole: QueryMeasures
    apart: Mapping[str, QueryMeasures]
    n_left_out: Mapping[str, int]
    without_gaps: Mapping[str, QueryMeasures]

    def together(self, names: Sequence[str]) -> QueryMeasures:
        """Return each of some qrels as it is measured by itself, without what it left out."""
        chosen = restrict(self.whole, names)
        own = {
            name: restrict(self.apart[name], [name]) for name in chosen.qrels if name in self.apart
        }
        at = [chosen.position(name) for name in own]
        values, n_judged = chosen.values.copy(), chosen.n_judged.copy()
        n_relevant = chosen.n_relevant.copy()
        for position, alone in zip(at, own.values(), strict=True):
            values[position], n_judged[position] = alone.values[0], alone.n_judged[0]
            n_relevant[position] = alone.n_relevant[0]
        shared = chosen.report[~chosen.report["qrels"].isin(list(own))]
        report = pd.concat([shared, *(alone.report for alone in own.values())], ignore_index=True)
        return replace(
            chosen, values=values, n_judged=n_judged, n_relevant=n_relevant, report=report
        )

    def beside(
        self, references: Sequence[str], others: Sequence[str]
    ) -> Iterator[tuple[list[str], QueryMeasures]]:
        """Yield qrels that can be compared with references, and the measures to do so with.

        First come all the others that graded every pair, together (perhaps none), then each one
        that left pairs out.
        """
        complete = [name for name in others if name not in self.apart]
        yield complete, restrict(self.whole, [*references, *complete])
        for name in others:
            if name in self.apart:
                yield [name], restrict(self.apart[name], [*references, name])


def measure_systems(
    runs: pd.DataFrame,
    systems: Iterable[str],
    qrels: pd.DataFrame,
    *,
    references: Sequence[str],
    left_out: Mapping[str, pd.DataFrame],
    queries: Iterable[str],
    gaps: Mapping[tuple[str, str], pd.DataFrame] | None = None,
    measures: Sequence[str] = MEASURES,
    relevance: int = 1,
) -> SystemMeasures:
    """Measure every system under every qrels.

    Parameters
    ----------
    runs : DataFrame
        As `runs.rank_runs` takes them.
    systems : iterable of str
        All systems. One without a run has 0 everywhere, and the report names the queries it lacks.
    qrels : DataFrame
        `qrels`, `query_id`, `doc_id`, `grade`.
    references : sequence of str
        The qrels that others are compared with.
    left_out : mapping of str to DataFrame
        The pairs (`query_id`, `doc_id`) that an annotator was asked for and did not grade.
    queries : iterable of str
        All queries of the collection, to which the resamples refer.
    gaps : mapping of (str, str) to DataFrame, optional
        For a person's qrels and the qrels without that person, the pairs that it did not grade.
    measures, relevance
        As `measures.measure_runs` takes them.

    Returns
    -------
    SystemMeasures

    Raises
    ------
    ValueError
        For a run of a system that is not among the systems, and what `measure_runs` refuses.
    """
    ranked = _of_systems(rank_runs(runs), systems)
    universe = sorted(set(queries))

    def measured(names: Sequence[str], skipped: pd.DataFrame | None) -> QueryMeasures:
        chosen = qrels[qrels["qrels"].isin(names)]
        found = measure_runs(
            ranked,
            chosen,
            measures=measures,
            relevance=relevance,
            queries=universe,
            left_out=skipped,
        )
        return _with_empty(found, names, ranked)

    incomplete = {name: pairs for name, pairs in left_out.items() if len(pairs)}
    everyone = sorted({*qrels["qrels"], *references, *left_out})
    return SystemMeasures(
        ranked=ranked,
        whole=measured(everyone, None),
        apart={name: measured([*references, name], pairs) for name, pairs in incomplete.items()},
        n_left_out={name: len(pairs) for name, pairs in incomplete.items()},
        without_gaps={
            person: measured([person, reference], pairs)
            for (person, reference), pairs in (gaps or {}).items()
            if len(pairs)
        },
    )


def restrict(measured: QueryMeasures, names: Iterable[str]) -> QueryMeasures:
    """Return the measures under some of the qrels.

    Raises
    ------
    ValueError
        For a qrels that there is not.
    """
    chosen = tuple(sorted(set(names)))
    at = [measured.position(name) for name in chosen]
    return replace(
        measured,
        qrels=chosen,
        values=measured.values[at],
        n_judged=measured.n_judged[at],
        n_relevant=measured.n_relevant[at],
        report=measured.report[measured.report["qrels"].isin(chosen)],
    )


def _of_systems(ranked: RankedRuns, systems: Iterable[str]) -> RankedRuns:
    """Give the runs a place for every system, also for one without a row."""
    names = pd.Index(sorted(set(systems)), dtype="str")
    unknown = ranked.systems.difference(names)
    if len(unknown):
        raise ValueError(
            f"There is a run of {unknown[0]!r}, which is not among the {len(names)} systems: "
            "list it with its family, or take its run away."
        )
    place = names.get_indexer(ranked.systems)
    n_tied = np.zeros(len(names), dtype=np.int64)
    n_tied[place] = ranked.n_tied
    return replace(ranked, systems=names, system=place[ranked.system], n_tied=n_tied)


def _with_empty(measured: QueryMeasures, names: Sequence[str], ranked: RankedRuns) -> QueryMeasures:
    """Give a place to every qrels, also to one without a grade."""
    everyone = tuple(sorted(set(names)))
    absent = [name for name in everyone if name not in measured.qrels]
    if not absent:
        return measured
    at = [everyone.index(name) for name in measured.qrels]

    def spread(part: np.ndarray) -> np.ndarray:
        wide = np.zeros((len(everyone), *part.shape[1:]), dtype=part.dtype)
        wide[at] = part
        return wide

    rows = [
        (name, system, 0, 0, None, n_queries, n_tied)
        for name in absent
        for system, n_queries, n_tied in _of_each_run(ranked)
    ]
    return replace(
        measured,
        qrels=everyone,
        values=spread(measured.values),
        n_judged=spread(measured.n_judged),
        n_relevant=spread(measured.n_relevant),
        report=pd.concat([measured.report, typed_frame(rows, REPORT_TYPES)], ignore_index=True),
    )


def _of_each_run(ranked: RankedRuns) -> Iterator[tuple[str, int, int]]:
    """Yield each system, the queries of its run, and its tied documents."""
    n_queries = pd.Series(ranked.query).groupby(ranked.system).nunique()
    for position, (system, n_tied) in enumerate(zip(ranked.systems, ranked.n_tied, strict=True)):
        yield system, int(n_queries.get(position, 0)), int(n_tied)
