"""What a run has compared, read out of its catalog, and what MLflow is to say of each judge."""

import shutil
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from normastcu.collection.frames import table_hash
from normastcu.collection.judgments import REFERENCE
from normastcu.datasets.figures import FigureDataset
from normastcu.datasets.tables import ReportTableDataset
from normastcu.evaluation.disagreement import PAIR
from normastcu.judging.settings import Judge
from normastcu.pipelines.llm_judging.nodes import list_judges, prompt_of
from normastcu.tracking.hashes import content_hash
from normastcu.tracking.metrics import Tables, judge_metrics, judge_verdicts
from normastcu.tracking.records import JudgeRecord
from normastcu.tracking.settings import asked_settings, flattened

COMPARING = "meta_evaluation"
"""The tag of the nodes that compare."""

NEEDED = ("judges", "judge_summary", "kappa", "bias")
ABOUT_A_JUDGE = ("judge", "annotator", "annotator_a", "annotator_b", "qrels")
COLLECTION_FILES = ("query_file", "judgment_file", "corpus_provenance")
MEASURED = "measures_by_query"
LABELS = ("llm_judgments", "imported_replies")
SETTINGS_OF_FILES = ("params:assessor_judgments", "params:imported_judges")
"""How raw files are written: what is read from them has its own hash."""

CHANGED = "changed since the judge was asked"


