"""The pipelines by name. A pipeline that is not built yet is absent."""

from kedro.pipeline import Pipeline

from normastcu.pipelines import human_qrels, ingestion, meta_evaluation


def register_pipelines() -> dict[str, Pipeline]:
    """Return the pipelines that can be run by name.

    `human_qrels` and `meta_evaluation` read the raw judgments first (it takes a second), so that
    they always follow the files, and need no corpus.
    """
    judgments = ingestion.create_judgments_pipeline()
    corpus = ingestion.create_corpus_pipeline()
    people = human_qrels.create_pipeline()
    comparison = meta_evaluation.create_pipeline()
    full = judgments + corpus + people + comparison
    return {
        "ingestion": judgments + corpus,
        "human_qrels": judgments + people,
        "meta_evaluation": judgments + comparison,
        "full": full,
        "__default__": full,
    }
