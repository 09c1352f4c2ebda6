"""What happens around a run: parameters are checked before, the summary is printed after."""

import os
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

import pandas as pd
from kedro.config import OmegaConfigLoader
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import DataCatalog
from kedro.pipeline import Node, Pipeline
from kedro.validation.type_extractor import TypeExtractor

from normastcu.configuration import (
    RESOLVERS,
    ParameterError,
    check_globals,
    check_parameters,
)
from normastcu.datasets.tables import Optional
from normastcu.environment import STATIC, Place, active_judges, active_systems, enter
from normastcu.judging.errors import JudgingError
from normastcu.judging.spending import check_budget, check_keys
from normastcu.pipelines.llm_judging.nodes import summarise
from normastcu.pipelines.llm_judging.pipeline import NAMESPACE, SPENDING
from normastcu.pipelines.optional import OPTIONAL_PARAMETERS
from normastcu.pipelines.retrieval_runs.parameters import RetrievalSettings
from normastcu.reporting.summary import (
    find_incomplete,
    incomplete_sentence,
    print_folders,
    print_outcomes,
    print_summary,
    summary_console,
)
from normastcu.reporting.verdict_summary import print_verdict
from normastcu.retrieval.known_systems import check_depth

SUMMARY = "judge_summary"
JUDGING_SUMMARY = "judging_summary"
VERDICT_TABLES = ("verdict", "system_ceiling", "replacement_tests", "cost")
RUNNERS_AT_ONCE = ("ThreadRunner", "ParallelRunner")


class MissingInputError(RuntimeError):
    """A pipeline was started before the one that makes its inputs."""


class IncompleteJudgingError(RuntimeError):
    """A judge ended with fewer grades than it must have."""


class ParameterHooks:
    """Stops before anything runs when a parameter is unknown or has a wrong value."""

    @hook_impl(tryfirst=True)
    def after_context_created(self, context: KedroContext) -> None:
        """Check all parameters of all registered pipelines, and the systems' depths."""
        loader = cast(OmegaConfigLoader, context.config_loader)
        conf, env = Path(loader.conf_source), loader.env or loader.default_run_env
        check_globals(loader["globals"], conf / loader.base_env, conf / env)
        enter(Place(conf, env))
        used = {
            name.removeprefix("params:").split(".")[0]
            for pipeline in pipelines.values()
            for name in pipeline.inputs()
            if name.startswith("params:")
        }
        types = TypeExtractor(dict(pipelines)).extract_types_from_pipelines()
        check_parameters(
            loader["parameters"],
            {name: types.get(name) for name in used} | dict(OPTIONAL_PARAMETERS),
            [conf / loader.base_env, conf / env],
            loader.runtime_params or {},
        )
        for name in set(STATIC) & set(loader.runtime_params or {}):
            raise ParameterError(
                f"`{name}` can't be given with --params, because pipelines are built from it "
                f"before parameters are known: set it in conf/{env}/{STATIC[name]}."
            )
        if "retrieval" in used:
            settings = RetrievalSettings.model_validate(loader["parameters"]["retrieval"])
            check_depth(active_systems(RESOLVERS), settings.depth)


class InputHooks:
    """Stops before anything runs when what another pipeline makes is not there yet."""

    @hook_impl
    def before_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Name everything that is missing, and the pipelines that make it."""
        missing = _missing(pipeline, catalog)
        if missing:
            files = ", ".join(f"`{name}` ({_filepath(catalog.get(name))})" for name in missing)
            raise MissingInputError(
                f"Not there yet: {files}. Run first: kedro run --pipelines "
                f"{','.join(_makers(missing, catalog))} (with the same --env)."
            )


class JudgingHooks:
    """Says how the judges' pairs have ended, with an error where one has too few grades."""

    @hook_impl(trylast=True)
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog
    ) -> None:
        """Show the outcomes by judge, or the command that completes the rest."""
        made = pipeline.all_outputs()
        ended = _ended(made, catalog)
        if ended is None:
            return
        outcomes, summary = ended
        incomplete = find_incomplete(summary)
        if len(incomplete):
            command = _command(run_params)
            raise IncompleteJudgingError(incomplete_sentence(incomplete, outcomes, command))
        if SUMMARY not in made:
            console = summary_console()
            print_outcomes(console, outcomes, summary)
            print_folders(console, _report_folders(made, catalog))


