"""Where raw files come from: a directory, the Hugging Face hub, or the court's open data.

A source is asked for a file by the names it may have (``docs.csv``, which the data card calls
``doc.csv``) and answers with a local file and its provenance. Which of the three is asked is a
setting of the environment; nothing here falls back from one source to another.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, HttpUrl, StringConstraints

from normastcu.collection import downloads, hub
from normastcu.collection.errors import CollectionError
from normastcu.collection.settings import Settings

SourceKind = Literal["files", "hub", "open_data"]

DOCUMENT_FILE_NAMES = frozenset({"docs.csv", "doc.csv"})
"""The names under which the documents are asked for; the court's open data has nothing else."""


def _check_address(value: str) -> str:
    HttpUrl(value)
    return value


HttpAddress = Annotated[str, AfterValidator(_check_address)]
"""An http or https address, kept as it was written."""


@dataclass(frozen=True)
class Provenance:
    """Where a raw file came from, and exactly which bytes it held.

    Attributes
    ----------
    kind
        The kind of source: ``files``, ``hub`` or ``open_data``.
    location
        The path, ``<repository>/<file>``, or the URL (without user, password or query).
    revision
        The resolved commit (hub), the ETag, else the Last-Modified date (open data), "" if none.
    sha256
        Hexadecimal digest of the file's bytes.
    size
        Bytes.
    """

    kind: SourceKind
    location: str
    revision: str
    sha256: str
    size: int


@dataclass(frozen=True)
class RawFile:
    """A raw file on this machine.

    Attributes
    ----------
    path
        The local file. It belongs to the source: read it, never write it.
    name
        How messages call it: the path, the URL, or ``<repository>/<file>@<commit>``.
    provenance
        Where it came from.
    """

    path: Path
    name: str
    provenance: Provenance


class FilesSource(Settings):
    """A directory with the released files; no path means that it was not given."""

    path: str | None = None


class HubSource(Settings):
    """A data set repository on the Hugging Face hub, or on a server that speaks its protocol.

    Without ``endpoint`` the environment variable ``HF_ENDPOINT`` counts, then huggingface.co;
    without ``cache_dir`` the cache of ``huggingface_hub``.
    """

    repo_id: str = "LeandroRibeiro/NormasTCU"
    revision: Annotated[str, StringConstraints(min_length=1)] = "main"
    endpoint: HttpAddress | None = None
    cache_dir: str | None = None


class OpenDataSource(Settings):
    """The court's open data CSV; an empty ``cache_dir`` means that it was not given."""

    url: HttpAddress = "https://sites.tcu.gov.br/dados-abertos/normas/arquivos/norma.csv"
    cache_dir: str = ""
    attempts: Annotated[int, Field(ge=1)] = 5
    timeout_s: Annotated[float, Field(gt=0)] = 60


class SourceSettings(Settings):
    """Which source is asked, and the settings of each."""

    kind: SourceKind
    files: FilesSource = FilesSource()
    hub: HubSource = HubSource()
    open_data: OpenDataSource = OpenDataSource()


def fetch(
    source: SourceSettings, names: Sequence[str], *, wait: Callable[[float], None] = time.sleep
) -> RawFile:
    """Return the first file of `names` that the source has.

    Parameters
    ----------
    source
        The source to ask.
    names
        The names the file may have, the preferred one first.
    wait
        Called with the seconds to wait before a download is tried again.

    Raises
    ------
    CollectionError
        If the source isn't set, can't be reached, refuses, or has no such file; the message
        names the place, what was tried and what to do.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "doc.csv").write_text("KEY", encoding="utf-8")
    >>> settings = SourceSettings(kind="files", files=FilesSource(path=str(folder)))
    >>> fetch(settings, ["docs.csv", "doc.csv"]).path.name
    'doc.csv'
    """
    found = fetch_optional(source, names, wait=wait)
    if found is None:
        raise CollectionError(_not_found(source, names))
    return found


