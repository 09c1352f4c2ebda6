"""Provisions that regulations on one group of themes have in common, as of one drafting room."""

from dataclasses import replace
from functools import cache
from random import Random

from tests.sample_collection.acts import Act, Line
from tests.sample_collection.content_folder import CONTENT

_REGULATES = ("Dispõe", "Regulamenta", "Institui", "Disciplina", "Estabelece", "Regula ")
_FEWEST_OWN_ARTICLES = 3
_FEWEST_TAKEN, _MOST_TAKEN = 5, 9
_CONCISE = "conciso"
_OMITTED_CASES = "casos omissos"


def with_common_provisions(act: Act) -> Act:
    """Close a full regulation with provisions of its theme; leave every other act alone."""
    groups = _groups().get(act.theme, [])
    n_articles = sum(line.mark == "*" for line in act.body)
    is_full = n_articles >= _FEWEST_OWN_ARTICLES and _CONCISE not in act.flags
    if not (groups and is_full and act.summary.startswith(_REGULATES)):
        return act
    if any(_OMITTED_CASES in line.text for line in act.body):
        groups = groups[:-1]
    random = Random(f"provisions {act.slug}")
    n = random.randint(_FEWEST_TAKEN, _MOST_TAKEN)
    chosen = sorted(random.sample(range(len(groups)), n))
    return replace(act, body=(*act.body, *(line for i in chosen for line in groups[i])))


@cache
def _groups() -> dict[str, list[list[Line]]]:
    """Return by theme the provisions, each an article with its clauses."""
    by_theme: dict[str, list[list[Line]]] = {}
    groups: list[list[Line]] = []
    for raw in (CONTENT / "provisions.txt").read_text(encoding="utf-8").splitlines():
        mark, text = raw.split(" ", maxsplit=1)
        if mark == "#":
            groups = []
            by_theme |= dict.fromkeys(text.split("; "), groups)
        elif mark == "*":
            groups.append([Line(mark, text)])
        else:
            groups[-1].append(Line(mark, text))
    return by_theme
