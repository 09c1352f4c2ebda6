"""A small world with everything in it, from judgments to the tables that a report is made of."""

from functools import cache

import numpy as np
import pandas as pd
from tests.pipelines.system_level import (
    collection,
    lengths_of,
    run_system_level,
    settings_of,
    systems_of,
)

from normastcu.collection.settings import AssessorFormat, GradeScale
from normastcu.evaluation.verdict import INTERVAL_NOTE
from normastcu.pipelines.human_qrels import nodes as people_nodes
from normastcu.pipelines.meta_evaluation import nodes
from normastcu.pipelines.parameters import BootstrapSettings, DisputedPairsSettings
from normastcu.reporting.report import ReportContent

SCALE = GradeScale(
    grades=[
        {"grade": 0, "name": "irrelevant"},
        {"grade": 1, "name": "partially <relevant>"},
        {"grade": 2, "name": "relevant"},
    ]
)
QUERIES = [f"q{i}" for i in range(1, 9)]
DOCUMENTS = [f"d{i}" for i in range(12)]
FAMILIES = {f"S_{i}": "bm25" if i < 7 else "<dense>" for i in range(1, 13)}
LIKE_PEOPLE, NOISY, MUTE = "like_people", "<i>noisy</i> & co", "mute"
FEW = BootstrapSettings(resamples=200, seed=1)


def labels_of(name: str, grades: np.ndarray) -> pd.DataFrame:
    """Put grades, queries by documents, into a table; -1 is no grade."""
    rows = [
        (query, doc, name, None if grades[i, j] < 0 else int(grades[i, j]))
        for i, query in enumerate(QUERIES)
        for j, doc in enumerate(DOCUMENTS)
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "annotator", "grade"])
    return frame.astype(dict.fromkeys(frame.columns[:3], "str") | {"grade": "Int64"})


def runs_of(truth: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Rank the documents by their grade and a noise that grows with the number of the system."""
    rows = []
    for number, system in enumerate(FAMILIES, start=1):
        for i, query in enumerate(QUERIES):
            noise = rng.normal(0, 0.35 * number, len(DOCUMENTS))
            order = np.argsort(-(truth[i] + noise))
            rows += [
                (system, query, DOCUMENTS[document], rank, -float(rank))
                for rank, document in enumerate(order, start=1)
            ]
    frame = pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "rank", "score"])
    return frame.astype(
        dict.fromkeys(["system", "query_id", "doc_id"], "str")
        | {"rank": "Int64", "score": "Float64"}
    )


@cache
def report_tables() -> dict[str, pd.DataFrame]:
    """Make the tables of two people, three judges and twelve systems, once: not to be changed."""
    rng = np.random.default_rng(7)
    truth = rng.choice([0, 0, 1, 2], (len(QUERIES), len(DOCUMENTS)))
    moved = np.where(rng.random(truth.shape) < 0.2, rng.integers(0, 3, truth.shape), truth)
    people = pd.concat([labels_of("Ana", truth), labels_of("Bia", moved)], ignore_index=True)
    people["origin"] = pd.Series("pool", index=people.index, dtype="str")
    judges = {
        LIKE_PEOPLE: truth,
        NOISY: rng.integers(0, 3, truth.shape),
        MUTE: np.full(truth.shape, -1),
    }
    labels = pd.concat([labels_of(*judge) for judge in judges.items()], ignore_index=True)
    inputs = collection(people, labels) | {
        "runs": runs_of(truth, rng),
        "systems": systems_of(FAMILIES),
        "document_lengths": lengths_of({doc: 100 * i for i, doc in enumerate(DOCUMENTS)}),
        "cost": cost_of({LIKE_PEOPLE: 0.25, NOISY: None, MUTE: None}),
    }
    ranked = run_system_level(inputs)
    tables = {name: table for name, table in ranked.items() if isinstance(table, pd.DataFrame)}
    return tables | _pair_level(inputs, people, labels) | _origins(inputs, judges)


def report_content(tables: dict[str, pd.DataFrame], name: str = "sample") -> ReportContent:
    """Return a report's content with the settings of base."""
    settings = {"scale": SCALE} | settings_of({})
    return ReportContent(name, SCALE, tables, settings, 0.9, INTERVAL_NOTE)


def cost_of(costs: dict[str, float | None]) -> pd.DataFrame:
    """Return what judges took."""
    frame = pd.DataFrame({"judge": list(costs), "cost_per_1000_pairs": list(costs.values())})
    frame = frame.assign(calls=96, tokens_in=1234567, tokens_out=None, cost=None)
    return frame.astype(
        {"judge": "str", "calls": "Int64", "tokens_in": "Int64", "tokens_out": "Int64"}
        | {"cost": "Float64", "cost_per_1000_pairs": "Float64"}
    )


def _pair_level(
    inputs: dict[str, pd.DataFrame], people: pd.DataFrame, labels: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    grades, annotators, means = (inputs[n] for n in ("grades", "annotators", "mean_grades"))
    everybody = AssessorFormat()
    judged = nodes.join_labels(labels)
    tables = {
        "mean_grades": means,
        "annotators": annotators,
        "coverage": nodes.count_coverage(means, judged, annotators),
        "grade_counts": nodes.count_grades(grades, annotators, SCALE),
        "bias": nodes.measure_bias(grades, means, annotators, FEW),
        "human_ceiling": nodes.compare_with_others(grades, annotators, SCALE, FEW),
        "assessor_answers": people_nodes.count_answers(people, everybody),
    }
    tables["kappa"], tables["alpha"] = nodes.compare_annotators(grades, annotators, SCALE, FEW)
    described = nodes.describe_judges(grades, means, annotators, SCALE, FEW)
    names = ("human_range_agreement", "confusion", "agreement_by_query")
    tables |= dict(zip(names, described, strict=True))
    disputed = people_nodes.describe_people(people, means, SCALE, DisputedPairsSettings(most=5))
    names = ("disagreement", "pairs_by_assessors", "disputed_pairs", "disagreement_by_query")
    tables |= dict(zip(names, disputed, strict=True))
    _, tables["human_kappa"], _ = people_nodes.compare_people(people, means, everybody, SCALE, FEW)
    summarised = ("kappa", "bias", "coverage")
    tables["judge_summary"] = nodes.summarise(annotators, *(tables[name] for name in summarised))
    return tables


def _origins(inputs: dict[str, pd.DataFrame], judges: dict[str, object]) -> dict[str, pd.DataFrame]:
    judged = {"judge": list(judges), "model": "m", "prompt": "simple", "source": "asked"}
    file = {"table": "judgments", "file": "judgments.csv", "kind": "files", "location": "here"}
    file |= {"revision": "", "sha256": "cd" * 32, "annotators": "Ana, Bia"}
    counts = {"n_rows": [192], "n_duplicates": [0], "n_without_grade": [0]}
    return {
        "cost": inputs["cost"],
        "judges": pd.DataFrame(judged | {"settings_hash": "ab" * 32}).astype("str"),
        "systems": inputs["systems"].assign(settings_hash="ef" * 32),
        "judgment_provenance": pd.DataFrame(file | counts),
    }
