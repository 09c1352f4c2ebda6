"""How often each annotator gave each grade, and on how many pairs."""

from collections.abc import Mapping, Sequence

import pandas as pd

from normastcu.collection.frames import typed_frame

TYPES = {"annotator": "str", "kind": "str", "grade": "Int64", "n": "Int64", "share": "Float64"}


def grade_counts(
    wide: pd.DataFrame, kinds: Mapping[str, str], scale: Sequence[int]
) -> pd.DataFrame:
    """Count the grades of each annotator (Tables 4 and 10, Figure 4 of the paper).

    Parameters
    ----------
    wide : DataFrame
        Grades side by side, see `disagreement.wide_grades`.
    kinds : mapping of str to str
        The kind of each annotator, in the order of the table.
    scale : sequence of int
        All grades of the scale, ascending.

    Returns
    -------
    DataFrame
        annotator, kind, grade, n, share (of the annotator's grades; missing where there is none).

    Examples
    --------
    >>> wide = pd.DataFrame({"A": pd.array([0, 2, 2, None], dtype="Int64")})
    >>> grade_counts(wide, {"A": "assessor"}, (0, 1, 2))["n"].tolist()
    [1, 0, 2]
    """
    rows = []
    for annotator, kind in kinds.items():
        grades = wide[annotator].dropna()
        for grade in scale:
            n = int((grades == grade).sum())
            rows.append((annotator, kind, grade, n, n / len(grades) if len(grades) else None))
    return typed_frame(rows, TYPES)
