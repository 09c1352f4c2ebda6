"""Reading the project's configuration: resolvers, and parameter errors that name key and file."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

RUNTIME_PARAMETERS = frozenset({"judge_labels", "pairs", "raw_replies"})
"""Parameters that only the catalog reads, from ``--params``."""


class ParameterError(ValueError):
    """A parameter that is unknown or has a wrong value."""


def environment_variable(name: str, default: str | None = None) -> str | None:
    """Return an environment variable, or the default where it is unset or empty.

    In the configuration: ``${env:NORMASTCU_RAW}`` or ``${env:NAME,default}``.
    """
    return os.environ.get(name) or default


def labels_beside(folder: str | None) -> str | None:
    """Return the folder ``llm_labels`` in a folder of raw files, where there is one."""
    labels = Path(folder or "", "llm_labels")
    return str(labels) if folder and labels.expanduser().is_dir() else None


RESOLVERS = {"env": environment_variable, "labels_beside": labels_beside}


def check_parameters(
    given: Mapping[str, Any],
    classes: Mapping[str, Any],
    folders: Iterable[Path],
    runtime: Mapping[str, Any],
) -> None:
    """Raise one error that lists everything wrong with the parameters.

    Parameters
    ----------
    given
        Parameters as read from all files and the command line.
    classes
        Known parameters and the pydantic class of each (None: any value).
    folders
        The folders of the configuration, the ones that win last.
    runtime
        What was given on the command line.

    Raises
    ------
    ParameterError
        Naming for every problem the key, the value, the file and what is expected.
    """
    files = [path for folder in folders for path in sorted(folder.glob("parameters*.yml"))]
    origins = [(_shown(file), _read_yaml(file)) for file in files] + [("--params", dict(runtime))]
    problems = []
    for name, value in given.items():
        if name in RUNTIME_PARAMETERS:
            continue
        if name not in classes:
            problems.append(_unknown(name, classes, origins))
        elif (model := classes[name]) is not None and hasattr(model, "model_validate"):
            try:
                model.model_validate(value)
            except ValidationError as error:
                problems.extend(_invalid(name, error, origins))
    problems.extend(
        f"`{name}` is missing: declare it in conf/base/parameters_<pipeline>.yml."
        for name in classes
        if name not in given
    )
    if problems:
        raise ParameterError(
            "The parameters can't be used:\n" + "\n".join(f"- {problem}" for problem in problems)
        )


Origins = list[tuple[str, Any]]


def _unknown(name: str, known: Iterable[str], origins: Origins) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    meant = f" Did you mean `{close[0]}`?" if close else ""
    return (
        f"`{name}` ({_place((name,), origins)}) is not a parameter of any pipeline.{meant} Known: "
        f"{', '.join(sorted(known))}."
    )


def _invalid(name: str, error: ValidationError, origins: Origins) -> list[str]:
    sentences = []
    for problem in error.errors(include_url=False):
        path = (name, *(str(part) for part in problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        sentences.append(
            f"`{'.'.join(path)}` ({_place(path, origins)}): {message}; given: {problem['input']!r}."
        )
    return sentences


def _place(path: tuple[str, ...], origins: Origins) -> str:
    """Name what sets a key: the last origin that holds the longest part of its path."""
    best, depth = "unknown place", 0
    for name, value in origins:
        found = 0
        for part in path:
            if not isinstance(value, dict) or part not in value:
                break
            value, found = value[part], found + 1
        if found and found >= depth:
            best, depth = name, found
    return best


def _read_yaml(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def _shown(file: Path) -> str:
    return str(Path(*file.parts[-3:]))
