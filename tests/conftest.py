"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data sets; skip where it is absent, fail where it is required."""
    folder = Path(os.environ.get("NORMASTCU_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if folder.is_dir():
        return folder
    reason = (
        f"The real data sets are not in {folder}: set NORMASTCU_SHARED_DATA to their folder "
        "to run the tests that need them."
    )
    if os.environ.get("NORMASTCU_REQUIRE_SHARED_DATA"):
        pytest.fail(reason)
    pytest.skip(reason)