class SpendingHooks:
    """Stops before the first call of a run that may cost too much, or lacks a key."""

    def __init__(self) -> None:
        self._asking: dict[str, str] = {}

    @hook_impl
    def before_pipeline_run(self, run_params: dict[str, Any], pipeline: Pipeline) -> None:
        """Note which nodes of the run ask; all plans are made before the first of them runs."""
        self._asking = {
            node.name: str(node.namespace) for node in pipeline.nodes if SPENDING in node.tags
        }
        runner = str(run_params.get("runner"))
        at_once = next((name for name in RUNNERS_AT_ONCE if name in runner), None)
        if self._asking and at_once:
            raise JudgingError(
                f"Judges can't be asked under {at_once}, which may ask the first of them before "
                "the plans of all are known and held against `judging.budget`. Run llm_judging "
                "without --runner; a model's `concurrency` says how many calls are made at a time."
            )

    @hook_impl
    def before_node_run(self, node: Node, catalog: DataCatalog) -> None:
        """Look at all plans of the run together, once."""
        if node.name not in self._asking:
            return
        namespaces, self._asking = set(self._asking.values()), {}
        plans = pd.concat([catalog.load(f"{namespace}.estimate") for namespace in namespaces])
        asked = set(plans.loc[plans["calls"] > 0, "judge"])
        judges = [judge for judge in active_judges(RESOLVERS) if judge.name in asked]
        check_keys(judges, catalog.load("credentials"))
        check_budget(plans.sort_values("judge"), catalog.load("params:judging").budget)


class SummaryHooks:
    """Prints the judges and the first lines of the report, and where everything lies."""

    @hook_impl
    def after_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Print the summary when the run has made one."""
        made = pipeline.all_outputs()
        if SUMMARY not in made:
            return
        console = summary_console()
        summary, people = catalog.load(SUMMARY), catalog.load("human_kappa")
        given = {name: catalog.load(name) for name in VERDICT_TABLES if name in made}
        print_summary(console, summary, people)
        print_verdict(console, summary, people, **given)
        print_folders(console, _report_folders(made, catalog))


def _ended(made: Collection[str], catalog: DataCatalog) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Return outcomes and summary of the judges of a run, None where it asked none.

    A run of some judges by their namespaces makes no summary of its own.
    """
    if JUDGING_SUMMARY in made:
        return catalog.load("judging_outcomes"), catalog.load(JUDGING_SUMMARY)
    judges = [
        name.removesuffix(".report")
        for name in sorted(made)
        if name.startswith(f"{NAMESPACE}.") and name.endswith(".report")
    ]
    judges = [judge for judge in judges if f"{judge}.judgments" in made]
    if not judges:
        return None
    judgments, reports = (
        pd.concat([catalog.load(f"{judge}.{table}") for judge in judges], ignore_index=True)
        for table in ("judgments", "report")
    )
    return summarise(judgments, reports, judges)


def _command(run_params: Mapping[str, Any]) -> str:
    """Return the command that judges the same pairs again, under the same parameters."""
    parts = ["kedro run --pipelines llm_judging"]
    if namespaces := run_params.get("namespaces"):
        parts.append(f"--namespaces {','.join(namespaces)}")
    if env := run_params.get("env"):
        parts.append(f"--env {env}")
    given = _flat(run_params.get("runtime_params") or {})
    if given:
        parts.append("--params " + shlex.quote(",".join(f"{k}={v}" for k, v in given)))
    return " ".join(parts)


def _flat(params: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested parameters as Kedro's command line takes them, with dots."""
    flat: list[tuple[str, Any]] = []
    for name, value in params.items():
        nested = isinstance(value, Mapping)
        flat += _flat(value, f"{prefix}{name}.") if nested else [(f"{prefix}{name}", value)]
    return flat


def _missing(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, str]:
    """Return the inputs that are not there, each with the pipeline that makes it."""
    makers = {name: _maker(name) for name in sorted(pipeline.inputs())}
    return {
        name: maker
        for name, maker in makers.items()
        if maker and not isinstance(catalog.get(name), Optional) and not catalog.exists(name)
    }


def _makers(missing: Mapping[str, str], catalog: DataCatalog) -> list[str]:
    """Return the pipelines to run, those too that the makers themselves wait for, in order."""
    needed = set(missing.values())
    for maker in missing.values():
        needed |= set(_makers(_missing(pipelines[maker], catalog), catalog))
    return [name for name in pipelines if name in needed]


def _maker(name: str) -> str | None:
    """Return the first pipeline that makes a dataset, in whatever form it is read."""
    makers = (
        key for key, other in pipelines.items() if _file(name) in map(_file, other.all_outputs())
    )
    return next(makers, None)


def _file(name: str) -> str:
    """Return the name that all forms of a dataset share: `documents` of `documents@searched`."""
    return name.partition("@")[0]


def _report_folders(names: Collection[str], catalog: DataCatalog) -> list[str]:
    """Return the folders under 08_reporting that the run has written to."""
    paths = [_filepath(catalog.get(name)) for name in names]
    folders = {path.parent for path in paths if path and "08_reporting" in path.parts}
    return sorted(os.path.relpath(folder) for folder in folders)


def _filepath(dataset: Any) -> Path | None:
    described = dataset._describe().get("filepath") if dataset is not None else None
    return Path(described) if described else None
