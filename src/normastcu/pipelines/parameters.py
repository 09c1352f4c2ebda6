"""Parameters that several pipelines share."""

from pydantic import Field

from normastcu.collection.settings import Settings


class BootstrapSettings(Settings):
    """Resamples of the queries: their number, and the seed that makes them the same again."""

    resamples: int = Field(ge=100, le=1_000_000)
    seed: int = Field(ge=0)


class DisputedPairsSettings(Settings):
    """How many of the most disputed pairs are listed."""

    most: int = Field(gt=0)
