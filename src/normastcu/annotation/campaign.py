"""The campaign itself: its settings, and whether it is open."""

from functools import lru_cache

from sqlalchemy import Connection

from normastcu.annotation.database import ADJUDICATION, FIRST, change, now, scalar
from normastcu.annotation.errors import AnnotationError, CampaignClosedError
from normastcu.annotation.records import Campaign, Round
from normastcu.annotation.settings import CampaignSettings

ROUND_NAMES: dict[int, Round] = {FIRST: "first", ADJUDICATION: "adjudication"}
ROUND_NUMBERS: dict[Round, int] = {name: number for number, name in ROUND_NAMES.items()}


def read_settings(connection: Connection) -> CampaignSettings:
    """Return the settings of the campaign.

    Raises
    ------
    AnnotationError
        Nothing was prepared yet.
    """
    settings = find_settings(connection)
    if settings is None:
        raise AnnotationError(
            "There is no campaign in this annotation database yet. Run `kedro annotate prepare`, "
            "or import one with `kedro annotate import`."
        )
    return settings


def find_settings(connection: Connection) -> CampaignSettings | None:
    """Return the settings of the campaign, None where nothing was prepared yet."""
    written = scalar(connection, "SELECT settings FROM campaign")
    return None if written is None else _parsed(written)


def write_settings(connection: Connection, settings: CampaignSettings) -> None:
    """Store the settings of the campaign.

    Raises
    ------
    AnnotationError
        The collection is another one, or, once somebody has answered, the scale or the seed.
    """
    before = find_settings(connection)
    if before is not None:
        _check_kept(connection, before, settings)
    change(
        connection,
        "INSERT INTO campaign (id, settings) VALUES (1, :settings)"
        " ON CONFLICT (id) DO UPDATE SET settings = :settings",
        settings=settings.model_dump_json(),
    )


def read_campaign(connection: Connection) -> Campaign:
    """Return what everybody judges."""
    settings = read_settings(connection)
    return Campaign(
        key=str(scalar(connection, "SELECT key FROM campaign")),
        collection=settings.collection,
        scale=settings.scale,
        definitions=settings.annotation.definitions,
        unknown_definition=settings.annotation.unknown_definition,
        closed=is_closed(connection),
        names=settings.annotation.names,
    )


def is_closed(connection: Connection) -> bool:
    """Tell whether the campaign takes no answers any more."""
    return scalar(connection, "SELECT closed_at FROM campaign") is not None


def require_open(connection: Connection) -> None:
    """Raise where the campaign takes no answers any more."""
    if is_closed(connection):
        raise CampaignClosedError(
            "The campaign is closed, so that nothing can be judged or changed. Ask the "
            "administrator to open it again."
        )


def set_closed(connection: Connection) -> None:
    """Take no answers from now on."""
    read_settings(connection)
    change(connection, "UPDATE campaign SET closed_at = :at WHERE closed_at IS NULL", at=now())


def set_open(connection: Connection) -> None:
    """Take answers again."""
    read_settings(connection)
    change(connection, "UPDATE campaign SET closed_at = NULL")


def _check_kept(
    connection: Connection, before: CampaignSettings, settings: CampaignSettings
) -> None:
    if before.collection != settings.collection:
        raise AnnotationError(
            f"The annotation database holds a campaign on the collection {before.collection!r}, "
            f"not on {settings.collection!r}. Give the other collection a database of its own."
        )
    answered = scalar(connection, "SELECT 1 FROM events UNION ALL SELECT 1 FROM suggestions")
    if not answered:
        return
    if before.scale.values != settings.scale.values:
        raise AnnotationError(
            f"People have judged on the grades {list(before.scale.values)} already; given: "
            f"{list(settings.scale.values)}. Keep the scale, or begin a campaign in another "
            "database."
        )
    if before.annotation.seed != settings.annotation.seed:
        raise AnnotationError(
            f"People have judged in the order of seed {before.annotation.seed} already; given: "
            f"{settings.annotation.seed}. Keep the seed."
        )


@lru_cache(maxsize=8)
def _parsed(written: str) -> CampaignSettings:
    return CampaignSettings.model_validate_json(written)
