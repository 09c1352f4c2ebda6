"""The reply store: what was appended is there, whatever ends the process."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.judging.asking import attempt

from normastcu.collection.sqlite_files import network_type
from normastcu.judging.errors import JudgingError
from normastcu.judging.store import COLUMNS, Merged, ReplyStore, StoreError
from normastcu.judging.store_files import (
    export_jsonl,
    export_parquet,
    import_jsonl,
    import_parquet,
)


@pytest.fixture
def store(tmp_path):
    with ReplyStore(tmp_path / "replies" / "replies.db") as store:
        yield store


def keys_in(path):
    with ReplyStore(path) as store:
        return [one.key for one in store.attempts()]


def test_appended_attempts_come_back_as_they_were(store):
    kept = [
        attempt(1),
        attempt(2, outcome="error", reply=None, grade=None, error_kind="timeout", latency_s=2.5),
        attempt(3, reply='art. 3º, "ver"\n\x00 😀', reminded=True, judge="other"),
    ]
    store.append(kept)
    assert list(store.attempts()) == kept
    assert list(store.attempts("other")) == [kept[2]]
    assert store.count() == 3


def test_a_lone_surrogate_is_replaced_not_refused(store):
    store.append([attempt(1, reply="a\ud800b")])
    assert next(store.attempts()).reply == "a\ufffdb"


def test_the_last_attempt_under_a_key_decides(store):
    store.append([attempt(1, attempt=2, outcome="truncated", grade=None)])
    store.append([attempt(1, attempt=10), attempt(1, attempt=9), attempt(2)])
    last = store.last_by_key([attempt(1).key, attempt(2).key, "unknown"])
    assert last == {attempt(1).key: attempt(1, attempt=10), attempt(2).key: attempt(2)}


def test_hundred_thousand_attempts_are_found_in_seconds(store):
    first = attempt(0)
    store.merge(replace(first, key=f"{number:064x}") for number in range(100_000))
    start = time.perf_counter()
    found = store.last_by_key(f"{number:064x}" for number in range(100_000))
    assert len(found) == 100_000
    assert time.perf_counter() - start < 15


def test_attempts_are_never_changed_or_deleted(store):
    store.append([attempt(1)])
    with sqlite3.connect(store.path) as other:
        for statement in ("UPDATE attempts SET grade = 2", "DELETE FROM attempts"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                other.execute(statement)
    other.close()
    assert list(store.attempts()) == [attempt(1)]


def test_the_same_attempt_twice_means_another_run(store):
    store.append([attempt(1)])
    with pytest.raises(StoreError, match=r"query 'q1' and document 'd1'.*another run"):
        store.append([attempt(1, grade=2)])
    assert list(store.attempts()) == [attempt(1)]


def test_threads_share_commits_and_lose_nothing(store):
    def append(thread):
        for number in range(50):
            store.append([attempt(1000 * thread + number)])

    threads = [threading.Thread(target=append, args=(thread,)) for thread in range(16)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        store.last_by_key([attempt(1).key])  # a reader beside the writers
    assert store.count() == 800
    assert len({one.key for one in store.attempts()}) == 800


def test_one_bad_attempt_fails_for_its_own_thread_only(store):
    store.append([attempt(1)])
    failures = []
    gate = threading.Barrier(8)

    def append(number):
        gate.wait()
        try:
            store.append([attempt(number)])
        except StoreError:
            failures.append(number)

    threads = [threading.Thread(target=append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [1]
    assert store.count() == 8


def test_a_commit_reaches_the_disk_before_append_returns(store):
    """The copy is what a power cut would leave: synchronous=FULL and WAL mode, as documented."""
    level = store._connection.execute("PRAGMA synchronous").fetchone()[0]
    mode = store._connection.execute("PRAGMA journal_mode").fetchone()[0]
    assert (level, mode) == (2, "wal")
    for number in range(20):
        store.append([attempt(number)])
        copy = store.path.parent / f"copy{number}" / "replies.db"
        copy.parent.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(f"{store.path}{suffix}", f"{copy}{suffix}")
        assert keys_in(copy) == [attempt(one).key for one in range(number + 1)]


APPENDER = """
import sys
from pathlib import Path
from normastcu.judging.store import ReplyStore
from tests.judging.asking import attempt
store = ReplyStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 10**9):
    store.append([attempt(number)])
    print(number, flush=True)
