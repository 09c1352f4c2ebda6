"""python -m tests.juristcu <folder of the released files> [<folder of the collection>]."""

import sys
from pathlib import Path

from tests.juristcu.files import write_collection

if __name__ == "__main__":
    source = Path(sys.argv[1])
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "data/01_raw/juristcu")
    write_collection(source, folder)
    sys.stdout.write(f"JurisTCU is in {folder}: kedro run --env juristcu\n")
