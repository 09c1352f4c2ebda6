"""People judge in real browsers, and the store holds exactly what they clicked."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.annotation.web.screens import campaign
from tests.browser.conftest import Enter, Server, Site, wait_until

READY = "#save-state:not(:empty)"
SAVED = "#save-state[data-state=saved]"
GRADES = {"1": 2, "2": 1, "3": 0}


def judged_pair(page: Page) -> tuple[str, str]:
    """Return the query and the document on the page."""
    query = re.findall(r"nº (\S+)", page.inner_text(".query .eyebrow"))[0]
    return query, page.inner_text(".facts div:last-child dd")


def result(key: str) -> tuple[str, int | None]:
    return ("unknown", None) if key == "4" else ("grade", GRADES[key])


def begin(page: Page) -> None:
    """Go to the first pair and wait until its scripts run."""
    page.click("#resume")
    page.locator(READY).wait_for()


def by_mouse(page: Page, key: str) -> None:
    page.locator(f".choice:has([data-key='{key}'])").click()
    expect(page.locator(SAVED)).to_be_visible()


def by_keyboard(page: Page, key: str) -> None:
    page.keyboard.press(key)
    expect(page.locator(SAVED)).to_be_visible()


def go_on(page: Page) -> None:
    """Press Enter, and wait for the page after it."""
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator(f"{READY}, #main h1:text('Seu progresso')").first.wait_for()


def answer_elsewhere(site: Site, page: Page, grade: int, comment: str = "") -> None:
    """Answer Ana's pair that a page shows on another device."""
    site.store.answer(
        site.person_id("Ana"),
        int(page.url.rsplit("/", 1)[1]),
        choice="grade",
        grade=grade,
        comment=comment,
        seconds=1,
        submission_id=f"elsewhere-{grade}",
    )


def test_four_people_judge_at_once(site: Site, enter: Enter) -> None:
    keys = {"Ana": "123412", "Bruno": "332211", "Carla": "444321", "Davi": "121212"}
    ways = {"Ana": by_mouse, "Bruno": by_keyboard, "Carla": by_keyboard, "Davi": by_mouse}
    pages = {name: enter(name) for name in keys}
    clicked: dict[str, dict[tuple[str, str], tuple[str, int | None]]] = {name: {} for name in keys}
    for page in pages.values():
        begin(page)

    for turn in range(6):
        for name, page in pages.items():
            key = keys[name][turn]
            clicked[name][judged_pair(page)] = result(key)
            ways[name](page, key)
        for page in pages.values():
            go_on(page)

    for name, page in pages.items():
        expect(page.get_by_text("Você avaliou todos os documentos")).to_be_visible()
        assert site.answers(name) == clicked[name]


