"""The way of an assessor through the pages: instructions, pairs, answers, suggestions."""

import sqlite3
from collections.abc import Callable

import pytest
from lxml import html as lxml_html
from tests.annotation.web.conftest import Browser, Screen

from normastcu.annotation.web.app import ServerSettings, create_app

Enter = Callable[[str], Browser]


def parsed(answer: object) -> lxml_html.HtmlElement:
    return lxml_html.document_fromstring(answer.text)  # type: ignore[attr-defined]


class TestInstructions:
    def test_they_come_before_everything_and_are_confirmed_once(self, screen: Screen) -> None:
        newcomer = Browser(screen, "Davi")
        for path in ("/", f"/pair/{newcomer.pairs[0]}", "/search?q=a&query=7"):
            answer = newcomer.get(path)
            assert (answer.status_code, answer.headers["location"]) == (303, "/instructions")
        assert newcomer.answer(newcomer.pairs[0]).status_code == 303
        assert newcomer.stored(newcomer.pairs[0]) is None
        assert "Li e entendi" in newcomer.get("/instructions").text

        newcomer.submit("/instructions", {})

        assert newcomer.get("/").status_code == 200
        again = newcomer.get("/instructions").text
        assert "Li e entendi" not in again
        assert "já confirmou" in again

    def test_they_define_every_choice(self, ana: Browser) -> None:
        page = parsed(ana.get("/instructions"))

        assert [term.text for term in page.findall(".//dt")] == [
            "relevante",
            "parcialmente relevante",
            "irrelevante",
            "não sei",
        ]
        assert page.findall(".//dd")[0].text == "significa relevante"

    def test_a_campaign_can_bring_its_own(self, screen: Screen) -> None:
        client = screen.client(instructions={"pt": "Primeiro <b>.\n\nSegundo."})
        client.get(f"/enter/{screen.tokens['Ana']}")

        page = parsed(client.get("/instructions"))

        assert [one.text for one in page.findall(".//p[@class='lines']")] == [
            "Primeiro <b>.",
            "Segundo.",
        ]


class TestLanguage:
    def test_an_assessor_chooses_it(self, ana: Browser) -> None:
        first = f"/pair/{ana.pairs[0]}"
        assert parsed(ana.get(first)).get("lang") == "pt-BR"

        answer = ana.submit("/language", {"language": "en", "back": first})

        assert answer.headers["location"] == first
        page = parsed(ana.get(first))
        assert page.get("lang") == "en"
        names = [one.text for one in page.findall(".//span[@class='name'][@id]")]
        assert names == ["relevant", "partially relevant", "irrelevant", "don't know"]

    def test_one_that_is_not_offered_is_refused(self, ana: Browser) -> None:
        assert ana.post("/language", {"language": "fr"}).status_code == 422

    @pytest.mark.parametrize(
        ("asked", "shown"), [("en-GB,en;q=0.9", "en"), ("fr", "pt-BR"), ("", "pt-BR")]
    )
    def test_before_signing_in_the_browser_says_it(
        self, screen: Screen, asked: str, shown: str
    ) -> None:
        answer = screen.client().get("/", headers={"Accept-Language": asked})

        assert parsed(answer).get("lang") == shown


