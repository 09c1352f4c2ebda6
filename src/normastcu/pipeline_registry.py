"""The pipelines by name. A pipeline that is not built yet is absent."""

from kedro.pipeline import Pipeline

from normastcu.configuration import RESOLVERS
from normastcu.environment import active_judges, active_systems
from normastcu.pipelines import (
    human_qrels,
    ingestion,
    llm_judging,
    meta_evaluation,
    pooling,
    retrieval_runs,
)

REFERENCE_NODES = (
    "average_grades",
    "build_qrels",
    "compare_people",
    "count_answers",
    "describe_disagreement",
)


def register_pipelines() -> dict[str, Pipeline]:
    """Return the pipelines that can be run by name.

    `human_qrels` and `meta_evaluation` read the raw judgments first and average them (it takes a
    few seconds), so that they always follow the files, and need no corpus. `llm_judging`,
    `retrieval_runs` and `pooling` are there where the environment names judges and systems.
    """
    judges, systems = active_judges(RESOLVERS), active_systems(RESOLVERS)
    judgments = ingestion.create_judgments_pipeline()
    corpus = ingestion.create_corpus_pipeline()
    people = human_qrels.create_pipeline()
    parts = {"ingestion": judgments + corpus, "human_qrels": judgments + people}
    if systems.all:
        parts["retrieval_runs"] = retrieval_runs.create_pipeline(systems)
    if systems.pooling:
        parts["pooling"] = pooling.create_pipeline(systems)
    if judges:
        parts["llm_judging"] = llm_judging.create_pipeline(judges)
    comparison = meta_evaluation.create_pipeline(
        judging=bool(judges), ranking=bool(systems.active), pooling=bool(systems.pooling)
    )
    reference = people.only_nodes(*(f"human_qrels.{name}" for name in REFERENCE_NODES))
    parts["meta_evaluation"] = judgments + reference + comparison
    full = sum(parts.values(), Pipeline([]))
    return {**parts, "full": full, "__default__": full}
