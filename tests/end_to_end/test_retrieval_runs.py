"""`retrieval_runs` on a tiny world with texts that break files: one system of every kind."""

import json
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import yaml
from tests.end_to_end.hostile_world import HOSTILE, QUERIES
from tests.judging.loopback_llm import Answer, LoopbackLlm
from tests.retrieval.loopback_embeddings import LoopbackEmbeddings, Vectors
from tests.retrieval.tiny_bert import make_tiny_bert

from normastcu.evaluation.runs import rank_runs
from normastcu.hooks import MissingInputError
from normastcu.retrieval.errors import RetrievalError

SYSTEMS = ["S_2", "svd_text", "reordered", "close_words", "a_third", "fusion", "elsewhere"]


def of(run: pd.DataFrame, system: str, query_id: str) -> list[str]:
    """Return the documents of a system for a query, in their order."""
    chosen = run[(run["system"] == system) & (run["query_id"] == query_id)]
    assert chosen["rank"].tolist() == list(range(1, len(chosen) + 1))
    return chosen["doc_id"].tolist()


class TestRuns:
    def test_every_system_is_there_and_every_score_falls(self, finished):
        runs = finished.runs
        assert list(dict.fromkeys(runs["system"])) == SYSTEMS
        assert runs["rank"].max() <= 4
        for _, run in runs.groupby(["system", "query_id"]):
            assert (np.diff(run["score"].to_numpy(np.float32)) < 0).all()

    def test_bm25_by_hand(self, finished):
        """`diárias` stands in one document, `prazo` in two; stopwords do not count.

        Four documents have terms, of 3, 2, 8 and 2 (`b` twice); the empty one counts for nothing.
        """
        run = finished.runs
        assert of(run, "S_2", "1") == ["00123", "LEI"]
        rare, known = math.log(1 + (4 - 1 + 0.5) / 1.5), math.log(1 + (4 - 2 + 0.5) / 2.5)
        scores = [
            sum(idf / (1 + 0.9 * (1 - 0.4 + 0.4 * length / (15 / 4))) for idf in found)
            for length, found in ((3, (rare, known)), (8, (known,)))
        ]
        found = run[(run["system"] == "S_2") & (run["query_id"] == "1")]["score"]
        np.testing.assert_allclose(found.to_numpy(float), scores, rtol=1e-6)
        assert set(of(run, "S_2", "01")) == {"LEI", "lei", "1e5", "00123"}
        assert of(run, "S_2", "01")[0] == "LEI"
        assert of(run, "S_2", "q") == []

    def test_the_two_stage_systems_order_what_their_first_stage_found(self, finished):
        run = finished.runs
        for query_id, _ in QUERIES:
            first = of(run, "S_2", query_id)[:3]
            dense = [doc_id for doc_id in of(run, "svd_text", query_id) if doc_id in first]
            rest = [doc_id for doc_id in first if doc_id not in dense]
            assert of(run, "reordered", query_id) == dense + rest
            assert set(of(run, "close_words", query_id)) == set(of(run, "svd_text", query_id))
        assert of(run, "close_words", "1")[0] == "00123"

    def test_fused_scores_by_hand(self, finished):
        run = finished.runs
        first = finished.data("07_model_output/test/systems/s_1/run.parquet")
        dense = finished.data("07_model_output/test/systems/svd_text/run.parquet")
        expected = {}
        for part in (first, dense):
            for row in part.itertuples():
                key = row.query_id, row.doc_id
                expected[key] = expected.get(key, 0) + 1 / (60 + row.rank)
        fused = run[run["system"] == "fusion"]
        for row in fused.itertuples():
            assert math.isclose(row.score, expected[row.query_id, row.doc_id], rel_tol=1e-6)

    def test_shares_take_a_fixed_number_of_documents(self, finished):
        counts = finished.runs.query("system == 'a_third'").groupby("query_id").size()
        assert counts.to_dict() == {"1": 3, "01": 3, "q": 3}

    def test_of_two_with_one_score_the_later_id_comes_first(self, finished):
        """As trec_eval does; the document that the collection lacks is taken out."""
        assert of(finished.runs, "elsewhere", "01") == ["lei", "LEI"]
        assert of(finished.runs, "elsewhere", "1") == ["x", "00123"]
        report = finished.table("external_report").iloc[0]
        assert (report["n_removed"], report["n_tied"], report["n_documents"]) == (1, 2, 4)

    def test_trec_eval_reads_every_file_in_the_order_of_the_table(self, finished):
        """The reciprocal rank of each document, were it the only relevant one."""
        folder = finished.root / "data/07_model_output/test/runs"
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            f"{name}.run" for name in SYSTEMS
        )
        for name, runs in finished.runs.groupby("system"):
            with (folder / f"{name}.run").open(encoding="utf-8") as stream:
                read = pytrec_eval.parse_run(stream)
            for row in runs.itertuples():
                only = {row.query_id: {row.doc_id: 1}}
                evaluator = pytrec_eval.RelevanceEvaluator(only, {"recip_rank"})
                found = evaluator.evaluate(read)[row.query_id]["recip_rank"]
                assert found == pytest.approx(1 / row.rank, rel=1e-9), (name, row)

    def test_the_projects_own_arrays_read_the_same_order(self, finished):
        ranked = rank_runs(finished.runs)
        assert ranked.n_tied.tolist() == [0] * len(SYSTEMS)
        ids = (
            ranked.systems[ranked.system],
            ranked.queries[ranked.query],
            ranked.documents[ranked.document],
        )
        expected = finished.runs.sort_values(["system", "query_id", "rank"])
        for found, column in zip(ids, ("system", "query_id", "doc_id"), strict=True):
            assert found.tolist() == expected[column].tolist()


