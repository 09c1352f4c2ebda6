"""Parameters are checked with sentences that name the key and the file."""

import pytest
import yaml
from pydantic import Field

from normastcu.collection.settings import GradeScale, JudgmentFormat, Settings, TableFormat
from normastcu.configuration import (
    ParameterError,
    check_globals,
    check_parameters,
    environment_variable,
    labels_beside,
)


class Bootstrap(Settings):
    """Stands for the settings of a node."""

    resamples: int = Field(ge=100)
    seed: int


@pytest.fixture
def conf(tmp_path):
    """Return the folders of a configuration with two environments."""
    base, env = tmp_path / "conf" / "base", tmp_path / "conf" / "mine"
    base.mkdir(parents=True)
    env.mkdir()
    (base / "parameters.yml").write_text("bootstrap: {resamples: 1000, seed: 1}\n")
    (env / "parameters_x.yml").write_text("bootstrap: {resamples: 10}\n")
    return [base, env]


def problems(given, folders, runtime=None, classes=None):
    """Return the message about the given parameters."""
    with pytest.raises(ParameterError) as error:
        check_parameters(given, classes or {"bootstrap": Bootstrap}, folders, runtime or {})
    return str(error.value)


def test_valid_parameters_pass(conf):
    check_parameters(
        {"bootstrap": {"resamples": 100, "seed": 1}}, {"bootstrap": Bootstrap}, conf, {}
    )


def test_a_wrong_value_names_key_value_and_file(conf):
    message = problems({"bootstrap": {"resamples": 10, "seed": 1}}, conf)
    assert "`bootstrap.resamples` (conf/mine/parameters_x.yml)" in message
    assert "greater than or equal to 100; given: 10" in message


def test_a_wrong_value_of_base_names_the_base_file(conf):
    message = problems({"bootstrap": {"resamples": 100, "seed": "x"}}, conf)
    assert "`bootstrap.seed` (conf/base/parameters.yml)" in message


def test_a_wrong_value_of_the_command_line_says_so(conf):
    runtime = {"bootstrap": {"resamples": 5}}
    message = problems({"bootstrap": {"resamples": 5, "seed": 1}}, conf, runtime)
    assert "`bootstrap.resamples` (--params)" in message


def test_an_unknown_key_inside_is_an_error(conf):
    message = problems({"bootstrap": {"resamples": 100, "seed": 1, "sed": 2}}, conf)
    assert "`bootstrap.sed`" in message
    assert "not permitted" in message


def test_an_unknown_parameter_suggests_the_known_one(conf):
    given = {"bootstrap": {"resamples": 100, "seed": 1}, "bootstrp": 1}
    message = problems(given, conf, runtime={"bootstrp": 1})
    assert "`bootstrp` (--params) is not a parameter of any pipeline" in message
    assert "Did you mean `bootstrap`?" in message


def test_a_missing_parameter_is_named(conf):
    assert "`bootstrap` is missing" in problems({}, conf)


def test_all_problems_come_at_once(conf):
    message = problems({"bootstrap": {"resamples": 1, "seed": "x"}, "y": 1}, conf)
    assert message.count("\n- ") == 3


@pytest.mark.parametrize("grades", [[1, 0], [0, 0], [0], [-1, 0]])
def test_a_scale_ascends_from_zero_or_more(grades):
    with pytest.raises(ValueError, match=r"grades"):
        GradeScale.model_validate({"grades": [{"grade": g, "name": "x"} for g in grades]})


@pytest.mark.parametrize(
    ("model", "value"),
    [(TableFormat, {"separator": "ab"}), (JudgmentFormat, {"negative": "zero"})],
)
def test_formats_refuse_what_they_do_not_know(model, value):
    with pytest.raises(ValueError, match=next(iter(value))):
        model.model_validate(value)


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("NORMASTCU_TEST", "")
    assert environment_variable("NORMASTCU_TEST") is None
    assert environment_variable("NORMASTCU_TEST", "x") == "x"
    monkeypatch.setenv("NORMASTCU_TEST", "y")
    assert environment_variable("NORMASTCU_TEST", "x") == "y"


def test_labels_lie_beside_the_raw_files_where_there_are_some(tmp_path):
    assert labels_beside(None) is None
    assert labels_beside(str(tmp_path)) is None
    (tmp_path / "llm_labels").mkdir()
    assert labels_beside(str(tmp_path)) == str(tmp_path / "llm_labels")


GLOBALS = {
    "collection": "mine",
    "source": {"kind": "files", "files": {"path": "x"}},
    "judge_labels": None,
    "prompts": "conf/base/prompts",
}


def globals_problem(conf, given, stated):
    """Return the message about an environment's globals.yml."""
    (conf[1] / "globals.yml").write_text(stated)
    with pytest.raises(ParameterError) as error:
        check_globals(given, *conf)
    return str(error.value)


def test_an_environment_states_its_own_source(conf):
    message = globals_problem(conf, GLOBALS, "collection: mine\njudge_labels: null\n")
    assert "conf/mine/globals.yml does not say `source`" in message


def test_an_environment_without_any_globals_is_not_the_sample(conf):
    with pytest.raises(ParameterError, match="does not say `collection`, `source`, `judge_labels`"):
        check_globals(GLOBALS, *conf)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sourc": {}}, "`sourc` (conf/mine/globals.yml): Extra inputs are not permitted"),
        ({"source": {"kind": "file"}}, "`source.kind` (conf/mine/globals.yml): Input should be"),
        ({"collection": "../x"}, "`collection` (conf/mine/globals.yml)"),
    ],
)
def test_a_wrong_value_of_globals_names_key_and_file(conf, change, message):
    given = GLOBALS | change
    shown = globals_problem(conf, given, yaml.safe_dump(given))
    assert message in shown
    assert "pydantic.dev" not in shown


def test_an_unknown_environment_is_named_with_the_known_ones(conf):
    with pytest.raises(ParameterError, match="no environment 'nomastcu': conf/ has base, mine"):
        check_globals(GLOBALS, conf[0], conf[0].parent / "nomastcu")


def test_the_sample_needs_nothing_of_its_own(conf):
    check_globals(GLOBALS, conf[0], conf[0])
    (conf[0].parent / "local").mkdir()
    check_globals(GLOBALS, conf[0], conf[0].parent / "local")


def test_a_misspelt_parameter_of_the_catalog_suggests_the_right_one(conf):
    given = {"bootstrap": {"resamples": 100, "seed": 1}, "judge_label": "x"}
    assert "Did you mean `judge_labels`?" in problems(given, conf, runtime={"judge_label": "x"})
