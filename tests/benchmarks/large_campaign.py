"""A campaign of a size that no team has judged yet, for benchmarks of the assessment screen."""

import random
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from normastcu.annotation.settings import AnnotationSettings, CampaignSettings
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import GradeScale

PER_QUERY = 20
N_DOCUMENTS = 20_000
NAMES = tuple(f"A_{number}" for number in range(1, 9))
ADMINISTRATOR = "chief"

_GRADES = {0: "irrelevant", 1: "partially relevant", 2: "relevant"}
_WORDS = """
licença capacitação servidor diária passagem contrato tomada contas especial processo fiscalização
gestão risco auditoria prazo recurso plenário sessão relator acórdão ato pessoal aposentadoria
pensão registro legalidade unidade técnica secretaria tribunal
""".split()  # noqa: SIM905 - a list of so many words reads badly
_CHUNK = 2_000

# Each assessor has judged the first seven eighths of their queries; seven in ten of their grades
# are what a hash of the pair says, so that they agree more than chance.
_JUDGED = """INSERT INTO events
    (person, pair, kind, source, choice, grade, comment, seconds, at, submission_id)
    SELECT o.person, j.value, 'answer', 'screen', 'grade',
        CASE WHEN (j.value * 31 + o.person * 17) % 10 < 7
        THEN (j.value * 7919 / 5) % 3 ELSE (j.value + o.person) % 3 END,
        '', 12.5, '2026-01-01T10:00:00.000+00:00', 's' || o.person || '-' || j.value
    FROM orders o, json_each(o.pairs) j WHERE o.position <= :last"""
_COUNTED = (
    "INSERT INTO current (person, pair, event) SELECT person, pair, id FROM events",
    "UPDATE orders SET n_answered = n_pairs WHERE position <= :last",
)


def make_campaign(path: Path, n_pairs: int) -> dict[str, str]:
    """Make a campaign in which people have judged for long; return the tokens of their links."""
    n_queries = n_pairs // PER_QUERY
    with AnnotationStore(path) as store:
        store.prepare(_pool(n_queries), _queries(n_queries), _documents(), _settings())
        tokens = store.add_people(NAMES) | store.add_people([ADMINISTRATOR], "administrator")
        with store.database.writing() as connection:
            last = {"last": n_queries * 7 // 8}
            for statement in (_JUDGED, *_COUNTED):
                connection.exec_driver_sql(statement, last if ":last" in statement else ())
            connection.exec_driver_sql("UPDATE people SET confirmed_at = added_at")
    return tokens


def _settings() -> CampaignSettings:
    by_language = {grade: {"pt": name, "en": name} for grade, name in _GRADES.items()}
    return CampaignSettings(
        collection="large",
        scale=GradeScale(grades=[{"grade": g, "name": name} for g, name in _GRADES.items()]),
        annotation=AnnotationSettings(
            seed=1,
            definitions=by_language,
            unknown_definition={"pt": "não sei", "en": "can't tell"},
        ),
    )


def _queries(n_queries: int) -> pd.DataFrame:
    chance = random.Random(1)
    rows = [(str(i), " ".join(chance.sample(_WORDS, 5))) for i in range(1, n_queries + 1)]
    return typed_frame(rows, {"query_id": "str", "text": "str"})


def _pool(n_queries: int) -> pd.DataFrame:
    rows = [
        (str(query), f"ATO-{(query * 7 + 11 * place) % N_DOCUMENTS}")
        for query in range(1, n_queries + 1)
        for place in range(PER_QUERY)
    ]
    return typed_frame(rows, {"query_id": "str", "doc_id": "str"})


def _documents() -> Iterator[pd.DataFrame]:
    """Yield acts of some 8 kB; every title holds the word Portaria."""
    chance = random.Random(2)
    for first in range(0, N_DOCUMENTS, _CHUNK):
        numbers = range(first, first + _CHUNK)
        table = pd.DataFrame({"doc_id": [f"ATO-{number}" for number in numbers]})
        yield table.assign(
            title=[f"Portaria nº {number}, de 2010" for number in numbers],
            subject=[" ".join(chance.choices(_WORDS, k=12)) for _ in numbers],
            html=[_html(chance) for _ in numbers],
            number=[str(number) for number in numbers],
            year="2010",
            type="Portaria",
            status="Vigente",
            in_force_since="01/02/2010",
            text=None,
        )


def _html(chance: random.Random) -> str:
    paragraphs = (" ".join(chance.choices(_WORDS, k=40)) for _ in range(25))
    return "".join(f"<p>Art. {i}º {text}.</p>" for i, text in enumerate(paragraphs, 1))
