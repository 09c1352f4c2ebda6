"""Long tables in parts."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

ROWS = 50
"""Rows of a table on one page."""

PageNumber = Annotated[int | None, Query(alias="page", ge=1)]


@dataclass(frozen=True)
class Part:
    """Some rows of a table; everything counts from 1.

    Attributes
    ----------
    number, n_parts
        Which part it is, and of how many.
    first, last
        Its rows.
    n_rows
        Of the whole table.

    Examples
    --------
    >>> part = Part.of(120, 3)
    >>> part.first, part.last, part.n_parts
    (101, 120, 3)
    """

    number: int
    n_parts: int
    first: int
    last: int
    n_rows: int

    @classmethod
    def of(cls, n_rows: int, number: int) -> "Part":
        """Return a part of a table of so many rows; the last one for a number beyond it."""
        n_parts = max(1, -(-n_rows // ROWS))
        number = min(number, n_parts)
        last = min(number * ROWS, n_rows)
        return cls(number, n_parts, (number - 1) * ROWS + 1, last, n_rows)

    @staticmethod
    def number_of(row: int) -> int:
        """Return the part in which a row is.

        Examples
        --------
        >>> Part.number_of(50), Part.number_of(51)
        (1, 2)
        """
        return (row - 1) // ROWS + 1
