"""How often 90 % intervals of a rank correlation hold the true value: a simulation, and its table.

    python -m tests.benchmarks.coverage_of_intervals [--collections 200] [--resamples 2000]

In a synthetic collection 15 systems have values on 5,000 queries under a reference and under a
judge. That is the population: the true correlation is that of its means. 46 queries of it are the
sample from which the intervals are made. The systems are normally distributed, or spaced evenly, or
have the published nDCG@10 of the paper's fifteen; they come in pairs that share part of their
errors. The judge shares the reference's noise in part, adds its own, and prefers systems by a bias,
whose size is the row of the table: 0 means that the true rankings are the same up to ties.

For the difference to people there are four people instead of the reference, who prefer systems by a
small bias of their own; each is compared with the mean of the others.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from normastcu.evaluation.bootstrap import bca_interval, resample_indices
from normastcu.evaluation.human_ceiling import ranking_ceiling
from normastcu.evaluation.measures import QueryMeasures
from normastcu.evaluation.rank_correlation import COEFFICIENTS, RankedPair, compare, ranked_pair
from normastcu.evaluation.shrinkage import (
    draw_true_means,
    shrunken_differences,
    standard_normals,
)
from normastcu.evaluation.systems import orders, query_means

SYSTEMS, QUERIES, POPULATION = 15, 46, 5_000
CONFIDENCE = 0.90
SHOWN = ("tau_b", "rho")
BIASES = (0.0, 0.01, 0.03, 0.06)
PEOPLE = ("A_1", "A_2", "A_3", "A_4")
PEOPLE_S_BIAS = 0.01
REFERENCES = {person: f"without_{person}" for person in PEOPLE}
DIFFERENCE = "tau_b minus people"
PUBLISHED_NDCG = (
    *(0.373450, 0.344428, 0.349561, 0.316056, 0.388022, 0.355897, 0.334672, 0.291792),
    *(0.242242, 0.272743, 0.269147, 0.307034, 0.279769, 0.297224, 0.310239),
)


def held(truth: float, observed: float, low: float, high: float) -> dict:
    """Tell whether an interval holds the true value."""
    return {
        "true": truth,
        "observed": observed,
        "holds": low - 1e-9 <= truth <= high + 1e-9,
        "too_high": truth < low - 1e-9,
        "width": high - low,
    }


def qualities(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the true level of each system."""
    if kind == "normal":
        return 0.28 + 0.06 * rng.standard_normal(SYSTEMS)
    return {"published": np.array(PUBLISHED_NDCG), "even": np.linspace(0.15, 0.45, SYSTEMS)}[kind]