@dataclass(frozen=True)
class Comparison:
    """The tables of a run that speak of judges.

    Attributes
    ----------
    tables
        Tables of the report by name.
    grades
        query_id, doc_id, annotator, grade.
    parameters
        What all judges share, as texts.
    settings
        The settings of each judge that the configuration describes as it was when asked.
    outdated
        Judges whose settings or prompt have changed since they were asked.
    returned
        The models that say they have answered, by judge.
    hashes
        Of what all judges share, by name.
    figures
        Files.
    """

    tables: Tables
    grades: pd.DataFrame
    parameters: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]
    outdated: frozenset[str]
    returned: Mapping[str, str]
    hashes: Mapping[str, str]
    figures: tuple[Path, ...]

    @property
    def judges(self) -> list[str]:
        """Return the judges in the order of the tables."""
        return list(self.tables["judges"]["judge"])

    def tags(self) -> dict[str, str]:
        """Return the hashes of what all judges share, as tags."""
        return {f"normastcu.hash.{name}": value for name, value in self.hashes.items()}

    def record(self, judge: str, more_tags: Mapping[str, str]) -> JudgeRecord:
        """Return what MLflow is to say of a judge."""
        judges = self.tables["judges"]
        listed = judges[judges["judge"] == judge].to_dict("records")[0]
        own = self.grades[self.grades["annotator"] == judge]
        metrics = judge_metrics(judge, self.tables)
        hashes = {
            **self.hashes,
            "labels": table_hash(own[[*PAIR, "grade"]]),
            "judge_settings": listed["settings_hash"],
            "results": content_hash({name: repr(value) for name, value in metrics.items()}),
        }
        tags = {f"normastcu.hash.{name}": value for name, value in hashes.items()}
        if judge in self.outdated:
            tags["normastcu.settings"] = CHANGED
        return JudgeRecord(
            name=judge,
            params=self._params(judge, listed),
            metrics=metrics,
            tags={**more_tags, **tags, **judge_verdicts(judge, self.tables)},
            identity=content_hash({"judge": judge, **hashes}),
        )

    def write_files(self, judge: str, folder: Path) -> None:
        """Write a judge's rows of every table as CSV, and the figures, into a folder."""
        for name, table in self.tables.items():
            own = rows_about(judge, table)
            if len(own):
                (folder / "tables").mkdir(exist_ok=True)
                own.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")
        for path in self.figures:
            (folder / "figures").mkdir(exist_ok=True)
            shutil.copy(path, folder / "figures")

    def _params(self, judge: str, listed: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return what the table of judges says, and more where the settings are known."""
        named = {name: listed[name] for name in ("model", "prompt", "source")}
        said = {name: str(value) for name, value in named.items() if not pd.isna(value)}
        returned = {"model_returned": self.returned[judge]} if judge in self.returned else {}
        return {**self.parameters, **said, **self.settings.get(judge, {}), **returned}


def has_compared(pipeline: Pipeline) -> bool:
    """Return whether a pipeline makes what is told of judges."""
    return pipeline.all_outputs() >= set(NEEDED)


def read_comparison(pipeline: Pipeline, catalog: DataCatalog, active: list[Judge]) -> Comparison:
    """Read what a run has compared.

    Parameters
    ----------
    pipeline
        What has been run; only tables and figures that it made are taken.
    catalog
        Its catalog.
    active
        The judges of the configuration.
    """
    tables = _report_tables(pipeline, catalog)
    grades = catalog.load("grades")
    parameters = _shared_parameters(pipeline, catalog)
    settings, outdated = _settings(tables["judges"], catalog, active)
    return Comparison(
        tables=tables,
        grades=grades,
        parameters=parameters,
        settings=settings,
        outdated=outdated,
        returned=_models_returned(catalog),
        hashes=_shared_hashes(grades, parameters, catalog) | _systems_hash(pipeline, catalog),
        figures=_figures(pipeline, catalog),
    )


def rows_about(judge: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table that name a judge."""
    columns = [column for column in ABOUT_A_JUDGE if column in table]
    return table[(table[columns] == judge).any(axis="columns")]


def _report_tables(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, pd.DataFrame]:
    made = [
        name
        for name in sorted(pipeline.only_nodes_with_tags(COMPARING).all_outputs())
        if isinstance(catalog.get(name), ReportTableDataset)
    ]
    # Another pipeline makes it, in an earlier run perhaps, together with the grades that it is of.
    known = ["cost"] if catalog.exists("cost") else []
    return {name: catalog.load(name) for name in [*made, *known]}


def _figures(pipeline: Pipeline, catalog: DataCatalog) -> tuple[Path, ...]:
    made = sorted(pipeline.only_nodes_with_tags(COMPARING).all_outputs())
    datasets = [catalog.get(name) for name in made]
    pictures = [
        Path(one._describe()["filepath"]) for one in datasets if isinstance(one, FigureDataset)
    ]
    files = [path.with_suffix(suffix) for path in pictures for suffix in (".png", ".svg")]
    return tuple(path for path in files if path.is_file())


def _shared_parameters(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, str]:
    comparing = pipeline.only_nodes_with_tags(COMPARING)
    taken = {name for name in comparing.inputs() if name.startswith("params:")}
    names = sorted((taken | {"params:collection"}) - set(SETTINGS_OF_FILES))
    return flattened(
        {name.removeprefix("params:"): catalog.load(name) for name in names if catalog.exists(name)}
    )


def _settings(
    judges: pd.DataFrame, catalog: DataCatalog, active: list[Judge]
) -> tuple[dict[str, dict[str, str]], frozenset[str]]:
    """Return the settings by which judges were asked, and the judges that have others by now."""
    asked = [judge for judge in active if judge.name in set(judges["judge"])]
    if not asked:
        return {}, frozenset()
    prompts = catalog.load("prompts")
    then = judges.set_index("judge")["settings_hash"]
    now = list_judges(prompts, judges=asked).set_index("judge")["settings_hash"]
    outdated = frozenset(judge.name for judge in asked if now[judge.name] != then[judge.name])
    settings = {
        judge.name: asked_settings(judge, prompt_of(judge, prompts) if judge.prompt else None)
        for judge in asked
        if judge.name not in outdated
    }
    return settings, outdated


def _models_returned(catalog: DataCatalog) -> dict[str, str]:
    """Return the names by which the providers say who has answered."""
    tables = [catalog.load(name) for name in LABELS if catalog.exists(name)]
    named = [table[["annotator", "model_returned"]].dropna() for table in tables]
    if not named:
        return {}
    together = pd.concat(named, ignore_index=True).drop_duplicates()
    return {
        str(judge): ", ".join(sorted(own["model_returned"]))
        for judge, own in together.groupby("annotator")
    }


def _shared_hashes(
    grades: pd.DataFrame, parameters: Mapping[str, str], catalog: DataCatalog
) -> dict[str, str]:
    """Return hashes of the raw files, the pairs that people judged, and the parameters."""
    files = [catalog.load(name) for name in COLLECTION_FILES if catalog.exists(name)]
    return {
        "collection": content_hash(digest for table in files for digest in table["sha256"]),
        "pairs": table_hash(grades.loc[grades["annotator"] == REFERENCE, PAIR]),
        "parameters": content_hash(parameters),
    }


def _systems_hash(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, str]:
    """Return a hash of what the systems are worth under the reference, query by query."""
    if MEASURED not in pipeline.all_outputs():
        return {}
    measured = catalog.load(MEASURED)
    columns = ["system", "query_id", "measure", "value"]
    return {"systems": table_hash(measured.loc[measured["qrels"] == REFERENCE, columns])}
