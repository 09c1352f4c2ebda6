"""The pipelines by name. A pipeline that is not built yet is absent."""

from kedro.pipeline import Pipeline

from normastcu.configuration import RESOLVERS
from normastcu.environment import active_judges
from normastcu.pipelines import human_qrels, ingestion, llm_judging, meta_evaluation


def register_pipelines() -> dict[str, Pipeline]:
    """Return the pipelines that can be run by name.

    `human_qrels` and `meta_evaluation` read the raw judgments first and average them (it takes a
    few seconds), so that they always follow the files, and need no corpus. `llm_judging` is there
    where the environment names an active judge.
    """
    judges = active_judges(RESOLVERS)
    judgments = ingestion.create_judgments_pipeline()
    corpus = ingestion.create_corpus_pipeline()
    people = human_qrels.create_pipeline()
    parts = {"ingestion": judgments + corpus, "human_qrels": judgments + people}
    if judges:
        parts["llm_judging"] = llm_judging.create_pipeline(judges)
    comparison = meta_evaluation.create_pipeline(judging=bool(judges))
    reference = people.only_nodes("human_qrels.average_grades", "human_qrels.compare_people")
    parts["meta_evaluation"] = judgments + reference + comparison
    full = sum(parts.values(), Pipeline([]))
    return {**parts, "full": full, "__default__": full}