"""


def start_appender(project_root, path, first):
    return subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(path), str(first)],
        cwd=project_root,
        env={"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_kill_9_loses_nothing_that_was_acknowledged(project_root, tmp_path):
    path, chance = tmp_path / "replies.db", random.Random(3)
    first = 0
    for _ in range(3):
        with start_appender(project_root, path, first) as process:
            acknowledged = [int(process.stdout.readline()) for _ in range(chance.randint(1, 60))]
            process.kill()
            acknowledged += [int(line) for line in process.stdout.read().split()]
        stored = keys_in(path)
        first = len(stored)
        assert stored == [attempt(number).key for number in range(first)]
        assert acknowledged[-1] in (first - 1, first - 2)


def wal_states(folder):
    """Yield stores as a killed process leaves them, with the start of the log's last record."""
    with ReplyStore(folder / "replies.db") as store:
        for number in range(20):
            before = Path(f"{store.path}-wal").stat().st_size
            store.append([attempt(number, reply="x" * (number * 317 % 9000))])
            yield number, store.path, before


def test_a_log_cut_within_its_last_record_keeps_every_earlier_one(tmp_path):
    chance = random.Random(11)
    for number, path, before in wal_states(tmp_path):
        size = Path(f"{path}-wal").stat().st_size
        for trial in range(3):
            cut = tmp_path / f"cut-{number}-{trial}" / "replies.db"
            cut.parent.mkdir()
            for suffix in ("", "-wal", "-shm"):
                shutil.copy(f"{path}{suffix}", f"{cut}{suffix}")
            with Path(f"{cut}-wal").open("r+b") as log:
                log.truncate(chance.randrange(before, size))
            earlier = [attempt(one).key for one in range(number)]
            assert keys_in(cut) in (earlier, [*earlier, attempt(number).key])
            with ReplyStore(cut) as store:
                if store.count() == number:
                    store.append([attempt(number)])
                assert store.count() == number + 1


def test_a_closed_store_says_so(tmp_path):
    store = ReplyStore(tmp_path / "replies.db")
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append([attempt(1)])


def test_a_failed_write_is_a_sentence_and_leaves_the_store_usable(store):
    store._connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StoreError, match=r"can't be written.*full.*space on the disk"):
        store.append([attempt(1, reply="x" * 200_000)])
    store.append([attempt(2)])
    assert [one.key for one in store.attempts()] == [attempt(2).key]


@pytest.mark.parametrize("content", [b"not a database, but a text of some length" * 9, b"x"])
def test_another_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "replies.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"replies\.db is not a reply store"):
        ReplyStore(path)
    assert path.read_bytes() == content


def test_another_database_is_refused(tmp_path):
    path = tmp_path / "mlflow.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE runs (id INTEGER)")
    other.close()
    with pytest.raises(StoreError, match="not a reply store of this version"):
        ReplyStore(path)


def test_a_damaged_database_is_a_sentence(tmp_path):
    path = tmp_path / "replies.db"
    path.write_bytes(b"SQLite format 3\0" + b"damaged" * 999)
    with pytest.raises(StoreError, match=r"replies\.db can't be opened.*put a copy"):
        ReplyStore(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StoreError, match="can't be opened"):
        ReplyStore(tmp_path)


