"""What happens around a run: parameters are checked before, the summary is printed after."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from kedro.config import OmegaConfigLoader
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from kedro.validation.type_extractor import TypeExtractor
from rich.console import Console

from normastcu.configuration import check_parameters
from normastcu.reporting.summary import print_summary

SUMMARY = "judge_summary"
PLAIN_WIDTH = 110


class MissingInputError(RuntimeError):
    """A pipeline was started before the one that makes its inputs."""


class ParameterHooks:
    """Stops before anything runs when a parameter is unknown or has a wrong value."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Check all parameters of all registered pipelines."""
        loader = cast(OmegaConfigLoader, context.config_loader)
        conf = Path(loader.conf_source)
        env = loader.env or loader.default_run_env
        used = {
            name.removeprefix("params:").split(".")[0]
            for pipeline in pipelines.values()
            for name in pipeline.inputs()
            if name.startswith("params:")
        }
        types = TypeExtractor(dict(pipelines)).extract_types_from_pipelines()
        check_parameters(
            loader["parameters"],
            {name: types.get(name) for name in used},
            [conf / loader.base_env, conf / env],
            loader.runtime_params or {},
        )


class InputHooks:
    """Stops before anything runs when what another pipeline makes is not there yet."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Name the first missing input and the pipeline that makes it."""
        for name in sorted(pipeline.inputs()):
            makers = [
                key
                for key, other in pipelines.items()
                if name in other.all_outputs() and key != "__default__"
            ]
            if makers and not catalog.exists(name):
                raise MissingInputError(
                    f"`{name}` is not there yet ({_filepath(catalog.get(name))}). Run first: "
                    f"kedro run --pipelines {makers[0]} (with the same --env)."
                )


class SummaryHooks:
    """Prints the judges in a few lines, and where tables and figures lie."""

    @hook_impl
    def after_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Print the summary when the run has made one."""
        if SUMMARY in pipeline.outputs():
            width = None if sys.stdout.isatty() else PLAIN_WIDTH
            print_summary(
                Console(width=width),
                catalog.load(SUMMARY),
                catalog.load("human_kappa"),
                _report_folders(pipeline.outputs(), catalog),
            )


def _report_folders(names: Collection[str], catalog: DataCatalog) -> list[str]:
    """Return the folders under 08_reporting that the run has written to."""
    paths = [_filepath(catalog.get(name)) for name in names]
    folders = {path.parent for path in paths if path and "08_reporting" in path.parts}
    return sorted(os.path.relpath(folder) for folder in folders)


def _filepath(dataset: Any) -> Path | None:
    described = dataset._describe().get("filepath") if dataset is not None else None
    return Path(described) if described else None
