"""The words of the report: the same keys in both languages, and none missing."""

import re
import string

import pytest

from normastcu.reporting.report_figures import FIGURES
from normastcu.reporting.report_sections import SECTIONS
from normastcu.reporting.report_table_specs import TABLES
from normastcu.reporting.report_texts import TEXTS, reason_of, text_of, value_of
from normastcu.reporting.report_texts_pt import REASONS
from normastcu.reporting.system_schemas import VERDICTS


def blanks(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_both_languages_have_the_same_keys_in_the_same_order():
    assert list(TEXTS["en"]) == list(TEXTS["pt"])


def test_both_languages_have_the_same_blanks():
    found = [{key: blanks(text) for key, text in TEXTS[own].items()} for own in ("en", "pt")]
    assert found[0] == found[1]


@pytest.mark.parametrize("language", TEXTS)
def test_sections_tables_and_figures_have_their_words(language):
    texts = TEXTS[language]
    needed = {f"section.{name}" for name in (*SECTIONS, "methods", "provenance")}
    needed |= {f"table.{name}" for name in TABLES} | {f"figure.{name}" for name in FIGURES}
    notes = {f"{name}.note" for name in needed if not name.startswith("section.")}
    intros = {f"{name}.intro" for name in needed if name.startswith("section.")}
    assert needed | notes | intros <= set(texts)
    assert {f"value.verdict.{verdict}" for verdict in VERDICTS} <= set(texts)


def test_no_english_is_left_in_portuguese():
    same = {key for key, text in TEXTS["en"].items() if TEXTS["pt"][key] == text}
    allowed = re.compile(
        r"number\.percent|cell\.missing|method\.bca|column\.(n|me|mae|prompt|qrels|settings_hash|"
        r"sha256|p_value|epsilon)|value\.(coefficient|correction|statistic)\..*"
    )
    assert [key for key in sorted(same) if not allowed.fullmatch(key)] == []


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no pair was graded by both", "nenhum par teve nota de ambos"),
        ("both annotators gave only the grade 0", "ambos os anotadores só deram a nota 0"),
        ("A_1 gave only the grade 2: kappa is 0", "A_1 só deu a nota 2: kappa é 0"),
        (
            "no query has a relevant document in mute",
            "nenhuma consulta tem documento relevante em mute",
        ),
        (
            "all systems are equal under x and reference",
            "todos os sistemas são iguais sob x e reference",
        ),
        ("the jackknife is constant", "o jackknife é constante"),
        ("assessors and gpt_simple", "avaliadores e gpt_simple"),
        ("something new", "something new"),
    ],
)
def test_reasons(reason, said):
    assert reason_of("pt", reason) == said
    assert reason_of("en", reason) == reason


def test_every_reason_has_words_that_can_be_filled_in():
    for pattern, words in REASONS.items():
        assert re.compile(pattern).groups >= len(set(re.findall(r"\\(\d)", words)))


def test_a_percent_sign_stays_with_its_number():
    assert text_of("en", "number.percent", value="5") == "5\u00a0%"


def test_a_value_without_words_stays_as_it_is():
    assert value_of("pt", "measure", "nDCG@10") == "nDCG@10"
