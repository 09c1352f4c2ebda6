"""The signing key, the log, and the address."""

import logging
import logging.config
import stat

import pytest
import uvicorn
from pydantic import ValidationError
from starlette.testclient import TestClient
from tests.annotation.campaigns import campaign_settings, prepare

from normastcu.annotation import server
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.server import Address, WithoutLinks, key_path, log_config, signing_key


def test_the_key_is_private_and_survives_a_restart(tmp_path):
    path = tmp_path / "annotation.key"
    key = signing_key(path)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert signing_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_two_databases_have_two_keys(tmp_path):
    assert signing_key(tmp_path / "a.key") != signing_key(tmp_path / "b.key")


@pytest.mark.parametrize(("content", "message"), [("xyz", "can't be used"), ("00ff", "2 bytes")])
def test_a_damaged_key_is_refused(tmp_path, content, message):
    path = tmp_path / "annotation.key"
    path.write_text(content, encoding="ascii")
    with pytest.raises(AnnotationError, match=message):
        signing_key(path)
    assert path.read_text(encoding="ascii") == content


def test_uvicorns_access_log_never_shows_a_link(capsys):
    logging.config.dictConfig(log_config())
    access = logging.getLogger("uvicorn.access")
    access.info('%s - "%s %s HTTP/%s" %d', "::1:5", "GET", "/enter/secret-token?x=1", "1.1", 303)
    logging.getLogger("uvicorn.error").warning("failed at /enter/secret-token")
    said = "".join(capsys.readouterr())
    assert said.count("/enter/…") == 2
    assert "secret-token" not in said


def test_a_record_without_a_link_stays_as_it_is():
    record = logging.LogRecord("x", logging.INFO, "", 0, "%s of %d", ("/pair/7", 20), None)
    assert WithoutLinks().filter(record)
    assert record.getMessage() == "/pair/7 of 20"


@pytest.mark.parametrize(
    ("host", "behind_tls", "exposed"),
    [("127.0.0.1", False, False), ("0.0.0.0", False, True), ("0.0.0.0", True, False)],
)
def test_an_address_without_tls_is_exposed_unless_it_is_this_machines(host, behind_tls, exposed):
    address = Address(host, behind_tls=behind_tls)
    assert (address.exposed, address.secure) == (exposed, behind_tls)


def test_tls_needs_a_certificate_and_a_key(tmp_path):
    with pytest.raises(AnnotationError, match="both --certificate and --key"):
        Address(certificate=tmp_path / "c.pem")
    assert Address(certificate=tmp_path / "c.pem", key=tmp_path / "k.pem").secure


def test_the_campaign_says_how_its_pages_are_served(store, monkeypatch):
    prepare(
        store,
        languages=("en",),
        content_language="es",
        instructions={"en": "Read.\n\nThen judge."},
    )
    served = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **_: served.append(app.state.room.settings))
    server.run(store, Address(behind_tls=True))
    (settings,) = served
    assert (settings.languages, settings.content_language) == (("en",), "es")
    assert settings.instructions == {"en": "Read.\n\nThen judge."}
    assert settings.secure_cookies


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("languages", ()),
        ("languages", ["fr"]),
        ("content_language", "?"),
        ("instructions", {"x": ""}),
    ],
)
def test_what_the_screen_does_not_have_is_refused(name, value):
    with pytest.raises(ValidationError, match=name):
        campaign_settings(**{name: value})


def test_nothing_is_served_without_a_campaign(store):
    with pytest.raises(AnnotationError, match="kedro annotate prepare"):
        server.run(store, Address())


def test_the_screen_is_served_at_the_address_by_one_process(campaign, monkeypatch):
    given = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: given.update(options, app=app))
    server.run(campaign.store, Address(port=0))
    assert (given["host"], given["port"], given["ssl_certfile"]) == ("127.0.0.1", 0, None)
    assert "workers" not in given
    assert key_path(campaign.store.path).is_file()
    with TestClient(given["app"]) as browser:
        assert browser.get("/healthz").status_code == 200


def test_preparing_does_not_need_a_key(store):
    prepare(store)
    assert not key_path(store.path).exists()
