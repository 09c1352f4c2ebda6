"""Cells of the report's tables: numbers, intervals and missing values in the page's language."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from normastcu.reporting.page_parts import clean
from normastcu.reporting.report_texts import Language, reason_of, text_of, value_of

DECIMALS = 3
MEASURE_DECIMALS = 4
HASH_LETTERS = 12

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """What stands in a cell.

    Attributes
    ----------
    text
        The value.
    note
        Further, smaller lines: an interval, its method.
    style
        `text`, `number`, `code` or `missing`.
    full
        What is shown when somebody points at it, such as a whole hash.
    """

    text: str
    note: str = ""
    style: str = "text"
    full: str = ""


Write = Callable[[Row, str, Language], Cell]
"""Makes the cell of a column from a row of its table."""


@dataclass(frozen=True)
class Column:
    """A column of the report and how its cells are written.

    Attributes
    ----------
    name
        Column of the table, and of its heading in the texts.
    write
        Makes its cells.
    heading
        The heading itself, where it is the name of a measure and not a text.
    """

    name: str
    write: Write
    heading: str | None = None

    def cell(self, row: Row, language: Language) -> Cell:
        """Return the cell of a row, fit for a page."""
        cell = self.write(row, self.name, language)
        return replace(cell, text=clean(cell.text), note=clean(cell.note), full=clean(cell.full))


def decimal(value: Any, language: Language, decimals: int = DECIMALS) -> str:
    """Write a number with a fixed number of decimals; a missing one is a dash.

    Examples
    --------
    >>> decimal(-0.12345, "pt"), decimal(1234.5, "en", 1), decimal(-0.0001, "en")
    ('−0,123', '1,234.5', '0.000')
    """
    if is_missing(value):
        return text_of(language, "cell.missing")
    shown = f"{value:,.{decimals}f}"
    if float(shown.replace(",", "")) == 0:
        shown = shown.removeprefix("-")
    marks = {
        ",": text_of(language, "number.thousands"),
        ".": text_of(language, "number.decimal"),
        "-": "\u2212",
    }
    return "".join(marks.get(letter, letter) for letter in shown)


def percentage(value: Any, language: Language) -> str:
    r"""Write a share as a percentage, in which less than all is never 100.

    Examples
    --------
    >>> shown = percentage(0.4567, "pt"), percentage(1.0, "en"), percentage(0.99996, "en")
    >>> [text.replace("\u00a0", " ") for text in shown]
    ['45,7 %', '100.0 %', '99.9 %']
    """
    if is_missing(value):
        return text_of(language, "cell.missing")
    shown = 99.9 if 99.9 < 100 * value < 100 else 100 * value
    return text_of(language, "number.percent", value=decimal(shown, language, 1))


def interval(low: Any, high: Any, language: Language, decimals: int = DECIMALS) -> str:
    """Write an interval; a missing one is a dash.

    Examples
    --------
    >>> interval(-0.5, 1.0, "en"), interval(0.25, 0.5, "pt", 2)
    ('−0.500 to 1.000', '0,25 a 0,50')
    """
    if is_missing(low) or is_missing(high):
        return text_of(language, "cell.missing")
    ends = {"low": decimal(low, language, decimals), "high": decimal(high, language, decimals)}
    return text_of(language, "number.to", **ends)


def method(name: Any, language: Language) -> str:
    """Name the methods of an interval, each with its reason in brackets.

    Examples
    --------
    >>> method("percentile (the jackknife is constant)", "pt")
    'percentil (o jackknife é constante)'
    """
    if is_missing(name):
        return ""
    return "; ".join(_method(part, language) for part in str(name).split("; "))


def _method(name: str, language: Language) -> str:
    found = re.fullmatch(r"(\w+) \((.*)\)", name)
    word, reason = found.groups() if found else (name, "")
    known = word in ("bca", "percentile", "degenerate", "shrunken", "none")
    shown = text_of(language, f"method.{word}") if known else word
    return f"{shown} ({reason_of(language, reason)})" if reason else shown


def why_undefined(row: Row, language: Language) -> str:
    """Say that a value of a row is undefined, with the reason that the row holds."""
    reason = row.get("undefined")
    if is_missing(reason):
        return text_of(language, "cell.undefined")
    return text_of(language, "cell.undefined_why", reason=reason_of(language, str(reason)))


def is_missing(value: Any) -> bool:
    """Say whether a value is missing."""
    return value is None or bool(pd.isna(value))


def text(row: Row, name: str, language: Language) -> Cell:
    """Write a text as it is."""
    return _missing(language) if is_missing(row[name]) else Cell(str(row[name]))


def code(row: Row, name: str, language: Language) -> Cell:
    """Write an identifier, which is not broken into lines."""
    return replace(text(row, name, language), style="code")


def word(row: Row, name: str, language: Language) -> Cell:
    """Write a value in the words of the page."""
    if is_missing(row[name]):
        return _missing(language)
    return Cell(value_of(language, name, str(row[name])))


def everything(row: Row, name: str, language: Language) -> Cell:
    """Write a text, a missing one as `all`."""
    return (
        Cell(text_of(language, "cell.all")) if is_missing(row[name]) else text(row, name, language)
    )


def reason(row: Row, name: str, language: Language) -> Cell:
    """Write a reason or a note in the language of the page."""
    if is_missing(row[name]):
        return Cell("")
    return Cell(reason_of(language, str(row[name])))


def hashed(row: Row, name: str, language: Language) -> Cell:
    """Write the first letters of each hash; the whole stands behind."""
    if is_missing(row[name]) or not row[name]:
        return _missing(language)
    full = str(row[name])
    short = re.sub(r"[0-9a-f]{64}", lambda found: f"{found[0][:HASH_LETTERS]}…", full)
    return Cell(short, style="code", full=full)


def whole(row: Row, name: str, language: Language) -> Cell:
    """Write a whole number."""
    if is_missing(row[name]):
        return _missing(language)
    return Cell(decimal(float(row[name]), language, 0), style="number")


def number(row: Row, name: str, language: Language) -> Cell:
    """Write a number."""
    return Cell(decimal(row[name], language), style="number")


def one_decimal(row: Row, name: str, language: Language) -> Cell:
    """Write a number with one decimal."""
    return Cell(decimal(row[name], language, 1), style="number")


def share(row: Row, name: str, language: Language) -> Cell:
    """Write a share as a percentage."""
    return Cell(percentage(row[name], language), style="number")


def p_value(row: Row, name: str, language: Language) -> Cell:
    """Write a p-value; one that rounds to 0 is said to be smaller than the least shown."""
    value = row[name]
    if is_missing(value):
        return _missing(language)
    least = 10.0**-MEASURE_DECIMALS
    if value < least:
        return Cell(f"< {decimal(least, language, MEASURE_DECIMALS)}", style="number")
    return Cell(decimal(value, language, MEASURE_DECIMALS), style="number")


def flag(row: Row, name: str, language: Language) -> Cell:
    """Write yes or no."""
    if is_missing(row[name]):
        return _missing(language)
    return Cell(text_of(language, "cell.yes" if row[name] else "cell.no"))


def money(row: Row, name: str, language: Language) -> Cell:
    """Write an amount; an unknown one is said to be unknown."""
    if is_missing(row[name]):
        return Cell(text_of(language, "cell.unknown"), style="missing")
    return Cell(decimal(row[name], language, MEASURE_DECIMALS), style="number")


def estimate(row: Row, name: str, language: Language) -> Cell:
    """Write an estimate, or that it is undefined and why."""
    if is_missing(row[name]):
        return Cell(why_undefined(row, language), style="missing")
    return Cell(decimal(row[name], language, MEASURE_DECIMALS), style="number")


def share_estimate(row: Row, name: str, language: Language) -> Cell:
    """Write an estimated share, or that it is undefined and why."""
    cell = estimate(row, name, language)
    return cell if cell.style == "missing" else share(row, name, language)


def with_interval(row: Row, name: str, language: Language) -> Cell:
    """Write an estimate with the 95 % interval that is its own below it."""
    prefix = f"{name}_" if f"{name}_ci95_low" in row else ""
    return _with_ends(row, name, (f"{prefix}ci95_low", f"{prefix}ci95_high"), prefix, language)


def with_interval_of_90(row: Row, name: str, language: Language) -> Cell:
    """Write an estimate with its 90 % interval below it."""
    return _with_ends(row, name, ("ci90_low", "ci90_high"), "", language)


def verdict_interval(row: Row, name: str, language: Language) -> Cell:
    """Write tau-b with its interval at the confidence of the verdict."""
    ends = "ci90" if row["confidence"] == 0.9 else "ci95"
    return _with_ends(row, name, (f"{ends}_low", f"{ends}_high"), "", language)


def own_interval(row: Row, name: str, language: Language) -> Cell:
    """Write an estimate with the interval in `<name>_low` and `<name>_high`; absent is a dash."""
    if is_missing(row[name]):
        return _missing(language)
    prefix = "shrunken" if name == "tau_shrunken" else name
    return _with_ends(row, name, (f"{prefix}_low", f"{prefix}_high"), None, language)


def interval_cell(row: Row, name: str, language: Language) -> Cell:
    """Write the interval of a table's headline estimate: `ci90` or `ci95`."""
    return Cell(interval(row[f"{name}_low"], row[f"{name}_high"], language), style="number")


def method_cell(row: Row, name: str, language: Language) -> Cell:
    """Write the method of an interval."""
    return Cell(method(row[name], language))


def _with_ends(
    row: Row, name: str, ends: tuple[str, str], prefix: str | None, language: Language
) -> Cell:
    cell = estimate(row, name, language)
    if cell.style == "missing" or is_missing(row[ends[0]]):
        return cell
    note = interval(row[ends[0]], row[ends[1]], language)
    how = None if prefix is None else row.get(f"{prefix}ci_method")
    if is_missing(how) or how == "bca":
        return replace(cell, note=note)
    return replace(
        cell,
        note=f"{note}\n{re.sub(r' [(].*', '', method(how, language))}",
        full=method(how, language),
    )


def _missing(language: Language) -> Cell:
    return Cell(text_of(language, "cell.missing"), style="missing")
