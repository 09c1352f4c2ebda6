"""Python's collector of cyclic garbage, out of the way of what only builds."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Switch the collector off meanwhile; a context, or a decorator.

    For a step that makes hundreds of thousands of objects which all stay, such as the plan of a
    judge: the collector would go through them again and again and find nothing, for about a fifth
    of the time. Objects without cycles are freed all the same.

    Examples
    --------
    >>> with no_garbage_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
