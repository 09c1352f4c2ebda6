"""Who may do what: sessions, tokens, links, headers, limits."""

import re
from collections.abc import Callable

import pytest
from tests.annotation.web.conftest import Browser, Screen
from tests.annotation.web.screens import ADMINISTRATOR, SIGNING_KEY

from normastcu.annotation.web.security import (
    LARGEST_BODY,
    SESSION_SECONDS,
    Sessions,
    SignInLimit,
)

Enter = Callable[[str], Browser]
PAGES = ("/", "/instructions", "/skipped", "/pair/1", "/document/ATO-1", "/search?q=a", "/admin")
CHANGES = ("/pair/1/answer", "/undo", "/query/7/suggest", "/instructions", "/language", "/leave")


def test_a_link_becomes_a_cookie_and_leaves_the_address(screen: Screen) -> None:
    answer = screen.client().get(f"/enter/{screen.tokens['Ana']}", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie = answer.headers["set-cookie"]
    assert screen.tokens["Ana"] not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie
    assert "Domain" not in cookie


def test_under_tls_the_cookie_is_secure_and_of_this_host(screen: Screen) -> None:
    client = screen.client(secure_cookies=True)

    cookie = client.get(f"/enter/{screen.tokens['Ana']}", follow_redirects=False).headers[
        "set-cookie"
    ]

    assert cookie.startswith("__Host-")
    assert "Secure" in cookie
    assert client.get("/instructions").status_code == 200


def test_a_link_opens_on_a_second_device_until_it_is_renewed(screen: Screen, ana: Browser) -> None:
    second = Browser(screen, "Ana")
    assert ana.answer(ana.pairs[0], grade=1).status_code == 200
    assert second.stored(ana.pairs[0]) == ("grade", 1)

    second.post("/leave")
    assert second.get("/").status_code == 401
    assert ana.get("/").status_code == 200
    third = Browser(screen, "Ana")
    screen.store.renew_token("Ana")

    assert [device.get("/").status_code for device in (ana, third)] == [401, 401]
    assert screen.client().get(f"/enter/{screen.tokens['Ana']}").status_code == 401


def test_no_page_holds_a_token(screen: Screen, ana: Browser) -> None:
    for path in ("/", "/instructions", f"/pair/{ana.pairs[0]}"):
        text = ana.get(path).text
        assert not any(token in text for token in screen.tokens.values())


@pytest.mark.parametrize("path", PAGES)
def test_without_a_session_no_page_is_shown(screen: Screen, path: str) -> None:
    answer = screen.client().get(path)

    assert answer.status_code == 401
    assert "diárias" not in answer.text


@pytest.mark.parametrize("path", [*CHANGES, "/admin/adjudicate"])
def test_without_a_session_nothing_changes(screen: Screen, path: str) -> None:
    assert screen.client().post(path, json={}).status_code == 401


def test_another_assessors_pair_does_not_exist(screen: Screen, enter: Enter) -> None:
    ana, bruno, carla = enter("Ana"), enter("Bruno"), enter("Carla")
    for one, grade in ((bruno, 0), (carla, 2)):
        one.answer(one.pair_of("7", "ATO-1"), grade=grade, submission_id=f"grade-is-{grade}")
    screen.store.start_adjudication(["Bruno"], [("7", "ATO-1")])
    (others,) = set(bruno.pairs) - set(ana.pairs)
    bruno.answer(others, comment="só de Bruno")

    shown = ana.get(f"/pair/{others}")
    assert shown.status_code == 404
    assert "só de Bruno" not in shown.text
    assert ana.answer(others, grade=0).status_code == 404
    assert ana.get(f"/document/ATO-1?highlight={others}").status_code == 404
    assert bruno.stored(others) == ("grade", 2)


def test_no_page_shows_what_others_did(screen: Screen, enter: Enter) -> None:
    ana, bruno = enter("Ana"), enter("Bruno")
    for pair_id in bruno.pairs:
        bruno.answer(pair_id, comment="palavra-de-Bruno", submission_id=f"bruno-{pair_id:08}")
    suggestion = {"doc_id": "ATO-5", "grade": 2, "reason": "palavra-de-Bruno"}
    bruno.post("/query/7/suggest", suggestion | {"submission_id": "bruno-suggests"})

    paths = ["/", "/instructions", "/query/7/suggestions", "/search?q=portaria&query=7"]
    for path in [*paths, *(f"/pair/{pair_id}" for pair_id in ana.pairs)]:
        text = ana.get(path).text
        assert "Bruno" not in text
    assert "0 de 6 documentos" in ana.get("/").text


@pytest.mark.parametrize("path", ["/admin", "/admin/export"])
def test_the_administration_is_closed_to_assessors(ana: Browser, path: str) -> None:
    assert ana.get(path).status_code == 403


def test_assessors_start_no_adjudication(screen: Screen, ana: Browser) -> None:
    answer = ana.submit("/admin/adjudicate", {"assessor": "Ana", "pair": '["7", "ATO-1"]'})

    assert answer.status_code == 403
    assert len(ana.pairs) == 6


@pytest.mark.parametrize(
    "token", [None, "", "forged", "WyJhIl0.aaaa.bbbb"], ids=["none", "empty", "words", "shape"]
)
def test_a_change_needs_a_token(ana: Browser, token: str | None) -> None:
    ana.csrf = token or ""

    for path in CHANGES:
        assert ana.post(path, {}).status_code == 403
    assert ana.answer(ana.pairs[0]).status_code == 403
    assert ana.stored(ana.pairs[0]) is None


def test_a_token_of_somebody_else_or_of_an_earlier_session_is_refused(
    screen: Screen, enter: Enter
) -> None:
    ana, earlier, bruno = enter("Ana"), enter("Ana"), enter("Bruno")

    for foreign in (earlier.csrf, bruno.csrf, ana.client.cookies["assessment"]):
        ana.csrf = foreign
        assert ana.answer(ana.pairs[0]).status_code == 403
    assert ana.stored(ana.pairs[0]) is None


def test_a_replayed_answer_counts_once(screen: Screen, ana: Browser) -> None:
    first = ana.pairs[0]
    ana.answer(first, grade=2, submission_id="the-same-one")
    ana.answer(first, grade=1, submission_id="another-one")

    assert ana.answer(first, grade=2, submission_id="the-same-one").status_code == 200
    assert ana.stored(first) == ("grade", 1)


@pytest.mark.parametrize("origin", ["cross-site", "same-site"])
def test_a_change_from_another_site_is_refused(ana: Browser, origin: str) -> None:
    answer = ana.post("/undo", {}, headers={"Sec-Fetch-Site": origin})

    assert answer.status_code == 403


def test_a_revoked_link_ends_its_session_at_once(screen: Screen, ana: Browser) -> None:
    assert ana.get("/").status_code == 200

    screen.store.revoke("Ana")

    assert ana.get("/").status_code == 401
    assert ana.post("/undo", {}).status_code == 401
    again = screen.client().get(f"/enter/{screen.tokens['Ana']}", follow_redirects=False)
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_a_renewed_link_ends_the_sessions_of_the_old_one(screen: Screen, ana: Browser) -> None:
    screen.tokens["Ana"] = screen.store.renew_token("Ana")

    assert ana.get("/").status_code == 401
    assert Browser(screen, "Ana").get("/").status_code == 200


def test_a_session_signed_with_another_key_is_none(screen: Screen, ana: Browser) -> None:
    forger = Sessions(SIGNING_KEY[::-1], secure=False)
    session = forger.begin(ana.person_id, 1)
    client = screen.client()
    client.cookies.set("assessment", forger.sealed(session))

    assert client.get("/").status_code == 401


def test_a_token_for_changes_is_no_session() -> None:
    sessions = Sessions(SIGNING_KEY, secure=False)
    session = sessions.begin(1, 1)

    assert sessions.read(sessions.change_token(session)) is None
    assert not sessions.may_change(session, sessions.sealed(session))


def test_sessions_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(SIGNING_KEY, secure=False)
    sealed = sessions.sealed(sessions.begin(1, 1))
    clock = "itsdangerous.timed.time.time"
    now = __import__("time").time()

    monkeypatch.setattr(clock, lambda: now + SESSION_SECONDS - 60)
    assert sessions.read(sealed) is not None
    monkeypatch.setattr(clock, lambda: now + SESSION_SECONDS + 60)
    assert sessions.read(sealed) is None


def test_signing_out_forgets_the_session(ana: Browser) -> None:
    answer = ana.submit("/leave", {})

    assert answer.headers["location"] == "/"
    assert ana.get("/").status_code == 401


@pytest.mark.parametrize(
    "path",
    ["/", "/instructions", "/static/screen.css", "/nothing", "/enter/wrong", "/healthz", "/pair/0"],
)
def test_every_answer_has_the_protective_headers(ana: Browser, path: str) -> None:
    headers = ana.get(path).headers

    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] in ("same-origin", "no-referrer")
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")


