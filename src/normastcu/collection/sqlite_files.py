"""Where a store in SQLite may lie: on a local drive, and in no other file's place.

SQLite's WAL mode needs memory that processes share, which network drives do not give.
"""

import re
from pathlib import Path

_SQLITE_START = b"SQLite format 3\0"
_MOUNTS = Path("/proc/mounts")

_NETWORK_TYPE = re.compile(
    r"9p|afs|beegfs|ceph|cifs|davfs|glusterfs|gpfs|lustre|ncpfs|nfs4?|orangefs|pvfs2|smb[23]?|smbfs"
    r"|fuse\.(?!fuse-overlayfs$|overlayfs$|mergerfs$).*"
)


def network_type(path: Path, mounts: str | None = None) -> str | None:
    r"""Return the type of the network file system that a path lies on, None on a local drive.

    Parameters
    ----------
    path
        A file or a folder; it need not exist yet.
    mounts
        What ``/proc/mounts`` says; read unless given. Where there is no such file (outside
        Linux), every drive counts as local.

    Examples
    --------
    >>> mounts = "/dev/sda1 / ext4 rw 0 0\nhost:/data /mnt/my\\040data nfs4 rw 0 0"
    >>> network_type(Path("/mnt/my data/replies.db"), mounts)
    'nfs4'
    >>> network_type(Path("/home/me/replies.db"), mounts)
    """
    if mounts is None:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace") if _MOUNTS.exists() else ""
    file_system = _type_of(path.absolute().resolve(), mounts)
    return file_system if _NETWORK_TYPE.fullmatch(file_system) else None


def _type_of(path: Path, mounts: str) -> str:
    """Return the type of the innermost mount above a path; of equal ones the last hides others."""
    found, depth = "", -1
    for line in mounts.splitlines():
        _, point, file_system, *_ = [*line.split(" "), "", "", ""]
        folder = Path(_unescaped(point))
        if path.is_relative_to(folder) and len(folder.parts) >= depth:
            found, depth = file_system, len(folder.parts)
    return found


def _unescaped(point: str) -> str:
    for escape, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(escape, sign)
    return point


def holds_other_file(path: Path) -> bool:
    """Say whether there is a file that is no SQLite database; SQLite would write over a short one.

    Examples
    --------
    >>> holds_other_file(Path(__file__)), holds_other_file(Path("nowhere.sqlite"))
    (True, False)
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(_SQLITE_START))
    return start not in (b"", _SQLITE_START)
