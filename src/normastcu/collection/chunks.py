"""Taking many things a few at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")


def chunks(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Return the items in lists of a size, the last one with the rest.

    Examples
    --------
    >>> list(chunks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
