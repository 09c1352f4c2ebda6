"""Tables of the paper that show systems or qrels side by side (Tables 9 and 13)."""

from collections.abc import Mapping, Sequence

import pandas as pd

from normastcu.collection.judgments import REFERENCE

SHOWN_COEFFICIENTS = ("tau_b", "rho")


def of_all_systems(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that the paper shows: of all systems, each qrels on its own queries.

    A table without the column `query_set` or `system_set` is not divided by it.

    Examples
    --------
    >>> sets = {"query_set": ["per_qrels", "common", "per_qrels"]}
    >>> of_all_systems(pd.DataFrame(sets | {"system_set": ["all", "all", "one_per_family"]}))
       query_set system_set
    0  per_qrels        all
    """
    for column, shown in (("query_set", "per_qrels"), ("system_set", "all")):
        if column in table:
            table = table[table[column] == shown]
    return table


def system_table(
    measures: pd.DataFrame, families: Mapping[str, str], reference: str = REFERENCE
) -> pd.DataFrame:
    """Return Table 9: the measures of each system under the reference, with its ranks.

    Parameters
    ----------
    measures
        What `systems.average_measures` returns.
    families
        The family of each system, in the order of the table.
    reference
        The qrels that is shown, on its own queries.

    Returns
    -------
    pandas.DataFrame
        system, family, n_queries, then each measure and, unless it is `Judged@k`, its rank under
        the name `<measure>_rank` (equal values share the lowest).
    """
    own = of_all_systems(measures[measures["qrels"] == reference])
    table = pd.DataFrame({"system": list(families), "family": list(families.values())}, dtype="str")
    table["n_queries"] = _by_system(own.drop_duplicates("system"), "n_queries", table)
    for measure, rows in own.groupby("measure", sort=False):
        table[str(measure)] = _by_system(rows, "value", table)
        if not is_judged_share(str(measure)):
            table[f"{measure}_rank"] = _by_system(rows, "rank", table)
    return table


def correlation_table(
    correlations: pd.DataFrame, coefficients: Sequence[str] = SHOWN_COEFFICIENTS
) -> pd.DataFrame:
    """Return Table 13: how each qrels ranks all systems beside the reference, per measure.

    Parameters
    ----------
    correlations
        What `rank_correlation` returns.
    coefficients
        Those that are shown.

    Returns
    -------
    pandas.DataFrame
        qrels, reference, query_set (per_qrels, the paper's), n_systems, n_queries, then a column
        `<measure>_<coefficient>` for each; an undefined one is missing.
    """
    shown = of_all_systems(correlations[correlations["coefficient"].isin(coefficients)])
    leading = ["qrels", "reference", "query_set", "n_systems", "n_queries"]
    table = shown[leading].drop_duplicates("qrels").reset_index(drop=True)
    for (measure, coefficient), rows in shown.groupby(["measure", "coefficient"], sort=False):
        values = rows.set_index("qrels")["value"].reindex(table["qrels"])
        table[f"{measure}_{coefficient}"] = values.to_numpy()
    return table


def is_judged_share(measure: str) -> bool:
    """Say whether a measure is the share of judged documents, which ranks no system."""
    return measure.startswith("Judged")


def _by_system(
    rows: pd.DataFrame, column: str, table: pd.DataFrame
) -> pd.api.extensions.ExtensionArray:
    values: pd.api.extensions.ExtensionArray = (
        rows.set_index("system")[column].reindex(table["system"]).array
    )
    return values
