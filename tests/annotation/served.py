"""The screen in a process of its own, as people use it; it can be killed and started again."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import httpx

_RUNNING = "Uvicorn running on"
_CSRF = re.compile(r'name="csrf-token" content="([^"]+)"')


class ServedScreen:
    """A server on a free port of the loopback interface.

    Parameters
    ----------
    command
        Serves until it is stopped; the port is appended to it.
    folder
        Where it runs.
    scheme
        ``https`` where the command has a certificate.
    """

    def __init__(self, command: Sequence[str], folder: Path, scheme: str = "http") -> None:
        self.port = free_port()
        self.address = f"{scheme}://127.0.0.1:{self.port}"
        self.log: list[str] = []
        self._command = [*command, str(self.port)]
        self._folder = folder
        self.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        """Start, and return when requests are answered."""
        self._process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            env=os.environ | {"KEDRO_DISABLE_TELEMETRY": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._running = threading.Event()
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()
        assert self._running.wait(120), "".join(self.log)
        assert self._process.poll() is None, "".join(self.log)

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the process, by ``kill -9`` unless told otherwise."""
        self._process.send_signal(how)
        self._process.wait(30)
        self._reader.join()

    def _read_log(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.log.append(line)
                if _RUNNING in line:
                    self._running.set()
        self._running.set()


def serve_campaign(project_root: Path, database: Path) -> ServedScreen:
    """Serve a campaign that has been prepared."""
    environment = [f"PYTHONPATH={project_root / 'src'}:{project_root}"]
    command = ["env", *environment, sys.executable, "-m", "tests.annotation.serve_job"]
    return ServedScreen([*command, str(database)], project_root)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def signed_in(address: str, token: str, **options: object) -> httpx.Client:
    """Return the browser of a person who has read the instructions, ready for changes."""
    client = httpx.Client(base_url=address, timeout=60, **options)  # type: ignore[arg-type]
    assert client.get(f"/enter/{token}").status_code == 303
    page = client.get("/instructions").text
    client.headers["X-CSRF-Token"] = _CSRF.findall(page)[0]
    client.headers["Accept"] = "application/json"
    assert client.post("/instructions").status_code == 303
    return client
