"""Keys are found under the name that the settings give, and shown nowhere."""

from dataclasses import dataclass

import pytest

from normastcu.services.credentials import api_key
from normastcu.services.errors import ServiceError

KEY = "sk-planted-key-4711"


@dataclass(frozen=True)
class Model:
    name: str = "tiny"
    credentials: str | None = None


def test_a_server_that_asks_for_no_key_gets_a_placeholder() -> None:
    assert api_key(Model(), {"OPENAI_API_KEY": KEY}) == "none"


@pytest.mark.parametrize("stated", [KEY, f" {KEY}\n", {"api_key": KEY}])
def test_a_key_comes_from_the_credentials(stated: object) -> None:
    assert api_key(Model(credentials="maritaca"), {"maritaca": stated}) == KEY


def test_a_key_comes_from_the_environment_where_the_credentials_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MARITACA_KEY", KEY)
    assert api_key(Model(credentials="MARITACA_KEY"), {}) == KEY


@pytest.mark.parametrize("empty", ["", " ", None, {"api_key": ""}, {}])
def test_an_empty_entry_hides_no_variable(empty: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARITACA_KEY", KEY)
    assert api_key(Model(credentials="MARITACA_KEY"), {"MARITACA_KEY": empty}) == KEY


@pytest.mark.parametrize("stated", [{}, {"maritaca": ""}, {"maritaca": {"key": KEY}}])
def test_a_missing_key_names_its_entry(
    stated: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ServiceError, match=r"'tiny' needs the credentials entry 'maritaca'") as e:
        api_key(Model(credentials="maritaca"), stated)
    assert KEY not in str(e.value)


@pytest.mark.parametrize("stated", [f"{KEY}\nBearer", f"Bearer {KEY}", f"{KEY}ã"])
def test_what_can_be_no_key_is_refused_without_showing_it(stated: object) -> None:
    with pytest.raises(ServiceError, match=r"'maritaca' of the model 'tiny' is not a key") as e:
        api_key(Model(credentials="maritaca"), {"maritaca": stated})
    assert KEY not in str(e.value)
