"""Figures inside the page: theirs alone, and in its language."""

import re

import pytest
from lxml import etree
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.reporting.report_world import FAMILIES, SCALE, report_tables

from normastcu.reporting.report_figures import (
    FIGURES,
    figure_view,
    in_portuguese,
    inline_svg,
    translate,
)


def drawn():
    figure = Figure(figsize=(3, 2), layout="constrained")
    axes = figure.subplots()
    axes.imshow([[0.0, 1.0]])
    axes.set_xlabel("query")
    axes.set_title("<b>&amp;")
    return figure


def texts_of(svg):
    return [text.strip() for text in etree.fromstring(svg).itertext() if text.strip()]


@pytest.fixture(scope="module")
def tables():
    return report_tables()


def test_ids_and_what_refers_to_them_have_the_prefix():
    svg = inline_svg(drawn(), "one", "A label")
    root = etree.fromstring(svg)
    ids = root.xpath("//@id")
    assert ids
    assert all(name.startswith("one-") for name in ids)
    used = re.findall(r"url\(#([^)]+)\)", svg)
    used += [name[1:] for name in root.xpath("//@href") if name.startswith("#")]
    assert used
    assert set(used) <= set(ids)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "A label"


def test_nothing_in_it_applies_to_the_page_or_points_outside():
    svg = inline_svg(drawn(), "one", "A label")
    assert not re.search(r"<style|<metadata|<script|<!--|http|xlink", svg)
    images = etree.fromstring(svg).xpath("//image/@href")
    assert images
    assert all(address.startswith("data:image/png;base64,") for address in images)


def test_texts_stay_texts():
    svg = inline_svg(drawn(), "one", "A <label>")
    assert "&lt;b&gt;&amp;amp;" in svg
    assert {"query", "<b>&amp;"} <= set(texts_of(svg))


def test_the_same_figure_gives_the_same_bytes():
    assert inline_svg(drawn(), "one", "x") == inline_svg(drawn(), "one", "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("query", "consulta"),
        ("0.25", "0,25"),
        ("-1.5", "-1,5"),
        ("deepseek-3.2_simple", "deepseek-3.2_simple"),
        ("as observed, BCa (decides)", "como observado, BCa (decide)"),
        ("as observed, BCa", "como observado, BCa"),
        ("P@10", "P@10"),
    ],
)
def test_words(words, said):
    assert in_portuguese(words) == said


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_english_is_left_but_names(tables, name):
    """A new text of a figure has to be said in Portuguese too."""
    figure = FIGURES[name].draw(tables, SCALE, 0.9)
    translate(figure)
    figure.canvas.draw()
    kept = {*tables["annotators"]["annotator"], *FAMILIES, *tables["measures"]["measure"]}
    kept |= {"bca", "BCa"} | {f"{grade} {label}" for grade, label in SCALE.names.items()}
    shown = {text.get_text() for text in figure.findobj(Text)} - kept
    english = re.compile(r"\b(the|of|with|by|and|query|queries|pairs|judge|undefined|interval)\b")
    assert [text for text in shown if english.search(text)] == []
    assert [text for text in shown if re.fullmatch(r"[\u2212-]?\d+\.\d+", text)] == []


@pytest.mark.parametrize("language", ["en", "pt"])
def test_numbers_have_the_marks_of_the_language(tables, language):
    shown = texts_of(figure_view("tau", tables, SCALE, 0.9, language).svg)
    mark = {"en": ".", "pt": ","}[language]
    assert [text for text in shown if re.fullmatch(rf"0\{mark}\d+", text)]


def test_without_its_table_there_is_a_sentence():
    view = figure_view("verdict", {}, SCALE, 0.9, "en")
    assert view.svg == ""
    assert view.why_empty == (
        "Nothing to show: there are no judges, or no systems that they could rank."
    )
