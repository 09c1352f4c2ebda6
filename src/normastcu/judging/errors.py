"""The error of the judging room."""


class JudgingError(ValueError):
    """Settings or input that judging can't take; the message names the place and the remedy."""
