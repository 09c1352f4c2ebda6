"""The rows of ``docs.csv``: the 16 released columns of every act."""

from datetime import date, timedelta
from random import Random

from tests.sample_collection.acts import Act
from tests.sample_collection.court import ACRONYM, working_day
from tests.sample_collection.markup import html_of
from tests.sample_collection.paragraphs import annex_paragraphs, paragraphs
from tests.sample_collection.titles import Titles, references

COLUMNS = (
    "KEY",
    "UNIDADEBASICAAUTORA",
    "ORIGEM",
    "NUMNORMA",
    "ANONORMA",
    "TIPONORMA",
    "TITULO",
    "ASSUNTO",
    "TEXTONORMA",
    "DATAINICIOVIGENCIA",
    "DATAFIMVIGENCIA",
    "SITUACAO",
    "TEXTOANEXO",
    "TEMA",
    "TAGSVCE",
    "NORMARELACIONADA",
)
# empty cells among the 14,469 acts of the released corpus
RELEASED_MISSING = {"ASSUNTO": 7191, "TAGSVCE": 3849, "TEMA": 3686, "NORMARELACIONADA": 9918}
_RELEASED_ACTS = 14_469
_LONG_ACT = 15_000
WITHOUT_TEXT = "sem-texto"


def document_rows(acts: list[Act], titles: Titles) -> list[dict[str, str]]:
    """Return one row an act in the order of the keys, with the released share of empty cells."""
    repealed_by = {old: act for act in acts for old in act.repeals}
    related = _relations(acts)
    rows = [_row(act, titles, repealed_by.get(act.slug), related[act.slug]) for act in acts]
    rows.sort(key=lambda row: row["KEY"])
    for column, released in RELEASED_MISSING.items():
        _empty_cells(rows, column, round(released / _RELEASED_ACTS * len(rows)))
    return rows


def in_force_since(act: Act) -> date:
    """Return the first day in force: the stated one, or the publication on the next weekday."""
    if act.in_force_since:
        return act.in_force_since
    return working_day(act.day + timedelta(days=1))


def _row(
    act: Act, titles: Titles, repealed_by: Act | None, related: list[tuple[str, str]]
) -> dict[str, str]:
    body = paragraphs(act, titles)
    is_long = sum(len(one.text) for one in body) > _LONG_ACT
    has_text = WITHOUT_TEXT not in act.flags
    is_amended = any(relation == "Alterada por" for relation, _ in related)
    return {
        "KEY": titles.key[act.slug],
        "UNIDADEBASICAAUTORA": act.unit,
        "ORIGEM": ACRONYM,
        "NUMNORMA": titles.number[act.slug],
        "ANONORMA": str(act.day.year),
        "TIPONORMA": act.kind,
        "TITULO": titles.long[act.slug],
        "ASSUNTO": act.summary,
        "TEXTONORMA": html_of(body, act.slug, is_long=is_long) if has_text else "",
        "DATAINICIOVIGENCIA": _released_date(in_force_since(act)),
        "DATAFIMVIGENCIA": _released_date(in_force_since(repealed_by)) if repealed_by else "",
        "SITUACAO": _status(repealed_by, is_amended),
        "TEXTOANEXO": _annex(act, titles),
        "TEMA": act.theme,
        "TAGSVCE": act.tags,
        "NORMARELACIONADA": "; ".join(f"{how} {titles.short[slug]}" for how, slug in related),
    }


def _status(repealed_by: Act | None, is_amended: bool) -> str:
    if repealed_by:
        return "Revogada"
    return "Vigente com alterações" if is_amended else "Vigente"


def _annex(act: Act, titles: Titles) -> str:
    return html_of(annex_paragraphs(act, titles), f"annex {act.slug}") if act.annex else ""


def _released_date(day: date) -> str:
    return day.strftime("%d/%m/%Y")


def _relations(acts: list[Act]) -> dict[str, list[tuple[str, str]]]:
    related: dict[str, list[tuple[str, str]]] = {act.slug: [] for act in acts}
    for act in sorted(acts, key=lambda one: (one.day, one.slug)):
        for old in act.repeals:
            related[act.slug].append(("Revoga", old))
            related[old].append(("Revogada por", act.slug))
        for old in act.amends:
            related[act.slug].append(("Altera", old))
            related[old].append(("Alterada por", act.slug))
        for other in references(act):
            if other not in (*act.repeals, *act.amends):
                related[act.slug].append(("Cita", other))
    return related


def _empty_cells(rows: list[dict[str, str]], column: str, wanted: int) -> None:
    """Empty cells by lot until as many are missing as wanted; acts of designation come first."""
    random = Random(f"missing {column}")
    filled = [row for row in rows if row[column]]
    excess = wanted - (len(rows) - len(filled))
    if excess < 0:
        raise ValueError(f"{column} is empty in {wanted - excess} acts, wanted {wanted}.")
    lots = {row["KEY"]: random.random() * _keeps_by_preference(row, column) for row in filled}
    for row in sorted(filled, key=lambda one: lots[one["KEY"]])[:excess]:
        row[column] = ""


def _keeps_by_preference(row: dict[str, str], column: str) -> float:
    if column == "NORMARELACIONADA":
        return 1.0 if row[column].startswith("Cita") and ";" not in row[column] else 100.0
    is_designation = row["ASSUNTO"].startswith(("Designa", "Concede", "Dispõe sobre a nomeação"))
    return 0.4 if is_designation else 1.0
