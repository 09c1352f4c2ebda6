"""The commands of a campaign: prepare, assessors, serve, close, export, import, publish.

The project's command line gives them its catalog, and the way in which it shows errors.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click

from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.exchange import (
    CANONICAL_FILE,
    RELEASED_FILE,
    export_campaign,
    import_campaign,
    publish,
)
from normastcu.annotation.records import Prepared, Role
from normastcu.annotation.settings import AnnotationSettings, CampaignSettings
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.pairs import read_pairs
from normastcu.collection.settings import GradeScale
from normastcu.collection.sources import local_file

STORE = "annotation_store"
SETTINGS = "params:annotation"
ADDRESS = "http://127.0.0.1:8000"
_NEEDED = {
    "pool": "Run `kedro run --pipelines pooling`, or give a file of pairs with --pool.",
    "queries": "Run `kedro run --pipelines ingestion` first.",
    "documents@chunks": "Run `kedro run --pipelines ingestion` first.",
}

env_option = click.option("--env", "-e", default=None, help="Environment of the configuration.")


class Catalog(Protocol):
    """What the commands need of a data catalog."""

    def load(self, name: str) -> Any:
        """Return a dataset."""

    def exists(self, name: str) -> bool:
        """Return whether a dataset was made."""

    def __getitem__(self, name: str, /) -> Any:
        """Return the dataset itself, unloaded."""


CatalogOf = Callable[[str | None], Catalog]
Guard = Callable[[Callable[..., Any]], Callable[..., Any]]


def annotate_group(catalog_of: CatalogOf, guard: Guard) -> click.Group:
    """Return the group `annotate`.

    Parameters
    ----------
    catalog_of
        Returns the catalog of an environment. It has `annotation_store` (an
        `AnnotationStoreDataset`), `params:annotation`, `params:collection`, `params:scale`, and
        for `prepare` also `pool`, `queries` and `documents@chunks`.
    guard
        Wraps a function so that its errors of input are shown as sentences.
    """
    group = click.Group("annotate", help="Have people judge: the assessment screen.")
    for make in (_prepare, _assessors, _serve, _close, _reopen, _export, _import, _publish):
        group.add_command(make(catalog_of, guard))
    return group


def _prepare(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("prepare")
    @click.option(
        "--pool",
        "pool_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A CSV of pairs, instead of the pool that the project made.",
    )
    @env_option
    @guard
    def prepare(pool_file: Path | None, env: str | None) -> None:
        """Make a campaign of the pool, or bring it up to date; what was judged stays."""
        catalog = catalog_of(env)
        for name in ("queries", "documents@chunks", *(() if pool_file else ("pool",))):
            _require(catalog, name)
        pool = read_pairs(local_file(pool_file)) if pool_file else catalog.load("pool")
        with _store(catalog) as store:
            prepared = store.prepare(
                pool,
                catalog.load("queries"),
                catalog.load("documents@chunks"),
                campaign_settings(catalog),
            )
        click.echo(describe(prepared))

    return prepare


def _assessors(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("assessors")
    @click.argument("names", nargs=-1)
    @click.option("--administrator", is_flag=True, help="The names are administrators.")
    @click.option("--renew", multiple=True, metavar="NAME", help="Make a new link.")
    @click.option("--revoke", multiple=True, metavar="NAME", help="End a link.")
    @click.option("--address", default=ADDRESS, show_default=True, help="Where browsers find it.")
    @env_option
    @guard
    def assessors(
        names: tuple[str, ...],
        administrator: bool,
        renew: tuple[str, ...],
        revoke: tuple[str, ...],
        address: str,
        env: str | None,
    ) -> None:
        """Add people and print their personal links, which are shown this once; or list all."""
        with _campaign(catalog_of(env)) as store:
            role: Role = "administrator" if administrator else "assessor"
            tokens = store.change_people(names, role, renew=renew, revoke=revoke)
            for name in revoke:
                click.echo(f"{name}: the link is revoked.")
            for name, token in tokens.items():
                click.echo(f"{name}: {address.rstrip('/')}/enter/{token}")
            if not (names or renew or revoke):
                _list_people(store)

    return assessors


def _serve(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("serve")
    @click.option("--host", default="127.0.0.1", show_default=True)
    @click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
    @click.option("--certificate", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--key", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--behind-tls", is_flag=True, help="A server in front of this one speaks TLS.")
    @env_option
    @guard
    def serve(
        host: str,
        port: int,
        certificate: Path | None,
        key: Path | None,
        behind_tls: bool,
        env: str | None,
    ) -> None:
        """Serve the screen until Ctrl-C."""
        # The web framework is not needed by the other commands, nor by the project's other ones.
        from normastcu.annotation.server import Address, run

        address = Address(host, port, certificate, key, behind_tls)
        if address.exposed:
            click.echo(
                f"Warning: on {host} without TLS, links and grades cross the network readable by "
                "others. Give --certificate and --key, or put a TLS server in front.",
                err=True,
            )
        with _campaign(catalog_of(env)) as store:
            run(store, address)

    return serve


def _close(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("close")
    @env_option
    @guard
    def close(env: str | None) -> None:
        """Take no answers from now on."""
        with _campaign(catalog_of(env)) as store:
            store.close_campaign()
        click.echo("The campaign is closed.")

    return close


def _reopen(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("reopen")
    @env_option
    @guard
    def reopen(env: str | None) -> None:
        """Take answers again."""
        with _campaign(catalog_of(env)) as store:
            store.reopen()
        click.echo("The campaign is open.")

    return reopen


def _export(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("export")
    @click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
    @env_option
    @guard
    def export(path: Path, env: str | None) -> None:
        """Write everything to PATH, a .zip by which the campaign moves to another machine."""
        with _campaign(catalog_of(env)) as store:
            export_campaign(store, path)
        click.echo(f"The campaign is written to {path}.")

    return export


def _import(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("import")
    @click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @env_option
    @guard
    def import_(path: Path, env: str | None) -> None:
        """Bring in PATH: a full export (.zip), or judgments (.csv, .jsonl) of known assessors."""
        catalog = catalog_of(env)
        if path.suffix == ".zip":
            with _store(catalog) as store:
                new = import_campaign(store, path)
            said = "The campaign is imported." if new else "This campaign is there already."
        else:
            with _campaign(catalog) as store:
                said = f"{_counted(store.import_judgments(path), 'judgment')} imported."
        click.echo(said)

    return import_


def _publish(catalog_of: CatalogOf, guard: Guard) -> click.Command:
    @click.command("publish")
    @click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
    @env_option
    @guard
    def publish_(folder: Path, env: str | None) -> None:
        """Write the judgments to FOLDER, in the released format and as parquet."""
        with _campaign(catalog_of(env)) as store:
            published = publish(store, folder)
        n_unknown = published.n_canonical - published.n_released
        click.echo(
            f"Written to {folder}: {_counted(published.n_released, 'graded judgment')} to "
            f"{RELEASED_FILE}; these and {n_unknown} without a grade (don't know) to "
            f"{CANONICAL_FILE}."
        )

    return publish_


def campaign_settings(catalog: Catalog) -> CampaignSettings:
    """Return the settings of the campaign from the parameters."""
    return CampaignSettings(
        collection=catalog.load("params:collection"),
        scale=GradeScale.model_validate(catalog.load("params:scale")),
        annotation=AnnotationSettings.model_validate(catalog.load(SETTINGS)),
    )


def describe(prepared: Prepared) -> str:
    """Return what `prepare` did, in lines.

    Examples
    --------
    >>> print(describe(Prepared(2, 40, 40, 0, 0, 90, 0, 1, {"A_1": 40})))
    40 pairs of 2 queries; new: 40. Documents in the collection: 90.
    A_1: 40 pairs
    1 assessor still to be added: kedro annotate assessors NAME...
    """
    pairs, queries = _counted(prepared.n_pairs, "pair"), _counted(prepared.n_queries, "query")
    lines = [
        f"{pairs} of {queries}; new: {prepared.n_new_pairs}. Documents in the collection: "
        f"{prepared.n_documents}."
    ]
    if prepared.n_withdrawn or prepared.n_kept:
        lines.append(
            f"No longer in the pool: {_counted(prepared.n_withdrawn, 'pair')} withdrawn, "
            f"{_counted(prepared.n_kept, 'pair')} kept because somebody has answered."
        )
    if prepared.n_changed_documents:
        lines.append(f"Documents that have changed: {prepared.n_changed_documents}.")
    lines += [f"{name}: {_counted(n, 'pair')}" for name, n in prepared.loads.items()]
    if prepared.short_of:
        missing = _counted(prepared.short_of, "assessor")
        lines.append(f"{missing} still to be added: kedro annotate assessors NAME...")
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as 1 query or 2 queries."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def _store(catalog: Catalog) -> AnnotationStore:
    store: AnnotationStore = catalog.load(STORE)
    return store


@contextmanager
def _campaign(catalog: Catalog) -> Iterator[AnnotationStore]:
    """Yield the store of a campaign; where there is none, no database is made."""
    if catalog.exists(STORE):
        with _store(catalog) as store:
            if store.has_campaign():
                yield store
                return
    raise AnnotationError(
        f"There is no campaign in the annotation database {catalog[STORE].path}. Name the "
        "campaign's environment with --env, or make a campaign with `kedro annotate prepare`, or "
        "bring one in with `kedro annotate import`."
    )


def _require(catalog: Catalog, name: str) -> None:
    if not catalog.exists(name):
        raise AnnotationError(f"There is no {name.split('@')[0]} yet. {_NEEDED[name]}")


def _list_people(store: AnnotationStore) -> None:
    people: Sequence[Any] = store.people()
    for person in people:
        click.echo(f"{person.name}: {person.role}{', revoked' if person.revoked else ''}")
    if not people:
        click.echo("There is nobody yet: kedro annotate assessors NAME...")
