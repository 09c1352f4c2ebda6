"""Reading the project's configuration: resolvers, and parameter errors that name key and file."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from normastcu.collection.settings import Settings
from normastcu.collection.sources import SourceSettings

RUNTIME_PARAMETERS = frozenset(
    {"external_runs", "judge_labels", "manual_pool", "pairs", "raw_replies"}
)
"""Parameters that only the catalog reads, from ``--params``."""


DEFAULT_ENVIRONMENT = "local"


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


class Globals(Settings):
    """What globals.yml holds: the collection, and where its raw files are.

    Attributes
    ----------
    collection
        Names the folder in every layer of data/.
    source
        Where documents, queries and judgments come from.
    judgments
        ``files`` of the source, the assessment ``screen``, or ``none`` yet.
    judge_labels, raw_replies, pairs, recorded_replies, external_runs, manual_pool
        Files beside the source: a directory, one file, a pattern; None for none.
    prompts
        The folder of prompt files.
    """

    collection: str = Field(pattern=r"^[A-Za-z0-9][\w.-]*$")
    source: SourceSettings
    judgments: Literal["files", "screen", "none"] = "files"
    judge_labels: str | None
    raw_replies: str | None = None
    pairs: str | None = None
    recorded_replies: str | None = None
    external_runs: str | None = None
    manual_pool: str | None = None
    prompts: str


OWN = ("collection", "source", "judge_labels")
"""What an environment states itself: it never falls back to the sample collection of base."""


def check_globals(given: Mapping[str, Any], base: Path, env: Path) -> None:
    """Raise where globals.yml has a wrong or unknown value, or the environment is not its own.

    Parameters
    ----------
    given
        As read from base and the environment.
    base, env
        Their folders; the same, or one without a globals.yml in the case of `conf/local`, for the
        sample collection.

    Raises
    ------
    ParameterError
        Naming the file and the key.
    """
    if not env.is_dir():
        known = sorted(path.name for path in base.parent.iterdir() if path.is_dir())
        raise ParameterError(
            f"There is no environment {env.name!r}: conf/ has {', '.join(known)}. Correct --env, "
            f"or make the folder conf/{env.name}."
        )
    path = env / "globals.yml"
    stated = read_yaml(path) if path.is_file() else {}
    if env.name not in (base.name, DEFAULT_ENVIRONMENT) or stated:
        missing = [name for name in OWN if name not in (stated or {})]
        if missing:
            raise ParameterError(
                f"{shown(path)} does not say `{'`, `'.join(missing)}`. An environment states its "
                "own, so that it never takes the sample collection for its own; null means none."
            )
    try:
        Globals.model_validate(given)
    except ValidationError as error:
        origins = [
            (shown(file), read_yaml(file)) for file in (base / path.name, path) if file.is_file()
        ]
        problems = [_sentence(problem, (), origins) for problem in error.errors(include_url=False)]
        raise ParameterError(
            "globals.yml can't be used:\n" + "\n".join(f"- {problem}" for problem in problems)
        ) from None


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
    origins = [(shown(file), read_yaml(file)) for file in files] + [("--params", dict(runtime))]
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


def _unknown(name: str, parameters: Iterable[str], origins: Origins) -> str:
    known = {*parameters, *RUNTIME_PARAMETERS}
    close = difflib.get_close_matches(name, list(known), n=1)
    meant = f" Did you mean `{close[0]}`?" if close else ""
    return (
        f"`{name}` ({_place((name,), origins)}) is not a parameter of any pipeline.{meant} Known: "
        f"{', '.join(sorted(known))}."
    )


def _invalid(name: str, error: ValidationError, origins: Origins) -> list[str]:
    problems = error.errors(include_url=False)
    return [_sentence(problem, (name,), origins) for problem in problems]


def _sentence(problem: Mapping[str, Any], above: tuple[str, ...], origins: Origins) -> str:
    path = (*above, *(str(part) for part in problem["loc"]))
    message = problem["msg"].removeprefix("Value error, ")
    return f"`{'.'.join(path)}` ({_place(path, origins)}): {message}; given: {problem['input']!r}."


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


def read_yaml(file: Path) -> Any:
    """Return what a YAML file holds, None for an empty one."""
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def shown(file: Path) -> str:
    """Return how messages name a file of the configuration: from its folder conf on."""
    return str(Path(*file.parts[-3:]))
