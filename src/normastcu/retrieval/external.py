"""Runs made elsewhere as systems of the project."""

from collections.abc import Collection
from dataclasses import asdict, dataclass

import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.collection.run_files import read_run, restrict_run
from normastcu.collection.run_order import order_run
from normastcu.collection.sources import RawFile
from normastcu.retrieval.settings import ExternalSystem

EXTERNAL_TYPES = dict.fromkeys(("system", "file", "sha256"), "str") | dict.fromkeys(
    ("n_queries", "n_documents", "n_tied", "n_misranked", "n_removed"), "Int64"
)
"""The columns of the report on external runs, see `ExternalReport`."""


@dataclass(frozen=True)
class ExternalReport:
    """What was read from a run file.

    Attributes
    ----------
    system, file, sha256
        The system's name, where the file came from and the digest of its bytes.
    n_queries, n_documents
        Queries and rows of the run as it is used.
    n_tied
        Rows of the file that share their score with another one of the query.
    n_misranked
        Rows whose rank in the file is not their place by score, which counts.
    n_removed
        Rows of the file whose document the collection lacks.
    """

    system: str
    file: str
    sha256: str
    n_queries: int
    n_documents: int
    n_tied: int
    n_misranked: int
    n_removed: int


def external_run(
    settings: ExternalSystem, file: RawFile, documents: Collection[str]
) -> tuple[pd.DataFrame, ExternalReport]:
    """Read the run of an external system.

    Parameters
    ----------
    settings
        The system.
    file
        Its run.
    documents
        The doc_ids of the collection. With `restrict` other documents are taken out, else they
        are an error.

    Returns
    -------
    tuple
        The run, canonical, with scores that fall strictly; and what there is to report.

    Raises
    ------
    CollectionError
        See `read_run` and `restrict_run`.
    """
    if settings.restrict:
        read = read_run(file, settings.name, settings.columns)
        kept, n_removed = restrict_run(read.table, documents)
    else:
        read = read_run(file, settings.name, settings.columns, documents)
        kept, n_removed = read.table, 0
    run = order_run(kept)
    report = ExternalReport(
        system=settings.name,
        file=file.name,
        sha256=file.provenance.sha256,
        n_queries=run["query_id"].nunique(),
        n_documents=len(run),
        n_tied=read.n_tied,
        n_misranked=read.n_misranked,
        n_removed=n_removed,
    )
    return run, report


def report_table(reports: Collection[ExternalReport]) -> pd.DataFrame:
    """Return reports as a table with the columns of `EXTERNAL_TYPES`, one row a run."""
    return typed_frame([asdict(report) for report in reports], EXTERNAL_TYPES)
