"""From paragraphs to HTML of the kinds that word processors leave in legal databases."""

from html.entities import codepoint2name
from itertools import groupby
from random import Random

from tests.sample_collection.paragraphs import Paragraph

_NBSP = "&nbsp;"
_STYLES = {
    "heading": "text-align: center; margin-top: 12pt",
    "summary": "margin-left: 8cm; text-align: justify; font-style: italic",
    "chapter": "text-align: center; margin-top: 18pt; margin-bottom: 6pt",
    "section": "text-align: center; margin-top: 12pt",
    "quote": "margin-left: 2cm; text-align: justify",
    "place": "text-align: center; margin-top: 24pt",
    "signature": "text-align: center",
}
_CLASSES = {
    "heading": "Epigrafe",
    "summary": "Ementa",
    "preamble": "Preambulo",
    "whereas": "Considerando",
    "chapter": "Capitulo",
    "section": "Secao",
    "quote": "Citacao",
    "place": "Local",
    "signature": "Assinatura",
}
_JUSTIFIED = "text-align: justify; text-indent: 2.5cm; margin-bottom: 6pt"
_STYLE_BLOCK = (
    '<style type="text/css">\n.ato p { font-family: "Times New Roman", serif; '
    "font-size: 12pt }\n.ementa { color: #333333 }\n</style>\n"
)


def html_of(paragraphs: list[Paragraph], seed: str, *, is_long: bool = False) -> str:
    """Write paragraphs as HTML; the seed decides on the habits of the typist."""
    random = Random(f"markup {seed}")
    typist = _Typist(random, is_long)
    parts = []
    for is_row, group in groupby(paragraphs, key=lambda one: one.kind == "row"):
        run = list(group)
        if is_row:
            parts.append(typist.table(run))
        elif typist.uses_lists:
            parts.extend(typist.with_lists(run))
        else:
            parts.extend(typist.paragraph(one) for one in run)
    return typist.wrap("\n".join(parts))


class _Typist:
    """Chooses entities, classes, indents and lists, the same throughout one act."""

    def __init__(self, random: Random, is_long: bool) -> None:
        self.random = random
        self.is_long = is_long
        self.uses_entities = random.random() < 0.35 and not is_long
        self.uses_lists = random.random() < 0.12 and not is_long
        self.indent = _NBSP * random.choice((0, 0, 4, 8, 12)) if not is_long else ""
        self.prefix = random.choice(("tce", "Mso", "ato-"))
        self.wrapper = random.choice(("none", "none", "comment", "div", "style"))

    def wrap(self, html: str) -> str:
        """Put what stands around the paragraphs."""
        if self.wrapper == "comment":
            return f"<!-- convertido do editor de textos, sem revisão -->\n{html}\n"
        if self.wrapper == "div":
            return f'<div class="ato">\n{html}\n</div>\n'
        if self.wrapper == "style" and not self.is_long:
            return f'{_STYLE_BLOCK}<div class="ato">\n{html}\n</div>\n'
        return html + "\n"

    def paragraph(self, one: Paragraph) -> str:
        """Write one paragraph."""
        return f"{self._open(one.kind)}{self._inner(one)}</p>"

    def with_lists(self, run: list[Paragraph]) -> list[str]:
        """Write the items of a run as lists and the rest as paragraphs."""
        parts = []
        for is_item, group in groupby(run, key=lambda one: one.kind == "item"):
            if is_item:
                items = "\n".join(f"<li><p>{self._inner(one)}</p></li>" for one in group)
                parts.append(f'<ul style="list-style: none">\n{items}\n</ul>')
            else:
                parts.extend(self.paragraph(one) for one in group)
        return parts

    def table(self, rows: list[Paragraph]) -> str:
        """Write rows as a table, its first row as the head."""
        lines = []
        for i, row in enumerate(rows):
            cells = [self._escape(cell.strip()) for cell in row.text.split("|")]
            if i == 0:
                cells = [f"<strong>{cell}</strong>" for cell in cells]
            inner = "".join(f"<td><p>{cell}</p></td>" for cell in cells)
            lines.append(f"<tr>{inner}</tr>")
        body = "\n".join(lines)
        return (
            f'<table border="1" cellpadding="4" cellspacing="0"><tbody>\n{body}\n</tbody></table>'
        )

    def _open(self, kind: str) -> str:
        if self.is_long and kind not in _STYLES:
            return '<p class="texto">'
        style = _STYLES.get(kind, _JUSTIFIED)
        return f'<p class="{self.prefix}{_CLASSES.get(kind, "Texto")}" style="{style}">'

    def _inner(self, one: Paragraph) -> str:
        if one.kind == "signature":
            name, office = one.text.split("\n")
            return f"<strong>{self._escape(name)}</strong><br />\n{self._escape(office)}"
        text = self._escape(one.text)
        if one.kind in ("heading", "chapter", "section"):
            return f"<strong>{text}</strong>"
        text = text.replace("RESOLVE:", "<strong>RESOLVE:</strong>")
        label = self._escape(one.label)
        if not label:
            return f"{self.indent}{text}"
        gap = self.random.choice((" ", _NBSP, f"{_NBSP} "))
        if one.kind == "article":
            label = f"<strong>{label}</strong>"
        return f"{self.indent}{label}{gap}{text}"

    def _escape(self, text: str) -> str:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if not self.uses_entities:
            return text
        return "".join(
            f"&{codepoint2name[ord(c)]};" if ord(c) > 127 and ord(c) in codepoint2name else c
            for c in text
        )
