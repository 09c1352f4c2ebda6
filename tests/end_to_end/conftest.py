"""A copy of the project in which a test may run pipelines."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.end_to_end.hostile_world import Finished, finish_world
from tests.end_to_end.projects import (
    copy_project,
    end_tracked_runs,
    enter_project,
    run_pipelines,
    write_world,
)


@pytest.fixture(autouse=True)
def _no_open_runs():
    """Leave no tracked run open for the next test."""
    yield
    end_tracked_runs()


@pytest.fixture
def project(tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of a copy of the project without any data but the sample collection."""
    root = copy_project(project_root, tmp_path / "project")
    enter_project(root, monkeypatch)
    return root


@pytest.fixture
def kedro_run(project: Path) -> Callable[..., None]:
    """Return a function that runs pipelines by name in the copy of the project."""
    return partial(run_pipelines, project)


@pytest.fixture
def world(project: Path) -> Path:
    """Write the tiny world of the environment `test`, see `write_world`."""
    return write_world(project)


@pytest.fixture(scope="session")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Return the world with texts that break files, to be read only."""
    return finish_world(project_root, tmp_path_factory.mktemp("finished") / "project")


@pytest.fixture
def again(finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Finished:
    """Return a copy of the finished world, to go on with."""
    root = tmp_path / "again"
    shutil.copytree(finished.root, root)
    enter_project(root, monkeypatch)
    return Finished(root, finished.said)


@pytest.fixture
def run_again(again: Finished) -> Callable[..., None]:
    """Return a function that runs pipelines, or nodes of them, in the copy."""
    return partial(run_pipelines, again.root, env="test")