class TestTables:
    def test_a_query_for_which_a_system_has_nothing_is_counted_and_named(self, finished):
        counts = finished.table("run_counts").set_index("system")
        assert counts.index.tolist() == SYSTEMS
        assert counts.loc["S_2", ["n_queries", "n_without", "without"]].tolist() == [2, 1, "q"]
        assert counts.loc["svd_text", "n_without"] == 0
        assert "S_2 retrieves nothing for: q" in finished.said
        report = finished.data("07_model_output/test/bm25_report.parquet").set_index("system")
        assert report.loc["S_2", "without_hits"] == "q"

    def test_table_8(self, finished):
        systems = finished.table("systems")
        assert systems["system"].tolist() == SYSTEMS
        assert systems["kind"].tolist() == [
            *("bm25", "dense", "rerank", "rerank", "hybrid", "hybrid", "external")
        ]
        settings = json.loads(systems.set_index("system").loc["S_2", "settings"])
        assert settings == {"fields": ["text"], "k1": 0.9, "b": 0.4}
        assert systems["settings_hash"].is_unique

    def test_table_9_has_ranks_families_and_the_share_that_was_judged(self, finished):
        table = finished.table("table_9").set_index("system")
        assert table["family"].tolist() == finished.table("systems")["family"].tolist()
        # Judged are 00123 and 1e5 for the first query, LEI, lei and x for the second.
        judged = {"1": {"00123", "1e5"}, "01": {"LEI", "lei", "x"}}
        for name in SYSTEMS:
            shares = []
            for query_id, pairs in judged.items():
                first = of(finished.runs, name, query_id)[:10]
                shares.append(len(pairs & set(first)) / len(first) if first else 0)
            assert table.loc[name, "Judged@10"] == pytest.approx(np.mean(shares)), name
        # 00123 is relevant for the first, lei for the second; found at ranks 2 and 1.
        assert table.loc["elsewhere", "MRR"] == pytest.approx((1 / 2 + 1) / 2)
        assert table.loc["elsewhere", "P@10"] == pytest.approx((1 / 10 + 1 / 10) / 2)

    def test_holes_are_the_unjudged_among_the_first_two_of_any_system(self, finished):
        path = finished.root / "data/08_reporting/test/unjudged_pairs.csv"
        holes = pd.read_csv(path, dtype=str, keep_default_na=False)
        judged = {("1", "00123"), ("1", "1e5"), ("01", "LEI"), ("01", "lei"), ("01", "x")}
        first = finished.runs[finished.runs["rank"] <= 2]
        expected = set(zip(first["query_id"], first["doc_id"], strict=True)) - judged
        assert set(zip(holes["query_id"], holes["doc_id"], strict=True)) == expected
        assert ("1", "x") in expected

    def test_texts_that_break_files_are_what_was_searched(self, finished):
        documents = finished.data("03_primary/test/documents.parquet").set_index("doc_id")
        assert documents.loc["LEI", "text"] == HOSTILE
        queries = finished.data("03_primary/test/queries.parquet")
        assert queries["text"].tolist() == [text for _, text in QUERIES]

    def test_a_document_of_markup_only_is_encoded_by_its_fallback(self, finished):
        """It has no subject and no title, so its id stands in."""
        texts = finished.data("07_model_output/test/systems/svd_text/texts.parquet")
        fallback = texts.set_index("doc_id")["fallback"]
        assert fallback["x"] == "doc_id"
        assert fallback.drop("x").isna().all()


