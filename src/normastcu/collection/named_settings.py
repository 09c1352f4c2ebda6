"""Libraries: YAML files that list things by name, of which an environment names the active ones."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from normastcu.collection.errors import CollectionError

T = TypeVar("T")


def check_parts(library: Mapping[str, Any], parts: Iterable[str], file: str) -> None:
    """Raise a CollectionError where a library has a part that it should not."""
    expected = tuple(parts)
    if unknown := sorted(set(library) - set(expected)):
        raise CollectionError(
            f"{file}: {', '.join(unknown)}: unknown; expected are {', '.join(expected)}."
        )


def part_of(library: Mapping[str, Any], part: str, file: str) -> Mapping[str, Mapping[str, Any]]:
    """Return a part of a library: names with their settings, empty where it is not there.

    Raises
    ------
    CollectionError
        Where the part is no mapping of names to settings.
    """
    entries = library.get(part) or {}
    if not isinstance(entries, Mapping):
        raise CollectionError(f"{file}: `{part}` must map names to settings.")
    for name, entry in entries.items():
        if not isinstance(name, str) or not isinstance(entry, Mapping):
            raise CollectionError(
                f"{file}: `{part}.{name}` must be a name (in quotes, if it looks like a "
                "number) with settings under it."
            )
    return entries


def validated(as_type: type[T], values: Any, where: str) -> T:
    """Return values as a pydantic class, or as one of a union of classes.

    Raises
    ------
    CollectionError
        Naming the place and everything that is wrong with it.
    """
    try:
        return TypeAdapter(as_type).validate_python(values)
    except ValidationError as error:
        problems = [
            ": ".join(
                [
                    *([".".join(str(part) for part in problem["loc"])] if problem["loc"] else []),
                    problem["msg"].removeprefix("Value error, "),
                ]
            )
            for problem in error.errors(include_url=False, include_input=False)
        ]
        raise CollectionError(f"{where}: {'; '.join(problems)}.") from None


def slug(name: str) -> str:
    """Return a name as a namespace: no dots, which separate namespaces.

    Raises
    ------
    CollectionError
        Where nothing of the name is left.

    Examples
    --------
    >>> slug("gpt-5-mini_rationale"), slug("S_1")
    ('gpt_5_mini_rationale', 's_1')
    """
    letters = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    made = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")
    if not made:
        raise CollectionError(f"The name {name!r} has no letter or digit: give another one.")
    return made


def slugs(names: Iterable[str], what: str) -> dict[str, str]:
    """Return the slug of each name; two names with one slug are an error.

    Parameters
    ----------
    names
        Names that are active together.
    what
        What they name, in the plural, for the message.
    """
    by_slug: dict[str, str] = {}
    for name in names:
        made = slug(name)
        if made in by_slug:
            raise CollectionError(
                f"The active {what} {by_slug[made]!r} and {name!r} would share the namespace "
                f"{made!r}. Name each one once, and so that letters or digits differ."
            )
        by_slug[made] = name
    return {name: made for made, name in by_slug.items()}
