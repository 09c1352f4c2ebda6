"""Settings of judges, the library, and the active judges of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from normastcu.collection.errors import CollectionError
from normastcu.judging.errors import JudgingError
from normastcu.judging.prompts import read_prompt
from normastcu.judging.settings import Judge, ModelSettings, judge_name, load_judges, slug

WRONG = (CollectionError, JudgingError)
MODEL = {
    "kind": "openai",
    "model": "m",
    "base_url": "http://127.0.0.1:8080/v1",
    "context_window": 8192,
}
USER_IN_ADDRESS = "https://me:s3cret@host/v1"  # pragma: allowlist secret
KEY_IN_PARAMETERS = {"api_key": "s3cret"}  # pragma: allowlist secret
LIBRARY: dict[str, Any] = {
    "models": {"a": MODEL, "b-1.5": MODEL | {"price_in": 0, "price_out": 0.5}},
    "prompts": {"simple": {"file": "simple.pt.md"}, "rationale": {"file": "rationale.pt.md"}},
    "judges": {
        "lexical": {"kind": "lexical", "lexical": {"thresholds": {1: 0.4, 2: 0.8}}},
        "a_simple": {"model": "a", "prompt": "simple", "samples": 3},
        "released": {"kind": "imported"},
        "old": {"kind": "recorded", "model": "a", "prompt": "rationale", "least_coverage": 0},
    },
}


def names(judges: list[Judge]) -> list[str]:
    return [judge.name for judge in judges]


def test_judges_are_listed_or_made_of_a_model_and_a_prompt() -> None:
    judges = load_judges(LIBRARY, ["lexical", "a_simple", "b-1.5_rationale", "old"])

    lexical, listed, made, recorded = judges
    assert names(judges) == ["lexical", "a_simple", "b-1.5_rationale", "old"]
    assert lexical.model is None
    assert lexical.lexical.thresholds == {1: 0.4, 2: 0.8}
    assert (listed.kind, listed.samples, listed.least_coverage) == ("llm", 3, 0.95)
    assert made.model is not None
    assert made.prompt is not None
    assert (made.model.name, made.prompt.file) == ("b-1.5", "rationale.pt.md")
    assert (made.model.price_in, made.model.price_out) == (0, 0.5)
    assert made.slug == "b_1_5_rationale"
    assert (recorded.kind, recorded.least_coverage) == ("recorded", 0)


def test_a_product_is_every_model_under_every_prompt() -> None:
    chosen = {"models": ["a", "b-1.5"], "prompts": ["simple", "rationale"], "samples": 2}
    judges = load_judges(LIBRARY, [chosen])

    assert names(judges) == ["a_simple", "a_rationale", "b-1.5_simple", "b-1.5_rationale"]
    # What the library lists itself keeps its own settings.
    assert [judge.samples for judge in judges] == [3, 2, 2, 2]


def test_only_what_an_active_judge_uses_must_be_right() -> None:
    library = LIBRARY | {"models": LIBRARY["models"] | {"broken": {"kind": "openai"}}}

    assert names(load_judges(library, ["a_simple"])) == ["a_simple"]
    with pytest.raises(WRONG, match=r"judges\.yml, models\.broken: .*context_window"):
        load_judges(library, ["broken_simple"])


@pytest.mark.parametrize(
    ("library", "active", "message"),
    [
        (LIBRARY, ["c_simple"], "'c_simple' is unknown.*Known judges: lexical, .*models: a, b-1.5"),
        (LIBRARY, ["a_simple", "a_simple"], "would share the namespace 'a_simple'"),
        (LIBRARY, [{"models": ["a"], "prompts": ["short"]}], "no entry 'short' under `prompts`"),
        (LIBRARY, [{"models": [], "prompts": ["simple"]}], "product of active judges: models"),
        (LIBRARY, [{"model": ["a"], "prompts": ["simple"]}], "model: Extra inputs"),
        ({"model": {}}, [], "model: unknown; expected are models, prompts, judges"),
        ({"judges": {"x": "lexical"}}, ["x"], "`judges.x` must be a name"),
        ({"judges": {7: {"kind": "lexical"}}}, [], "`judges.7` must be a name"),
        ({"judges": ["x"]}, ["x"], "`judges` must map names"),
        (
            {"judges": {"x": {"kind": "llm"}}},
            ["x"],
            r"judges\.x: a judge of kind llm needs",
        ),
        ({"judges": {"x": {"kind": "lexical", "model": "a"}}}, ["x"], "has no model and no prompt"),
        ({"judges": {"x": {"kind": "lexical", "sample": 2}}}, ["x"], "sample: Extra inputs"),
        (LIBRARY, ["released"], "'released' is imported .* `judge_labels`, .* `raw_replies`"),
    ],
)
def test_what_the_library_can_not_mean(
    library: dict[str, Any], active: list[Any], message: str
) -> None:
    with pytest.raises(WRONG, match=message):
        load_judges(library, active)


def test_two_names_for_one_namespace_are_an_error() -> None:
    library = {"judges": {"m.1": {"kind": "lexical"}, "m-1": {"kind": "lexical"}}}

    with pytest.raises(WRONG, match=r"'m\.1' and 'm-1' would share the namespace 'm_1'"):
        load_judges(library, ["m.1", "m-1"])


def test_a_name_that_two_pairs_make_is_ambiguous() -> None:
    library = {
        "models": {"a": MODEL, "a_b": MODEL},
        "prompts": {"c": {"file": "c.md"}, "b_c": {"file": "d.md"}},
    }

    with pytest.raises(WRONG, match="'a_b_c' is ambiguous"):
        load_judges(library, ["a_b_c"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("deepseek-3.2_simple", "deepseek_3_2_simple"),
        ("GPT-5 mini!", "gpt_5_mini"),
        ("Sabiá_é", "sabia_e"),
        ("__x__", "x"),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_a_name_of_which_nothing_is_left_has_no_slug() -> None:
    with pytest.raises(WRONG, match="has no letter or digit"):
        slug("…")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"base_url": None}, "needs its base_url"),
        ({"base_url": "127.0.0.1:8080"}, "must be an address"),
        ({"base_url": USER_IN_ADDRESS}, "must hold no user, password"),
        ({"base_url": "https://host/v1?key=s3cret"}, "must hold no user, password, query"),
        ({"credentials": "sk-s3cret"}, "not the key itself"),
        ({"credentials": "s3cret/+="}, "not the key itself"),
        ({"parameters": KEY_IN_PARAMETERS}, "must not hold api_key"),
        ({"parameters": {"max_tokens": 5, "n": 2}}, "must not hold max_tokens, n"),
        ({"context_window": 4096}, "context_window must be above reply_token_cap"),
        ({"max_reply_tokens": 5000}, "reply_token_cap must not be below"),
        ({"kind": "huggingface", "structured_output": True}, "structured_output is for servers"),
        ({"price_in": -1}, "greater than or equal to 0"),
        ({"price_in": float("nan")}, "finite number"),
        ({"tokenizer": "o200k_base"}, "tokenizer"),
        ({"temprature": 0}, "Extra inputs"),
    ],
)
def test_models_that_can_not_be_meant(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as invalid:
        ModelSettings.model_validate({"name": "m"} | MODEL | values)

    # The value may be a key that landed in the wrong place.
    assert "s3cret" not in str(invalid.value)


def test_a_wrong_value_is_not_shown_by_the_library_either() -> None:
    library = LIBRARY | {"models": {"a": MODEL | {"credentials": "sk-s3cret"}}}

    with pytest.raises(WRONG, match=r"judges\.yml, models\.a: credentials: ") as error:
        load_judges(library, ["a_simple"])

    assert "s3cret" not in str(error.value)


def test_an_unknown_price_is_not_zero() -> None:
    model = ModelSettings.model_validate({"name": "m"} | MODEL)

    assert (model.price_in, model.price_out) == (None, None)
    with pytest.raises(ValidationError):
        model.price_in = 0.0  # type: ignore[misc]


@pytest.fixture(scope="module")
def base(project_root: Path) -> tuple[dict[str, Any], Path]:
    """Return the project's own library and its folder of prompts."""
    text = (project_root / "conf/base/judges.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text), project_root / "conf/base/prompts"


def test_every_entry_of_the_projects_library_can_be_active(
    base: tuple[dict[str, Any], Path],
) -> None:
    library, prompts = base
    active = [
        *library["judges"],
        *(
            name
            for model in library["models"]
            for prompt in library["prompts"]
            if (name := judge_name(model, prompt)) not in library["judges"]
        ),
    ]

    judges = load_judges(library, active)

    assert len(judges) == len(library["models"]) * len(library["prompts"]) + 1
    for judge in judges:
        if judge.prompt is not None:
            text = (prompts / judge.prompt.file).read_text(encoding="utf-8")
            assert read_prompt(text, judge.prompt.file).id == judge.prompt.name.split("-")[0]


def test_the_papers_judges_are_there(base: tuple[dict[str, Any], Path]) -> None:
    paper = {
        "models": ["deepseek-3.2", "gpt-5-mini", "sabiazinho-4"],
        "prompts": ["simple", "rationale"],
    }

    judges = load_judges(base[0], [paper])

    models = [judge.model for judge in judges if judge.model and judge.name.endswith("_simple")]
    # Section 5 of the method: API models, base URLs, temperature 0 where it is accepted.
    assert [(model.model, model.base_url, model.parameters) for model in models] == [
        ("deepseek-chat", "https://api.deepseek.com", {"temperature": 0}),
        ("gpt-5-mini-2025-08-07", "https://api.openai.com/v1", {}),
        ("sabiazinho-4-2026-01-06", "https://chat.maritaca.ai/api", {"temperature": 0}),
    ]
    assert all(model.credentials and not model.structured_output for model in models)
    # At 28 tokens a second, the longest reply of the model that thinks takes 16,384 / 28 = 585 s.
    assert models[1].timeout_s >= models[1].reply_token_cap / 28


def test_the_recorded_judges_may_lack_every_grade(base: tuple[dict[str, Any], Path]) -> None:
    recorded = load_judges(
        base[0], ["smollm2-135m-instruct_simple", "smollm2-135m-instruct_rationale"]
    )

    assert [(judge.kind, judge.least_coverage) for judge in recorded] == [("recorded", 0)] * 2