class TestGoingOn:
    def test_the_holes_go_to_the_judges(self, again, run_again):
        holes = again.root / "data/08_reporting/test/unjudged_pairs.csv"
        wanted = pd.read_csv(holes, dtype=str, keep_default_na=False)
        reply = Answer('{"justificativa": "trata", "score": 2}')
        with LoopbackLlm(lambda _: reply) as server:
            entry = {"kind": "openai", "model": "m", "context_window": 8192, "attempts": 1}
            judges = {"models": {"m": entry | {"base_url": server.base_url}}}
            folder = again.root / "conf" / "test"
            (folder / "judges.yml").write_text(yaml.safe_dump(judges))
            (folder / "parameters_llm_judging.yml").write_text("active_judges: [m_rationale]\n")
            run_again("llm_judging", params={"pairs": str(holes)})
            assert server.counts.calls == len(wanted)
            asked = "\n".join(call.user for call in server.calls)
        judged = again.data("07_model_output/test/llm_judgments.parquet")
        pairs = zip(judged["query_id"], judged["doc_id"], strict=True)
        assert set(pairs) == set(zip(wanted["query_id"], wanted["doc_id"], strict=True))
        assert judged["grade"].eq(2).all()
        shown = dict(QUERIES)
        assert all(shown[query_id] in asked for query_id in set(wanted["query_id"]))

    def test_without_the_documents_the_pipeline_that_makes_them_is_named(self, again, run_again):
        (again.root / "data/03_primary/test/documents.parquet").unlink()
        with pytest.raises(MissingInputError, match="kedro run --pipelines ingestion") as error:
            run_again("pooling")
        assert "`documents@searched`" in str(error.value)

    def test_another_language_is_never_searched_in_silence(self, again, run_again):
        before = again.runs
        path = again.root / "conf/test/parameters_retrieval_runs.yml"
        settings = yaml.safe_load(path.read_text())
        settings["retrieval"]["lucene"] = {"language": "en"}
        path.write_text(yaml.safe_dump(settings))
        with pytest.raises(RetrievalError, match="language"):
            run_again("retrieval_runs", nodes=["retrieval_runs.search_bm25"])
        pd.testing.assert_frame_equal(again.runs, before)
        nodes = [f"retrieval_runs.{name}" for name in ("print_corpus", "index_documents")]
        run_again("retrieval_runs", nodes=[*nodes, "retrieval_runs.search_bm25"])
        manifest = next((again.root / "data/05_model_input/test/lucene").glob("*/manifest.json"))
        assert json.loads(manifest.read_text())["language"] == "en"

    def test_a_changed_document_is_encoded_alone_but_by_the_svd(self, again, run_again, tmp_path):
        """The SVD is fitted on the documents: with one of them changed it is another encoder."""
        systems = ["by_api", "by_model", "svd_text"]
        with LoopbackEmbeddings(Vectors()) as server:
            api = {"kind": "api", "model": "m", "base_url": server.base_url, "max_tokens": 512}
            model = {"kind": "sentence_transformers", "model": str(make_tiny_bert(tmp_path))}
            dense = {"kind": "dense", "family": "tiny", "fields": ["text"]}
            library = {
                "encoders": {"api": api, "tiny": model},
                "systems": {
                    "by_api": dense | {"encoder": "api"},
                    "by_model": dense | {"encoder": "tiny"},
                },
            }
            folder = again.root / "conf" / "test"
            (folder / "systems.yml").write_text(yaml.safe_dump(library))
            (folder / "parameters_retrieval_runs.yml").write_text(
                yaml.safe_dump({"active_systems": systems})
            )
            (folder / "parameters_pooling.yml").unlink()
            encoded = partial(self._encoded, again, run_again, systems)
            # Five documents and three queries, one of which is a document's text.
            assert encoded() == {"by_api": 7, "by_model": 7, "svd_text": 0}
            assert encoded() == dict.fromkeys(systems, 0)
            assert server.texts.count(HOSTILE) == 1
            raw = again.root / "data/01_raw/test/docs.csv"
            raw.write_bytes(raw.read_bytes().replace(b"do servidor", b"da servidora"))
            run_again("ingestion", nodes=["ingestion.ingest_documents"])
            server.answer(Vectors())
            assert encoded() == {"by_api": 1, "by_model": 1, "svd_text": 7}
            assert server.texts == ["férias da servidora"]

    @staticmethod
    def _encoded(again, run_again, systems) -> dict[str, int]:
        """Run the dense systems; return how many texts each encoded."""
        run_again("retrieval_runs", nodes=[f"retrieval_runs.{name}.search" for name in systems])
        folder = again.root / "data/07_model_output/test/systems"
        usage = {name: pd.read_parquet(folder / name / "usage.parquet") for name in systems}
        return {name: int(table["n_encoded"].sum()) for name, table in usage.items()}
