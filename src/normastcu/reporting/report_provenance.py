"""What produced a report: settings, files, grades and measures, and one hash over all of them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from normastcu import __version__
from normastcu.collection.frames import table_hash, typed_frame
from normastcu.collection.settings import Settings
from normastcu.reporting.report_tables import Tables
from normastcu.reporting.report_texts import TEXTS, Language

FILES = ("judgment_provenance", "corpus_provenance")
FILE_COLUMNS = {
    "table": "str",
    "file": "str",
    "kind": "str",
    "location": "str",
    "revision": "str",
    "sha256": "str",
    "n_rows": "Int64",
    "n_duplicates": "Int64",
    "n_without_grade": "Int64",
}
HASHED = {"judges": "judge", "systems": "system"}
HASH = "settings_hash"
CONTENTS = ("mean_grades", "agreement_by_query", "confusion", "measures")
"""Tables that change when a grade or a run does, though no setting and no name of a file did."""
HASHED_DECIMALS = 9

SettingsByName = Mapping[str, Settings]


def settings_table(settings: SettingsByName, language: Language) -> pd.DataFrame:
    """Return every setting with its value and what it is.

    Returns
    -------
    pandas.DataFrame
        setting (``group.name``), value, meaning.
    """
    texts = TEXTS[language]
    rows = [
        (f"{group}.{name}", _written(value), texts.get(f"setting.{group}.{name}", ""))
        for group, own in settings.items()
        for name, value in own.model_dump(mode="json").items()
    ]
    return typed_frame(rows, {"setting": "str", "value": "str", "meaning": "str"})


def file_table(tables: Tables) -> pd.DataFrame:
    """Return the files that the collection was read from."""
    parts = [tables[name] for name in FILES if len(tables.get(name, ()))]
    rows = [
        [row[column] for column in FILE_COLUMNS]
        for part in parts
        for row in part.to_dict("records")
    ]
    return typed_frame(rows, FILE_COLUMNS)


def settings_hash(settings: SettingsByName, tables: Tables, collection: str) -> str:
    """Return one SHA-256 over everything that a report follows from.

    Parameters
    ----------
    settings
        By name.
    tables
        Of them the hashes of files, judges and systems are taken, and those of `CONTENTS`.
    collection
        Its name.

    Returns
    -------
    str
        The same for the same settings, inputs and version, in whatever order they are given.
    """
    everything = {
        "collection": collection,
        "version": __version__,
        "settings": {name: own.model_dump(mode="json") for name, own in settings.items()},
        "files": sorted(_file_hashes(tables)),
        **{name: sorted(_hashes(tables, name, key)) for name, key in HASHED.items()},
        "contents": {
            name: table_hash(tables[name].round(HASHED_DECIMALS))
            for name in CONTENTS
            if name in tables
        },
    }
    written = json.dumps(everything, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _hashes(tables: Tables, name: str, key: str) -> Iterator[list[str]]:
    for row in tables.get(name, pd.DataFrame()).to_dict("records"):
        yield [str(row[key]), str(row[HASH])]


def _file_hashes(tables: Tables) -> Iterator[list[str]]:
    for row in file_table(tables).to_dict("records"):
        yield [str(row["table"]), str(row["file"]), str(row["sha256"])]


def _written(value: Any) -> str:
    """Return a setting as it would stand in its file."""
    if isinstance(value, list):
        return ", ".join(map(_written, value)) or "[]"
    if isinstance(value, dict):
        return " ".join(map(_written, value.values()))
    return "null" if value is None else str(value)
