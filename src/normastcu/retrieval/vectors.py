"""The store of vectors: files that are added and never changed, in a folder for each encoder.

A vector belongs to everything that it depends on (see `EncoderVectors.key`), so it never goes
stale. It has length 1 (only its direction counts for a cosine) and half precision. A file is
written, synced to the disk and only then given its name, so that a process that ends at any moment
(``kill -9``) loses at most the batches that it was at.
"""

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.scores import text_digest

Float16Array = npt.NDArray[np.float16]
IntArray = npt.NDArray[np.int64]

_SEGMENT = "*.npy"
_UNFINISHED = ".unfinished"
MANY_SEGMENTS = 32
"""So many files of about one size become one."""

_SMALL_BYTES = 1 << 20


class VectorStore:
    """Vectors of any number of encoders.

    Parameters
    ----------
    folder
        Made when the first vector is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, identity: Mapping[str, object]) -> "EncoderVectors":
        """Return the vectors of one encoder.

        Parameters
        ----------
        identity
            All that its vectors depend on but the texts, as JSON can hold it; no key of a service.
        """
        return EncoderVectors(self.folder, identity)


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """Vectors of chosen texts, read from the disk as they are sliced.

    Attributes
    ----------
    shape
        Texts, and length of a vector.
    shown : ndarray of int, shape (texts,)
        How many characters of each text the encoder saw.
    """

    shape: tuple[int, int]
    shown: IntArray
    _segments: Mapping[int, npt.NDArray[np.void]]
    _places: IntArray

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Float16Array:
        """Return the vectors of some of the texts, shape (rows, length)."""
        places = self._places[rows]
        chosen = np.empty((len(places), self.shape[1]), np.float16)
        for segment in np.unique(places[:, 0]):
            here = places[:, 0] == segment
            chosen[here] = self._segments[int(segment)]["vector"][places[here, 1]]
        return chosen


class EncoderVectors:
    """The vectors of one encoder; `append` may be called by one thread at a time.

    Parameters
    ----------
    store
        The folder of the store.
    identity
        See `VectorStore.of`.

    Raises
    ------
    RetrievalError
        A file of the store is damaged or can't be read.
    """

    def __init__(self, store: Path, identity: Mapping[str, object]) -> None:
        self._identity = json.dumps(identity, sort_keys=True, ensure_ascii=False, indent=1)
        self._digest = text_digest(self._identity)
        kind = identity.get("kind", "encoder")
        self.folder = store / f"{kind}-{self._digest.hex()[:16]}"
        self._read()

    def key(self, text: str) -> bytes:
        """Return the SHA-256 of all that the vector of a text depends on: encoder and text."""
        return hashlib.sha256(self._digest + text_digest(text)).digest()

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def select(self, keys: Sequence[bytes]) -> StoredVectors:
        """Return the vectors under keys that are in the store."""
        places = np.array([self._places[key] for key in keys], np.int64).reshape(-1, 2)
        shown = np.empty(len(keys), np.int64)
        for segment in np.unique(places[:, 0]):
            here = places[:, 0] == segment
            shown[here] = self._segments[int(segment)]["shown"][places[here, 1]]
        return StoredVectors((len(keys), self._length or 0), shown, dict(self._segments), places)

    def append(self, keys: Sequence[bytes], vectors: Float16Array, shown: npt.ArrayLike) -> None:
        """Store vectors, all or none; when this returns they are on the disk.

        Parameters
        ----------
        keys
            Keys that the store lacks.
        vectors : ndarray of float16, shape (keys, length)
            Each of length 1, or 0.
        shown : array_like of int, shape (keys,)
            How many characters of each text the encoder saw.

        Raises
        ------
        RetrievalError
            The vectors are longer or shorter than those in the store; the disk is full.
        """
        self._check_length(vectors.shape[1])
        if not self._segments:
            with self._new_file("encoder.json") as file:
                file.write(self._identity.encode("utf-8"))
        segment = np.empty(len(keys), _row_type(vectors.shape[1]))
        segment["key"] = np.frombuffer(b"".join(keys), "V32")
        segment["shown"], segment["vector"] = shown, vectors
        self._add(self._write([segment]), segment)
        self._merge()

    def _merge(self) -> None:
        """Put files of about one size into one while there are many of them."""
        of_level: dict[int, list[int]] = {}
        for number, segment in self._segments.items():
            of_level.setdefault(_level(len(segment)), []).append(number)
        for numbers in of_level.values():
            if len(numbers) >= MANY_SEGMENTS:
                self._put_together(numbers)
                self._merge()
                break

    def _put_together(self, numbers: Sequence[int]) -> None:
        """Put files into one; the old ones go when the new one is on the disk.

        Only files whose vectors are in the new one go: another process may be writing too.
        """
        path = self._write([self._segments[number] for number in numbers])
        gone = set(numbers)
        for key in [key for key, (number, _) in self._places.items() if number in gone]:
            del self._places[key]
        old = [self._paths.pop(number) for number in numbers]
        for number in numbers:
            del self._segments[number]
        self._add(path, _opened(path))
        for old_path in old:
            old_path.unlink(missing_ok=True)

    def _write(self, segments: Sequence[npt.NDArray[np.void]]) -> Path:
        """Write the rows of all segments to a new file."""
        header = {
            "descr": np.lib.format.dtype_to_descr(segments[0].dtype),
            "fortran_order": False,
            "shape": (sum(map(len, segments)),),
        }
        # Named by the time, so that of two vectors under one key the earlier counts.
        name = f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}.npy"
        with self._new_file(name) as file:
            np.lib.format.write_array_header_1_0(file, header)
            for segment in segments:
                segment.tofile(file)
        return self.folder / name

    def _read(self) -> None:
        """Open every file."""
        self._segments: dict[int, npt.NDArray[np.void]] = {}
        self._paths: dict[int, Path] = {}
        self._places: dict[bytes, tuple[int, int]] = {}
        self._length: int | None = None
        try:
            for path in sorted(self.folder.glob(_SEGMENT)):
                self._add(path, _opened(path))
        except FileNotFoundError:  # another process has just put small files into one
            self._read()

    def _add(self, path: Path, segment: npt.NDArray[np.void]) -> None:
        number = max(self._segments, default=-1) + 1
        self._length = segment.dtype["vector"].shape[0]
        for row, key in enumerate(segment["key"].tolist()):
            self._places.setdefault(key, (number, row))
        self._segments[number], self._paths[number] = segment, path

    def _check_length(self, length: int) -> None:
        if self._length not in (None, length):
            raise RetrievalError(
                f"The encoder gives vectors of length {length}, but those in {self.folder} have "
                f"{self._length}: the service has changed its model. Give the encoder another "
                "`model` or `dimensions`, or remove that folder to encode everything again."
            )

    @contextmanager
    def _new_file(self, name: str) -> Iterator[BinaryIO]:
        """Open a file that gets its name when it is on the disk as a whole."""
        unfinished = self.folder / f"{_UNFINISHED}-{uuid.uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.folder / name)
            _sync_folder(self.folder)
        except OSError as error:
            raise RetrievalError(
                f"The store of vectors {self.folder} can't be written ({error}). Check the space "
                "on the disk and the permissions; what was stored is safe."
            ) from error
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)


def _row_type(length: int) -> npt.DTypeLike:
    return [("key", "V32"), ("shown", "<i8"), ("vector", "<f2", (length,))]


def _level(n_rows: int) -> int:
    """Return the power of `MANY_SEGMENTS` that so many rows reach."""
    level = 0
    while n_rows >= MANY_SEGMENTS:
        n_rows //= MANY_SEGMENTS
        level += 1
    return level


def _opened(path: Path) -> npt.NDArray[np.void]:
    try:
        small = path.stat().st_size <= _SMALL_BYTES
        opened: npt.NDArray[np.void] = np.load(path, mmap_mode=None if small else "r")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RetrievalError(
            f"The file {path} of the store of vectors can't be read ({error}). Check its "
            "permissions, and how many files a process may have open (ulimit -n); what was stored "
            "is safe."
        ) from error
    except (ValueError, EOFError) as error:
        raise RetrievalError(
            f"The file {path} of the store of vectors is damaged ({error}). Remove it: its "
            "vectors are encoded again."
        ) from error
    return opened


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
