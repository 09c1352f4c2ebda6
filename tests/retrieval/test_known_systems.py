"""The library of systems: no run is silently less deep than what is made of it."""

import pytest
import yaml

from normastcu.configuration import RESOLVERS
from normastcu.environment import Place, _Present, active_systems
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.known_systems import check_depth, load_systems

BM25 = {"kind": "bm25", "family": "f", "fields": ["text"], "k1": 1, "b": 0.5}
LIBRARY = {
    "A": BM25,
    "B": BM25 | {"k1": 2},
    "both": {"kind": "hybrid", "family": "f", "systems": ["A", "B"]},
    "shared": {"kind": "hybrid", "family": "f", "systems": ["A", "B"]}
    | {"shares": [0.25, 0.75], "candidates": 570},
    "first": {"kind": "rerank", "family": "f", "first": "shared", "depth": 600, "by": "A"},
}


@pytest.mark.parametrize(
    ("name", "depth", "message"),
    [
        ("A", 1, None),
        ("both", 1, None),
        ("shared", 570, None),
        ("shared", 569, r"shared takes 570 .*`candidates` in .*`retrieval.depth` keeps only 569"),
        ("first", 600, None),
        ("first", 599, r"first takes 600 .*`depth` in .*raise `retrieval.depth` to at least 600"),
        ("first", 200, "shared takes 570"),
    ],
)
def test_runs_are_as_deep_as_what_is_made_of_them(
    name: str, depth: int, message: str | None
) -> None:
    systems = load_systems({"systems": LIBRARY}, [], [name])
    if message is None:
        check_depth(systems, depth)
    else:
        with pytest.raises(RetrievalError, match=message):
            check_depth(systems, depth)


def test_every_environment_has_runs_as_deep_as_it_needs(
    project_root, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = project_root / "conf"
    environments = sorted(path.name for path in conf.iterdir() if path.is_dir())
    assert {"base", "juristcu", "normastcu", "test"} <= set(environments)
    for env in environments:
        monkeypatch.setattr(_Present, "place", Place(conf, env))
        settings = {}
        for folder in ("base", env):
            path = conf / folder / "parameters_retrieval_runs.yml"
            if path.exists():
                settings |= yaml.safe_load(path.read_text(encoding="utf-8")).get("retrieval", {})
        check_depth(active_systems(RESOLVERS), settings["depth"])


def test_queries_reach_qwen3_as_its_authors_write_them(project_root) -> None:
    """The model's card: Instruct: {task_description}, a new line, Query:{query}."""
    text = (project_root / "conf" / "base" / "systems.yml").read_text(encoding="utf-8")
    encoders = yaml.safe_load(text)["encoders"]
    for name in ("qwen3-embedding-4b", "qwen3-embedding-8b"):
        instruction, start = encoders[name]["query_prefix"].split("\n")
        assert instruction.startswith("Instruct: Given a search query")
        assert start == "Query:"
