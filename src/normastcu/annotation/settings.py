"""Settings of a campaign of judging."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from normastcu.collection.settings import GradeScale, Settings

Language = Literal["pt", "en"]
"""The languages that the screen's own texts are in."""
Languages = Annotated[tuple[Language, ...], Field(min_length=1)]
LanguageTag = Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")]
"""BCP 47, such as pt-BR."""

Counting = Literal["first", "adjudicated"]
"""Which judgments count as a person's: those of the first round, or, for pairs that were shown
again, those of the adjudication in their place."""


class Overlap(Settings):
    """Every pair goes to so many assessors, and the assessors get equally many pairs."""

    overlap: int = Field(ge=1)


class AnnotationSettings(Settings):
    """How people judge.

    Attributes
    ----------
    assignment
        ``all``: every assessor judges every pair; or ``overlap: k``.
    seed
        Of the assignment and of each assessor's order. Fixed once somebody has answered.
    definitions
        Grade to what it means, by language; every grade of the scale in the same languages.
    unknown_definition
        What *don't know* means, by language.
    names
        Grade to its name by language, where the scale's own name is not meant.
    counts
        Which round counts for the qrels of people, see `Counting`.
    languages
        Of the screen, to choose from; the first is shown to a browser that asks for none of them.
    content_language
        Of queries and documents, for screen readers and hyphenation.
    instructions
        What assessors confirm before they judge, by language: plain text with an empty line
        between paragraphs. Where a language is absent, the page that comes with the project.
    """

    assignment: Literal["all"] | Overlap = "all"
    seed: int = Field(ge=0)
    definitions: dict[int, dict[str, str]]
    unknown_definition: dict[str, str]
    names: dict[int, dict[str, str]] = Field(default={})
    counts: Counting = "first"
    languages: Languages = ("pt", "en")
    content_language: LanguageTag = "pt-BR"
    instructions: dict[Language, str] = Field(default={})

    @model_validator(mode="after")
    def _in_all_languages(self) -> Self:
        languages = set(self.unknown_definition)
        for grade, by_language in self.definitions.items():
            if set(by_language) != languages:
                raise ValueError(
                    f"grade {grade} is defined in {sorted(by_language)}, don't know in "
                    f"{sorted(languages)}: define all in the same languages"
                )
        return self

    @property
    def overlap(self) -> int | None:
        """Return how many assessors a pair goes to, None for all of them."""
        return None if self.assignment == "all" else self.assignment.overlap


class CampaignSettings(Settings):
    """What a campaign is made of, beside its pairs.

    Attributes
    ----------
    collection
        The name of the collection.
    scale
        Its grades.
    annotation
        How people judge.
    """

    collection: str = Field(min_length=1)
    scale: GradeScale
    annotation: AnnotationSettings

    @model_validator(mode="after")
    def _every_grade_defined(self) -> Self:
        defined = tuple(sorted(self.annotation.definitions))
        if defined != self.scale.values:
            raise ValueError(
                f"the grades {list(self.scale.values)} of the scale need a definition each; "
                f"defined: {list(defined)}"
            )
        unknown = sorted(set(self.annotation.names).difference(defined))
        if unknown:
            raise ValueError(f"the grades {unknown} have names, but are not of the scale")
        return self