class TestPair:
    def test_it_shows_the_query_and_the_act(self, ana: Browser) -> None:
        page = parsed(ana.get(f"/pair/{ana.pair_of('7', 'ATO-2')}"))
        text = " ".join(page.text_content().split())

        assert page.findtext(".//h1") == "concessão de diárias e passagens"
        assert "nº 7" in text
        assert page.findtext(".//h2[@id='title']") == "Resolução nº 20, de 2010"
        assert "Sem assunto informado" in text
        facts = {
            one.findtext("dt"): one.findtext("dd")
            for one in page.findall(".//dl[@class='facts']/div")
        }
        assert facts == {
            "Situação": "Vigente",
            "Em vigor desde": "não informado",
            "Tipo": "Portaria",
            "Número": "ATO-2",
        }
        assert "de 3" in page.findtext(".//p[@id='counter']")

    def test_the_highest_grade_comes_first_and_none_is_chosen(self, ana: Browser) -> None:
        page = parsed(ana.get(f"/pair/{ana.pairs[0]}"))
        radios = page.findall(".//input[@name='choice']")

        assert [radio.get("value") for radio in radios] == ["2", "1", "0", "unknown"]
        assert [radio.get("data-key") for radio in radios] == ["1", "2", "3", "4"]
        assert [radio for radio in radios if radio.get("checked") is not None] == []
        meanings = [page.get_element_by_id(radio.get("aria-describedby")).text for radio in radios]
        assert meanings == [
            "significa relevante",
            "significa parcialmente relevante",
            "significa irrelevante",
            "não dá para avaliar",
        ]

    @pytest.mark.parametrize(
        ("given", "shown"),
        [
            ({"grade": 0}, ["0"]),
            ({"choice": "unknown", "grade": None}, ["unknown"]),
            ({"choice": "skipped", "grade": None}, []),
        ],
    )
    def test_an_answer_is_there_after_a_reload(
        self, ana: Browser, given: dict[str, object], shown: list[str]
    ) -> None:
        first = ana.pairs[0]
        ana.answer(first, comment="talvez", **given)

        page = parsed(ana.get(f"/pair/{first}"))

        radios = page.findall(".//input[@name='choice']")
        assert [one.get("value") for one in radios if one.get("checked") is not None] == shown
        assert page.findtext(".//textarea[@id='comment']") == "talvez"

    def test_a_document_without_html_shows_its_text(self, ana: Browser) -> None:
        assert ana.get("/document/ATO-3").text.strip() == "<p>Tomada de contas especial.</p>"

    def test_an_unknown_document_does_not_exist(self, ana: Browser) -> None:
        assert ana.get("/document/ATO-99").status_code == 404


class TestAnswer:
    def test_it_is_saved_with_its_comment_and_time(self, screen: Screen, ana: Browser) -> None:
        first, second = ana.pairs[:2]

        answer = ana.answer(first, grade=1, comment="quase", seconds=12.25)

        assert answer.json() == {"saved": True, "next": f"/pair/{second}", "event": 1}
        task = screen.store.task(ana.person_id, first)
        assert task is not None
        assert task.answer is not None
        assert (task.answer.grade, task.answer.comment) == (1, "quase")
        assert task.answer.seconds == 12.25

    def test_a_change_of_mind_counts(self, ana: Browser) -> None:
        first = ana.pairs[0]
        ana.answer(first, grade=2, submission_id="first-choice")
        ana.answer(first, grade=0, submission_id="second-choice")

        assert ana.stored(first) == ("grade", 0)

    def test_undo_shows_and_takes_back_the_last_change(self, ana: Browser) -> None:
        first, second = ana.pairs[:2]
        ana.answer(first, grade=2)
        ana.answer(second, grade=1)
        ana.answer(first, grade=0, submission_id="changed-my-mind")

        shown = parsed(ana.get(f"/pair/{second}")).get_element_by_id("last-change").get("value")
        for _ in range(2):
            answer = ana.submit("/undo", {"event": shown})
            assert answer.headers["location"] == f"/pair/{first}"

        assert shown == "3"
        assert ana.stored(first) == ("grade", 2)
        assert ana.stored(second) == ("grade", 1)

    def test_undo_without_an_answer_leads_to_the_progress(self, ana: Browser) -> None:
        first = ana.pairs[0]
        page = parsed(ana.get(f"/pair/{first}"))
        shown = page.get_element_by_id("last-change").get("value")
        assert ana.submit("/undo", {"event": shown}).headers["location"] == "/"

    def test_undo_without_saying_which_answer_takes_back_none(self, ana: Browser) -> None:
        first = ana.pairs[0]
        ana.answer(first)

        assert ana.submit("/undo", {}).status_code == 422
        assert ana.stored(first) == ("grade", 2)

    def test_undo_takes_back_no_answer_of_somebody_else(self, enter: Enter, ana: Browser) -> None:
        bruno = enter("Bruno")
        event = bruno.answer(bruno.pairs[0]).json()["event"]

        assert ana.submit("/undo", {"event": event}).headers["location"] == "/"
        assert bruno.stored(bruno.pairs[0]) == ("grade", 2)

    def test_without_scripts_a_form_does(self, ana: Browser) -> None:
        first, second, third = ana.pairs[:3]
        fields = {"comment": "", "submission_id": "of-the-form-1"}

        answer = ana.submit(f"/pair/{first}/answer", fields | {"choice": "2"})
        assert answer.headers["location"] == f"/pair/{second}"
        fields["submission_id"] = "of-the-form-2"
        answer = ana.submit(f"/pair/{second}/answer", fields | {"choice": "unknown"})

        assert answer.headers["location"] == f"/pair/{third}"
        assert ana.stored(first) == ("grade", 2)
        assert ana.stored(second) == ("unknown", None)

    def test_an_answer_to_what_has_changed_is_asked_about(self, ana: Browser) -> None:
        first = ana.pairs[0]
        ana.answer(first, grade=1, comment="quase")

        refused = ana.answer(first, grade=0, submission_id="from-an-old-page", based_on=0)

        assert refused.status_code == 412
        assert refused.json()["current"] == {
            "choice": "grade",
            "grade": 1,
            "comment": "quase",
            "event": 1,
            "name": "parcialmente relevante",
        }
        fields = {"choice": "0", "submission_id": "of-an-old-form", "based_on": "0"}
        page = ana.submit(f"/pair/{first}/answer", fields)
        assert page.status_code == 412
        assert "recarregue a página e responda de novo" in page.text
        assert ana.stored(first) == ("grade", 1)

    def test_a_closed_campaign_takes_none(self, screen: Screen, ana: Browser) -> None:
        first = ana.pairs[0]
        screen.store.close_campaign()

        answer = ana.answer(first)

        assert answer.status_code == 409
        assert answer.json()["message"] == "Respostas e sugestões não são mais aceitas."
        page = parsed(ana.get(f"/pair/{first}"))
        assert page.find(".//fieldset[@class='choices']").get("disabled") is not None
        assert "encerrada" in page.text_content()

    def test_a_database_that_cant_be_used_is_no_refusal(self, screen: Screen, ana: Browser) -> None:
        first = ana.pairs[0]
        with sqlite3.connect(screen.store.path) as connection:
            connection.execute("ALTER TABLE events RENAME TO hidden")

        for answer in (ana.answer(first), ana.get(f"/pair/{first}")):
            assert answer.status_code == 503
            assert str(screen.store.path) not in answer.text
        with sqlite3.connect(screen.store.path) as connection:
            connection.execute("ALTER TABLE hidden RENAME TO events")

        assert ana.answer(first).json()["saved"]


