"""Settings of a collection: its grade scale and the format of its files."""

from datetime import date
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Settings(BaseModel):
    """Base of every settings class: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Grade(Settings):
    """One grade of the scale and its name."""

    grade: int = Field(ge=0)
    name: str = Field(min_length=1)


class GradeScale(Settings):
    """The grades that annotators choose from, lowest first.

    Examples
    --------
    >>> scale = GradeScale(grades=[{"grade": 0, "name": "no"}, {"grade": 1, "name": "yes"}])
    >>> scale.values
    (0, 1)
    """

    grades: tuple[Grade, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        values = [grade.grade for grade in self.grades]
        if values != sorted(set(values)):
            raise ValueError(f"the grades {values} must ascend without repetition")
        return self

    @property
    def values(self) -> tuple[int, ...]:
        """Return the grades as integers, ascending."""
        return tuple(grade.grade for grade in self.grades)

    @property
    def names(self) -> dict[int, str]:
        """Return the name of each grade."""
        return {grade.grade: grade.name for grade in self.grades}


class TableFormat(Settings):
    """How a delimited file is written.

    Attributes
    ----------
    columns
        Canonical column to the file's column; empty chooses between the released and the
        canonical names by the file's header.
    encoding
        A Python codec name, or ``auto``: UTF-8 where the bytes allow it, else cp1252.
    separator
        One character, or ``auto``: the one under which the header holds the columns.
    """

    columns: dict[str, str] = {}
    encoding: str = "utf-8"
    separator: str = "auto"

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str) -> str:
        if value != "auto" and len(value) != 1:
            raise ValueError(f"{value!r} must be one character or 'auto'")
        return value


class DocumentFormat(TableFormat):
    """How the corpus is written, which of its rows belong to the collection.

    Attributes
    ----------
    chunk_size
        Documents read, cleaned and written at a time.
    expected_count
        The published number of documents; another number is reported, not an error.
    in_force_before
        Keep only the acts in force before this day; rows without a valid day/month/year are
        dropped, counted and named. Empty keeps every row as it is.
    year_repairs
        Known typing errors: the date as written to the date that is meant.
    """

    chunk_size: int = Field(default=500, gt=0)
    expected_count: int | None = None
    in_force_before: date | None = None
    year_repairs: dict[str, str] = {}


class JudgmentFormat(TableFormat):
    """How judgments are written.

    Attributes
    ----------
    file_format
        ``csv``, ``jsonl`` or ``trec``; ``auto`` goes by the file's suffix.
    negative
        What a negative grade means: an ``error``, or a pair that was ``unjudged``.
    """

    file_format: Literal["auto", "csv", "jsonl", "trec"] = "auto"
    negative: Literal["error", "unjudged"] = "error"


class AssessorFormat(JudgmentFormat):
    """How the assessors' judgments are written.

    Attributes
    ----------
    assessors
        The assessors in the order of tables and figures; empty takes those in the file, sorted.
        Where they are listed, a judgment by anybody else is an error.
    """

    file_format: Literal["auto", "csv", "jsonl"] = "auto"
    assessors: tuple[str, ...] = ()


class JudgeLabelFormat(JudgmentFormat):
    """How labels of judges made elsewhere are written, one or many files.

    Attributes
    ----------
    names
        File name to the judge's name; a file that is not listed gives its own name without the
        suffix, and a file with a declared ``annotator`` column names the judge in every row.
    order
        Judges in the order of tables and figures; the others follow, sorted.
    """

    names: dict[str, str] = {}
    order: tuple[str, ...] = ()
