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
