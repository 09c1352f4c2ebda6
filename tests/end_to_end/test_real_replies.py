"""Judging real text: released replies read again, and 2,250 pairs of JurisTCU."""

import json
import shutil
from pathlib import Path

import pandas as pd
import yaml
from tests.judging.loopback_llm import Answer, LoopbackLlm
from tests.juristcu import write_collection

REPLIES = "raw_llm_eval_sample.csv"


def test_released_replies_are_imported_and_read_to_the_released_grades(
    kedro_run, project, shared_data, monkeypatch, tmp_path, caplog
):
    for name in ("query.csv", "raw_human_eval.csv"):
        shutil.copy(shared_data / "normastcu" / name, tmp_path)
    monkeypatch.setenv("NORMASTCU_RAW", str(tmp_path))
    monkeypatch.setenv("NORMASTCU_REPLIES", str(shared_data / "normastcu" / REPLIES))
    for _ in range(2):
        kedro_run("human_qrels", "meta_evaluation", env="normastcu")
    assert "where the file states" not in caplog.text
    read = pd.read_parquet(project / "data/03_primary/normastcu/imported_replies.parquet")
    released = pd.read_csv(shared_data / "normastcu" / REPLIES, dtype=str)
    assert len(read) == len(released) == 86
    assert read["grade"].astype(str).tolist() == released["AVALIACAO"].tolist()
    assert read["outcome"].eq("ok").all()
    coverage = pd.read_parquet(project / "data/08_reporting/normastcu/tables/coverage.parquet")
    by_judge = coverage[coverage["outcome"] == "ok"].set_index("judge")["n"]
    assert by_judge.sum() == 86
    assert {"sabiazinho-4_simple", "sabiazinho-4_rationale"} <= set(by_judge.index)


def write_juristcu(project: Path, source: Path) -> pd.DataFrame:
    """Put JurisTCU where its environment looks for it; return the released labels."""
    return write_collection(source, project / "data/01_raw/juristcu")


def reply_of(row) -> str:
    """Return the reply that a judge with this grade and reason would have written."""
    reply = {"justificativa": row.LLM_REASONING, "score": int(row.LLM_SCORE)}
    return json.dumps(reply, ensure_ascii=False)


def read(project: Path, path: str) -> pd.DataFrame:
    """Read a table of the collection by pair."""
    table = pd.read_parquet(project / "data" / path)
    return table.set_index(["query_id", "doc_id"])


def test_2250_real_replies_give_the_grades_and_reasons_that_went_in(
    kedro_run, project, shared_data
):
    """The reasons of a real LLM hold digits, quotes and numbers of articles; every grade counts."""
    labels = write_juristcu(project, shared_data / "juristcu")
    raw = project / "raw_replies.csv"
    pd.DataFrame(
        {
            "QUERY_KEY": labels["QUERY_ID"],
            "DOC_KEY": labels["DOC_ID"],
            "AVALIACAO": labels["LLM_SCORE"],
            "MODELO": "gpt-4",
            "PROMPT": "rationale",
            "PAYLOAD_LLM": [reply_of(row) for row in labels.itertuples()],
        }
    ).to_csv(raw, index=False)
    params = {"raw_replies": str(raw), "pairs": str(shared_data / "juristcu" / "qrel.csv")}
    params |= {"bootstrap": {"resamples": 100}}
    kedro_run("ingestion", "human_qrels", "llm_judging", env="juristcu", params=params)
    kedro_run("meta_evaluation", env="juristcu", params=params)
    replies = read(project, "03_primary/juristcu/imported_replies.parquet")
    expected = labels.set_index(["QUERY_ID", "DOC_ID"])
    found = replies.loc[expected.index]
    assert len(found) == 2250
    assert found["grade"].astype(str).tolist() == expected["LLM_SCORE"].tolist()
    assert found["rationale"].tolist() == expected["LLM_REASONING"].tolist()
    lexical = read(project, "07_model_output/juristcu/llm_judgments.parquet")
    assert len(lexical) == 2250
    assert lexical["grade"].isin([0, 1, 2, 3]).all()
    kappas = pd.read_parquet(project / "data/08_reporting/juristcu/tables/kappa.parquet")
    with_reference = kappas[kappas["annotator_a"] == "reference"].set_index("annotator_b")
    assert with_reference.loc["gpt-4_rationale", "kappa_quadratic"] == 1.0
    assert with_reference.loc["lexical", "kappa_quadratic"] < 1.0


def test_real_text_is_asked_once_for_each_pair_of_texts(kedro_run, project, shared_data):
    """Some statements stand in the corpus twice: one call serves both, as they can't be told apart.

    Six of those pairs have two grades in the data, so that the second can't come out.
    """
    source = shared_data / "juristcu"
    labels = write_juristcu(project, source)
    kedro_run("ingestion", "human_qrels", env="juristcu")
    documents = pd.read_parquet(project / "data/03_primary/juristcu/documents.parquet")
    queries = pd.read_parquet(project / "data/03_primary/juristcu/queries.parquet")
    named = labels.merge(documents, left_on="DOC_ID", right_on="doc_id")
    named = named.merge(queries, left_on="QUERY_ID", right_on="query_id", suffixes=("", "_query"))
    replies = {(row.text_query, row.text): reply_of(row) for row in named.itertuples()}

    def replay(call) -> Answer:
        query, _, rest = call.user.partition("\n\nDocumento:\n")
        text = rest.split("\n", 1)[1].rsplit("\n", 1)[0]
        return Answer(replies[query.removeprefix("Consulta: "), text])

    with LoopbackLlm(replay) as server:
        server.keep_calls = False
        entry = {"kind": "openai", "model": "gpt-4", "base_url": server.base_url}
        entry |= {"context_window": 8192, "concurrency": 8, "attempts": 1}
        (project / "conf/juristcu/judges.yml").write_text(
            yaml.safe_dump({"models": {"replay": entry}})
        )
        (project / "conf/juristcu/parameters_llm_judging.yml").write_text(
            yaml.safe_dump({"active_judges": ["replay_rationale"]})
        )
        kedro_run("llm_judging", env="juristcu", params={"pairs": str(source / "qrel.csv")})
        assert server.counts.calls == len(replies) == 2185
    table = read(project, "07_model_output/juristcu/llm_judgments.parquet")
    found = table.loc[labels.set_index(["QUERY_ID", "DOC_ID"]).index]
    assert len(found) == 2250
    differ = found["grade"].astype(str).to_numpy() != labels["LLM_SCORE"].to_numpy()
    assert differ.sum() <= 6 * 2
    grades = named.groupby(["text_query", "text"])["LLM_SCORE"].nunique()
    assert (grades > 1).sum() == 6