def shared_values(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return what all annotators see alike, (systems, population)."""
    difficulty = 0.25 * rng.standard_normal(POPULATION)
    shared_by_twins = np.repeat(0.10 * rng.standard_normal((SYSTEMS, POPULATION)), 2, axis=0)
    return (
        qualities(kind, rng)[:, np.newaxis]
        + difficulty
        + shared_by_twins[:SYSTEMS]
        + 0.10 * rng.standard_normal((SYSTEMS, POPULATION))
    )


def population(kind: str, bias: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the values under the judge and under the reference, each (systems, population)."""
    shape = (SYSTEMS, POPULATION)
    reference = shared_values(kind, rng)
    judge = (
        0.05
        + reference
        + bias * rng.standard_normal((SYSTEMS, 1))
        + 0.10 * rng.standard_normal(POPULATION)
        + 0.10 * rng.standard_normal(shape)
    )
    return judge.clip(0, 1).round(2), reference.clip(0, 1).round(2)


def people(kind: str, bias: float, rng: np.random.Generator) -> QueryMeasures:
    """Return the measures of a judge, of people, and of the others' mean, on the population."""
    shared = shared_values(kind, rng)

    def own(preference: float) -> np.ndarray:
        preferred = shared + preference * rng.standard_normal((SYSTEMS, 1))
        return (preferred + 0.12 * rng.standard_normal(shared.shape)).clip(0, 1).round(2)

    values = {"judge": own(bias)} | {person: own(PEOPLE_S_BIAS) for person in PEOPLE}
    for person, reference in REFERENCES.items():
        others = [values[other] for other in PEOPLE if other != person]
        values[reference] = np.mean(others, axis=0)
    names = tuple(sorted(values))
    relevant = np.ones((len(names), POPULATION), dtype=np.int64)
    return QueryMeasures(
        qrels=names,
        measures=("nDCG@10",),
        systems=tuple(f"S_{number:02}" for number in range(SYSTEMS)),
        queries=tuple(f"q{number:05}" for number in range(POPULATION)),
        values=np.stack([values[name] for name in names])[:, np.newaxis],
        n_judged=relevant,
        n_relevant=relevant,
        report=pd.DataFrame(),
    )


def sample_of(measured: QueryMeasures, drawn: np.ndarray) -> QueryMeasures:
    """Return the measures on queries that were drawn, each a query by itself."""
    return replace(
        measured,
        queries=measured.queries[: len(drawn)],
        values=measured.values[..., drawn],
        n_judged=measured.n_judged[:, drawn],
        n_relevant=measured.n_relevant[:, drawn],
    )


def minus_people(measured: QueryMeasures) -> float:
    """Return tau-b of the judge minus the people's own, mean over the people, of all queries."""
    everything = np.ones((1, len(measured.queries)))
    tau = COEFFICIENTS["tau_b"]

    def correlation(name: str, person: str) -> float:
        pair = ranked_pair(measured, name, REFERENCES[person], measured.measures[0], "common")
        return float(tau(*pair.orders(everything))[0])

    return float(np.mean([correlation("judge", one) - correlation(one, one) for one in PEOPLE]))


def simulate_beside_people(
    kind: str, bias: float, collections: int, resamples: int
) -> Iterator[dict]:
    """Yield one row for each collection and method, of tau-b minus the people's own."""
    normals = standard_normals(SYSTEMS, resamples, seed=1, n_qrels=4)
    settings = {"measures": ["nDCG@10"], "confidences": [CONFIDENCE]}
    for seed in range(collections):
        rng = np.random.default_rng([seed, round(1000 * bias), len(kind), len(PEOPLE)])
        measured = people(kind, bias, rng)
        sample = sample_of(measured, rng.integers(0, POPULATION, QUERIES))
        indices = resample_indices(QUERIES, resamples, seed)
        truth = minus_people(measured)
        found = ranking_ceiling(sample, REFERENCES, ["judge"], indices, **settings)
        shrunken = shrunken_differences(sample, REFERENCES, ["judge"], normals, **settings)
        observed = found.loc[found["statistic"] == DIFFERENCE].iloc[0]
        for method, row in {"BCa": observed, "shrunken": shrunken.iloc[0]}.items():
            low, high = row["ci90_low"], row["ci90_high"]
            where = {"systems": kind, "bias": bias, "coefficient": DIFFERENCE, "method": method}
            yield where | held(truth, observed["value"], low, high)


def intervals(
    pair: RankedPair, name: str, replicates: np.ndarray, drawn: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Return the 90 % intervals of one coefficient by method."""
    observed, jackknife, resampled = np.split(replicates, [1, 1 + QUERIES])
    defined = resampled[~np.isnan(resampled)]
    bca = bca_interval(float(observed[0]), resampled, jackknife, CONFIDENCE)
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    draws = COEFFICIENTS[name](orders(drawn[0]), orders(drawn[1]))
    return {
        "BCa": (bca.low, bca.high),
        "percentile": tuple(np.quantile(defined, tails)),
        "shrunken": tuple(np.quantile(draws[~np.isnan(draws)], tails)),
    }


def simulate(kind: str, bias: float, collections: int, resamples: int) -> Iterator[dict]:
    """Yield one row for each collection, coefficient and method."""
    everything = np.ones((1, POPULATION))
    normals = standard_normals(SYSTEMS, resamples, seed=1)
    for seed in range(collections):
        rng = np.random.default_rng([seed, round(1000 * bias), len(kind)])
        sides = population(kind, bias, rng)
        drawn_queries = rng.integers(0, POPULATION, QUERIES)
        all_queries = np.ones(QUERIES, dtype=bool)
        sample = [values[:, drawn_queries] for values in sides]
        pair = RankedPair(
            *("judge", "reference", "nDCG@10", "common", tuple(map(str, range(SYSTEMS)))),
            *sample,
            all_queries,
            all_queries,
        )
        indices = resample_indices(QUERIES, resamples, seed)
        replicates = compare(pair, {name: COEFFICIENTS[name] for name in SHOWN}, indices)
        drawn = draw_true_means([pair.values, pair.reference_values], normals)
        mean = partial(query_means, kept=np.ones(POPULATION, dtype=bool), weights=everything)
        true_orders = [orders(mean(values)) for values in sides]
        for name in SHOWN:
            truth = float(COEFFICIENTS[name](*true_orders)[0])
            found = intervals(pair, name, replicates[name], drawn)
            for method, (low, high) in found.items():
                where = {"systems": kind, "bias": bias, "coefficient": name, "method": method}
                yield where | held(truth, replicates[name][0], low, high)


def coverage(collections: int, resamples: int) -> pd.DataFrame:
    """Return the coverage of every method, coefficient and kind of collection."""
    rows = [
        row
        for simulated in (simulate, simulate_beside_people)
        for kind in ("normal", "published", "even")
        for bias in BIASES
        for row in simulated(kind, bias, collections, resamples)
    ]
    keys = ["coefficient", "systems", "bias", "method"]
    table = pd.DataFrame(rows).groupby(keys, sort=False)
    return table[["true", "observed", "holds", "too_high", "width"]].mean().reset_index()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].replace("%", "%%"))
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=2000)
    arguments = parser.parse_args()
    table = coverage(arguments.collections, arguments.resamples)
    shape = table.pivot(
        index=["coefficient", "systems", "bias", "true", "observed"],
        columns="method",
        values=["holds", "too_high", "width"],
    )
    print(f"Share of {arguments.collections} collections whose 90 % interval holds the true value,")
    print("share in which the whole interval lies too high, mean width\n")
    print(shape.round(2).to_string())


if __name__ == "__main__":
    main()
