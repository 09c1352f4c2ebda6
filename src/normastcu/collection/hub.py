"""Files of a data set on the Hugging Face hub, all of one commit."""

import logging
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name

from normastcu.collection.downloads import public_url
from normastcu.collection.errors import CollectionError

LOGGER = logging.getLogger(__name__)

_ATTEMPTS = 3
_COMMIT = re.compile(r"[0-9a-f]{40}")
# The library changed its HTTP client between releases: this is the root of the client's errors.
_TransportError: type[Exception] = HfHubHTTPError.__bases__[0]
_WHAT_TO_DO = (
    "Check the network, set HF_ENDPOINT (or `source.hub.endpoint`) to a mirror you can reach, or "
    "download the files by hand and use the source `files`."
)


@dataclass(frozen=True)
class Repository:
    """A data set repository, one revision of it, and where its files are kept.

    Attributes
    ----------
    repo_id
        ``<owner>/<name>``.
    revision
        A branch, a tag or a commit.
    endpoint
        The address of the hub; None for that of ``HF_ENDPOINT``, else huggingface.co.
    cache_dir
        None for the cache of ``huggingface_hub``.
    """

    repo_id: str
    revision: str
    endpoint: str | None = None
    cache_dir: str | None = None

    def __str__(self) -> str:
        address = public_url(self.endpoint or constants.ENDPOINT)
        return f"the data set {self.repo_id} (revision {self.revision}) on {address}"


@dataclass(frozen=True)
class HubFile:
    """A file of the repository, on this machine.

    Attributes
    ----------
    path
        The file in the cache: read it, never write it.
    name
        Its name in the repository.
    commit
        The commit it belongs to, 40 hexadecimal digits.
    """

    path: Path
    name: str
    commit: str


def fetch(
    repository: Repository, names: Sequence[str], *, wait: Callable[[float], None] = time.sleep
) -> HubFile | None:
    """Return the first of `names` that the repository has, None if it has none of them.

    The revision is resolved to a commit once per process, so that all files are of one commit
    even if the repository changes in between. A file in the cache isn't downloaded again. When
    the hub can't be reached, the commit that was used last counts, and a warning is logged.
    Downloads, their resumption and their progress bar are the library's.

    Parameters
    ----------
    repository
        Where to look.
    names
        The names the file may have, the preferred one first.
    wait
        Called with the seconds to wait before a cut download is tried again.

    Raises
    ------
    CollectionError
        If the repository or revision isn't known, the hub refuses, or it can't be reached and
        the file isn't in the cache.
    """
    snapshot = _resolve(repository)
    found = _in_cache(repository, snapshot.commit, names)
    if found is None and not snapshot.reachable:
        raise CollectionError(
            f"The hub can't be reached, and the cached commit {snapshot.commit} of {repository} "
            f"has no {' or '.join(names)}. {_WHAT_TO_DO}"
        )
    if found is None:
        found = _download_first(repository, snapshot.commit, names, wait)
    if found is not None and snapshot.reachable:
        _remember(repository, snapshot.commit)
    return found


@dataclass(frozen=True)
class _Snapshot:
    commit: str
    reachable: bool


@lru_cache
def _resolve(repository: Repository) -> _Snapshot:
    """Return the commit of a revision: the hub's, else the one that was used last."""
    if _COMMIT.fullmatch(repository.revision):
        return _Snapshot(repository.revision, reachable=True)
    try:
        commit = _ask_for_commit(repository)
    except _UnreachableError as error:
        last = _last_commit(repository)
        if last is None:
            raise CollectionError(f"{error} {_WHAT_TO_DO}") from error
        LOGGER.warning("%s The commit used last is taken from the cache: %s.", error, last)
        return _Snapshot(last, reachable=False)
    LOGGER.info("Commit %s is used of %s.", commit, repository)
    return _Snapshot(commit, reachable=True)


class _UnreachableError(Exception):
    """The hub gave no answer, or one that isn't a hub's."""


