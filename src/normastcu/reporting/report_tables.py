"""Tables of the report: which columns are shown, and how.

The parquet and CSV files hold every column; the page shows those that a reader needs, an interval
below or beside its estimate.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from normastcu.collection.judgments import REFERENCE
from normastcu.reporting import report_cells as cells
from normastcu.reporting.page_parts import clean
from normastcu.reporting.report_cells import Cell, Column, Row, Write
from normastcu.reporting.report_texts import Language, text_of, value_of
from normastcu.reporting.system_tables import SHOWN_COEFFICIENTS, is_judged_share, of_all_systems

LONG_ROWS = 16
"""From so many rows on a table is folded on the screen."""
WIDE_COLUMNS = 9
"""From so many columns on a table is printed in smaller letters."""
MOST_ROWS = 3000

Tables = Mapping[str, pd.DataFrame]
"""The tables by name; one that there is not is absent or empty."""


@dataclass(frozen=True)
class TableView:
    """A table as the page shows it; without rows it says why.

    Attributes
    ----------
    name
        Of the texts, and of the anchor.
    headings, styles
        One for each column.
    n_rows
        Rows of the table, of which a page shows the first `MOST_ROWS`.
    file
        The table's files under `tables/`; empty where there are none.
    why_empty
        What is said where there is no row.
    """

    name: str
    title: str
    note: str
    headings: Sequence[str]
    styles: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    n_rows: int
    file: str
    why_empty: str

    @property
    def is_wide(self) -> bool:
        """Whether it needs smaller letters on paper."""
        return len(self.headings) >= WIDE_COLUMNS

    @property
    def is_long(self) -> bool:
        """Whether it is folded on the screen."""
        return len(self.rows) >= LONG_ROWS


@dataclass(frozen=True)
class TableSpec:
    """What is shown of a table.

    Attributes
    ----------
    name
        Of the texts.
    columns
        Those that the table does not have are left out.
    empty
        Text that says why there is no row.
    source
        The table; by default the one of the same name.
    filed
        Whether files of that name lie under `tables/`.
    """

    name: str
    columns: Sequence[Column]
    empty: str
    source: str = ""
    filed: bool = True

    def view(self, tables: Tables, language: Language) -> TableView:
        """Return the table as the page shows it."""
        source = self.source or self.name
        table = tables.get(source, pd.DataFrame())
        columns = [column for column in self.columns if _is_there(column, table)]
        return make_view(
            self.name, table, columns, language, empty=self.empty, file=source * self.filed
        )


def make_view(
    name: str,
    table: pd.DataFrame,
    columns: Sequence[Column],
    language: Language,
    *,
    empty: str,
    file: str = "",
) -> TableView:
    """Write a table's rows; a column in which nothing stands is left out."""
    records = rows_of(table.head(MOST_ROWS))
    rows = [[column.cell(row, language) for column in columns] for row in records]
    kept = [place for place in range(len(columns)) if any(row[place].text for row in rows)]
    shown = [[row[place] for place in kept] for row in rows]
    headings = [
        columns[place].heading or text_of(language, f"column.{columns[place].name}")
        for place in kept
    ]
    return TableView(
        name=name,
        title=text_of(language, f"table.{name}"),
        note=text_of(language, f"table.{name}.note"),
        headings=[clean(heading) for heading in headings],
        styles=[_style(row[place] for row in shown) for place in range(len(kept))],
        rows=shown,
        n_rows=len(table),
        file=file,
        why_empty=text_of(language, "empty.table", why=text_of(language, empty)),
    )


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as mappings."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def system_measures(tables: Tables, language: Language) -> TableView:
    """Return Table 9: the reference's measures of each system, with rank and interval."""
    leading = ["qrels", "system", "query_set", "measure"]
    measures = tables.get("measures", pd.DataFrame(columns=leading))
    own = of_all_systems(measures[measures["qrels"] == REFERENCE])
    names = list(dict.fromkeys(own["measure"]))
    wide = _side_by_side(own, "system", {name: own["measure"] == name for name in names})
    families = tables.get("table_9", pd.DataFrame(columns=["system", "family"]))
    wide = wide.merge(families[["system", "family"]], how="left", on="system")
    columns = [
        Column("system", cells.code),
        Column("family", cells.text),
        Column("n_queries", cells.whole),
        *(Column(name, _of_part(_measure), heading=name) for name in names),
    ]
    return make_view(
        "system_measures", wide, columns, language, empty="empty.systems", file="table_9"
    )


def correlations(tables: Tables, language: Language) -> TableView:
    """Return Table 13: tau-b and rho of each qrels with the reference, with intervals."""
    leading = ["qrels", "query_set", "system_set", "coefficient", "measure"]
    table = tables.get("rank_correlation", pd.DataFrame(columns=leading))
    own = of_all_systems(table)
    parts = {
        f"{measure}, {value_of(language, 'coefficient', coefficient)}": (
            (own["measure"] == measure) & (own["coefficient"] == coefficient)
        )
        for measure in dict.fromkeys(own["measure"])
        for coefficient in SHOWN_COEFFICIENTS
    }
    wide = _side_by_side(own, "qrels", parts)
    columns = [
        Column("qrels", cells.code),
        Column("n_systems", cells.whole),
        Column("n_queries", cells.whole),
        Column("query_set", cells.word),
        *(Column(name, _of_part(_coefficient), heading=name) for name in parts),
    ]
    return make_view(
        "correlations", wide, columns, language, empty="empty.ranking", file="table_13"
    )


def _side_by_side(
    table: pd.DataFrame, key: str, parts: Mapping[str, "pd.Series[bool]"]
) -> pd.DataFrame:
    """Return a row for each key, with the rows of each part as mappings in a column of their own.

    The other columns are those of the key's first row.
    """
    wide = table.drop_duplicates(key).reset_index(drop=True)
    for name, chosen in parts.items():
        own = {row[key]: row for row in rows_of(table[chosen])}
        wide[name] = pd.Series([own.get(found, {}) for found in wide[key]], dtype="object")
    return wide


def _of_part(
    write: Callable[[Row, Language], Cell],
) -> Write:
    def written(row: Row, name: str, language: Language) -> Cell:
        part: Row = row[name]
        return write(part, language) if part else Cell("")

    return written


def _measure(row: Row, language: Language) -> Cell:
    cell = cells.with_interval(row, "value", language)
    if cell.style == "missing" or cells.is_missing(row["rank"]) or is_judged_share(row["measure"]):
        return cell
    rank = text_of(language, "cell.rank", rank=row["rank"])
    return Cell(cell.text, f"{rank}\n{cell.note}", cell.style, cell.full)


def _coefficient(row: Row, language: Language) -> Cell:
    return cells.with_interval_of_90(row, "value", language)


def _is_there(column: Column, table: pd.DataFrame) -> bool:
    """Say whether a table has a column, or the two ends of an interval of its name."""
    return column.name in table or f"{column.name}_low" in table


def _style(column: Iterator[Cell]) -> str:
    """Return how a column is aligned: numbers to the right, where there are any."""
    styles = {cell.style for cell in column if cell.text}
    return "number" if "number" in styles else (styles - {"missing"} or {"missing"}).pop()
