"""Kedro's command line, in which an error of the input is a sentence and not a traceback."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, cast

import click
from kedro.framework.cli.project import run as kedro_run

from normastcu.collection.errors import CollectionError
from normastcu.configuration import ParameterError
from normastcu.hooks import MissingInputError

INPUT_ERRORS = (CollectionError, ParameterError, MissingInputError)


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
            for cause in _causes(error):
                if isinstance(cause, INPUT_ERRORS):
                    raise click.ClickException(str(cause)) from error
            raise

    return wrapped


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


cli.add_command(
    click.Command(
        name=kedro_run.name,
        callback=with_sentences(cast(Callable[..., Any], kedro_run.callback)),
        params=kedro_run.params,
        help=kedro_run.help,
    )
)
