"""Changes to a pool that people make by hand, from a file."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from normastcu.collection.delimited import check_id, find_layout, read_records
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile

ADD = "add"
REMOVE = "remove"
ACTIONS = (ADD, REMOVE)
MANUAL_COLUMNS = ("query_id", "doc_id", "action", "reason")
MANUAL_PRESETS = (
    {name: name for name in MANUAL_COLUMNS},
    {"query_id": "QUERY_KEY", "doc_id": "DOC_KEY", "action": "action", "reason": "reason"},
)
MANUAL_TYPES = dict.fromkeys(MANUAL_COLUMNS, "str")


@dataclass(frozen=True)
class _Change:
    where: str
    action: str
    reason: str


def read_manual_pool(
    files: Sequence[RawFile], queries: Collection[str], documents: Collection[str]
) -> pd.DataFrame:
    """Read which documents are added to the pools of queries, and which never enter them.

    Parameters
    ----------
    files
        CSVs with the columns query_id, doc_id, action (`add` or `remove`) and, where wanted,
        reason (free text). None means that nothing is changed by hand.
    queries, documents
        The ids of the collection.

    Returns
    -------
    pandas.DataFrame
        query_id, doc_id, action, reason (missing where none is given), in the order of the files;
        identical rows are kept once.

    Raises
    ------
    CollectionError
        If a file can't be read, an action is another word, the collection lacks a query or a
        document, or a pair stands there twice with different actions or reasons.
    """
    known = {"query": frozenset(queries), "document": frozenset(documents)}
    changes: dict[tuple[str, str], _Change] = {}
    for file in files:
        layout = find_layout(file, TableFormat(), MANUAL_PRESETS, optional=("reason",))
        for record in read_records(file, layout):
            cells = dict(zip(layout.columns, record.cells, strict=True))
            where = f"{file.name}, line {record.line}"
            pair = (
                check_id(cells["query_id"], "query_id", where),
                check_id(cells["doc_id"], "doc_id", where),
            )
            for (what, ids), given in zip(known.items(), pair, strict=True):
                _check_known(given, what, ids, where)
            change = _Change(where, _read_action(cells["action"], where), cells.get("reason", ""))
            _check_same(pair, change, changes.setdefault(pair, change))
    rows = [(*pair, change.action, change.reason or None) for pair, change in changes.items()]
    return typed_frame(rows, MANUAL_TYPES)


def _read_action(text: str, where: str) -> str:
    action = text.strip()
    if action not in ACTIONS:
        raise CollectionError(
            f"{where}: the action {text!r} is unknown. Expected: {' or '.join(ACTIONS)}."
        )
    return action


def _check_known(given: str, what: str, known: Collection[str], where: str) -> None:
    if given not in known:
        raise CollectionError(
            f"{where}: the {what} {given!r} is not in the collection. Ids are compared letter by "
            f"letter: correct the id, add the {what}, or take the row out."
        )


def _check_same(pair: tuple[str, str], change: _Change, earlier: _Change) -> None:
    if (change.action, change.reason) != (earlier.action, earlier.reason):
        raise CollectionError(
            f"{change.where}: {change.action} ({change.reason or 'no reason'}) of document "
            f"{pair[1]!r} for query {pair[0]!r}, but {earlier.where} says {earlier.action} "
            f"({earlier.reason or 'no reason'}). Keep one of the two."
        )
