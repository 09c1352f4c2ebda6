"""Qrels in TREC's format: query, iteration (unused), document, grade."""

from pathlib import Path

import pandas as pd

from normastcu.collection.judgments import read_judge_labels
from normastcu.collection.settings import JudgeLabelFormat
from normastcu.collection.sources import local_file

SUFFIX = ".qrels"


def write_qrels(qrels: pd.DataFrame, path: Path) -> None:
    """Write one qrels for trec_eval, sorted by query and document.

    Parameters
    ----------
    qrels
        query_id, doc_id, grade (integers, none missing).
    path
        The file; an existing one is replaced.
    """
    rows = qrels.sort_values(["query_id", "doc_id"], kind="stable")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(
            f"{query_id} 0 {doc_id} {grade}\n"
            for query_id, doc_id, grade in zip(
                rows["query_id"], rows["doc_id"], rows["grade"], strict=True
            )
        )


def read_qrels(path: Path) -> pd.DataFrame:
    """Read one qrels; identical duplicate lines are dropped, differing ones are an error.

    Returns
    -------
    pandas.DataFrame
        qrels (the file's name without its suffix), query_id, doc_id, grade.
    """
    table = read_judge_labels([local_file(path)], JudgeLabelFormat(file_format="trec")).table
    return table.rename(columns={"annotator": "qrels"}).astype({"grade": "int64"})[
        ["qrels", "query_id", "doc_id", "grade"]
    ]
