"""The attempts of a reply store as files: parquet and JSON Lines, out and in again.

Both hold one row or line for each attempt, with the fields of `Attempt` as they are stored, raw
replies included.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from normastcu.collection.chunks import chunks
from normastcu.collection.files import replacing
from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Attempt
from normastcu.judging.store import COLUMNS, Merged, ReplyStore

_ROWS_AT_A_TIME = 5_000
_TYPES = {
    **dict.fromkeys(COLUMNS, pa.string()),
    **dict.fromkeys(("sample", "attempt", "grade", "error_status"), pa.int64()),
    **dict.fromkeys(("tokens_in", "tokens_out", "max_tokens", "characters_shown"), pa.int64()),
    "latency_s": pa.float64(),
    "reminded": pa.bool_(),
}
_SCHEMA = pa.schema(list(_TYPES.items()))
_ATTEMPT = TypeAdapter(Attempt)


def export_parquet(store: ReplyStore, path: Path, judge: str | None = None) -> int:
    """Write all attempts, or one judge's, to a parquet file; an existing one is replaced.

    Returns
    -------
    int
        The number of attempts.
    """
    written = 0
    with replacing(path) as unfinished, pq.ParquetWriter(unfinished, _SCHEMA) as writer:
        for some in chunks(store.attempts(judge), _ROWS_AT_A_TIME):
            rows = [asdict(attempt) for attempt in some]
            writer.write_table(pa.Table.from_pylist(rows, schema=_SCHEMA))
            written += len(rows)
    return written


def export_jsonl(store: ReplyStore, path: Path, judge: str | None = None) -> int:
    """Write all attempts, or one judge's, to a file of one JSON object a line.

    Returns
    -------
    int
        The number of attempts.
    """
    written = 0
    with (
        replacing(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        for attempt in store.attempts(judge):
            lines.write(f"{json.dumps(asdict(attempt), ensure_ascii=False)}\n")
            written += 1
    return written


def import_parquet(store: ReplyStore, path: Path) -> Merged:
    """Bring in the attempts of a parquet file, all or none.

    Raises
    ------
    JudgingError
        The file holds something else, or an attempt that differs from the stored one with the
        same key and number; the message names the row.
    """
    return store.merge(_parquet_attempts(path))


def import_jsonl(store: ReplyStore, path: Path) -> Merged:
    """Bring in the attempts of a file of JSON lines, all or none.

    Raises
    ------
    JudgingError
        As for `import_parquet`; the message names the line.
    """
    return store.merge(jsonl_attempts(path))


def _parquet_attempts(path: Path) -> Iterator[Attempt]:
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise JudgingError(f"{path} is not a parquet file: export the attempts again.") from error
    with file:
        number = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME):
            for row in batch.to_pylist():
                number += 1
                yield _attempt(row, f"{path}, row {number}")


def jsonl_attempts(path: Path) -> Iterator[Attempt]:
    """Read the attempts of a file of JSON lines.

    Raises
    ------
    JudgingError
        A line holds something else; the message names it.
    """
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            try:
                row = json.loads(line)
            except ValueError:
                raise JudgingError(f"{where} is not JSON: export the attempts again.") from None
            yield _attempt(row, where)


def _attempt(row: Mapping[str, Any] | Any, where: str) -> Attempt:
    """Check what a row says; messages name its fields, not what they hold."""
    if not isinstance(row, Mapping):
        raise JudgingError(f"{where}: an attempt is an object with the fields {COLUMNS}.")
    if unknown := sorted(row.keys() - set(COLUMNS)):
        raise JudgingError(
            f"{where}: unknown field {unknown[0]!r}. Was it exported by a newer version?"
        )
    try:
        return _ATTEMPT.validate_json(json.dumps(row), strict=True)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        raise JudgingError(f"{where}: {field}: {problem['msg']}.") from None
