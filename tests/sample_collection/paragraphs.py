"""From an act's lines to its paragraphs: article numbers, roman numerals, punctuation."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.sample_collection.acts import Act, Line
from tests.sample_collection.court import COLLEGIATE, in_words, preamble, signature
from tests.sample_collection.numerals import roman
from tests.sample_collection.titles import Titles


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the finished act: what it is, its label (*Art. 1º*), and its words."""

    kind: str
    text: str
    label: str = ""


def paragraphs(act: Act, titles: Titles) -> list[Paragraph]:
    """Write an act out: heading, summary, preamble, articles, closing clauses, signature."""
    heading = Paragraph("heading", titles.long[act.slug].upper())
    name, office = signature(act.unit, act.day.year)
    place = "Sala das Sessões, em" if act.unit == COLLEGIATE else "Porto Aroeira,"
    return [
        heading,
        Paragraph("summary", act.summary),
        *_opening(act, titles),
        *_numbered([*act.body, *_closing_clauses(act)], titles),
        Paragraph("place", f"{place} {in_words(act.day)}."),
        Paragraph("signature", f"{name.upper()}\n{office}"),
    ]


def annex_paragraphs(act: Act, titles: Titles) -> list[Paragraph]:
    """Write out the annex, which repeats the title of its act."""
    return [
        Paragraph("chapter", act.annex_title),
        Paragraph("plain", f"({titles.long[act.slug]})"),
        *_numbered(act.annex, titles),
    ]


def article_label(number: int) -> str:
    """Return the label of an article: ordinal up to nine, cardinal from ten.

    Examples
    --------
    >>> article_label(9), article_label(10)
    ('Art. 9º', 'Art. 10.')
    """
    return f"Art. {number}º" if number < 10 else f"Art. {number}."


def _opening(act: Act, titles: Titles) -> list[Paragraph]:
    opening = preamble(act.unit, act.day.year)
    whereas = [line.text for line in act.body if line.mark == "="]
    if not whereas:
        return [Paragraph("preamble", f"{opening}, RESOLVE:")]
    ends = [";"] * (len(whereas) - 1) + [", RESOLVE:"]
    if len(whereas) > 1:
        ends[-2] = "; e"
    return [
        Paragraph("preamble", f"{opening}, e"),
        *(
            Paragraph("whereas", f"considerando {titles.fill(text)}{end}")
            for text, end in zip(whereas, ends, strict=True)
        ),
    ]


def _closing_clauses(act: Act) -> list[Line]:
    when = in_words(act.in_force_since) if act.in_force_since else ""
    start = f"em {when}" if when else "na data de sua publicação"
    clauses = [Line("*", f"Esta {act.kind} entra em vigor {start}.")]
    if act.repeals:
        old = " e a ".join(f"{{{slug}}}" for slug in act.repeals)
        verb = "Ficam revogadas" if len(act.repeals) > 1 else "Fica revogada"
        clauses.append(Line("*", f"{verb} a {old}."))
    return clauses


def _numbered(lines: list[Line] | tuple[Line, ...], titles: Titles) -> Iterator[Paragraph]:
    body = [Line(line.mark, titles.fill(line.text)) for line in lines if line.mark != "="]
    article = clause = item = 0
    for i, line in enumerate(body):
        after = body[i + 1 :]
        if line.mark == "*":
            article, clause, item = article + 1, 0, 0
            yield Paragraph("article", line.text, article_label(article))
        elif line.mark == "§":
            clause, item = clause + 1, 0
            is_only = clause == 1 and not _comes_first(after, "§", "*")
            label = "Parágrafo único." if is_only else f"§ {clause}º"
            yield Paragraph("clause", line.text, label)
        elif line.mark == "-":
            item += 1
            yield Paragraph("item", line.text + _item_end(line, after), f"{roman(item)} -")
        else:
            kind = {"#": "chapter", "##": "section", ">": "quote", "|": "row", "~": "plain"}
            yield Paragraph(kind[line.mark], line.text)


def _comes_first(lines: list[Line], wanted: str, barrier: str) -> bool:
    return next((line.mark for line in lines if line.mark in (wanted, barrier)), "") == wanted


def _item_end(line: Line, after: list[Line]) -> str:
    if line.text.endswith((":", "?")):
        return ""
    marks = "".join(following.mark[0] for following in after)
    n_left = len(marks) - len(marks.lstrip("-"))
    return {0: ".", 1: "; e"}.get(n_left, ";")
