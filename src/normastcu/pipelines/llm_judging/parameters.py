"""Parameters of `llm_judging`."""

from pydantic import Field

from normastcu.collection.settings import Settings
from normastcu.judging.requests import Outcome


class JudgingSettings(Settings):
    """How judging runs.

    Attributes
    ----------
    again
        Final outcomes that are asked anew, such as ``unparseable``.
    budget
        The most that one judge's plan may cost, in the currency of its prices; a judge whose plan
        may cost more, or has no known price, is refused before its first call. None: no limit.
    """

    again: tuple[Outcome, ...] = ()
    budget: float | None = Field(default=None, ge=0)