def test_a_fault_is_said_without_its_cause(
    screen: Screen, ana: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_person_id: int) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(screen.store, "total_progress", fail)
    answer = ana.get("/")

    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "As respostas confirmadas estão guardadas" in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_bad_link_is_not_repeated_anywhere(ana: Browser) -> None:
    answer = ana.get("/enter/almost-a-token")

    assert answer.status_code == 401
    assert "almost-a-token" not in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_pages_hold_no_inline_script_style_or_handler(screen: Screen, ana: Browser) -> None:
    administrator = Browser(screen, ADMINISTRATOR)
    pages = [ana.get(path).text for path in ("/", "/instructions", f"/pair/{ana.pairs[0]}")]

    for text in [*pages, administrator.get("/admin").text]:
        scripts = re.findall(r"<script([^>]*)>", text)
        assert all("src=" in script or "application/json" in script for script in scripts)
        assert not re.search(r"<style|\sstyle=|<[a-z]+[^>]*\son[a-z]+=|https?://", text)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2fstore.py",
        "/static//etc/passwd",
        "/static/..%5capp.py",
        "/static/",
        "/static",
        "/document/..%2f..%2fetc%2fpasswd",
    ],
)
def test_only_static_files_are_served(ana: Browser, path: str) -> None:
    answer = ana.get(path)

    assert answer.status_code in (307, 404)
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_the_interface_is_not_described_to_visitors(ana: Browser, path: str) -> None:
    assert ana.get(path).status_code == 404


