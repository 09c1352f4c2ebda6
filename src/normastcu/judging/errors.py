"""The error of the judging room."""

from collections.abc import Iterator
from contextlib import contextmanager

from normastcu.services.errors import ServiceError


class JudgingError(ValueError):
    """Settings or input that judging can't take; the message names the place and the remedy."""


@contextmanager
def service_errors_as_judging() -> Iterator[None]:
    """Let what the services room says about a model's settings stop its judge alone."""
    try:
        yield
    except ServiceError as error:
        raise JudgingError(str(error)) from error


def unexpected(error: Exception) -> str:
    """Say that something else went wrong, by its type alone: its text may quote a document."""
    return (
        f"It ended with an unexpected {type(error).__name__}, whose text may quote a document and "
        "is not shown. What was answered is stored; the same command goes on where it stopped."
    )
