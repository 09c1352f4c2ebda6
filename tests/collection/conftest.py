"""Raw files written by a test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from normastcu.collection.sources import RawFile, local_file


@pytest.fixture
def raw_file(tmp_path: Path) -> Callable[..., RawFile]:
    """Return a function that writes a raw file and hands it out under its bare name."""

    def write(name: str, content: str | bytes, encoding: str = "utf-8") -> RawFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return RawFile(path, name, local_file(path).provenance)

    return write
