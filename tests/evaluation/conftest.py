"""The real judgments of NormasTCU, in the canonical columns."""

from pathlib import Path

import pandas as pd
import pytest

RELEASED = {
    "QUERY_KEY": "query_id",
    "DOC_KEY": "doc_id",
    "AVALIACAO": "grade",
    "SCORE": "grade",
    "USUARIO_AVALIADOR": "annotator",
}


def _read(path: Path) -> pd.DataFrame:
    frame = pd.read_csv(path, dtype=str).rename(columns=RELEASED)
    return frame.assign(grade=frame["grade"].astype("Float64"))


@pytest.fixture(scope="session")
def people(shared_data: Path) -> pd.DataFrame:
    """Return the 3,048 judgments of the four assessors."""
    frame = _read(shared_data / "normastcu" / "raw_human_eval.csv")
    return frame.assign(grade=frame["grade"].astype("Int64"))


@pytest.fixture(scope="session")
def everybody(shared_data: Path, people: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments of the four assessors and the labels of the six others."""
    labels = [
        _read(path).assign(annotator=path.stem)
        for path in sorted((shared_data / "normastcu" / "llm_labels").glob("*.csv"))
    ]
    frame = pd.concat([people, *labels], ignore_index=True)
    return frame.assign(grade=frame["grade"].astype("Int64"))


@pytest.fixture(scope="session")
def released_means(shared_data: Path) -> pd.DataFrame:
    """Return the mean grades as released, `grade` being the mean."""
    return _read(shared_data / "normastcu" / "qrel_mean.csv")
