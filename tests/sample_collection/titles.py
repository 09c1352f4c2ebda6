"""Numbers and titles of the acts, and the references from one act to another."""

import re
from dataclasses import dataclass
from random import Random

from tests.sample_collection.acts import Act
from tests.sample_collection.court import ACRONYM, COLLEGIATE, in_words

_REFERENCE = re.compile(r"\{([\w-]+)\}")
# the last number that each kind had reached before the first act of the collection
_FIRST_NUMBERS = {"Resolução": 148, "Instrução Normativa": 31, "Decisão Normativa": 62}


@dataclass(frozen=True)
class Titles:
    """By slug: the number, the title with the date in words, the short title."""

    number: dict[str, str]
    long: dict[str, str]
    short: dict[str, str]
    key: dict[str, str]

    def fill(self, text: str) -> str:
        """Put the titles of other acts where ``{slug}`` stands."""
        return _REFERENCE.sub(lambda match: self.long[match.group(1)], text)


def references(act: Act) -> list[str]:
    """Return the slugs of the acts that the text of an act names, in order, once each."""
    found = [m for line in act.body for m in _REFERENCE.findall(line.text)]
    return list(dict.fromkeys(found))


def give_titles(acts: list[Act]) -> Titles:
    """Give the acts their numbers, in the order of their dates.

    Acts of the collegiate body are numbered on from year to year, the others anew in each year
    and unit; both skip numbers, since a collection holds only part of what a court issues.
    """
    random = Random("numbers")
    ordered = sorted(acts, key=lambda act: (act.day, act.slug))
    last: dict[tuple[str, ...], int] = {}
    number, long, short, key = {}, {}, {}, {}
    serial = 0
    for act in ordered:
        is_collegiate = act.unit == COLLEGIATE
        series = (act.kind,) if is_collegiate else (act.kind, act.unit, str(act.day.year))
        if is_collegiate:
            n = last.get(series, _FIRST_NUMBERS[act.kind]) + random.randint(1, 4)
        else:
            pace = act.day.timetuple().tm_yday // 4
            n = max(last.get(series, 0) + random.randint(1, 3), pace)
        last[series] = n
        serial += random.randint(9, 79)
        name = f"{act.kind}-{ACRONYM}{_unit_mark(act.unit)} nº {n}"
        number[act.slug] = str(n)
        long[act.slug] = f"{name}, de {in_words(act.day)}"
        short[act.slug] = f"{name}/{act.day.year}"
        key[act.slug] = f"ATO-{serial:05d}"
    return Titles(number, long, short, key)


def _unit_mark(unit: str) -> str:
    return {
        "Secretaria-Geral de Administração": "/Segad",
        "Secretaria-Geral de Controle Externo": "/Segecon",
        "Secretaria de Gestão de Pessoas": "/Segep",
        "Secretaria de Tecnologia da Informação": "/Setin",
        "Escola de Contas": "/Escola",
        "Corregedoria": "/Correg",
    }.get(unit, "")
