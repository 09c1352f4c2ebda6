"""Every dataset of every pipeline is declared, validated and shown in Kedro-Viz."""

import re

import pytest
import yaml
from kedro.framework.context import KedroContext
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from kedro.io import MemoryDataset

from normastcu import environment
from normastcu.environment import Place
from normastcu.judging.settings import slug
from normastcu.pipeline_registry import register_pipelines

SIX = {
    "ingestion",
    "pooling",
    "human_qrels",
    "llm_judging",
    "retrieval_runs",
    "meta_evaluation",
}
NOT_A_TABLE = ("Raw", "Figure", "Memory", "Prompt", "Store", "Credentials", "Page")


@pytest.fixture(params=["base", "normastcu", "test"])
def context(request, project_root, monkeypatch) -> KedroContext:
    """Return the context of each environment, without any variable set."""
    monkeypatch.chdir(project_root)
    monkeypatch.delenv("NORMASTCU_RAW", raising=False)
    bootstrap_project(project_root)
    with KedroSession.create(project_root, env=request.param) as session:
        return session.load_context()


@pytest.fixture
def declared_entries(project_root) -> dict[str, dict]:
    """Return the entries of all catalog files of base."""
    files = (project_root / "conf" / "base").glob("catalog*.yml")
    return {
        name: entry
        for path in files
        for name, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    }


def names_of(pipeline) -> set[str]:
    """Return the datasets of a pipeline, parameters apart."""
    return {name for name in pipeline.datasets() if not name.startswith("params:")}


def declared_as(name: str) -> str:
    """Return the entry under which a dataset is declared: judges share theirs."""
    return re.sub(r"^llm_judging\.\w+\.", "llm_judging.{judge}.", name)


@pytest.fixture
def base(project_root, monkeypatch) -> dict:
    """Return the pipelines of base."""
    monkeypatch.setattr(environment._Present, "place", Place(project_root / "conf", "base"))
    return register_pipelines()


def test_every_dataset_of_every_pipeline_is_declared(context):
    catalog = context.catalog
    for name in set().union(*map(names_of, pipelines.values())):
        dataset = catalog.get(name)
        assert dataset is not None, name
        assert type(dataset) is not MemoryDataset or name.endswith(".plan"), name


def test_no_entry_is_a_pattern_that_would_hide_a_typing_error(declared_entries):
    patterns = [name for name in declared_entries if "{" in name]
    assert all(name.startswith("llm_judging.{judge}.") for name in patterns)


def test_every_entry_has_a_layer_a_preview_and_its_validator(declared_entries):
    for name, entry in declared_entries.items():
        viz = entry["metadata"]["kedro-viz"]
        assert viz["layer"], name
        if not any(kind in entry["type"] for kind in NOT_A_TABLE):
            assert "validator" in entry, name
            assert viz["preview_args"]["nrows"], name


def test_every_entry_is_used(declared_entries, base):
    used = set().union(*(names_of(pipeline) for pipeline in base.values()))
    # The judges of base are asked nothing, so that they need no key.
    assert set(declared_entries) == {declared_as(name) for name in used} | {"credentials"}


def test_every_validator_can_be_resolved(context):
    assert all(context.catalog.validator_specs.values())


def test_the_registry_is_explicit_and_holds_no_empty_pipeline(base):
    built = {"ingestion", "human_qrels", "llm_judging", "meta_evaluation"}
    assert set(base) == built | {"full", "__default__"}
    assert built <= SIX
    assert all(pipeline.nodes for pipeline in base.values())
    everything = set().union(*(base[name].nodes for name in built))
    assert set(base["full"].nodes) == everything


def test_the_judges_are_those_that_the_parameters_name(context):
    """The registry reads the list by itself; it must be the one that the session sees."""
    named = context.config_loader["parameters"]["active_judges"]
    slugs = {
        name.split(".")[1]
        for name in pipelines["full"].datasets()
        if name.startswith("llm_judging.")
    }
    assert slugs == {slug(name) for name in named}


@pytest.mark.parametrize("variable", ["base", "test"])
def test_without_a_session_the_environment_is_that_of_the_variable(
    project_root, monkeypatch, variable
):
    monkeypatch.setattr(environment._Present, "place", None)
    monkeypatch.chdir(project_root)
    monkeypatch.setenv("KEDRO_ENV", variable)
    assert ("llm_judging" in register_pipelines()) == (variable == "base")


def test_collections_never_share_a_folder(context):
    collection = context.config_loader["globals"]["collection"]
    catalog = context.catalog
    for name in catalog:
        described = catalog.get(name)._describe()
        path = str(described.get("filepath", ""))
        if "/data/" in path and not name.startswith(("raw_", "params:")):
            assert f"/{collection}/" in path, name


def test_layers_follow_the_flow_of_the_data(declared_entries, base):
    """Kedro-Viz shows no layers at all where one of them lies both before and after another."""
    order = ["raw", "primary", "model_input", "model_output", "reporting"]
    layer = {
        name.split("@")[0]: order.index(entry["metadata"]["kedro-viz"]["layer"])
        for name, entry in declared_entries.items()
    }
    for node in base["full"].nodes:
        inputs = [name for name in node.inputs if not name.startswith("params:")]
        before = [layer[declared_as(name).split("@")[0]] for name in inputs]
        after = [layer[declared_as(name).split("@")[0]] for name in node.outputs]
        assert max(before) <= min(after), node.name
