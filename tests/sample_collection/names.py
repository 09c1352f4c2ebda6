"""Invented people, drawn by a seed."""

from random import Random

from tests.sample_collection.content_folder import CONTENT

WOMEN, MEN, SURNAMES = (
    line.split() for line in (CONTENT / "names.txt").read_text(encoding="utf-8").splitlines()
)


def draw_people(n: int, seed: str) -> dict[str, str]:
    """Draw n people; the fields are what a template needs to speak of each with the right gender.

    Of person 1: ``n1`` the name with the staff number, ``s1`` *o servidor* or *a servidora* and
    the name, ``as1`` the same after *a* (*ao servidor*), ``c1`` the office, ``o1`` *o* or *a*,
    ``que1`` *que o coordenará* or *que a …*.
    """
    random = Random(f"people {seed}")
    values = {}
    for i in range(1, n + 1):
        is_woman = random.random() < 0.5
        first = random.choice(WOMEN if is_woman else MEN)
        last = " ".join(random.sample(SURNAMES, 2))
        number = f"{random.randint(1, 9)}.{random.randint(100, 999)}-{random.randint(0, 9)}"
        named = f"{first} {last}, matrícula nº {number}"
        auditor = "Auditora de Controle Externo" if is_woman else "Auditor de Controle Externo"
        technician = "Técnica de Controle Externo" if is_woman else "Técnico de Controle Externo"
        values |= {
            f"n{i}": named,
            f"s{i}": f"{'a servidora' if is_woman else 'o servidor'} {named}",
            f"as{i}": f"{'à servidora' if is_woman else 'ao servidor'} {named}",
            f"c{i}": auditor if random.random() < 0.7 else technician,
            f"o{i}": "a" if is_woman else "o",
        }
    return values
