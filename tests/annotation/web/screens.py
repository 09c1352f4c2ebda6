"""A campaign on acts of an imagined court, one of them hostile, for tests of the screen."""

from collections.abc import Mapping
from pathlib import Path

from normastcu.annotation.settings import AnnotationSettings, CampaignSettings
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import GradeScale

SIGNING_KEY = b"a key of the tests, 32 bytes or more"
ASSESSORS = ("Ana", "Bruno", "Carla", "Davi")
ADMINISTRATOR = "Coordenação"

HOSTILE_HTML = """
<p onclick="document.title='ran'">Art. 1º As <b onmouseover=x()>diárias</b> serão pagas.</p>
<script>document.title = "ran"</script>
<img src="http://tracker.example/p.png" onerror="document.title='ran'">
<svg onload="document.title='ran'"><script>document.title='ran'</script>
<a xlink:href="javascript:document.title='ran'"><text>svg</text></a></svg>
<meta http-equiv="refresh" content="0;url=http://tracker.example/">
<form action="http://tracker.example/"><input name="a"><button>Enviar</button></form>
<a href="javascript:document.title='ran'">veja</a> <a href="http://tracker.example/">link</a>
<style>body { background: url(http://tracker.example/b.png) }</style>
<iframe src="http://tracker.example/"></iframe><base href="http://tracker.example/">
<link rel="stylesheet" href="http://tracker.example/s.css"><object data="x.swf"></object>
<div style="position:fixed;inset:0;background:url(http://tracker.example/c.png)">tampa</div>
<table><tr><td colspan="2" onclick="x()">Classe</td></tr><tr><td>A</td><td>B</td></tr></table>
<ul><li>um</li><li>dois</li></ul><math><mtext><script>document.title='ran'</script></mtext></math>
<video src="http://tracker.example/v.mp4" autoplay></video><embed src="http://tracker.example/e">
"""
HOSTILE_TITLE = "Portaria <img src=x onerror=\"document.title='ran'\"> nº 1</title><script>"

QUERIES = {
    "7": "concessão de diárias e passagens",
    "12": 'prazo para "tomada de contas"',
}
ACTS = {
    "ATO-1": (HOSTILE_TITLE, "Regulamenta <b>diárias</b>.", HOSTILE_HTML),
    "ATO-2": (
        "Resolução nº 20, de 2010",
        None,
        "<p>Art. 1º Ficam fixadas as DIÁRIAS.</p><p>Art. 2º R&amp;D.</p>",
    ),
    "ATO-3": ("Instrução Normativa nº 3, de 2011", "Tomada de contas especial.", None),
    "ATO-4": ("Portaria nº 44, de 2015", "Fixa os valores das diárias.", "<p>Art. 1º Valores.</p>"),
    "ATO-5": ("Portaria nº 55, de 2019", "Reajusta diárias e passagens.", "<p>Art. 1º</p>"),
}
POOL = [
    ("7", "ATO-1"),
    ("7", "ATO-2"),
    ("7", "ATO-3"),
    ("12", "ATO-1"),
    ("12", "ATO-3"),
    ("12", "ATO-4"),
]
NAMES = {
    0: {"pt": "irrelevante", "en": "irrelevant"},
    1: {"pt": "parcialmente relevante", "en": "partially relevant"},
    2: {"pt": "relevante", "en": "relevant"},
}


def settings(names: Mapping[int, Mapping[str, str]] = NAMES) -> CampaignSettings:
    """Return a campaign on a scale with these names."""
    return CampaignSettings(
        collection="tribunal",
        scale=GradeScale(
            grades=[{"grade": grade, "name": name["en"]} for grade, name in names.items()]
        ),
        annotation=AnnotationSettings(
            seed=3,
            names=names,
            definitions={
                grade: {"pt": f"significa {name['pt']}", "en": f"means {name['en']}"}
                for grade, name in names.items()
            },
            unknown_definition={"pt": "não dá para avaliar", "en": "can't be judged"},
        ),
    )


def campaign(
    path: Path, names: Mapping[int, Mapping[str, str]] = NAMES
) -> tuple[AnnotationStore, dict[str, str]]:
    """Return a store with four assessors and an administrator, and the tokens of their links."""
    store = AnnotationStore(path)
    tokens = store.add_people(ASSESSORS) | store.add_people([ADMINISTRATOR], "administrator")
    pool = typed_frame(POOL, {"query_id": "str", "doc_id": "str"})
    queries = typed_frame(list(QUERIES.items()), {"query_id": "str", "text": "str"})
    rows = [
        (doc_id, title, subject, html, doc_id[-1], "2010", "Portaria", "Vigente", None)
        for doc_id, (title, subject, html) in ACTS.items()
    ]
    columns = ("doc_id", "title", "subject", "html", "number", "year", "type", "status")
    dtypes = dict.fromkeys((*columns, "in_force_since"), "str")
    documents = typed_frame(rows, dtypes).assign(text=None)
    documents["text"] = documents["subject"].fillna("").astype("str")
    store.prepare(pool, queries, documents, settings(names))
    return store, tokens
