"""A process that answers without end and says what was confirmed; to be killed at any moment.

Arguments: the database, the id of the person, a number that tells runs apart.
"""

import sys
from itertools import count, cycle
from pathlib import Path

from normastcu.annotation.store import AnnotationStore


def main(path: Path, person_id: int, run: str) -> None:
    """Answer the person's pairs round and round; print each submission after it was confirmed."""
    with AnnotationStore(path) as store:
        pairs = [
            task.pair_id
            for query in store.progress(person_id)
            for task in store.query_tasks(person_id, query.query_id)
        ]
        for number, pair in zip(count(), cycle(pairs), strict=False):
            submission_id = f"{run}-{number}"
            store.answer(
                person_id,
                pair,
                choice="grade",
                grade=number % 3,
                comment="",
                seconds=0.5,
                submission_id=submission_id,
            )
            sys.stdout.write(f"{submission_id} {pair} {number % 3}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
