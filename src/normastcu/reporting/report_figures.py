"""Figures of the report: drawn from the tables, in the page's language, as SVG inside the page."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import matplotlib as mpl
import pandas as pd
from lxml import etree
from markupsafe import Markup
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import Formatter

from normastcu.collection.judgments import REFERENCE
from normastcu.collection.settings import GradeScale
from normastcu.reporting import figures, system_figures
from normastcu.reporting.report_tables import Tables
from normastcu.reporting.report_texts import Language, text_of
from normastcu.reporting.system_tables import of_all_systems

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
REFERENCES = re.compile(r"url\(#([^)]+)\)")

WORDS_PT: Mapping[str, str] = {
    r"quadratic weighted kappa": "kappa com pesos quadráticos",
    r"undefined": "indefinido",
    r"share of the annotator's grades \(numbers: pairs\)": (
        "proporção das notas do anotador (números: pares)"
    ),
    r"judged pairs": "pares julgados",
    r"strong disagreement \(range 2 or more\)": "discordância forte (amplitude 2 ou mais)",
    r"query": "consulta",
    r"pairs": "pares",
    r"assessor": "avaliador",
    r"judge": "juiz",
    r"reference": "referência",
    r"quadratic weighted kappa with the reference\n\(90 and 95 % intervals over queries; "
    r"the reference contains the assessors' own grades\)": (
        "kappa com pesos quadráticos com a referência\n(intervalos de 90 e 95 % sobre consultas;\n"
        "a referência contém as notas dos próprios avaliadores)"
    ),
    r"systems in the reference's order; 1 is the best, equal values share the lowest rank": (
        "sistemas na ordem da referência; 1 é o melhor, valores iguais dividem o menor posto"
    ),
    r"Kendall's tau-b with the reference, 90 % BCa intervals over queries \(each qrels on its own "
    r"queries\);\ndashed: (.+)\. These intervals hold the true value more rarely than they say; "
    r"mostly they lie too low\.": (
        r"tau-b de Kendall com a referência, intervalos BCa de 90 % sobre consultas (cada qrels em "
        r"suas próprias);\n"
        r"tracejado: \1. Estes intervalos contêm o valor verdadeiro menos vezes "
        r"do que dizem; em geral ficam baixos demais."
    ),
    r"Kendall's tau-b with the reference on the common queries, (.+) % intervals; dashed: (.+)": (
        r"tau-b de Kendall com a referência nas consultas comuns, intervalos de \1 %; "
        r"tracejado: \2"
    ),
    r"as observed, BCa( \(decides\))?": r"como observado, BCa\1",
    r"without the noise of the queries, shrunken( \(decides\))?": (
        r"sem o ruído das consultas, encolhido\1"
    ),
}
"""What the figures say, whole texts, to what they say in Portuguese."""

_DECIDES = " (decides)", " (decide)"


@dataclass(frozen=True)
class FigureView:
    """A figure as the page shows it, with the sizes behind it; without an image it says why."""

    name: str
    title: str
    note: str
    sizes: str
    svg: Markup
    why_empty: str


@dataclass(frozen=True)
class FigureSpec:
    """How a figure is drawn.

    Attributes
    ----------
    needs
        The table without which there is nothing to draw.
    empty
        Text that says why there is nothing.
    draw
        Draws it from the tables, the scale and the bound of the verdict.
    """

    needs: str
    empty: str
    draw: Callable[[Tables, GradeScale, float], Figure]


def figure_view(
    name: str, tables: Tables, scale: GradeScale, bound: float, language: Language
) -> FigureView:
    """Draw one of `FIGURES` in a language.

    Parameters
    ----------
    name
        Of the figure.
    tables
        The tables by name.
    scale
        The grades and their names.
    bound
        Where the verdict's line is drawn.
    language
        Of the labels.
    """
    spec = FIGURES[name]
    there = len(tables.get(spec.needs, ())) > 0
    svg = ""
    if there:
        figure = spec.draw(tables, scale, bound)
        if language == "pt":
            translate(figure)
        svg = inline_svg(figure, f"figure-{name}", text_of(language, f"figure.{name}"))
    return FigureView(
        name=name,
        title=text_of(language, f"figure.{name}"),
        note=text_of(language, f"figure.{name}.note"),
        sizes=sizes_of(tables[spec.needs], language) if there else "",
        svg=Markup(svg),
        why_empty=text_of(language, "empty.table", why=text_of(language, spec.empty)),
    )


def sizes_of(table: pd.DataFrame, language: Language) -> str:
    """Say on how many grades or pairs, queries and systems the rows that a figure shows stand.

    Of rankings those are the ones of all systems, each qrels on its own queries.

    Examples
    --------
    >>> sizes_of(pd.DataFrame({"n": [804, 711], "n_queries": [46, 46]}), "en")
    'n: 711 to 804; queries: 46.'
    >>> families = {"system_set": ["all", "one_per_family"], "n_systems": [15, 4]}
    >>> sizes_of(pd.DataFrame(families), "pt")
    'sistemas: 15.'
    """
    table, said = of_all_systems(table), []
    for column in ("n", "n_queries", "n_systems"):
        counts = table[column].dropna() if column in table else ()
        if len(counts):
            low, high = int(min(counts)), int(max(counts))
            numbers = text_of(language, "number.to", low=low, high=high) if low < high else low
            said.append(f"{text_of(language, f'column.{column}')}: {numbers}")
    return "; ".join(said) + "." if said else ""


def translate(figure: Figure) -> None:
    """Say a figure in Portuguese: the words of `WORDS_PT`, and decimal commas."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _set_commas(axis)
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(in_portuguese(text.get_text()))
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), mpl.ticker.FixedFormatter):
                labels = [in_portuguese(label.get_text()) for label in axis.get_ticklabels()]
                axis.set_ticklabels(labels)


