"""One judge in a process of its own, to be killed or interrupted."""

import logging
import signal
import sys
from pathlib import Path

from tests.judging.asking import PROMPT, SCALE, model, requests

from normastcu.judging.client import open_client
from normastcu.judging.runner import run_judge
from normastcu.judging.store import ReplyStore


def judge_pairs(base_url: str, path: Path, pairs: int, concurrency: int, text: str = "") -> None:
    settings = model(base_url, concurrency=concurrency)
    with ReplyStore(path) as store:
        run_judge(
            requests(pairs, text),
            lambda: open_client(settings, {}),
            store,
            settings,
            judge="tiny_simple",
            prompt=PROMPT,
            scale=SCALE,
            total=pairs,
        )


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # A shell that starts the tests in the background has its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    judge_pairs(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
