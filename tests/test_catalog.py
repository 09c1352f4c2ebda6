"""Every dataset of every pipeline is declared, validated and shown in Kedro-Viz."""

import pytest
import yaml
from kedro.framework.context import KedroContext
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from normastcu.pipeline_registry import register_pipelines

SIX = {
    "ingestion",
    "pooling",
    "human_qrels",
    "llm_judging",
    "retrieval_runs",
    "meta_evaluation",
}
NOT_A_TABLE = ("Raw", "LabelFiles", "Figure")


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


def test_every_dataset_of_every_pipeline_is_declared(context):
    declared = set(context.catalog)
    for pipeline in pipelines.values():
        assert {name for name in pipeline.datasets() if not name.startswith("params:")} <= declared


def test_no_entry_is_a_pattern_that_would_hide_a_typing_error(declared_entries):
    assert not [name for name in declared_entries if "{" in name]


def test_every_entry_has_a_layer_a_preview_and_its_validator(declared_entries):
    for name, entry in declared_entries.items():
        viz = entry["metadata"]["kedro-viz"]
        assert viz["layer"], name
        if not any(kind in entry["type"] for kind in NOT_A_TABLE):
            assert "validator" in entry, name
        if "Figure" not in entry["type"]:
            assert viz["preview_args"]["nrows"], name


def test_every_entry_is_used(declared_entries):
    used = set().union(*(pipeline.datasets() for pipeline in register_pipelines().values()))
    assert set(declared_entries) <= used


def test_every_validator_can_be_resolved(context):
    assert all(context.catalog.validator_specs.values())


def test_the_registry_is_explicit_and_holds_no_empty_pipeline():
    registered = register_pipelines()
    assert set(registered) <= SIX | {"full", "__default__"}
    assert {"ingestion", "human_qrels", "meta_evaluation", "full", "__default__"} <= set(registered)
    assert all(pipeline.nodes for pipeline in registered.values())
    everything = set().union(*(p.nodes for n, p in registered.items() if n in SIX))
    assert set(registered["full"].nodes) == everything


def test_collections_never_share_a_folder(context):
    collection = context.config_loader["globals"]["collection"]
    for name in context.catalog:
        described = context.catalog.get(name)._describe()
        path = str(described.get("filepath", ""))
        if "/data/" in path and not name.startswith(("raw_", "params:")):
            assert f"/{collection}/" in path, name


def test_layers_follow_the_flow_of_the_data(declared_entries):
    """Kedro-Viz shows no layers at all where one of them lies both before and after another."""
    order = ["raw", "primary", "model_input", "model_output", "reporting"]
    layer = {
        name.split("@")[0]: order.index(entry["metadata"]["kedro-viz"]["layer"])
        for name, entry in declared_entries.items()
    }
    for node in register_pipelines()["full"].nodes:
        before = [layer[n.split("@")[0]] for n in node.inputs if not n.startswith("params:")]
        after = [layer[n.split("@")[0]] for n in node.outputs]
        assert max(before) <= min(after), node.name
