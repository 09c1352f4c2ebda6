"""Which configuration is in force while pipelines are built, before there is a context."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kedro.config import MissingConfigException, OmegaConfigLoader
from kedro.utils import find_kedro_project

from normastcu.configuration import (
    DEFAULT_ENVIRONMENT,
    ParameterError,
    read_yaml,
    shown,
)
from normastcu.judging.settings import Judge, load_judges
from normastcu.retrieval.known_systems import Systems, load_systems

ACTIVE = "active_judges"
ACTIVE_SYSTEMS = "active_systems"
POOLING_SYSTEMS = "pooling_systems"
STATIC = {
    ACTIVE: "parameters_llm_judging.yml",
    ACTIVE_SYSTEMS: "parameters_retrieval_runs.yml",
    POOLING_SYSTEMS: "parameters_pooling.yml",
}
"""Parameters that pipelines are built from, and the file in which they usually stand."""

_ENTRIES: Mapping[str, Any] = {
    ACTIVE: (str, Mapping),
    ACTIVE_SYSTEMS: str,
    POOLING_SYSTEMS: str,
}

CONFIG_PATTERNS = {"judges": ["judges*"], "systems": ["systems*"]}
MERGE_STRATEGY = {"parameters": "soft", "judges": "soft", "systems": "soft"}


@dataclass(frozen=True)
class Place:
    """A folder of configuration, and the environment in it that is laid over base."""

    conf: Path
    env: str


class _Present:
    """The place of the running session; Kedro has none to ask while it builds pipelines."""

    place: Place | None = None


def enter(place: Place) -> None:
    """Let pipelines that are built from now on follow this place; called by a hook."""
    _Present.place = place


def present() -> Place:
    """Return the place of the session, else that of the working directory and KEDRO_ENV."""
    if _Present.place is not None and _Present.place.conf.is_dir():
        return _Present.place
    project = find_kedro_project(Path.cwd()) or Path.cwd()
    return Place(Path(project) / "conf", os.environ.get("KEDRO_ENV") or DEFAULT_ENVIRONMENT)


def active_judges(resolvers: Mapping[str, Any]) -> list[Judge]:
    """Return the judges that the environment names, with their settings.

    Pipelines are built before parameters are known, so the two lists are read here: `judges.yml`
    (the library, of base and of the environment) and the parameter `active_judges`.

    Raises
    ------
    JudgingError, CollectionError
        For an unknown judge, a wrong setting, two judges with one slug.
    ParameterError
        Where `active_judges` is no list.
    """
    place = present()
    return load_judges(_library("judges", place, resolvers), _named(ACTIVE, place))


def active_systems(resolvers: Mapping[str, Any]) -> Systems:
    """Return the systems that the environment names: to compare, and to pool.

    Raises
    ------
    RetrievalError, CollectionError
        For an unknown system, a wrong setting, two systems with one slug.
    ParameterError
        Where one of the two lists is none.
    """
    place = present()
    return load_systems(
        _library("systems", place, resolvers),
        _named(ACTIVE_SYSTEMS, place),
        _named(POOLING_SYSTEMS, place),
    )


def _library(name: str, place: Place, resolvers: Mapping[str, Any]) -> Mapping[str, Any]:
    loader = OmegaConfigLoader(
        str(place.conf),
        env=place.env,
        base_env="base",
        default_run_env=DEFAULT_ENVIRONMENT,
        config_patterns=CONFIG_PATTERNS,
        custom_resolvers=dict(resolvers),
        merge_strategy=MERGE_STRATEGY,
    )
    try:
        library: Mapping[str, Any] = loader[name]
    except MissingConfigException:
        library = {}
    except (TypeError, ValueError, yaml.YAMLError) as error:
        raise ParameterError(
            f"{name}.yml of conf/base and conf/{place.env} can't be read together: {error} "
            "Both must map names to settings, in YAML."
        ) from error
    return library


def _named(parameter: str, place: Place) -> list[Any]:
    """Return a list of the environment; one that has none has none, not that of base.

    Raises
    ------
    ParameterError
        Where it is no list.
    """
    folder = place.conf / place.env
    own = "base" if place.env == DEFAULT_ENVIRONMENT else place.env
    for path in (*_parameter_files(folder), *_parameter_files(place.conf / own)):
        named = read_yaml(path) or {}
        if parameter in named:
            return _listed(named[parameter], parameter, path)
    return []


def _parameter_files(folder: Path) -> list[Path]:
    """Return the files from which Kedro reads the parameters of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in (".yml", ".yaml"))
    return [
        path
        for path in files
        if any(part.startswith("parameters") for part in path.relative_to(folder).parts)
    ]


def _listed(value: Any, parameter: str, path: Path) -> list[Any]:
    """Return a list as it is, and nothing as an empty one."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(
        isinstance(one, _ENTRIES[parameter]) for one in value
    ):
        raise ParameterError(
            f"`{parameter}` ({shown(path)}) must be a list of names, each with `- ` before "
            f"it; given: {value!r}."
        )
    return value
