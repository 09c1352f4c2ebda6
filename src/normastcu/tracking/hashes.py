"""Hashes by which two comparisons are known to be of the same things."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

UNKNOWN = "unknown"


def content_hash(content: Mapping[str, Any] | Iterable[str]) -> str:
    """Return the SHA-256 of a mapping, or of texts, whatever their order.

    Examples
    --------
    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    >>> content_hash(["x", "y"]) == content_hash(["y", "x"])
    True
    """
    plain = dict(content) if isinstance(content, Mapping) else sorted(content)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()


def git_commit(folder: Path) -> str:
    """Return the commit of a folder, ``-dirty`` behind it where files differ from it.

    A file that git does not know yet counts, unless it is ignored; ``unknown`` is a folder that is
    not in a repository, or a machine without git.
    """
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return f"{commit}-dirty" if _git(folder, "status", "--porcelain") else commit
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8", "replace").strip()