MOUNTS = """/dev/vda / ext4 rw 0 0
nas:/home /home nfs4 rw 0 0
/dev/vdb /home/me/local xfs rw 0 0
//pc/share /mnt/my\\040share cifs rw 0 0
C:\\134 /mnt/c 9p rw 0 0
me@host: /mnt/remote fuse.sshfs rw 0 0
overlay /mnt/layers fuse.fuse-overlayfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data/replies.db", None),
        ("/home/me/replies.db", "nfs4"),
        ("/home/me/local/replies.db", None),
        ("/homes/replies.db", None),
        ("/mnt/my share/replies.db", "cifs"),
        ("/mnt/c/replies.db", "9p"),
        ("/mnt/remote/a/b/replies.db", "fuse.sshfs"),
        ("/mnt/layers/replies.db", None),
    ],
)
def test_the_innermost_mount_counts(path, expected):
    assert network_type(Path(path), MOUNTS) == expected


def test_a_network_drive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("normastcu.judging.store.network_type", lambda _: "nfs4")
    with pytest.raises(StoreError, match=r"network drive \(nfs4\).*local disk"):
        ReplyStore(tmp_path / "new" / "replies.db")
    assert not (tmp_path / "new").exists()


FORMATS = [(export_parquet, import_parquet), (export_jsonl, import_jsonl)]


@pytest.fixture
def filled(store):
    store.append(
        [
            attempt(1),
            attempt(1, attempt=2, outcome="refused", grade=None, refusal="no", reply=None),
            attempt(2, reply="a\u2028b\r\n\x85 art. 3º", latency_s=None, tokens_in=None),
        ]
    )
    return store


@pytest.mark.parametrize(("write", "read"), FORMATS)
def test_attempts_go_out_and_come_back(filled, tmp_path, write, read):
    path = tmp_path / "out" / "attempts"
    assert write(filled, path) == 3
    with ReplyStore(tmp_path / "second.db") as second:
        assert read(second, path) == Merged(added=3, skipped=0)
        assert read(second, path) == Merged(added=0, skipped=3)
        assert list(second.attempts()) == list(filled.attempts())
    assert [file.name for file in path.parent.iterdir()] == ["attempts"]


@pytest.mark.parametrize(("write", "read"), FORMATS)
def test_a_differing_attempt_is_an_error_and_nothing_is_imported(filled, tmp_path, write, read):
    write(filled, tmp_path / "attempts")
    with ReplyStore(tmp_path / "second.db") as second:
        second.append([attempt(2, grade=0)])
        with pytest.raises(StoreError, match=r"query 'q2' and document 'd2'.*another content"):
            read(second, tmp_path / "attempts")
        assert list(second.attempts()) == [attempt(2, grade=0)]


def test_one_judge_can_be_exported(filled, tmp_path):
    filled.append([attempt(7, judge="other")])
    assert export_parquet(filled, tmp_path / "attempts.parquet", judge="other") == 1
    table = pq.read_table(tmp_path / "attempts.parquet")
    assert table.column_names == list(COLUMNS)
    assert table.to_pylist() == [asdict(attempt(7, judge="other"))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2: an attempt is an object"),
        ('{"secret text": 1}', "line 2: unknown field"),
        (json.dumps(asdict(attempt(2)) | {"grade": "2"}), "line 2: grade"),
        (json.dumps(asdict(attempt(2)) | {"outcome": "fine"}), "line 2: outcome"),
        (json.dumps({"key": "k"}), "line 2: query_id"),
    ],
)
def test_a_damaged_line_is_named(store, tmp_path, line, message):
    path = tmp_path / "attempts.jsonl"
    path.write_text(f"{json.dumps(asdict(attempt(1)))}\n{line}\n", encoding="utf-8")
    with pytest.raises(JudgingError, match=message):
        import_jsonl(store, path)
    assert store.count() == 0


def test_a_file_that_is_no_parquet_is_named(store, tmp_path):
    (tmp_path / "attempts.parquet").write_text("key,query_id\n")
    with pytest.raises(JudgingError, match=r"attempts\.parquet is not a parquet file"):
        import_parquet(store, tmp_path / "attempts.parquet")
