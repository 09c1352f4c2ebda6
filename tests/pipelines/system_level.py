"""Run the system level on an in-memory catalog, with every table checked by its declared schema."""

from pathlib import Path

import pandas as pd
import yaml
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner
from kedro.utils import load_obj

from normastcu.collection.settings import AssessorFormat, GradeScale, JudgeLabelFormat
from normastcu.pipelines.human_qrels.nodes import average_grades, build_qrels
from normastcu.pipelines.meta_evaluation.nodes import gather_grades, join_labels
from normastcu.pipelines.meta_evaluation.parameters import (
    JudgeBiasSettings,
    RankCorrelationSettings,
    ReplacementSettings,
    ShrunkenIntervalSettings,
    SignificanceSettings,
    SystemMeasureSettings,
    VerdictRule,
)
from normastcu.pipelines.meta_evaluation.systems_pipeline import create_pipeline
from normastcu.pipelines.parameters import BootstrapSettings

CONF = Path(__file__).resolve().parents[2] / "conf" / "base"
CLASSES = {
    "bootstrap": BootstrapSettings,
    "judge_bias_groups": JudgeBiasSettings,
    "rank_correlations": RankCorrelationSettings,
    "replacement_test": ReplacementSettings,
    "shrunken_intervals": ShrunkenIntervalSettings,
    "significance": SignificanceSettings,
    "system_measures": SystemMeasureSettings,
    "verdict_rule": VerdictRule,
}
FEW = {
    "bootstrap": {"resamples": 200},
    "significance": {"flips": 200},
    "shrunken_intervals": {"draws": 200},
}


class _Kept(MemoryDataset):
    """What the runner would forget as soon as no node needs it any more."""

    def _release(self) -> None:
        pass


def declared_entries() -> dict[str, dict]:
    """Return the catalog entries of the system level."""
    return yaml.safe_load((CONF / "catalog_systems.yml").read_text(encoding="utf-8"))


def settings_of(changes: dict[str, dict]) -> dict[str, object]:
    """Return the settings of base, some of them changed."""
    given = {}
    for name in ("parameters_systems.yml", "parameters_meta_evaluation.yml"):
        given |= yaml.safe_load((CONF / name).read_text(encoding="utf-8"))
    given |= yaml.safe_load((CONF / "parameters.yml").read_text(encoding="utf-8"))
    changed = {name: given[name] | changes.get(name, {}) for name in CLASSES}
    return {name: CLASSES[name](**values) for name, values in changed.items()}


def collection(
    judgments: pd.DataFrame,
    labels: pd.DataFrame,
    *,
    assessors: tuple[str, ...] = (),
    judges: tuple[str, ...] = (),
) -> dict[str, pd.DataFrame]:
    """Make what the pair level hands on from judgments of people and labels of judges."""
    people = AssessorFormat(assessors=assessors)
    means = average_grades(judgments)
    everything = join_labels(labels)
    grades, annotators = gather_grades(
        means, judgments, everything, people, JudgeLabelFormat(order=judges)
    )
    return {
        "grades": grades,
        "annotators": annotators,
        "mean_grades": means,
        "human_qrels": build_qrels(judgments, means, people),
    }


def run_system_level(
    inputs: dict[str, pd.DataFrame],
    *,
    highest_grade: int = 2,
    changes: dict[str, dict] | None = None,
) -> dict[str, object]:
    """Run the pipeline and return all it makes, `measured_runs` included."""
    grades = [{"grade": grade, "name": str(grade)} for grade in range(highest_grade + 1)]
    settings = settings_of(FEW | (changes or {})) | {"scale": GradeScale(grades=grades)}
    pipeline = create_pipeline(judging="cost" in inputs)
    given = inputs | {f"params:{name}": value for name, value in settings.items()}
    datasets = {name: MemoryDataset(value, copy_mode="assign") for name, value in given.items()}
    made = set(pipeline.all_outputs())
    kept = {name: _Kept(copy_mode="assign") for name in made}
    catalog = DataCatalog(datasets | kept)
    SequentialRunner().run(pipeline, catalog)
    results = {name: catalog.load(name) for name in made}
    for name, entry in declared_entries().items():
        if "validator" in entry and name in results:
            load_obj(entry["validator"]).validate(results[name])
    return results


def lengths_of(documents: dict[str, int]) -> pd.DataFrame:
    """Make document lengths."""
    frame = pd.DataFrame({"doc_id": list(documents), "n_characters": list(documents.values())})
    return frame.astype({"doc_id": "str", "n_characters": "Int64"})


def systems_of(families: dict[str, str]) -> pd.DataFrame:
    """Make the table of systems from the family of each."""
    frame = pd.DataFrame({"system": list(families), "family": list(families.values())})
    return frame.assign(kind="bm25", settings="{}", sha256="").astype("str")


def rows_where(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Return the rows of a table with some values."""
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table


def row_where(table: pd.DataFrame, **wanted: object) -> pd.Series:
    """Return the only row of a table with some values."""
    rows = rows_where(table, **wanted)
    assert len(rows) == 1, f"{len(rows)} rows have {wanted}"
    return rows.iloc[0]