def test_minds_change_and_changes_are_taken_back(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    by_keyboard(page, "1")
    by_mouse(page, "3")
    assert site.answers("Ana") == {pair: ("grade", 0)}

    with page.expect_navigation():
        page.keyboard.press("u")
    page.locator(READY).wait_for()
    expect(page.locator("[data-key='1']")).to_be_checked()
    assert site.answers("Ana") == {pair: ("grade", 2)}

    go_on(page)
    second = judged_pair(page)
    by_keyboard(page, "4")
    with page.expect_navigation():
        page.keyboard.press("ArrowLeft")
    page.locator(READY).wait_for()
    assert judged_pair(page) == pair
    by_keyboard(page, "2")

    assert site.answers("Ana") == {pair: ("grade", 1), second: ("unknown", None)}


def test_of_quick_presses_the_last_counts(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)

    for key in "1234123":
        page.keyboard.press(key)
    go_on(page)

    assert site.answers("Ana") == {pair: ("grade", 0)}


def hold(page: Page, key: str) -> None:
    """Press a key until it has repeated itself twice."""
    for _ in range(3):
        page.keyboard.down(key)


def test_a_key_that_is_held_acts_once(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pairs = []
    page.check("#go-on")
    page.locator("#main").focus()
    for key in ("1", "2", "s"):
        pairs.append(judged_pair(page))
        with page.expect_navigation():
            page.keyboard.down(key)
        page.locator(READY).wait_for()
        hold(page, key)
        page.keyboard.up(key)
    assert judged_pair(page) not in pairs
    given = dict(zip(pairs, [("grade", 2), ("grade", 1), ("skipped", None)], strict=True))
    assert site.answers("Ana") == given

    with page.expect_navigation():
        page.keyboard.down("u")
    page.locator(READY).wait_for()
    hold(page, "u")
    page.keyboard.up("u")
    assert judged_pair(page) == pairs.pop()
    go_on(page)
    assert site.answers("Ana") == {pairs[0]: ("grade", 2), pairs[1]: ("grade", 1)}


def test_undo_pressed_twice_takes_back_one_answer(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    by_keyboard(page, "1")
    go_on(page)
    by_keyboard(page, "2")

    page.dblclick("#undo")
    page.wait_for_load_state()
    page.locator(READY).wait_for()
    go_on(page)

    assert site.answers("Ana") == {pair: ("grade", 2)}


def test_the_arrows_move_and_space_chooses(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert site.answers("Ana") == {}
    expect(page.locator("[data-key='2']")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator(SAVED)).to_be_visible()

    assert site.answers("Ana") == {pair: ("grade", 1)}
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("[data-key='1']")).to_be_checked()
    expect(page.locator(SAVED)).to_be_visible()
    assert site.answers("Ana") == {pair: ("grade", 2)}


def test_comment_skip_and_reload(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    address = page.url

    page.keyboard.press("c")
    page.keyboard.type("Dúvida: 1, 2 ou u?")
    page.keyboard.press("Escape")
    expect(page.get_by_text("O comentário será salvo junto com a resposta.")).to_be_visible()
    page.reload()
    expect(page.locator("#comment")).to_have_value("Dúvida: 1, 2 ou u?")
    with page.expect_navigation():
        page.keyboard.press("s")

    assert site.answers("Ana") == {pair: ("skipped", None)}
    page.locator(READY).wait_for()
    page.keyboard.press("p")
    page.get_by_text("Ver os pulados (1)").click()
    page.locator(READY).wait_for()
    assert page.url == address
    expect(page.locator("#comment")).to_have_value("Dúvida: 1, 2 ou u?")
    by_keyboard(page, "2")
    task = site.store.task(site.person_id("Ana"), int(address.rsplit("/", 1)[1]))
    assert task is not None
    assert task.answer is not None
    assert (task.answer.grade, task.answer.comment) == (1, "Dúvida: 1, 2 ou u?")
    assert 0 < task.answer.seconds < 600


@pytest.mark.parametrize("is_judged", [True, False])
def test_a_comment_outlives_the_page_at_once(site: Site, enter: Enter, is_judged: bool) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    if is_judged:
        by_keyboard(page, "1")

    page.keyboard.press("c")
    page.keyboard.type("em parte")
    page.reload()
    page.locator(READY).wait_for()

    expect(page.locator("#comment")).to_have_value("em parte")
    if not is_judged:
        by_keyboard(page, "1")
    expect(page.locator(SAVED)).to_be_visible()
    page.reload()
    page.locator(READY).wait_for()
    assert site.answers("Ana") == {pair: ("grade", 2)}
    comments = list(site.store.answers()["comment"])
    assert comments == (["", "em parte"] if is_judged else ["em parte"])


def test_a_comment_is_sent_when_the_page_is_left(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    by_keyboard(page, "1")
    page.keyboard.press("c")
    page.keyboard.type("em parte")

    with page.expect_response("**/answer"):
        page.goto(f"{site.server.address}/instructions")
    wait_until(page, "document.querySelector('#waiting').hidden")
    page.reload()

    assert list(site.store.answers()["comment"]) == ["", "em parte"]


def test_a_draft_does_not_replace_a_comment_from_elsewhere(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    page.keyboard.press("c")
    page.keyboard.type("rascunho")
    answer_elsewhere(site, page, grade=1, comment="do tablet")

    page.reload()
    page.locator(READY).wait_for()
    expect(page.locator("#comment")).to_have_value("do tablet\nrascunho")
    expect(page.locator(SAVED)).to_be_visible()

    assert site.answers("Ana") == {pair: ("grade", 1)}
    assert list(site.store.answers()["comment"]) == ["do tablet", "do tablet\nrascunho"]


@pytest.mark.parametrize("key", ["1", "4"])
def test_skipping_a_judged_document_only_moves_on(site: Site, enter: Enter, key: str) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    by_keyboard(page, key)

    with page.expect_navigation():
        page.keyboard.press("s")
    page.locator(READY).wait_for()

    assert judged_pair(page) != pair
    assert site.answers("Ana") == {pair: result(key)}


def test_an_answer_can_lead_on_by_itself(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    page.check("#go-on")

    for key in "1234":
        with page.expect_navigation():
            page.keyboard.press(key)
        page.locator(READY).wait_for()

    assert [answer for _, answer in site.answers("Ana").items()].count(("unknown", None)) == 1
    assert len(site.answers("Ana")) == 4


def test_who_reads_the_document_by_keyboard_goes_on_by_keyboard(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    for key in ("d", "d", "d", "Escape"):
        page.keyboard.press(key)
    expect(page.locator("#document")).to_be_hidden()
    by_keyboard(page, "2")

    go_on(page)

    assert judged_pair(page) != pair
    page.click("#open-document")
    page.click("#close-document")
    expect(page.locator("#open-document")).to_be_focused()


def test_single_keys_can_be_switched_off(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.uncheck("#keys-on")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()

    page.keyboard.press("1")
    page.keyboard.press("d")

    expect(page.locator("#document")).to_be_hidden()
    assert site.answers("Ana") == {}
    by_mouse(page, "1")


def test_a_document_is_suggested_by_keyboard(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    query, _ = judged_pair(page)

    page.keyboard.press("g")
    page.keyboard.type("reajusta")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit input")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("Fixa os valores; 1 a 4.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Sugestão salva.")).to_be_visible()
    expect(page.locator(".suggested li")).to_have_count(1)
    (kept,) = site.store.suggestions(site.person_id("Ana"), query)
    assert (kept.doc_id, kept.grade, kept.reason) == ("ATO-5", 2, "Fixa os valores; 1 a 4.")
    assert site.answers("Ana") == {}


def test_two_tabs_show_one_answer(site: Site, enter: Enter) -> None:
    first = enter("Ana")
    begin(first)
    second = first.context.new_page()
    second.goto(first.url)

    by_mouse(first, "1")
    expect(second.locator("[data-key='1']")).to_be_checked()
    by_mouse(second, "3")
    expect(first.locator("[data-key='3']")).to_be_checked()

    assert list(site.answers("Ana").values()) == [("grade", 0)]


def test_a_tab_of_somebody_else_shows_nothing_of_it(site: Site, enter: Enter) -> None:
    ana = enter("Ana")
    begin(ana)
    address = ana.url
    site.store.confirm_instructions(site.person_id("Bruno"))
    bruno = ana.context.new_page()
    bruno.goto(f"{site.server.address}/enter/{site.tokens['Bruno']}")
    bruno.goto(address)
    bruno.locator(READY).wait_for()
    ana.evaluate("new BroadcastChannel('end').onmessage = () => { window.ended = true; }")

    by_keyboard(bruno, "1")
    bruno.evaluate("new BroadcastChannel('end').postMessage(null)")
    wait_until(ana, "window.ended")

    assert ana.locator("#answer input[type=radio]:checked").count() == 0
    assert (site.answers("Ana"), len(site.answers("Bruno"))) == ({}, 1)


def test_offline_the_last_choice_is_kept_and_sent_once(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    address = page.url
    site.server.stop()

    page.keyboard.press("1")
    state = page.locator("#save-state")
    expect(state).to_contain_text("Sem conexão. A última escolha está guardada")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(state).to_contain_text("só dá para seguir quando o servidor voltar")
    assert page.url == address
    expect(page.locator("[data-key='3']")).to_be_checked()

    site.server.start()
    expect(page.locator(SAVED)).to_be_visible()

    assert site.answers("Ana") == {pair: ("grade", 0)}
    history = site.store.answers()
    assert len(history) == 1


FULL = """() => {
    Storage.prototype.setItem = () => { throw new DOMException("", "QuotaExceededError"); };
}"""


def test_a_full_storage_keeps_no_choice_from_being_sent(site: Site, enter: Enter) -> None:
    first = enter("Ana")
    begin(first)
    context, pair = first.context, judged_pair(first)
    second = context.new_page()
    second.goto(first.url)
    go_on(second)
    other = judged_pair(second)
    site.server.stop()
    first.keyboard.press("2")
    expect(first.locator("#save-state[data-state=offline]")).to_be_visible()
    first.close()

    second.evaluate(FULL)
    second.keyboard.press("1")
    second.keyboard.press("3")
    site.server.start()
    expect(second.locator(SAVED)).to_be_visible()

    assert site.answers("Ana") == {pair: ("grade", 1), other: ("grade", 0)}


def test_a_full_storage_brings_no_earlier_choice_back(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    site.server.stop()
    page.keyboard.press("1")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()
    page.evaluate(FULL)
    page.keyboard.press("3")
    site.server.start()
    expect(page.locator(SAVED)).to_be_visible()
    page.reload()
    page.locator(READY).wait_for()

    assert site.answers("Ana") == {pair: ("grade", 0)}
    assert len(site.store.answers()) == 1


@pytest.mark.parametrize(
    ("button", "grades"), [("Vale a daqui", [2, 0, 2]), ("Vale a salva", [2, 0])]
)
def test_an_older_choice_replaces_a_newer_one_only_if_the_person_says_so(
    site: Site, enter: Enter, button: str, grades: list[int]
) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    by_keyboard(page, "1")
    site.server.stop()
    page.keyboard.press("2")
    page.keyboard.press("1")
    page.keyboard.press("c")
    page.keyboard.type("visto de novo")
    page.keyboard.press("Escape")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()
    answer_elsewhere(site, page, grade=0, comment="no tablet")

    site.server.start()
    asked = page.get_by_role("region", name="Não aceito").get_by_role("listitem")
    expect(asked).to_contain_text("Aqui: relevante: visto de novo")
    expect(asked).to_contain_text("Salva: irrelevante: no tablet")
    expect(page.locator("[data-key='3']")).to_be_checked()
    expect(page.locator("#comment")).to_have_value("no tablet")
    assert site.answers("Ana") == {pair: ("grade", 0)}

    asked.get_by_role("button", name=button).click()
    expect(asked).to_have_count(0)
    wait_until(page, "!Object.keys(localStorage).some((name) => name.endsWith('.outbox'))")
    assert list(site.store.answers()["grade"]) == grades


def test_a_comment_on_an_old_page_brings_no_old_grade_back(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    by_keyboard(page, "1")
    answer_elsewhere(site, page, grade=0)

    page.keyboard.press("c")
    page.keyboard.type("em parte")
    page.keyboard.press("Escape")
    asked = page.get_by_role("region", name="Não aceito")

    expect(asked).to_contain_text("Aqui: relevante: em parte")
    expect(page.locator("[data-key='3']")).to_be_checked()
    assert site.answers("Ana") == {pair: ("grade", 0)}


def test_a_choice_after_a_lost_confirmation_is_no_change_from_elsewhere(
    site: Site, enter: Enter
) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/answer", lose)
    page.keyboard.press("1")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()
    page.unroute("**/answer")
    page.keyboard.press("3")
    expect(page.locator(SAVED)).to_be_visible()

    expect(page.get_by_role("region", name="Não aceito")).to_be_hidden()
    assert site.answers("Ana") == {pair: ("grade", 0)}


def test_a_closed_tab_sends_what_waits_when_it_is_opened_again(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    address = page.url
    site.server.stop()
    page.keyboard.press("2")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()
    context = page.context
    page.close()

    site.server.start()
    page = context.new_page()
    with page.expect_response("**/answer"):
        page.goto(f"{site.server.address}/instructions")

    assert site.answers("Ana") == {pair: ("grade", 1)}
    page.goto(address)
    expect(page.locator("[data-key='2']")).to_be_checked()


def test_what_waits_from_another_campaign_is_not_sent(
    site: Site, enter: Enter, tmp_path: Path
) -> None:
    page = enter("Ana")
    begin(page)
    site.server.stop()
    page.keyboard.press("2")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()

    store, tokens = campaign(tmp_path / "real.sqlite")
    with store:
        real = Server(store, site.server.port)
        person = store.person_of_token(tokens["Ana"])
        assert person is not None
        store.confirm_instructions(person.id)
        page.goto(f"{real.address}/enter/{tokens['Ana']}")
        begin(page)
        by_keyboard(page, "1")
        real.stop()

        assert list(store.answers()["grade"]) == [2]


def test_a_confirmation_that_got_lost_is_asked_for_again(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            route.fetch()
            lost.append("the confirmation")
            route.abort()

    page.route("**/answer", lose_the_first)
    page.keyboard.press("1")
    expect(page.locator(SAVED)).to_be_visible()

    assert lost
    assert site.answers("Ana") == {pair: ("grade", 2)}
    assert len(site.store.answers()) == 1


def test_a_revoked_link_says_so_and_keeps_the_choice(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair = judged_pair(page)
    site.store.revoke("Ana")

    page.keyboard.press("1")
    expect(page.locator("#save-state")).to_contain_text("A sessão terminou.")

    site.tokens["Ana"] = site.store.renew_token("Ana")
    with page.expect_response("**/answer"):
        page.goto(f"{site.server.address}/enter/{site.tokens['Ana']}")
    assert site.answers("Ana") == {pair: ("grade", 2)}


def test_what_was_chosen_when_the_campaign_was_closed_waits(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    pair, address = judged_pair(page), page.url
    site.store.close_campaign()

    page.keyboard.press("1")
    expect(page.locator("#save-state")).to_contain_text("A campanha está encerrada. A escolha está")
    with page.expect_navigation():
        page.keyboard.press("p")
    expect(page.locator("#waiting")).to_contain_text("será enviada se a campanha for reaberta")
    assert site.answers("Ana") == {}

    site.store.reopen()
    page.goto(address)
    expect(page.locator(SAVED)).to_be_visible()
    assert site.answers("Ana") == {pair: ("grade", 2)}


def test_what_is_not_accepted_stays_in_sight_until_it_is_dismissed(
    site: Site, enter: Enter
) -> None:
    page = enter("Ana")
    begin(page)
    query = page.inner_text("#query-text")
    _, document = judged_pair(page)
    by_keyboard(page, "1")
    by_keyboard(page, "2")
    with site.store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM orders WHERE person = 1")

    page.keyboard.press("3")
    refused = page.get_by_role("region", name="Não aceito")
    expect(refused.get_by_role("listitem")).to_contain_text("irrelevante · ")
    expect(refused).to_contain_text(f"({document}) · {query}")
    expect(refused).to_contain_text("Não foi aceito: Não há nada neste endereço, ou não é seu.")
    expect(page.locator("[data-key='2']")).to_be_checked()

    page.goto(f"{site.server.address}/instructions")
    refused.get_by_role("button", name="Dispensar").click()
    expect(refused).to_be_hidden()
    page.reload()
    expect(refused).to_be_hidden()
    assert list(site.store.answers()["grade"]) == [2, 1]


def test_what_is_not_accepted_is_shown_on_the_page_that_sends_it(site: Site, enter: Enter) -> None:
    page = enter("Ana")
    begin(page)
    site.server.stop()
    page.keyboard.press("1")
    expect(page.locator("#save-state[data-state=offline]")).to_be_visible()
    context = page.context
    page.close()
    with site.store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM orders WHERE person = 1")
    site.server.start()

    page = context.new_page()
    page.goto(f"{site.server.address}/instructions")

    expect(page.get_by_role("region", name="Não aceito")).to_contain_text("relevante")


def test_without_scripts_judging_works(site: Site, enter: Enter) -> None:
    page = enter("Ana", java_script_enabled=False)
    page.click("#resume")
    pair = judged_pair(page)

    page.check("[data-key='2']")
    page.get_by_role("button", name="Salvar e continuar").click()

    assert site.answers("Ana") == {pair: ("grade", 1)}
    assert judged_pair(page) != pair


def test_the_instructions_are_confirmed_once(site: Site, enter: Enter) -> None:
    page = enter("Davi", informed=False)
    expect(page.get_by_role("heading", name="Instruções")).to_be_visible()
    page.get_by_role("button", name="Li e entendi").click()
    page.get_by_role("button", name="EN – English").click()

    expect(page.get_by_role("heading", name="Your progress")).to_be_visible()
    page.get_by_role("link", name="Instructions").click()
    expect(page.get_by_text("You have already confirmed")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 820, 360])
def test_nothing_is_cut_at_the_side(enter: Enter, width: int) -> None:
    page = enter("Ana", viewport={"width": width, "height": 900}, has_touch=width < 1000)
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) == 0
    begin(page)
    assert page.evaluate(wider) == 0
    page.click("#open-document")
    page.locator(".document p").first.wait_for()
    assert page.evaluate(wider) == 0
