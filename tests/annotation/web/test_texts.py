"""Texts: both languages say the same, and every text is used."""

import re
from pathlib import Path

import pytest

from normastcu.annotation.web import texts

WEB = Path(texts.__file__).parent
GAP = re.compile(r"\{\w+\}")


def test_both_languages_have_the_same_texts() -> None:
    assert list(texts.TEXTS["pt"]) == list(texts.TEXTS["en"])


@pytest.mark.parametrize("name", list(texts.TEXTS["en"]))
def test_both_languages_have_the_same_gaps(name: str) -> None:
    gaps = [sorted(GAP.findall(texts.TEXTS[language][name])) for language in ("pt", "en")]

    assert gaps[0] == gaps[1]


def test_no_text_has_the_name_of_a_method_of_mappings() -> None:
    assert not [name for name in texts.TEXTS["en"] if hasattr(dict, name)]


def test_every_text_is_used() -> None:
    sources = [*WEB.glob("*.py"), *WEB.glob("templates/*.j2")]
    code = "\n".join(path.read_text() for path in sources if path.name != "texts.py")
    scripts = "\n".join(path.read_text() for path in WEB.glob("static/*.js"))
    reasons = (
        r"(sign_in|bad_link|slow_down|not_found|forbidden|stale|invalid|not_suggestible|changed|"
        r"closed|refused|failed)"
    )

    for name in texts.TEXTS["en"]:
        in_script = name in texts.IN_THE_BROWSER and f"texts.{name}" in scripts
        used = f"t.{name}" in code or f'"{name}"' in code or in_script
        assert used or re.fullmatch(f"{reasons}_(heading|body)|state_[a-z]+", name), name
