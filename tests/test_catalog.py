"""Every dataset of every pipeline is declared, validated and shown in Kedro-Viz."""

import re
from collections.abc import Callable

import pytest
import yaml
from kedro.framework.context import KedroContext
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from kedro.io import MemoryDataset
from kedro.pipeline import Pipeline

from normastcu import environment
from normastcu.configuration import RESOLVERS
from normastcu.datasets.raw_files import RawFilesDataset
from normastcu.environment import Place, active_systems
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
NOT_A_TABLE = (
    *("Raw", "Figure", "Memory", "Prompt", "Store", "Credentials", "Page"),
    *("JSON", "Lucene", "Lines"),
)
SHARED = ("llm_judging", "retrieval_runs")
IN_MEMORY = ("plan", "measured_runs")
USED_ELSEWHERE = {"credentials", "annotation_store"}


@pytest.fixture(params=["base", "juristcu", "normastcu", "screen", "test"])
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


def test_every_kind_of_run_is_taken_of_the_folder(declared_entries, tmp_path):
    names = ["a.run", "b.trec", "c.txt", "d.csv", "e.tsv", "f.tsv.gz"]
    for name in names:
        (tmp_path / name).touch()
    suffixes = declared_entries["external_runs"]["suffixes"]
    runs = RawFilesDataset(location=str(tmp_path), setting="external_runs", suffixes=suffixes)
    assert [file.path.name for file in runs.load()] == names


def names_of(pipeline) -> set[str]:
    """Return the datasets of a pipeline, parameters apart."""
    return {name for name in pipeline.datasets() if not name.startswith("params:")}


def declared_as(name: str) -> str:
    """Return the entry under which a dataset is declared: judges share theirs, and systems."""
    name = re.sub(r"^llm_judging\.\w+\.", "llm_judging.{judge}.", name)
    return re.sub(r"^retrieval_runs\.\w+\.", "retrieval_runs.{system}.", name)


@pytest.fixture
def pipelines_of(project_root, monkeypatch) -> Callable[[str], dict[str, Pipeline]]:
    """Return a function that gives the pipelines of an environment."""

    def register(env: str) -> dict[str, Pipeline]:
        monkeypatch.setattr(environment._Present, "place", Place(project_root / "conf", env))
        return register_pipelines()

    return register


@pytest.fixture
def base(pipelines_of) -> dict[str, Pipeline]:
    """Return the pipelines of base."""
    return pipelines_of("base")


def test_every_dataset_of_every_pipeline_is_declared(context):
    catalog = context.catalog
    for name in set().union(*map(names_of, pipelines.values())):
        dataset = catalog.get(name)
        assert dataset is not None, name
        assert type(dataset) is not MemoryDataset or name.split(".")[-1] in IN_MEMORY, name


def test_no_entry_is_a_pattern_that_would_hide_a_typing_error(declared_entries):
    patterns = [name for name in declared_entries if "{" in name]
    shared = tuple(f"{namespace}.{{" for namespace in SHARED)
    assert all(re.fullmatch(r"\w+\.\{\w+\}\.\w+", name) for name in patterns)
    assert all(name.startswith(shared) for name in patterns)


def test_every_entry_has_a_layer_a_preview_and_its_validator(declared_entries):
    for name, entry in declared_entries.items():
        viz = entry["metadata"]["kedro-viz"]
        assert viz["layer"], name
        if not any(kind in entry["type"] for kind in NOT_A_TABLE):
            assert "validator" in entry, name
            assert viz["preview_args"]["nrows"], name


def test_every_entry_is_used(declared_entries, pipelines_of):
    used = {
        declared_as(name)
        for env in ("base", "screen", "test")
        for pipeline in pipelines_of(env).values()
        for name in names_of(pipeline)
    }
    # A command of its own reads what the screen keeps; a judge or encoder takes the credentials.
    assert set(declared_entries) == used | USED_ELSEWHERE


def test_every_validator_can_be_resolved(context):
    assert all(context.catalog.validator_specs.values())


def test_the_registry_is_explicit_and_holds_no_empty_pipeline(base):
    assert set(base) == SIX | {"full", "__default__"}
    assert all(pipeline.nodes for pipeline in base.values())
    everything = set().union(*(base[name].nodes for name in SIX))
    assert set(base["full"].nodes) == everything


def test_the_judges_are_those_that_the_parameters_name(context):
    """The registry reads the list by itself; it must be the one that the session sees.

    An environment without a list has no judges, though the session sees those of base.
    """
    named = context.config_loader["parameters"]["active_judges"]
    assert slugs_in("llm_judging") in ({slug(name) for name in named}, set())


def test_the_systems_are_those_that_the_parameters_name(context):
    """An environment without a list has no systems, though the session sees those of base."""
    named = context.config_loader["parameters"]
    systems = active_systems(RESOLVERS)
    assert slugs_in("retrieval_runs") == set(systems.slugs.values())
    assert list(systems.active) in (named["active_systems"], [])
    assert list(systems.pooling) in (named["pooling_systems"], [])
    assert systems.all


def slugs_in(namespace: str) -> set[str]:
    """Return the namespaces of single judges or systems in the whole chain."""
    names = (name.split(".") for name in pipelines["full"].datasets())
    return {parts[1] for parts in names if parts[0] == namespace}


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
        assert max(before, default=0) <= min(after), node.name
