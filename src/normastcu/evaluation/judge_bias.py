"""Where a judge grades too high or too low: its mean error in groups of pairs.

The groups are by the reference's grade, by the length of the document, and by the family of
systems that retrieve it among the first: a judge that favours what one kind of system finds moves
that kind up in the ranking, whatever its mean error is over all pairs.

By reference grade a judge without any preference looks biased too: at the lowest grade nobody can
err downwards, at the highest nobody upwards. There it is judges that can be compared, not grades.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.agreement import (
    estimate_columns,
    interval_columns,
    query_positions,
    sorted_queries,
)
from normastcu.evaluation.bootstrap import CONFIDENCES, IntArray, cluster_bootstrap
from normastcu.evaluation.coefficients import Scale, errors_by_query, mean_error
from normastcu.evaluation.disagreement import PAIR, annotator_grades, round_half_to_even
from normastcu.evaluation.runs import BoolArray, RankedRuns
from normastcu.evaluation.systems import Row

Groups = Mapping[str, BoolArray]

REFERENCE_GRADE = "reference_grade"
DOCUMENT_LENGTH = "document_length"
FAMILY = "family"
QUARTERS = 4
UNKNOWN_LENGTH = "unknown"
LEADING = ("judge", "grouping", "group", "n", "me")
TEXT_COLUMNS = ("judge", "grouping", "group", "ci_method", "undefined")
WHOLE_COLUMNS = ("n", "n_left_out", "n_queries")


def judge_bias(
    wide: pd.DataFrame,
    means: pd.DataFrame,
    judges: Sequence[str],
    groupings: Mapping[str, Groups],
    indices: IntArray,
    *,
    queries: Iterable[str],
    confidences: Sequence[float] = CONFIDENCES,
) -> pd.DataFrame:
    """Give the mean error of judges against the mean grade of people, group by group.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `agreement.wide_grades`.
    means : DataFrame
        What `agreement.mean_grades` returns for the people. The mean is not rounded.
    judges : sequence of str
        Columns of `wide`.
    groupings : mapping of str to mapping
        What the functions below return, each a mask over the rows of `wide`, by name.
    indices : ndarray of int, shape (B, Q)
        Resamples of the Q queries of the collection.
    queries : iterable of str
        All queries of the collection; `indices` refers to them in sorted order.
    confidences : sequence of float
        Of the intervals.

    Returns
    -------
    DataFrame
        `judge`, `grouping`, `group`, `n` (pairs of the group that the judge graded), `me` (mean of
        grade minus mean grade), the interval, `n_queries`, `undefined`.
    """
    names = sorted_queries(queries)
    positions = query_positions(wide, names)
    mean = _mean_of(wide, means)
    rows: list[Row] = []
    for judge in judges:
        grades = annotator_grades(wide, judge)
        for grouping, group, chosen in _each_group(groupings):
            sums = errors_by_query(
                grades[chosen], mean[chosen], positions[chosen], n_queries=len(names)
            )
            estimate = cluster_bootstrap(sums, mean_error, indices, confidences)
            rows.append(
                {
                    "judge": judge,
                    "grouping": grouping,
                    "group": group,
                    "n": int(sums[:, 0].sum()),
                    "me": estimate.value,
                    **interval_columns(estimate),
                    "n_queries": estimate.n_clusters,
                    "undefined": _why_undefined(estimate.value),
                }
            )
    columns = estimate_columns(LEADING, confidences)
    types = dict.fromkeys(columns, "Float64") | dict.fromkeys(TEXT_COLUMNS, "str")
    return typed_frame(rows, types | dict.fromkeys(WHOLE_COLUMNS, "Int64"))


def by_reference_grade(wide: pd.DataFrame, means: pd.DataFrame, scale: Scale) -> Groups:
    """Group pairs by the mean grade of the people, rounded half to even.

    Returns
    -------
    mapping of str to ndarray of bool, shape (pairs,)
        One for each grade of the scale.
    """
    reference = round_half_to_even(pd.Series(_mean_of(wide, means))).to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    return {str(grade): reference == grade for grade in scale}


def by_document_length(wide: pd.DataFrame, lengths: pd.DataFrame) -> Groups:
    """Group pairs by the quarter of the documents to which theirs belongs, by length.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side.
    lengths : DataFrame
        `doc_id`, `n_characters`; of these only the documents of the pairs make the quarters.

    Returns
    -------
    mapping of str to ndarray of bool, shape (pairs,)
        The quarters, named by number and lengths, the shortest first (documents of equal length
        share one, so that a quarter may be empty and is then absent); `unknown` for the pairs of
        documents without a length, where there are some.

    Examples
    --------
    >>> pairs = [("q", f"d{i}") for i in range(4)]
    >>> wide = pd.DataFrame(index=pd.MultiIndex.from_tuples(pairs, names=["query_id", "doc_id"]))
    >>> lengths = pd.DataFrame({"doc_id": ["d0", "d1", "d2"], "n_characters": [9, 20, 30]})
    >>> {name: mask.tolist() for name, mask in by_document_length(wide, lengths).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'1 (9 to 9)': [True, False, False, False], '2 (20 to 20)': [False, True, False, False],
     '4 (30 to 30)': [False, False, True, False], 'unknown': [False, False, False, True]}
    """
    by_document = lengths.set_index("doc_id")["n_characters"]
    documents = wide.index.get_level_values("doc_id")
    length = by_document.reindex(documents).to_numpy(dtype=np.float64, na_value=np.nan)
    known = by_document.reindex(documents.unique()).dropna().to_numpy(dtype=np.float64)
    groups: dict[str, BoolArray] = {}
    if known.size:
        bounds = np.quantile(known, np.arange(1, QUARTERS) / QUARTERS)
        quarter = np.searchsorted(bounds, length, side="left")
        for number in range(QUARTERS):
            inside = (quarter == number) & ~np.isnan(length)
            if inside.any():
                least, most = length[inside].min(), length[inside].max()
                groups[f"{number + 1} ({least:.0f} to {most:.0f})"] = inside
    unknown = np.isnan(length)
    return groups | ({UNKNOWN_LENGTH: unknown} if unknown.any() else {})


def by_family(
    wide: pd.DataFrame, ranked: RankedRuns, families: Mapping[str, str], depth: int
) -> Groups:
    """Group pairs by the families of systems that have the document among their first.

    Parameters
    ----------
    wide : DataFrame
        Grades side by side.
    ranked : RankedRuns
        The runs.
    families : mapping of str to str
        The family of each system that counts, in the order of the groups.
    depth : int
        How many documents of a run are its first ones.

    Returns
    -------
    mapping of str to ndarray of bool, shape (pairs,)
        One for each family; a pair may be in several, or in none.
    """
    first = ranked.rank <= depth
    shown = pd.DataFrame(
        {
            "query_id": ranked.queries[ranked.query[first]],
            "doc_id": ranked.documents[ranked.document[first]],
            "family": pd.Series(ranked.systems[ranked.system[first]], dtype="str").map(families),
        }
    )
    return {
        family: wide.index.isin(
            pd.MultiIndex.from_frame(shown.loc[shown["family"] == family, PAIR])
        )
        for family in dict.fromkeys(families.values())
    }


def _each_group(groupings: Mapping[str, Groups]) -> Iterator[tuple[str, str, BoolArray]]:
    for grouping, groups in groupings.items():
        for group, chosen in groups.items():
            yield grouping, group, chosen


def _mean_of(wide: pd.DataFrame, means: pd.DataFrame) -> np.ndarray:
    by_pair = means.set_index(PAIR)["mean_grade"].reindex(wide.index)
    return by_pair.to_numpy(dtype=np.float64, na_value=np.nan)


def _why_undefined(value: float | None) -> str | None:
    return "no pair of the group has a grade of the judge" if value is None else None
