"""Every word of the report, in both languages, under the same keys.

Keys: ``section.<id>`` and its ``.intro``; ``table.<id>`` and ``figure.<id>`` with their ``.note``;
``column.<name>``; ``value.<column>.<value>``; ``setting.<group>.<name>``; the others by their
place.
"""

import re
from collections.abc import Mapping
from typing import Literal

from normastcu.reporting import report_texts_en, report_texts_pt

Language = Literal["en", "pt"]

TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": report_texts_en.TEXTS,
    "pt": report_texts_pt.TEXTS,
}


def text_of(language: Language, key: str, **values: object) -> str:
    """Return a text of the page, its blanks filled in; a percent sign stays with its number.

    Examples
    --------
    >>> text_of("pt", "page.rows", n=3)
    '3 linhas'
    """
    return TEXTS[language][key].format(**values).replace(" %", "\u00a0%")


def value_of(language: Language, column: str, value: str) -> str:
    """Return how a value of a column is said; one without words of its own stays as it is.

    Examples
    --------
    >>> value_of("pt", "kind", "judge"), value_of("pt", "annotator", "A_1")
    ('juiz', 'A_1')
    """
    return TEXTS[language].get(f"value.{column}.{value}", value)


def reason_of(language: Language, reason: str) -> str:
    """Return a reason in a language; one that is not known stays in English.

    Examples
    --------
    >>> reason_of("pt", "fewer than 30 pairs"), reason_of("en", "fewer than 30 pairs")
    ('menos de 30 pares', 'fewer than 30 pairs')
    """
    if language == "en":
        return reason
    for pattern, words in report_texts_pt.REASONS.items():
        if found := re.fullmatch(pattern, reason):
            return found.expand(words)
    return reason