class TestSignInLimit:
    def test_failures_close_the_door_for_a_while(self, screen: Screen) -> None:
        client = screen.client()
        for _ in range(10):
            assert client.get("/enter/wrong").status_code == 401

        closed = client.get(f"/enter/{screen.tokens['Ana']}", follow_redirects=False)
        assert closed.status_code == 429
        assert closed.headers["retry-after"] == "60"
        assert "set-cookie" not in closed.headers

        screen.clock.now += 60
        opened = client.get(f"/enter/{screen.tokens['Ana']}", follow_redirects=False)
        assert opened.status_code == 303

    def test_who_has_a_session_is_not_hindered(self, ana: Browser) -> None:
        for _ in range(11):
            ana.get("/enter/wrong")

        assert ana.get("/").status_code == 200

    def test_addresses_are_counted_apart_and_forgotten(self) -> None:
        limit = SignInLimit(lambda: 0.0, failures=2, seconds=5, addresses=2)
        for address in ("a", "a", "b", "b"):
            limit.note_failure(address)
        assert [limit.seconds_to_wait(address) for address in "abc"] == [5, 5, 0]

        limit.note_failure("c")

        assert [limit.seconds_to_wait(address) for address in "abc"] == [0, 5, 0]


class TestBodies:
    @pytest.mark.parametrize("size", [LARGEST_BODY + 1, 5_000_000])
    def test_a_large_body_is_refused(self, ana: Browser, size: int) -> None:
        answer = ana.client.post("/undo", content=b"a" * size)

        assert answer.status_code == 413

    def test_a_large_body_of_undeclared_size_is_refused(self, ana: Browser) -> None:
        answer = ana.client.post("/undo", content=(b"a" * 1000 for _ in range(100)))

        assert answer.status_code == 413

    @pytest.mark.parametrize("comment", ["a" * 5001, "é" * 5001])
    def test_an_oversized_comment_is_refused(self, ana: Browser, comment: str) -> None:
        answer = ana.answer(ana.pairs[0], comment=comment)

        assert answer.status_code == 422
        assert "5000" in answer.json()["message"]
        assert ana.stored(ana.pairs[0]) is None

    def test_the_longest_comment_is_kept(self, screen: Screen, ana: Browser) -> None:
        comment = "😀" * 5000

        assert ana.answer(ana.pairs[0], comment=comment).status_code == 200
        task = screen.store.task(ana.person_id, ana.pairs[0])
        assert task is not None
        assert task.answer is not None
        assert task.answer.comment == comment

    @pytest.mark.parametrize(
        ("content", "kind", "status"),
        [
            (b"{", "application/json", 422),
            (b"[]", "application/json", 415),
            (b"[" * 50_000, "application/json", 422),
            (b"\xff\xfe", "application/json", 422),
            (b"a=%ff", "application/x-www-form-urlencoded", 403),
            (b"a=1&" * 5000, "application/x-www-form-urlencoded", 422),
            (b"<a/>", "text/xml", 415),
        ],
    )
    def test_what_is_no_form_is_refused(
        self, ana: Browser, content: bytes, kind: str, status: int
    ) -> None:
        answer = ana.client.post("/undo", content=content, headers={"Content-Type": kind})

        assert answer.status_code == status

    @pytest.mark.parametrize(
        "wrong",
        [
            {"choice": "relevant"},
            {"choice": None},
            {"grade": 3},
            {"grade": -1},
            {"grade": None},
            {"grade": 1.5},
            {"grade": 10**30},
            {"grade": True, "choice": "unknown"},
            {"choice": "unknown"},
            {"choice": "skipped", "grade": 0},
            {"seconds": -1},
            {"seconds": "NaN"},
            {"comment": None},
            {"submission_id": ""},
            {"submission_id": "a" * 65},
            {"submission_id": "'; DROP TABLE answers"},
        ],
        ids=str,
    )
    def test_what_is_no_answer_is_refused(self, ana: Browser, wrong: dict[str, object]) -> None:
        assert ana.answer(ana.pairs[0], **wrong).status_code == 422
        assert ana.stored(ana.pairs[0]) is None

    @pytest.mark.parametrize("pair_id", ["0", "-1", "a", "1e3", str(2**63), "9" * 40, "%00"])
    def test_what_is_no_pair_does_not_exist(self, ana: Browser, pair_id: str) -> None:
        assert ana.get(f"/pair/{pair_id}").status_code == 404


