"""What was handed in to a provider's batch interface and not collected yet."""

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Item:
    """One request of a batch as the ledger keeps it: all that its record needs, but no text."""

    key: str
    query_id: str
    doc_id: str
    judge: str
    sample: int
    attempt: int
    characters_shown: int
    max_tokens: int
    reminded: bool


@dataclass(frozen=True)
class HandedIn:
    """A batch that has not been collected yet.

    Attributes
    ----------
    token
        Our name for it, which the service keeps beside it.
    batch_id
        The service's name; None where the run ended before the service told it.
    items
        What was asked.
    """

    token: str
    batch_id: str | None
    items: tuple[Item, ...]


class BatchLedger:
    """What was handed in and not collected yet: a file of JSON lines that only grows.

    Parameters
    ----------
    path
        The file, one for each judge; it is made with the first batch.
    base_url
        The address of the service. Batches of another one stay in the file, and are found again
        by who goes back to it.
    """

    def __init__(self, path: Path, base_url: str) -> None:
        self._path = path
        self._base_url = base_url.rstrip("/")

    def begin(self, items: Iterable[Item]) -> str:
        """Note that a batch is about to be handed in, and return its token."""
        token = uuid.uuid4().hex
        asked = {"base_url": self._base_url, "items": [asdict(one) for one in items]}
        self._append({"event": "begun", "token": token, **asked})
        return token

    def handed_in(self, token: str, batch_id: str) -> None:
        """Note the service's name of a batch."""
        self._append({"event": "handed in", "token": token, "batch_id": batch_id})

    def closed(self, token: str) -> None:
        """Note that nothing more is expected of a batch."""
        self._append({"event": "closed", "token": token})

    def open_batches(self) -> list[HandedIn]:
        """Return what is not closed at this address, the oldest first."""
        items: dict[str, tuple[Item, ...]] = {}
        ids: dict[str, str] = {}
        for event in self._events():
            token = event["token"]
            if event["event"] == "begun":
                if event.get("base_url", self._base_url) != self._base_url:
                    continue
                items[token] = tuple(Item(**one) for one in event["items"])
            elif event["event"] == "handed in":
                ids[token] = event["batch_id"]
            else:
                items.pop(token, None)
        return [HandedIn(token, ids.get(token), some) for token, some in items.items()]

    def waiting(self) -> frozenset[str]:
        """Return the keys that are asked in open batches."""
        return frozenset(item.key for batch in self.open_batches() for item in batch.items)

    def _events(self) -> Iterator[dict[str, Any]]:
        if not self._path.exists():
            return
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:  # the line that was being written when the process ended
                continue

    def _append(self, event: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as lines:
            # The line break comes first, so that a half line before it does no harm.
            lines.write(f"\n{json.dumps(event)}")
            lines.flush()
            os.fsync(lines.fileno())
