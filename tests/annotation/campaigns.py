"""A small campaign: two queries, five documents, grades 0 to 2."""

from normastcu.annotation.settings import AnnotationSettings, CampaignSettings, Overlap
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import GradeScale

NAMES = ("no", "partly", "yes")
PAIRS = [("q1", "d1"), ("q1", "d2"), ("q1", "d3"), ("q2", "d1"), ("q2", "d4")]


def campaign_settings(overlap=None, seed=7, grades=3, **annotation):
    return CampaignSettings(
        collection="tiny",
        scale=GradeScale(grades=[{"grade": g, "name": NAMES[g]} for g in range(grades)]),
        annotation=AnnotationSettings(
            assignment="all" if overlap is None else Overlap(overlap=overlap),
            seed=seed,
            definitions={g: {"en": f"means {NAMES[g]}", "pt": NAMES[g]} for g in range(grades)},
            unknown_definition={"en": "can't tell", "pt": "não sei"},
            **annotation,
        ),
    )


def pool(pairs=PAIRS):
    return typed_frame(pairs, {"query_id": "str", "doc_id": "str"})


def queries(texts=None):
    given = texts or {"q1": "licença capacitação", "q2": "diárias"}
    return typed_frame(list(given.items()), {"query_id": "str", "text": "str"})


def documents():
    rows = [
        ("d1", "Portaria nº 315", "Licença para capacitação", "315", "2020", "<p>Um</p>", "Um"),
        ("d2", "Resolução nº 7", None, "7", "2019", None, "Dois <b>\n\nlinhas"),
        ("d3", "Portaria nº 9", "Diárias e passagens", "9", "2021", None, None),
        ("d4", None, None, None, None, "<p>Quatro</p>", "Quatro"),
        ("d5", "Instrução sobre diárias", "Outro", "1", "2022", "<p>Cinco</p>", "Cinco"),
    ]
    names = ("doc_id", "title", "subject", "number", "year", "html", "text")
    table = typed_frame(rows, dict.fromkeys(names, "str"))
    return table.assign(type="Portaria", status="vigente", in_force_since="01/02/2020")


def prepare(store, pairs=PAIRS, texts=None, **settings):
    return store.prepare(pool(pairs), queries(texts), documents(), campaign_settings(**settings))


def id_of(store, name):
    with store.database.reading() as connection:
        return int(
            connection.exec_driver_sql("SELECT id FROM people WHERE name = ?", (name,)).scalar()
        )


def tasks_of(store, person_id):
    """Return all tasks of a person, in the person's order."""
    return [
        task
        for query in store.progress(person_id)
        for task in store.query_tasks(person_id, query.query_id, query.round)
    ]


def grade(store, person_id, pair, value, submission_id=None, round_name="first"):
    """Answer a pair (query_id, doc_id) by its ids."""
    task = next(
        task for task in store.query_tasks(person_id, pair[0], round_name) if task.doc_id == pair[1]
    )
    choice = value if isinstance(value, str) else "grade"
    return store.answer(
        person_id,
        task.pair_id,
        choice=choice,
        grade=None if isinstance(value, str) else value,
        comment="",
        seconds=1.5,
        submission_id=submission_id or f"{task.pair_id}-{value}",
    )