class TestProgress:
    def test_it_counts_by_query(self, ana: Browser) -> None:
        ana.answer(ana.pair_of("7", "ATO-1"))
        ana.answer(ana.pair_of("7", "ATO-2"), choice="skipped", grade=None)
        ana.answer(ana.pair_of("12", "ATO-1"), choice="unknown", grade=None)

        page = parsed(ana.get("/"))

        assert "2 de 6 documentos avaliados" in page.text_content()
        rows = {
            row.find(".//a").text: [cell.text_content().replace("\xa0", "") for cell in row][1:]
            for row in page.findall(".//tbody/tr")
        }
        assert {name: [cell.strip() for cell in cells] for name, cells in rows.items()} == {
            "concessão de diárias e passagens": ["1/3", "1", "0"],
            'prazo para "tomada de contas"': ["1/3", "0", "0"],
        }

    def test_it_leads_to_where_one_stopped(self, ana: Browser) -> None:
        for pair_id in ana.pairs[:2]:
            ana.answer(pair_id)

        page = parsed(ana.get("/"))

        assert page.get_element_by_id("resume").get("href") == f"/pair/{ana.pairs[2]}"

    def test_it_leads_back_to_the_skipped(self, ana: Browser) -> None:
        assert ana.get("/skipped").headers["location"] == "/"
        for pair_id in ana.pairs:
            ana.answer(pair_id, choice="skipped", grade=None)
        ana.answer(ana.pairs[0], submission_id="judged-after-all")

        assert "Ver os pulados (5)" in ana.get("/").text
        assert ana.get("/skipped").headers["location"] == f"/pair/{ana.pairs[1]}"

    def test_it_thanks_at_the_end(self, ana: Browser) -> None:
        for pair_id in ana.pairs:
            last = ana.answer(pair_id)

        assert last.json()["next"] == "/"
        assert "Obrigado" in ana.get("/").text


