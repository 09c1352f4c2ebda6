"""How much memory a process has held at most."""

import re
from pathlib import Path


def peak_mib() -> float:
    """Return the peak of this process's resident memory in MiB (Linux).

    `resource.getrusage` would not do: its peak also counts the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
