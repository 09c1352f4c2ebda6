"""A process that serves a campaign; arguments: the database and the port."""

import sys
from pathlib import Path

from normastcu.annotation.server import Address, run
from normastcu.annotation.store import AnnotationStore

if __name__ == "__main__":
    with AnnotationStore(Path(sys.argv[1])) as store:
        run(store, Address(port=int(sys.argv[2])))
