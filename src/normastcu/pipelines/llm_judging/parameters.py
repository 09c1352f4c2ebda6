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
        The most that the planned calls of a run may cost, all its judges together, in the
        currency of the prices; a run that may cost more, or an unknown amount, is refused before
        its first call. Reminders, and larger limits after replies that were cut off, come on top.
        None: no limit.
    trial
        Only so many pairs are judged, drawn at random, the same ones in every run; None judges
        all of them.
    """

    again: tuple[Outcome, ...] = ()
    budget: float | None = Field(default=None, ge=0)
    trial: int | None = Field(default=None, gt=0)
