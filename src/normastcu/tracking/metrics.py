"""The numbers of a judge under names that MLflow's table and charts take."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from normastcu.collection.judgments import REFERENCE
from normastcu.evaluation.systems import QUERY_SETS

Tables = Mapping[str, pd.DataFrame]

COEFFICIENTS = ("tau_b", "rho")
ENDS = ("ci90_low", "ci90_high")
PREFIXES = {"common": "{}", "per_qrels": "{}_per_qrels"}
"""How a coefficient is called by the queries that it is over; the verdict's has the plain name."""

_OF_SUMMARY = {
    "kappa_reference": "kappa_quadratic",
    "kappa_reference.ci90_low": "ci90_low",
    "kappa_reference.ci90_high": "ci90_high",
    "kappa_people_mean": "kappa_assessors",
    "me": "me",
    "mae": "mae",
    "exact": "exact",
    "coverage": "coverage",
    "n_pairs": "n",
}
_OF_COST = ("calls", "tokens_in", "tokens_out", "cost", "cost_per_1000_pairs")
_TAKEN = ("reference", "people_mean")
_LONGEST = 100


def judge_metrics(judge: str, tables: Tables) -> dict[str, float]:
    """Return every number of a judge that is defined.

    Parameters
    ----------
    judge
        Its name.
    tables
        The tables of the report by name: `judge_summary`, `kappa` and `bias`; `cost` and
        `rank_correlation` where there are any.

    Returns
    -------
    dict of str to float
        ``kappa_reference``, ``kappa_<assessor>``, ``kappa_people_mean``, ``me``, ``mae``,
        ``exact``, ``coverage``, ``n_pairs``; what the judge took; ``tau_b.<measure>`` and
        ``rho.<measure>`` on the queries that judge and reference share, ``tau_b_per_qrels.…`` and
        ``rho_per_qrels.…`` on the queries of each, all with ``.ci90_low`` and ``.ci90_high``.
        What is undefined or infinite is absent: never 0, never NaN.
    """
    found = {
        **_of_pairs(judge, tables),
        **_of_people(judge, tables),
        **_of_cost(judge, tables),
        **_of_rankings(judge, tables),
    }
    numbers = {name: float(value) for name, value in found.items() if not pd.isna(value)}
    return {name: value for name, value in numbers.items() if np.isfinite(value)}


def judge_verdicts(judge: str, tables: Tables) -> dict[str, str]:
    """Return the verdict on a judge by measure: ``verdict.<measure>``."""
    verdict = tables.get("verdict")
    if verdict is None:
        return {}
    names = safe_names(verdict["measure"])
    own = verdict[verdict["judge"] == judge]
    return {
        f"verdict.{names[measure]}": word
        for measure, word in zip(own["measure"], own["verdict"], strict=True)
    }


def safe_names(names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return names in letters, digits and ``_ - .`` alone, which MLflow takes everywhere.

    Two that would be written alike (upper and lower case are alike to some databases), or like
    one that is `taken`, get a piece of their hash; so does one that is too long.

    Examples
    --------
    >>> safe_names(["P@10", "RBP(p=0.8)", "MRR"])
    {'P@10': 'P_10', 'RBP(p=0.8)': 'RBP_p_0.8', 'MRR': 'MRR'}
    >>> safe_names(["ana", "Ana"])
    {'ana': 'ana_24d4b9', 'Ana': 'Ana_dea210'}
    """
    written = {
        name: re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") for name in dict.fromkeys(names)
    }
    times = Counter([short.casefold() for short in written.values()] + list(taken))
    return {
        name: short
        if times[short.casefold()] == 1 and 0 < len(short) <= _LONGEST
        else f"{short[:_LONGEST]}_{_piece(name)}"
        for name, short in written.items()
    }


def _piece(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def _of_pairs(judge: str, tables: Tables) -> dict[str, Any]:
    summary = tables["judge_summary"].set_index("judge").loc[judge]
    return {name: summary[column] for name, column in _OF_SUMMARY.items()}


def _of_people(judge: str, tables: Tables) -> dict[str, Any]:
    """Return kappa with each person, on whichever side of the pair the judge stands."""
    bias, kappa = tables["bias"], tables["kappa"]
    names = safe_names(bias.loc[bias["kind"] == "assessor", "annotator"], taken=_TAKEN)
    found: dict[str, Any] = {}
    for one, other in (("annotator_a", "annotator_b"), ("annotator_b", "annotator_a")):
        own = kappa[(kappa[other] == judge) & kappa[one].isin(names) & (kappa[one] != REFERENCE)]
        values = zip(own[one], own["kappa_quadratic"], strict=True)
        found |= {f"kappa_{names[person]}": value for person, value in values}
    return found


def _of_cost(judge: str, tables: Tables) -> dict[str, Any]:
    """Return what a judge took; labels made elsewhere have no known cost."""
    cost = tables.get("cost")
    own = cost[cost["judge"] == judge] if cost is not None else None
    if own is None or own.empty:
        return {}
    return {name: own.iloc[0][name] for name in _OF_COST}


def _of_rankings(judge: str, tables: Tables) -> dict[str, Any]:
    correlations = tables.get("rank_correlation")
    if correlations is None:
        return {}
    names = safe_names(correlations["measure"])
    own = correlations[
        (correlations["qrels"] == judge)
        & (correlations["system_set"] == "all")
        & correlations["coefficient"].isin(COEFFICIENTS)
    ]
    found: dict[str, Any] = {}
    for row in own.to_dict("records"):
        prefix = PREFIXES[row["query_set"]].format(row["coefficient"])
        name = f"{prefix}.{names[row['measure']]}"
        found |= {name: row["value"]} | {f"{name}.{end}": row[end] for end in ENDS}
    return found | _counts(own)


def _counts(correlations: pd.DataFrame) -> dict[str, Any]:
    """Return how many systems and queries the coefficients are over."""
    found: dict[str, Any] = {}
    for query_set in QUERY_SETS:
        own = correlations[correlations["query_set"] == query_set]
        if len(own):
            found |= {
                "n_systems": own["n_systems"].iloc[0],
                f"n_queries_{query_set}": own["n_queries"].iloc[0],
            }
    return found