def in_portuguese(words: str) -> str:
    """Return a text of a figure in Portuguese; a name stays as it is.

    Examples
    --------
    >>> in_portuguese("query"), in_portuguese("0.73"), in_portuguese("gpt-5.1_simple")
    ('consulta', '0,73', 'gpt-5.1_simple')
    """
    if re.fullmatch(r"-?\d+\.\d+", words):
        return words.replace(".", ",")
    for pattern, replacement in WORDS_PT.items():
        if found := re.fullmatch(pattern, words):
            said = found.expand(replacement).replace(*_DECIDES)
            return re.sub(r"(\d)\.(\d)", r"\1,\2", said)
    return words


def inline_svg(figure: Figure, prefix: str, label: str) -> str:
    """Return a figure as SVG that can stand inside a page beside others.

    Text stays text; every id has a prefix; nothing in it applies to the rest of the page or points
    outside of it.

    Parameters
    ----------
    figure
        What is drawn.
    prefix
        Of every id, unique in the page.
    label
        What is read aloud instead of the figure.
    """
    stream = io.BytesIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": prefix}
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        figure.savefig(stream, format="svg")
    root = etree.fromstring(stream.getvalue())
    for element in [*root.iter(f"{SVG}metadata"), *root.iter(f"{SVG}style"), *_comments(root)]:
        element.getparent().remove(element)
    for element in root.iter():
        _make_local(element, prefix)
    width = root.get("width").removesuffix("pt")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("style", f"max-width: {float(width):.0f}pt")
    etree.cleanup_namespaces(root)
    written = etree.tostring(root, encoding="unicode")
    # A page knows the namespace of an <svg> by itself.
    return re.sub(r'^(<svg[^>]*?) xmlns="[^"]*"', r"\1", written)


def _make_local(element: etree._Element, prefix: str) -> None:
    """Prefix the ids of an element and what it refers to."""
    if "id" in element.attrib:
        element.set("id", f"{prefix}-{element.attrib['id']}")
    target = element.attrib.pop(HREF, None)
    if target is not None:
        # An image of a map is held in its own address.
        local = f"#{prefix}-{target[1:]}" if target.startswith("#") else target
        element.set("href", local)
    for name, value in element.attrib.items():
        if "url(#" in value:
            element.set(name, REFERENCES.sub(rf"url(#{prefix}-\1)", value))


def _comments(root: etree._Element) -> list[etree._Element]:
    return list(root.iter(etree.Comment))


def _set_commas(axis: Axis) -> None:
    if not isinstance(axis.get_major_formatter(), mpl.ticker.FixedFormatter):
        axis.set_major_formatter(_Commas(axis.get_major_formatter()))


class _Commas(Formatter):
    """Writes the numbers of another formatter with a decimal comma."""

    def __init__(self, points: Formatter) -> None:
        self._points = points

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self._points(x, pos).replace(".", ",")

    def format_ticks(self, values: list[float]) -> list[str]:
        return [label.replace(".", ",") for label in self._points.format_ticks(values)]

    def set_axis(self, axis: Axis) -> None:  # type: ignore[override]
        super().set_axis(axis)
        self._points.set_axis(axis)


def _kinds(tables: Tables) -> dict[str, str]:
    annotators = tables["annotators"]
    return dict(zip(annotators["annotator"], annotators["kind"], strict=True))


def _among(kappas: pd.DataFrame) -> pd.DataFrame:
    return kappas[(kappas["annotator_a"] != REFERENCE) & (kappas["annotator_b"] != REFERENCE)]


def _with_reference(kappas: pd.DataFrame) -> pd.DataFrame:
    return kappas[kappas["annotator_a"] == REFERENCE]


FIGURES: Mapping[str, FigureSpec] = {
    "grade_shares": FigureSpec(
        "grade_counts",
        "empty.people",
        lambda tables, scale, _: figures.grade_shares(tables["grade_counts"], scale.names),
    ),
    "human_kappa": FigureSpec(
        "human_kappa",
        "empty.two_people",
        lambda tables, _, __: figures.kappa_matrix(tables["human_kappa"]),
    ),
    "strong_disagreements": FigureSpec(
        "disagreement_by_query",
        "empty.people",
        lambda tables, _, __: figures.strong_disagreements(tables["disagreement_by_query"]),
    ),
    "kappa": FigureSpec(
        "kappa",
        "empty.two_people",
        lambda tables, _, __: figures.kappa_matrix(_among(tables["kappa"])),
    ),
    "kappa_reference": FigureSpec(
        "kappa",
        "empty.people",
        lambda tables, _, __: figures.kappa_intervals(
            _with_reference(tables["kappa"]), _kinds(tables)
        ),
    ),
    "system_ranks": FigureSpec(
        "measures",
        "empty.ranking",
        lambda tables, _, __: system_figures.rank_maps(tables["measures"], _kinds(tables)),
    ),
    "tau": FigureSpec(
        "rank_correlation",
        "empty.ranking",
        lambda tables, _, bound: system_figures.tau_intervals(
            tables["rank_correlation"], _kinds(tables), bound
        ),
    ),
    "system_measures": FigureSpec(
        "measures",
        "empty.ranking",
        lambda tables, _, __: system_figures.measures_by_system(tables["measures"], _kinds(tables)),
    ),
    "verdict": FigureSpec(
        "verdict",
        "empty.judged_ranking",
        lambda tables, _, bound: system_figures.verdict_intervals(tables["verdict"], bound),
    ),
}
