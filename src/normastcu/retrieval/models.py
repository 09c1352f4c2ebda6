"""Which model a name means: exactly these weights, whatever the name means next month."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from normastcu.retrieval.errors import RetrievalError

_CONFIG = "config.json"


@dataclass(frozen=True)
class LocatedModel:
    """A model as a library can load it, and what tells its weights from all others.

    Attributes
    ----------
    source
        A folder, or the id of a repository of the Hugging Face hub.
    revision
        The commit, None for a folder.
    identity
        ``<id>@<commit>``, or ``sha256:`` and the digest of the folder's files: the same for a
        copy of the folder, another where a byte differs.
    """

    source: str
    revision: str | None
    identity: str


def locate_model(model: str, revision: str | None = None) -> LocatedModel:
    """Find out which weights a model id and a revision mean today.

    Parameters
    ----------
    model
        A folder, or the id of a repository of the hub.
    revision
        A commit, tag or branch; None is the repository's main branch. A folder has none.

    Raises
    ------
    RetrievalError
        Where there is no such folder, model or revision, or the hub can't be reached and its
        cache lacks the model.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return LocatedModel(str(folder), None, f"sha256:{_digest(folder)}")
    # The hub's library reads its environment when it is imported; a folder needs none of it.
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HFValidationError

    try:
        config = hf_hub_download(model, _CONFIG, revision=revision)
    except (OSError, HFValidationError) as error:
        raise RetrievalError(
            f"The model {model!r} (revision {revision or 'main'}) was not found "
            f"({type(error).__name__}): there is no such folder, and the Hugging Face hub did not "
            "give it. Check `model` and `revision`, the network, or HF_ENDPOINT; a gated model "
            "also needs HF_TOKEN."
        ) from error
    commit = Path(config).parent.name
    return LocatedModel(model, commit, f"{model}@{commit}")


def _digest(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of a folder's files, hidden ones left out."""
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            files[name.as_posix()] = _file_digest(path)
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode("ascii")).hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