def _ask_for_commit(repository: Repository) -> str:
    api = HfApi(endpoint=repository.endpoint)
    try:
        info = api.dataset_info(
            repository.repo_id,
            revision=repository.revision,
            timeout=constants.HF_HUB_ETAG_TIMEOUT,
        )
    except HFValidationError as error:
        raise CollectionError(
            f"{repository.repo_id!r} is not the name of a data set on the hub; expected "
            "<owner>/<name>. Correct `source.hub.repo_id`."
        ) from error
    except HfHubHTTPError as error:
        if error.response.status_code < 500:
            raise _refusal(error, repository) from error
        raise _UnreachableError(_failed(repository, error)) from error
    except (_TransportError, OSError, ValueError, TypeError) as error:
        raise _UnreachableError(_failed(repository, error)) from error
    if not info.sha:
        raise _UnreachableError(f"The answer for {repository} names no commit.")
    return info.sha


def _download_first(
    repository: Repository, commit: str, names: Sequence[str], wait: Callable[[float], None]
) -> HubFile | None:
    for name in names:
        path = _download(repository, commit, name, wait)
        if path is not None:
            return HubFile(path, name, commit)
    return None


def _download(
    repository: Repository, commit: str, name: str, wait: Callable[[float], None]
) -> Path | None:
    """Return the downloaded file, None if the commit has no such file."""
    LOGGER.info("Fetching %s from %s.", name, repository)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            path = hf_hub_download(
                repository.repo_id,
                name,
                repo_type="dataset",
                revision=commit,
                endpoint=repository.endpoint,
                cache_dir=repository.cache_dir,
            )
        except RemoteEntryNotFoundError:
            return None
        except (_TransportError, OSError) as error:
            failure = _cause(error)
            if isinstance(failure, HfHubHTTPError) and failure.response.status_code < 500:
                raise _refusal(failure, repository) from error
            if not isinstance(error, _TransportError):  # the disk, or the library gave up
                raise CollectionError(f"{_failed(repository, failure)} {_WHAT_TO_DO}") from error
        else:
            return Path(path)
        if attempt < _ATTEMPTS:
            LOGGER.warning("%s %s is started again.", _failed(repository, failure), name)
            wait(2.0 ** (attempt - 1))
    raise CollectionError(
        f"{_failed(repository, failure)} Given up on {name} after {_ATTEMPTS} attempts. "
        f"{_WHAT_TO_DO}"
    ) from failure


def _cause(error: Exception) -> Exception:
    """Return why the library found neither the file nor a copy of it."""
    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        return error.__cause__
    return error


def _refusal(error: HfHubHTTPError, repository: Repository) -> CollectionError:
    status = error.response.status_code
    match error:
        case GatedRepoError():
            reason = (
                "access to it has to be asked for on its page; then log in with `hf auth login`"
            )
        case RevisionNotFoundError():
            reason = "it has no such revision; correct `source.hub.revision`"
        case RepositoryNotFoundError():
            reason = (
                "it does not exist, or it is private; correct `source.hub.repo_id`, or log in with "
                "`hf auth login`"
            )
        case _ if status in (401, 403):
            reason = "the hub refuses access; log in with `hf auth login`, or ask its owner"
        case _:
            reason = f"the hub does not send it. {_WHAT_TO_DO.rstrip('.')}"
    return CollectionError(f"Nothing can be read from {repository}: {reason} (status {status}).")


def _failed(repository: Repository, error: Exception) -> str:
    if isinstance(error, HfHubHTTPError):
        reason = f"status {error.response.status_code}"
    else:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"The connection to {repository} failed ({reason})."


def _in_cache(repository: Repository, commit: str, names: Sequence[str]) -> HubFile | None:
    for name in names:
        path = try_to_load_from_cache(
            repository.repo_id,
            name,
            cache_dir=repository.cache_dir,
            revision=commit,
            repo_type="dataset",
        )
        if isinstance(path, str):
            return HubFile(Path(path), name, commit)
    return None


def _reference(repository: Repository) -> Path:
    """Return the place where the hub's cache keeps the commit of a branch or tag."""
    folder = repo_folder_name(repo_id=repository.repo_id, repo_type="dataset")
    cache = Path(repository.cache_dir or constants.HF_HUB_CACHE).expanduser()
    return cache / folder / "refs" / repository.revision


def _remember(repository: Repository, commit: str) -> None:
    """Keep the commit of the revision for a time without network."""
    if repository.revision == commit:
        return
    reference = _reference(repository)
    with suppress(OSError):  # a cache that can be read only is fine
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(commit, encoding="utf-8")


def _last_commit(repository: Repository) -> str | None:
    try:
        commit = _reference(repository).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return commit if _COMMIT.fullmatch(commit) else None