class TestSuggestion:
    def suggest(self, browser: Browser, **changed: object) -> object:
        body = {
            "doc_id": "ATO-5",
            "grade": 2,
            "reason": " trata do tema ",
            "submission_id": "s" * 9,
        }
        return browser.post("/query/7/suggest", body | changed)

    def test_a_document_is_found_by_title_subject_or_number(self, ana: Browser) -> None:
        for words in ("Portaria 55", "reajusta", "DIARIAS passagens"):
            assert "Portaria nº 55, de 2019" in ana.get(f"/search?q={words}&query=7").text

    def test_those_in_the_list_cant_be_picked(self, ana: Browser) -> None:
        page = parsed(ana.get("/search?q=portaria&query=7"))
        disabled = {one.get("value"): one.get("disabled") is not None for one in page.iter("input")}

        assert disabled == {"ATO-1": True, "ATO-4": False, "ATO-5": False}

    @pytest.mark.parametrize(
        "words", ["", '"', "NEAR(", "a* OR b", "a" * 300, "'; --", "%_", "\x00"]
    )
    def test_any_words_can_be_searched(self, ana: Browser, words: str) -> None:
        answer = ana.client.get("/search", params={"q": words, "query": "7"})

        assert answer.status_code == 200

    def test_it_is_kept_with_grade_and_reason(self, screen: Screen, ana: Browser) -> None:
        assert self.suggest(ana).json() == {"saved": True}  # type: ignore[attr-defined]

        (kept,) = screen.store.suggestions(ana.person_id, "7")
        assert (kept.doc_id, kept.grade, kept.reason) == ("ATO-5", 2, "trata do tema")
        shown = ana.get("/query/7/suggestions").text
        assert "Portaria nº 55, de 2019" in shown
        assert "relevante" in shown

    @pytest.mark.parametrize(
        "wrong",
        [
            {"doc_id": "ATO-1"},
            {"doc_id": "ATO-99"},
            {"doc_id": ""},
            {"grade": 7},
            {"grade": None},
            {"reason": "  "},
            {"reason": "a" * 5001},
            {"submission_id": "short"},
        ],
        ids=str,
    )
    def test_what_is_no_suggestion_is_refused(
        self, screen: Screen, ana: Browser, wrong: dict[str, object]
    ) -> None:
        answer = self.suggest(ana, **wrong)

        assert answer.status_code == 422  # type: ignore[attr-defined]
        assert screen.store.suggestions(ana.person_id, "7") == []

    @pytest.mark.parametrize(("language", "said"), [("pt", "não pode ser"), ("en", "can't be")])
    def test_why_a_document_cant_be_suggested_is_not_told(
        self, screen: Screen, ana: Browser, language: str, said: str
    ) -> None:
        with screen.store.database.writing() as connection:
            connection.exec_driver_sql(
                "INSERT INTO pairs (query, document, round) SELECT q.id, d.id, 1"
                " FROM queries q, documents d WHERE q.query_id = '7' AND d.doc_id = 'ATO-5'"
            )
        ana.post("/language", {"language": language})

        own, of_others, unknown = (
            self.suggest(ana, doc_id=doc_id).json()["message"]  # type: ignore[attr-defined]
            for doc_id in ("ATO-1", "ATO-5", "ATO-99")
        )

        assert own == of_others == unknown
        assert said in own

    @pytest.mark.parametrize(
        "path", ["/query/99/suggestions", "/search?q=a&query=99", "/search?q=a"]
    )
    def test_a_query_of_nobody_does_not_exist(self, ana: Browser, path: str) -> None:
        assert ana.get(path).status_code == 404


def test_ids_of_any_text_reach_their_pages(ana: Browser) -> None:
    answer = ana.get("/document/a%2Fb%3Fc%20%23")

    assert answer.status_code == 404
    assert ana.get("/query/a%2Fb/suggestions").status_code == 404


def test_the_server_says_that_it_lives(screen: Screen) -> None:
    assert screen.client().get("/healthz").text == "ok"


def test_any_scale_is_shown(tmp_path: object) -> None:
    from fastapi.testclient import TestClient
    from tests.annotation.web.screens import SIGNING_KEY, campaign

    names = {grade: {"pt": f"nível {grade}", "en": f"level {grade}"} for grade in range(12)}
    store, tokens = campaign(tmp_path / "a.sqlite", names)  # type: ignore[operator]
    with store:
        client = TestClient(create_app(store, ServerSettings(signing_key=SIGNING_KEY)))
        client.get(f"/enter/{tokens['Ana']}")
        store.confirm_instructions(1)
        pair_id = store.next_open(1).pair_id  # type: ignore[union-attr]

        page = lxml_html.document_fromstring(client.get(f"/pair/{pair_id}").text)

    radios = page.findall(".//input[@name='choice']")
    assert [one.get("value") for one in radios] == [*map(str, range(11, -1, -1)), "unknown"]
    keys = [one.get("data-key") for one in radios]
    assert keys == [*"1234567890", "", "", ""]
