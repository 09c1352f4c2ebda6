"""Reading of the hand-written acts in ``content/``.

A file holds acts. An act opens with ``@ slug``, goes on with a line
``type | unit | date | theme | tags`` and a line with its summary, may have the lines ``revoga:``
and ``altera:`` (slugs), ``vigor:`` (a date) and ``marca:`` (flags), and then its body, one line a
unit of text, marked by its first sign: ``=`` whereas, ``#`` chapter, ``##`` section, ``*`` article,
``§`` paragraph, ``-`` item, ``>`` quoted new wording, ``|`` table row, ``~`` plain
paragraph. ``anexo: title`` begins the annex. ``{slug}`` stands for the title of another act.

``%for a | b`` opens a loop over the rows ``%row x | y`` below it, up to ``%end``: ``$a`` stands
for the row's field, ``$ordem`` for its roman number, and ``[[x||y]]`` takes its alternatives in
turn. A line ``%people n`` in a loop draws n invented people for every row.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from string import Template

from tests.sample_collection.content_folder import CONTENT
from tests.sample_collection.court import COLLEGIATE, parse_date, session_day, working_day
from tests.sample_collection.names import draw_people
from tests.sample_collection.numerals import roman

_MARK = re.compile(r"(=|##?|\*|§|-|>|\||~) (.*)", re.DOTALL)
_ALTERNATIVES = re.compile(r"\[\[(.*?)\]\]")


@dataclass(frozen=True)
class Line:
    """One unit of an act's text: the mark that says what it is, and the words."""

    mark: str
    text: str


@dataclass(frozen=True)
class Act:
    """An act as written, before numbers and markup."""

    slug: str
    kind: str
    unit: str
    day: date
    theme: str
    tags: str
    summary: str
    body: tuple[Line, ...]
    annex_title: str = ""
    annex: tuple[Line, ...] = ()
    repeals: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    in_force_since: date | None = None
    flags: frozenset[str] = field(default_factory=frozenset)


def read_acts() -> list[Act]:
    """Read every act of ``content/acts_*.txt``, files and acts in order."""
    acts = []
    for path in sorted(CONTENT.glob("acts_*.txt")):
        lines = list(expand(path.read_text(encoding="utf-8").splitlines()))
        acts.extend(_read_act(block) for block in _blocks(lines))
    return acts


def expand(lines: Iterable[str]) -> Iterator[str]:
    """Unroll the loops of a file; loops do not nest."""
    rows: list[list[str]] = []
    inner: list[str] = []
    names: list[str] | None = None
    n_people = 0
    for line in lines:
        if line.startswith("%for "):
            names, rows, inner, n_people = _fields(line[5:]), [], [], 0
        elif line.startswith("%row ") and names is not None:
            rows.append(_fields(line[5:]))
        elif line.startswith("%people "):
            n_people = int(line[8:])
        elif line == "%end" and names is not None:
            for turn, row in enumerate(rows):
                values = {"ordem": roman(turn + 1)} | dict(zip(names, row, strict=True))
                values |= draw_people(n_people, "|".join(row)) if n_people else {}
                yield from (_fill(one, values, turn) for one in inner)
            names = None
        elif names is not None:
            inner.append(line)
        else:
            yield line


def _fill(line: str, values: dict[str, str], turn: int) -> str:
    def take(match: re.Match[str]) -> str:
        choices = match.group(1).split("||")
        return choices[turn % len(choices)]

    return Template(_ALTERNATIVES.sub(take, line)).substitute(values)


def _fields(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.startswith("@ ") and block:
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _read_act(block: list[str]) -> Act:
    slug = block[0].removeprefix("@ ").strip()
    kind, unit, day, theme, tags = _fields(block[1])
    values: dict[str, str] = {}
    body: list[Line] = []
    annex: list[Line] = []
    target = body
    for line in block[3:]:
        match = _MARK.fullmatch(line)
        if match:
            target.append(Line(match.group(1), match.group(2).strip()))
            continue
        name, _, value = line.partition(":")
        values[name] = value.strip()
        if name == "anexo":
            target = annex
    if unknown := set(values) - {"revoga", "altera", "vigor", "anexo", "marca"}:
        raise ValueError(f"The act {slug} has the unknown fields {sorted(unknown)}.")
    written = parse_date(day)
    return Act(
        slug=slug,
        kind=kind,
        unit=unit,
        day=session_day(written) if unit == COLLEGIATE else working_day(written),
        theme=theme,
        tags=tags,
        summary=block[2],
        body=tuple(body),
        annex_title=values.get("anexo", ""),
        annex=tuple(annex),
        repeals=tuple(values.get("revoga", "").split()),
        amends=tuple(values.get("altera", "").split()),
        in_force_since=parse_date(values["vigor"]) if "vigor" in values else None,
        flags=frozenset(values.get("marca", "").split()),
    )
