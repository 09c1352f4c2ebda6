"""The choices of a campaign's scale, as a person sees them."""

from dataclasses import dataclass

from normastcu.annotation.records import Answer, Campaign
from normastcu.annotation.web.settings import Language
from normastcu.annotation.web.texts import TEXTS, definition, grade_name, unknown_definition

UNKNOWN = "unknown"
_KEYS = "1234567890"


@dataclass(frozen=True)
class Choice:
    """One choice.

    Attributes
    ----------
    value
        The grade as text, or ``unknown``.
    key
        The key that picks it; empty from the eleventh choice on.
    chosen
        Whether it is the person's present answer.
    """

    value: str
    name: str
    definition: str
    key: str
    chosen: bool


def choices(campaign: Campaign, language: Language, answer: Answer | None) -> list[Choice]:
    """Return the grades, highest first, and then *don't know*."""
    present = _value(answer)
    grades = sorted(campaign.scale.values, reverse=True)
    described = [
        (str(grade), grade_name(campaign, grade, language), definition(campaign, grade, language))
        for grade in grades
    ]
    described.append((UNKNOWN, TEXTS[language]["unknown"], unknown_definition(campaign, language)))
    return [
        Choice(value, name, meaning, _KEYS[place : place + 1], value == present)
        for place, (value, name, meaning) in enumerate(described)
    ]


def _value(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return str(answer.grade) if answer.choice == "grade" else answer.choice
