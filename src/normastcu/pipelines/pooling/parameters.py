"""Parameters of `pooling`."""

from collections.abc import Sequence

from pydantic import Field

from normastcu.collection.pool import Policy, PoolSettings
from normastcu.collection.settings import Settings


class PoolingSettings(Settings):
    """How the documents of a pool are chosen, see `normastcu.collection.pool.PoolSettings`.

    The systems are apart, because pipelines are built from them.
    """

    policy: Policy = PoolSettings.model_fields["policy"].default
    depth: int = Field(default=PoolSettings.model_fields["depth"].default, gt=0)
    size: int = Field(default=PoolSettings.model_fields["size"].default, gt=0)
    rrf_k: float = Field(default=PoolSettings.model_fields["rrf_k"].default, ge=0)

    def over(self, systems: Sequence[str]) -> PoolSettings:
        """Return the settings of a pool over some systems."""
        return PoolSettings(systems=tuple(systems), **self.model_dump())