def test_titles_subjects_and_queries_are_text(ana: Browser) -> None:
    page = ana.get(f"/pair/{ana.pair_of('7', 'ATO-1')}").text
    hits = ana.get("/search?q=portaria&query=7").text

    for text in (page, hits):
        assert "<img" not in text
        assert "&lt;img src=x onerror=" in text
    assert "Regulamenta &lt;b&gt;diárias&lt;/b&gt;." in page
    assert page.count("</title>") == 1


def test_a_document_comes_sanitised(ana: Browser) -> None:
    pair_id = ana.pair_of("7", "ATO-1")

    shown = ana.get(f"/document/ATO-1?highlight={pair_id}").text

    assert "<mark>diárias</mark>" in shown
    assert not re.search(r"<(script|img|svg|form|input|meta|style|iframe|a|object|link)", shown)
    assert "onclick" not in shown
    assert "tracker" not in shown


@pytest.mark.parametrize(
    "back", ["//tracker.example", "https://tracker.example", "/\\tracker.example", "javascript:x"]
)
def test_changing_the_language_leads_nowhere_else(ana: Browser, back: str) -> None:
    answer = ana.submit("/language", {"language": "en", "back": back})

    assert answer.headers["location"] == "/"


def test_a_comment_is_text_everywhere(ana: Browser) -> None:
    first = ana.pairs[0]
    ana.answer(first, comment='</textarea><script>x()</script>"')

    page = ana.get(f"/pair/{first}").text

    assert "&lt;/textarea&gt;&lt;script&gt;x()&lt;/script&gt;&#34;" in page
    assert "<script>x()" not in page
