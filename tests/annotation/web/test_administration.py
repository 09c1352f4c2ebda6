"""The administrator's page."""

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace

import pytest
from lxml import html as lxml_html
from tests.annotation.web.conftest import Browser, Screen
from tests.annotation.web.screens import ADMINISTRATOR

Enter = Callable[[str], Browser]


@pytest.fixture
def judged(enter: Enter) -> dict[str, Browser]:
    """Return Ana and Bruno, who differ on one of the three pairs that both have judged."""
    people = {name: enter(name) for name in ("Ana", "Bruno")}
    grades = {"Ana": (0, 1, 2), "Bruno": (0, 1, 1)}
    for name, browser in people.items():
        for act, grade in zip(("ATO-1", "ATO-2", "ATO-3"), grades[name], strict=True):
            pair_id = browser.pair_of("7", act)
            browser.answer(pair_id, grade=grade, seconds=10, submission_id=f"{name}-of-{act}")
    return people


@pytest.fixture
def administrator(screen: Screen) -> Browser:
    return Browser(screen, ADMINISTRATOR)


def cells(page: lxml_html.HtmlElement, section: str) -> list[list[str]]:
    rows = page.findall(f".//section[@aria-labelledby='{section}']//tbody/tr")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


def test_it_is_where_the_administrators_link_leads(administrator: Browser) -> None:
    assert administrator.get("/").headers["location"] == "/admin"


def test_it_shows_progress_and_agreement(
    judged: dict[str, Browser], enter: Enter, administrator: Browser
) -> None:
    carla = enter("Carla")
    carla.answer(carla.pair_of("12", "ATO-4"), choice="grade", seconds=4)
    page = lxml_html.document_fromstring(administrator.get("/admin").text)

    people = cells(page, "by-assessor")
    assert people[0][:6] == ["Ana", "3 / 6", "0", "0", "0", "10 s"]
    assert people[2][:6] == ["Carla", "1 / 6", "0", "0", "0", "4 s"]
    assert people[3][:7] == ["Davi", "0 / 6", "0", "0", "0", "–", "–"]
    assert cells(page, "by-query")[0] == [
        "7",
        "concessão de diárias e passagens",
        "6 / 12",
        "0",
        "0",
    ]
    kappas = {row[0]: row[1:] for row in cells(page, "agreement")}
    # Squared differences: 1 over the 3 pairs, and 9 over the 9 pairs of chance: 1 - (1/3)/(9/9).
    assert kappas["Ana – Bruno"] == ["0,67", "3"]
    assert kappas["Ana – Carla"] == ["indefinido: nenhum par foi avaliado por ambos", "0"]


def test_it_shows_the_disputed_pairs_and_starts_a_second_round(
    screen: Screen, judged: dict[str, Browser], administrator: Browser
) -> None:
    page = lxml_html.document_fromstring(administrator.get("/admin").text)
    (row,) = cells(page, "disputed")
    assert row[1:4] == ["7", "Instrução Normativa nº 3, de 2011", "1 2"]
    box = page.find(".//input[@name='pair']")

    answer = administrator.submit(
        "/admin/adjudicate", {"pair": box.get("value"), "assessor": ["Bruno"]}
    )

    assert answer.headers["location"] == "/admin?started=1"
    assert "já na segunda rodada" in administrator.get("/admin?started=1").text
    bruno = judged["Bruno"]
    again = screen.store.query_tasks(bruno.person_id, "7", "adjudication")[0]
    shown = bruno.get(f"/pair/{again.pair_id}").text
    assert "Segunda rodada" in shown
    assert "checked" not in shown.split("<dialog")[0]
    assert "Segunda rodada" in bruno.get("/").text
    assert "Segunda rodada" not in judged["Ana"].get("/").text


def test_it_says_when_it_was_computed(administrator: Browser) -> None:
    assert re.search(
        r"Calculado em \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)", administrator.get("/admin").text
    )


@pytest.mark.parametrize(
    ("number", "shown"),
    [("", ("1", "50")), ("?page=3", ("101", "150")), ("?page=9", ("201", "205"))],
)
def test_many_queries_come_in_pages(
    screen: Screen,
    administrator: Browser,
    monkeypatch: pytest.MonkeyPatch,
    number: str,
    shown: tuple[str, str],
) -> None:
    overview = screen.store.overview()
    rows = tuple(replace(overview.queries[0], query_id=str(n)) for n in range(1, 206))
    many = replace(overview, queries=rows)
    overviews = administrator.client.app.state.room.overviews  # type: ignore[attr-defined]
    monkeypatch.setattr(overviews, "latest", lambda: many)

    page = lxml_html.document_fromstring(administrator.get(f"/admin{number}").text)

    found = [row[0] for row in cells(page, "by-query")]
    assert (found[0], found[-1]) == shown
    assert f"{shown[0]} a {shown[1]} de 205" in page.find_class("pages")[0].text_content()


@pytest.mark.parametrize("fields", [{}, {"assessor": "Ana"}, {"pair": '["7", "ATO-3"]'}])
def test_a_second_round_of_nothing_is_said(administrator: Browser, fields: dict[str, str]) -> None:
    answer = administrator.submit("/admin/adjudicate", fields)

    assert answer.headers["location"] == "/admin?started=0"
    assert "Marque ao menos um par" in administrator.get("/admin?started=0").text


@pytest.mark.parametrize("pair", ["", "[", "[1]", '"ab', "[" * 5000])
def test_what_is_no_pair_is_refused(administrator: Browser, pair: str) -> None:
    answer = administrator.submit("/admin/adjudicate", {"assessor": "Ana", "pair": pair})

    assert answer.status_code == 422


def test_everything_is_exported_at_any_time(
    judged: dict[str, Browser], administrator: Browser
) -> None:
    answer = administrator.get("/admin/export")

    assert answer.headers["content-disposition"] == 'attachment; filename="tribunal-campaign.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()
