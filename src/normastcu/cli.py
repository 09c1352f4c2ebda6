"""Kedro's command line, in which an error of the input is a sentence and not a traceback."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from kedro.framework.cli.project import run as kedro_run
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.io import CatalogProtocol

from normastcu.annotation.commands import annotate_group
from normastcu.annotation.errors import AnnotationError
from normastcu.collection.errors import CollectionError
from normastcu.configuration import ParameterError
from normastcu.hooks import IncompleteJudgingError, MissingInputError
from normastcu.judging.errors import JudgingError
from normastcu.judging.store import ReplyStore
from normastcu.judging.store_files import (
    export_jsonl,
    export_parquet,
    import_jsonl,
    import_parquet,
)
from normastcu.reporting.summary import print_plan, summary_console
from normastcu.retrieval.errors import RetrievalError
from normastcu.services.errors import ServiceError

INPUT_ERRORS = (
    AnnotationError,
    CollectionError,
    IncompleteJudgingError,
    JudgingError,
    MissingInputError,
    ParameterError,
    RetrievalError,
    ServiceError,
)

WHICH_PIPELINES = (
    "There is `retrieval_runs` where the environment names systems (active_systems), `pooling` "
    "where it names pooling_systems, and `llm_judging` where it names judges (active_judges)."
)

JUDGING_PLAN = "judging_plan"

T = TypeVar("T")

env_option = click.option("--env", "-e", default=None, help="Environment of the configuration.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, name=__file__)
def cli() -> None:
    """Commands of this project."""


def with_sentences(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that shows errors of the input as their sentence alone, and exits 1."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Exception as error:
            for sentence in map(_sentence, _causes(error)):
                if sentence is not None:
                    raise click.ClickException(sentence) from error
            raise

    return wrapped


def _sentence(cause: BaseException) -> str | None:
    """Return what an error of the input says, and for an unknown name which ones there are."""
    said = str(cause)
    if isinstance(cause, INPUT_ERRORS):
        return said
    for start, what_there_is in UNKNOWN.items():
        if said.startswith(start):
            return f"{said.rstrip('.')}. {what_there_is(said)}"
    return None


def _namespaces(_said: str) -> str:
    nodes = [node for pipeline in pipelines.values() for node in pipeline.nodes]
    names = sorted({str(node.namespace) for node in nodes if "." in str(node.namespace)})
    return f"This environment has {', '.join(names)}."


def _environments(said: str) -> str:
    folder = Path(said.rsplit(": ", 1)[1]).parent
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    return f"An environment is a folder there: {', '.join(names)}, or one of your own."


UNKNOWN: dict[str, Callable[[str], str]] = {
    "Failed to find the pipeline named": lambda _: WHICH_PIPELINES,
    "Pipeline does not contain nodes with the following namespaces": _namespaces,
    "Given configuration path either does not exist": _environments,
}
"""How Kedro's errors of an unknown name begin, and what says which names there are."""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _params_of_run(context: click.Context, option: click.Parameter, given: str) -> Any:
    """Read parameters as `kedro run` does."""
    own = next(one for one in kedro_run.params if one.name == "params")
    return own.callback(context, option, given) if own.callback else {}


@cli.command()
@env_option
@click.option(
    "--params",
    default="",
    callback=_params_of_run,
    help="Parameters as for `kedro run`, such as pairs=pool.csv or judging.trial=100.",
)
def estimate(env: str | None, params: dict[str, Any]) -> None:
    """Show what judging would still ask: calls, tokens, money, time. Nothing is asked."""
    with_sentences(_estimate)(env, params)


@cli.group()
def replies() -> None:
    """Move raw replies between the reply store and files."""


@replies.command("export")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--judge", default=None, help="Only this judge's.")
@env_option
def export_replies(path: Path, judge: str | None, env: str | None) -> None:
    """Write the replies to PATH, a .parquet or .jsonl file."""
    write = {".parquet": export_parquet, ".jsonl": export_jsonl}[_suffix(path)]
    n_written = with_sentences(_with_store)(env, lambda store: write(store, path, judge))
    click.echo(f"{n_written} attempts written to {path}.")


@replies.command("import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@env_option
def import_replies(path: Path, env: str | None) -> None:
    """Bring the replies of PATH, a .parquet or .jsonl file, into the store."""
    read = {".parquet": import_parquet, ".jsonl": import_jsonl}[_suffix(path)]
    merged = with_sentences(_with_store)(env, lambda store: read(store, path))
    click.echo(f"{merged.added} attempts added; {merged.skipped} were there already.")


def _estimate(env: str | None, params: dict[str, Any]) -> None:
    session = KedroSession.create(env=env, runtime_params=params)
    with session:
        made = session.run(pipeline_names=["llm_judging"], tags=["plan"])
    if JUDGING_PLAN not in made:
        click.echo("There is nothing to ask: no active judge is asked by calls.")
        return
    print_plan(summary_console(), made[JUDGING_PLAN].load())


def _with_store(env: str | None, use: Callable[[ReplyStore], T]) -> T:
    store: ReplyStore = _catalog(env).load("reply_store")
    with store:
        return use(store)


def _catalog(env: str | None) -> CatalogProtocol[Any, Any]:
    session = KedroSession.create(env=env)
    with session:
        return session.load_context().catalog


def _suffix(path: Path) -> str:
    if path.suffix not in (".parquet", ".jsonl"):
        raise click.BadParameter(f"{path} must end in .parquet or .jsonl.")
    return path.suffix


cli.add_command(annotate_group(_catalog, with_sentences))
cli.add_command(
    click.Command(
        name=kedro_run.name,
        callback=with_sentences(cast(Callable[..., Any], kedro_run.callback)),
        params=kedro_run.params,
        help=kedro_run.help,
    )
)
