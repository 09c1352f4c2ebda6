"""Write the sample collection: ``python -m tests.sample_collection`` in the project's root."""

import sys
from pathlib import Path

from tests.sample_collection.collection import build

FOLDER = Path(__file__).resolve().parents[2] / "data" / "01_raw" / "sample"


def main() -> None:
    """Write every file of the collection, and say which and how large."""
    for name, content in build().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sys.stdout.write(f"{path.relative_to(FOLDER.parents[2])}: {len(content):,} bytes\n")


if __name__ == "__main__":
    main()
