"""Puts the released files of JurisTCU where the environment `juristcu` looks for them."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd

ANNOTATOR = "gpt4"
SHARES = (10, 30, 60)
SCALE = range(4)


def write_collection(source: Path, folder: Path) -> pd.DataFrame:
    """Write documents, queries, judgments, perturbed judges and runs; return the released labels.

    The LLM's grades stand for the people's. A judge ``moved_30`` has the same grades, of which
    30 % are moved by one, up or down.
    """
    (folder / "labels").mkdir(parents=True, exist_ok=True)
    for name in ("doc.csv", "query.csv"):
        shutil.copyfile(source / name, folder / name)
    shutil.copytree(source / "runs", folder / "runs", dirs_exist_ok=True)
    labels = pd.read_csv(source / "gpt4_labels_with_reasons.csv", dtype=str)
    grades = labels.rename(
        columns={"QUERY_ID": "query_id", "DOC_ID": "doc_id", "LLM_SCORE": "grade"}
    )[["query_id", "doc_id", "grade"]].astype({"grade": int})
    grades.assign(annotator=ANNOTATOR).to_csv(folder / "judgments.csv", index=False)
    for percent in SHARES:
        moved = grades.assign(grade=move(grades["grade"].to_numpy(), percent / 100, percent))
        moved.to_csv(folder / "labels" / f"moved_{percent}.csv", index=False)
    return labels


def move(grades: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Move a share of the grades by one, up or down; at the ends of the scale inwards."""
    chance = np.random.default_rng(seed)
    chosen = chance.choice(len(grades), round(share * len(grades)), replace=False)
    steps = chance.choice((-1, 1), len(chosen))
    steps = np.where(grades[chosen] == min(SCALE), 1, steps)
    steps = np.where(grades[chosen] == max(SCALE), -1, steps)
    moved = grades.copy()
    moved[chosen] += steps
    return moved
