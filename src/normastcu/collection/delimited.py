"""Strict reading of delimited files: every problem is named with its file and line."""

import codecs
import csv
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from pathlib import Path

from normastcu.collection.errors import CollectionError
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile

logger = logging.getLogger(__name__)

SEPARATORS = (",", ";", "|", "\t")
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
BLOCK_BYTES = 1 << 20

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


@dataclass(frozen=True)
class Record:
    """One row: the line it starts on, and its cells in the order that was asked for."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Where the wanted columns stand in a file.

    Attributes
    ----------
    encoding, separator
        As found, never ``auto``.
    header
        All columns of the file.
    positions
        Canonical column to its position in the header, for the columns that the file has.
    """

    encoding: str
    separator: str
    header: tuple[str, ...]
    positions: Mapping[str, int]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the canonical columns that the file has, in the order of the cells."""
        return tuple(self.positions)


def find_layout(
    file: RawFile,
    settings: TableFormat,
    presets: Sequence[Mapping[str, str]],
    optional: Iterable[str] = (),
) -> Layout:
    """Find the encoding, the separator and the columns of a delimited file.

    Parameters
    ----------
    file
        The file to look at.
    settings
        What is declared about it.
    presets
        Known namings (canonical column to the file's column), tried in order where none is
        declared.
    optional
        Canonical columns that the file may lack.

    Returns
    -------
    Layout
        The layout under the first separator and naming for which no needed column is missing.

    Raises
    ------
    CollectionError
        If the bytes are not of the encoding, the file is empty, or a column is missing.
    """
    check_declared(file, settings.columns, presets, optional)
    encoding = find_encoding(file, settings.encoding)
    namings = [settings.columns] if settings.columns else list(presets)
    separators = SEPARATORS if settings.separator == "auto" else (settings.separator,)
    headers = {mark: _read_header(file, encoding, mark) for mark in separators}
    needed = [
        {name: column for name, column in naming.items() if name not in set(optional)}
        for naming in namings
    ]
    for separator, header in headers.items():
        for naming, must in zip(namings, needed, strict=True):
            if set(must.values()) <= set(header):
                _check_header_unique(file, header)
                positions = {n: header.index(c) for n, c in naming.items() if c in header}
                return Layout(encoding, separator, header, positions)
    raise CollectionError(_missing_columns(file, headers, needed))


def check_declared(
    file: RawFile,
    columns: Mapping[str, str],
    presets: Sequence[Mapping[str, str]],
    optional: Iterable[str],
) -> None:
    """Raise where declared columns name something unknown, or leave out what is needed."""
    known = {name: None for preset in presets for name in preset}
    unknown = [name for name in columns if name not in known]
    missing = [name for name in known if name not in {*columns, *optional}] if columns else []
    if unknown or missing:
        wrong = f"names {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise CollectionError(
            f"The setting `columns` for {file.name} {wrong}. It maps our names to the file's: "
            f"{', '.join(known)}."
        )


def read_records(file: RawFile, layout: Layout) -> Iterator[Record]:
    """Read the rows of a delimited file, with the cells of `layout.columns`.

    Line ends inside quotes are kept; blank lines are skipped.

    Raises
    ------
    CollectionError
        If a row has another number of fields than the header, or the quotes don't match.
    """
    wanted = tuple(layout.positions.values())
    width = len(layout.header)
    with open_text(file.path, layout.encoding) as stream:
        rows = csv.reader(stream, delimiter=layout.separator, strict=True)
        start = 1
        try:
            for number, row in enumerate(rows):
                if number and row:
                    if len(row) != width:
                        raise CollectionError(
                            f"{file.name}, line {start}: {len(row)} fields where the header has "
                            f"{width}. Check the separator ({layout.separator!r}) and the quotes "
                            "of this line."
                        )
                    yield Record(start, tuple(row[position] for position in wanted))
                start = rows.line_num + 1
        except csv.Error as error:
            raise CollectionError(
                f"{file.name}, the record that starts on line {start}: {error}. A field with a "
                "quote, a separator or a line end must stand in quotes, a quote inside doubled."
            ) from error


def open_text(path: Path, encoding: str) -> TextIOWrapper:
    """Open a file as text: a byte order mark is dropped, line ends are left as they are."""
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"
    return path.open(encoding=encoding, newline="")


def find_encoding(file: RawFile, declared: str) -> str:
    """Return the encoding of a file, after having decoded all of it.

    Parameters
    ----------
    file
        The file.
    declared
        A codec name, or ``auto``.

    Raises
    ------
    CollectionError
        If the bytes are not of the declared encoding (the message names the first wrong byte
        and suggests an encoding), or are UTF-8 although a single-byte encoding was declared.
    """
    if declared == "auto":
        encoding = _detect_encoding(file.path)
        logger.info("%s is read as %s.", file.name, encoding)
        return encoding
    try:
        codec = codecs.lookup(declared).name
    except LookupError as error:
        raise CollectionError(
            f"{file.name}: Python knows no encoding called {declared!r}. Set `encoding` to utf-8, "
            "cp1252 or another codec name."
        ) from error
    wrong = _first_wrong_byte(file.path, codec)
    if wrong is not None:
        raise CollectionError(_wrong_byte_sentence(file, declared, wrong))
    if not codec.startswith("utf") and _is_non_ascii_utf8(file.path):
        raise CollectionError(
            f"{file.name} is declared as {declared}, but all its bytes are valid UTF-8 with "
            "accented letters: read as declared they would come out garbled. Set `encoding: utf-8`."
        )
    return codec


def check_id(value: str, what: str, where: str) -> str:
    """Return an id unchanged, or raise where it is empty or holds white space.

    Examples
    --------
    >>> check_id("00123", "doc_id", "docs.csv, line 2")
    '00123'
    """
    if not value or value.split() != [value]:
        raise CollectionError(
            f"{where}: {value!r} can't be a {what}: an id has at least one character and no white "
            "space (TREC files separate their fields by it)."
        )
    return value


def _read_header(file: RawFile, encoding: str, separator: str) -> tuple[str, ...]:
    with open_text(file.path, encoding) as stream:
        try:
            header = next(csv.reader(stream, delimiter=separator), None)
        except csv.Error as error:
            raise CollectionError(f"{file.name}, line 1: {error}.") from error
    if not header:
        raise CollectionError(
            f"{file.name}, line 1: a header with the names of the columns is expected, but the "
            "file is empty or starts with a blank line."
        )
    return tuple(name.strip() for name in header)


def _check_header_unique(file: RawFile, header: tuple[str, ...]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise CollectionError(
            f"{file.name}, line 1: the column {twice[0]!r} stands there twice. Rename one."
        )


def _missing_columns(
    file: RawFile, headers: Mapping[str, tuple[str, ...]], needed: Sequence[Mapping[str, str]]
) -> str:
    header = max(headers.values(), key=len)
    missing = min(
        ([column for column in must.values() if column not in header] for must in needed), key=len
    )
    choices = " or ".join(", ".join(must.values()) for must in needed)
    return (
        f"{file.name}, line 1: the column{'s' * (len(missing) > 1)} {', '.join(missing)} "
        f"{'are' if len(missing) > 1 else 'is'} missing. Found: {', '.join(header)}. Expected: "
        f"{choices}. Rename the columns, or declare them under `columns`."
    )


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block


def _first_wrong_byte(path: Path, codec: str) -> int | None:
    """Return the offset of the first byte that the codec can't decode."""
    decoder = codecs.getincrementaldecoder(codec)()
    offset = 0
    for block in chain(_blocks(path), [b""]):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeError as error:
            return offset - pending + getattr(error, "start", 0)
        offset += len(block)
    return None


def _is_non_ascii_utf8(path: Path) -> bool:
    return (
        any(not block.isascii() for block in _blocks(path))
        and _first_wrong_byte(path, "utf-8") is None
    )


def _detect_encoding(path: Path) -> str:
    with path.open("rb") as stream:
        start = stream.read(4)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if start[1:2] == b"\0" or start[0:1] == b"\0":
        return "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
    return "utf-8" if _first_wrong_byte(path, "utf-8") is None else "cp1252"


def _wrong_byte_sentence(file: RawFile, declared: str, offset: int) -> str:
    with file.path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(0, offset - 12))
        around = stream.read(24)
        stream.seek(offset)
        byte = stream.read(1)
    suggestion = _detect_encoding(file.path)
    shown = around.decode(suggestion, errors="ignore").strip() if suggestion == "cp1252" else ""
    reads = f" (there it reads {shown!r})" if shown else ""
    what = f"the byte 0x{byte.hex().upper()}" if byte else "the end"
    first = (
        f" The file starts with {start.hex(' ').upper()}."
        if suggestion.startswith("utf-16")
        else ""
    )
    return (
        f"{file.name}: {what} at offset {offset} is not {declared}.{first} "
        f"Set `encoding: {suggestion}`{reads}, or write the file again as {declared}."
    )