def fetch_optional(
    source: SourceSettings, names: Sequence[str], *, wait: Callable[[float], None] = time.sleep
) -> RawFile | None:
    """Return the first file of `names` that the source has, or None if it has none of them.

    A source that isn't set, can't be reached or refuses is an error all the same: see `fetch`.
    """
    match source.kind:
        case "files":
            return _fetch_from_directory(source.files, names)
        case "hub":
            return _fetch_from_hub(source.hub, names, wait)
        case "open_data":
            return _fetch_open_data(source.open_data, names, wait)


def local_file(path: Path) -> RawFile:
    """Return a file of this machine as a raw file, with its digest."""
    return RawFile(
        path=path,
        name=str(path),
        provenance=Provenance(
            kind="files",
            location=str(path),
            revision="",
            sha256=downloads.sha256_of(path),
            size=path.stat().st_size,
        ),
    )


def _fetch_from_directory(source: FilesSource, names: Sequence[str]) -> RawFile | None:
    folder = _directory(source)
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    return None if path is None else local_file(path)


def _directory(source: FilesSource) -> Path:
    if not source.path or not source.path.strip():
        raise CollectionError(
            "The directory of raw files is not set: set NORMASTCU_RAW (or `source.files.path` in "
            "conf/<environment>/globals.yml) to the directory that holds docs.csv, query.csv and "
            "raw_human_eval.csv, or choose another `source.kind` (hub, open_data)."
        )
    folder = Path(source.path).expanduser()
    if not folder.is_dir():
        raise CollectionError(
            f"The directory of raw files does not exist: {folder.absolute()}. Correct "
            "NORMASTCU_RAW (or `source.files.path` in conf/<environment>/globals.yml); a relative "
            "path is read from the project's root."
        )
    return folder


def _fetch_from_hub(
    source: HubSource, names: Sequence[str], wait: Callable[[float], None]
) -> RawFile | None:
    cache_dir = source.cache_dir and str(Path(source.cache_dir).expanduser())
    repository = hub.Repository(source.repo_id, source.revision, source.endpoint, cache_dir)
    found = hub.fetch(repository, names, wait=wait)
    if found is None:
        return None
    location = f"{source.repo_id}/{found.name}"
    return RawFile(
        path=found.path,
        name=f"{location}@{found.commit}",
        provenance=Provenance(
            kind="hub",
            location=location,
            revision=found.commit,
            sha256=downloads.sha256_of(found.path),
            size=found.path.stat().st_size,
        ),
    )


def _fetch_open_data(
    source: OpenDataSource, names: Sequence[str], wait: Callable[[float], None]
) -> RawFile | None:
    if DOCUMENT_FILE_NAMES.isdisjoint(names):
        return None
    if not source.cache_dir.strip():
        raise CollectionError(
            "The directory for downloads is not set: set `source.open_data.cache_dir` in "
            "conf/<environment>/globals.yml, for example to data/01_raw/<collection>."
        )
    found = downloads.download(
        source.url,
        Path(source.cache_dir).expanduser(),
        attempts=source.attempts,
        timeout_s=source.timeout_s,
        wait=wait,
    )
    return RawFile(
        path=found.path,
        name=found.url,
        provenance=Provenance(
            kind="open_data",
            location=found.url,
            revision=found.etag or found.last_modified,
            sha256=found.sha256,
            size=found.size,
        ),
    )


def _not_found(source: SourceSettings, names: Sequence[str]) -> str:
    tried = " or ".join(names)
    match source.kind:
        case "files":
            folder = _directory(source.files).absolute()
            return (
                f"There is no {tried} in the directory of raw files {folder}. Put the file there, "
                "or correct NORMASTCU_RAW (or `source.files.path` in "
                "conf/<environment>/globals.yml)."
            )
        case "hub":
            return (
                f"The data set {source.hub.repo_id} (revision {source.hub.revision}) has no file "
                f"{tried}. Correct `source.hub.repo_id` or `source.hub.revision` in "
                "conf/<environment>/globals.yml, or download the files by hand and use "
                "`source.kind: files`."
            )
        case "open_data":
            return (
                f"The court's open data has documents only, no {tried}. Put queries and judgments "
                "into a directory together with the documents and use `source.kind: files`, or "
                "take the released data set with `source.kind: hub`."
            )
