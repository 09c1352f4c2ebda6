"""Nodes of `llm_judging` that a whole run does not bring to every case."""

import json
from dataclasses import asdict
from unittest.mock import Mock

from tests.judging.asking import attempt

from normastcu.collection.sources import RawFile
from normastcu.judging.store import ReplyStore
from normastcu.pipelines.llm_judging.nodes import bring_in_recorded


def test_replies_that_were_recorded_again_leave_those_of_the_store(tmp_path):
    path = tmp_path / "recorded.jsonl"
    again = [attempt(1, latency_s=9.0), attempt(2, outcome="truncated", grade=None)]
    again.append(attempt(2, attempt=2))
    path.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in again))
    with ReplyStore(tmp_path / "replies.sqlite") as store:
        store.append([attempt(1)])
    brought = [
        bring_in_recorded([RawFile(path, "recorded", Mock())], ReplyStore(store.path))
        for _ in range(2)
    ]
    assert brought[0].to_dict("records") == [{"file": "recorded", "n_added": 2, "n_known": 1}]
    assert brought[1].to_dict("records") == [{"file": "recorded", "n_added": 0, "n_known": 3}]
    with ReplyStore(store.path) as store:
        assert list(store.attempts()) == [attempt(1), *again[1:]]
