"""Processes that are killed at random moments lose nothing that was confirmed, store nothing twice.

The number can be set: NORMASTCU_ANNOTATION_KILLS=50 pytest tests/annotation/test_kill.py
"""

import os
import random
import signal
import subprocess
import sys
from itertools import islice

from tests.annotation.campaigns import id_of, prepare, tasks_of

from normastcu.annotation.store import AnnotationStore

KILLS = int(os.environ.get("NORMASTCU_ANNOTATION_KILLS", "3"))


def confirmed_until_killed(project_root, path, person_id, run, n_lines):
    """Run the job, kill it right after so many confirmations; return all that it printed."""
    command = [sys.executable, "-m", "tests.annotation.answer_job", str(path), str(person_id), run]
    environment = os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"}
    with subprocess.Popen(
        command, cwd=project_root, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        lines = list(islice(process.stdout, n_lines))
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
        assert process.wait() == -signal.SIGKILL
    return [tuple(line.split()) for line in lines if line.endswith("\n")]


def stored_events(store):
    with store.database.reading() as connection:
        found = connection.exec_driver_sql(
            "SELECT submission_id, pair, grade FROM events ORDER BY id"
        ).all()
    return [(name, str(pair), str(grade)) for name, pair, grade in found]


def test_every_confirmed_answer_is_there_once_after_kills_at_random_moments(project_root, tmp_path):
    path, chance = tmp_path / "annotation.sqlite", random.Random(2026)
    with AnnotationStore(path) as store:
        store.add_person("A")
        prepare(store)
        person_id = id_of(store, "A")
    confirmed = []
    for run in range(KILLS):
        n_lines = chance.randrange(1, 60)
        confirmed += confirmed_until_killed(project_root, path, person_id, str(run), n_lines)
    with AnnotationStore(path) as store:
        events = stored_events(store)
        names = [name for name, _, _ in events]
        assert set(confirmed) <= set(events)
        assert len(names) == len(set(names))
        # At most the one answer under way at each kill was stored without being confirmed.
        assert len(events) - len(confirmed) <= KILLS
        last = {int(pair): int(grade) for _, pair, grade in events}
        tasks = tasks_of(store, person_id)
        shown = {task.pair_id: task.answer.grade for task in tasks if task.answer is not None}
        assert shown == last
        assert sum(query.n_answered for query in store.progress(person_id)) == len(last)
        with store.database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
