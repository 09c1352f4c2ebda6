"""The judging pipeline where everything is stored: plan, ask and collect, process start apart.

Every reply is another one, so that each has to be read. The rival of a run that finds all replies
in the store is one that looks none up: the reading of the same records alone, printed beside.
"""

import json
import time

import pandas as pd
import pytest
from tests.judging.asking import PROMPT, SCALE, attempt, model

from normastcu.judging.settings import Judge, LexicalSettings, PromptSettings
from normastcu.judging.store import ReplyStore
from normastcu.pipelines.llm_judging import nodes
from normastcu.pipelines.llm_judging.parameters import JudgingSettings

JUDGE = Judge(
    name="tiny_simple",
    slug="tiny_simple",
    kind="llm",
    samples=1,
    least_coverage=0.95,
    lexical=LexicalSettings(),
    model=model(),
    prompt=PromptSettings(name="simple", file="simple.en.md"),
)
WORDS = "artigo parágrafo tribunal contas resolução processo prazo relatório gestão fiscalização"


def world(n_pairs: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return pairs, queries and documents; a document has about 7,000 characters."""
    n_documents = max(1, n_pairs // 7)
    documents = pd.DataFrame({"doc_id": [f"D-{n}" for n in range(n_documents)]}, dtype="str")
    documents["text"] = [f"{n} {WORDS * 80}" for n in range(n_documents)]
    queries = pd.DataFrame({"query_id": [f"q{n}" for n in range(7)]}, dtype="str")
    queries["text"] = "consulta " + queries["query_id"]
    pairs = [(f"q{n % 7}", f"D-{n // 7 % n_documents}") for n in range(n_pairs)]
    frame = pd.DataFrame(pairs, columns=["query_id", "doc_id"]).drop_duplicates()
    return frame, queries, documents


@pytest.mark.benchmark(group="judging, all stored")
@pytest.mark.parametrize(("n_pairs", "most_seconds"), [(3_000, 5), (100_000, 15)])
def test_a_run_that_finds_everything_in_the_store(benchmark, tmp_path, n_pairs, most_seconds):
    pairs, queries, documents = world(n_pairs)
    prompts = {"simple.en.md": PROMPT}
    path = tmp_path / "replies.sqlite"
    settings = JudgingSettings()

    def plan():
        return nodes.plan(
            pairs,
            queries,
            documents,
            prompts,
            ReplyStore(path),
            SCALE,
            settings,
            judge=JUDGE,
        )[0]

    with ReplyStore(path) as store:
        for number, request in enumerate(plan().planned):
            reason = f"trata do art. {number}º; {WORDS * 3}"
            one = attempt(
                number,
                key=request.key,
                doc_id=request.doc_id,
                query_id=request.query_id,
                reply=json.dumps({"justificativa": reason, "score": 1}, ensure_ascii=False),
                rationale=reason,
            )
            store._insert(one)

    def run():
        made = plan()
        asked = nodes.ask(made, prompts, ReplyStore(path), {}, SCALE, settings, judge=JUDGE)
        return nodes.collect(made, asked, prompts, ReplyStore(path), SCALE, judge=JUDGE)[0]

    table = benchmark.pedantic(run, rounds=3)
    assert table["grade"].notna().all()
    assert benchmark.stats.stats.min < most_seconds
    start = time.perf_counter()
    with ReplyStore(path) as store:
        n_read = sum(1 for _ in store.attempts())
    print(f"\n{n_read:,} records read alone: {time.perf_counter() - start:.1f} s")
