"""`pooling` on a tiny world with texts that break files: policies, changes by hand, exports."""

import csv
import json
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml
from tests.end_to_end.hostile_world import DOCUMENTS, HOSTILE, QUERIES

from normastcu.collection.errors import CollectionError

SYSTEMS = ["S_2", "close_words", "elsewhere"]
POOL = ["pooling.join_runs", "pooling.make_pool", "pooling.write_pool", "pooling.describe_pool"]


def pooled(world) -> dict[str, list[str]]:
    """Return the pool of each query."""
    pool = world.data("07_model_output/test/pool.parquet")
    return {name: group["doc_id"].tolist() for name, group in pool.groupby("query_id")}


def change(world, **settings) -> None:
    """Change the settings of the pool."""
    path = world.root / "conf/test/parameters_pooling.yml"
    parameters = yaml.safe_load(path.read_text())
    parameters["pooling"] |= settings
    path.write_text(yaml.safe_dump(parameters))


def lists(world, depth: int) -> dict[tuple[str, str], list[str]]:
    """Return the first documents of each pooling system for each query."""
    runs = world.data("07_model_output/test/pooling_runs.parquet")
    first = runs[runs["rank"] <= depth].sort_values("rank")
    return {key: group["doc_id"].tolist() for key, group in first.groupby(["system", "query_id"])}


def fused(world, query_id: str, depth: int) -> list[str]:
    """Order the documents of the lists by reciprocal rank; of two alike the later id is first."""
    scores: dict[str, float] = {}
    for (_, query), documents in lists(world, depth).items():
        for rank, doc_id in enumerate(documents if query == query_id else [], 1):
            scores[doc_id] = scores.get(doc_id, 0) + 1 / (60 + rank)
    alike = sorted(scores, reverse=True)
    return sorted(alike, key=lambda doc_id: -round(scores[doc_id], 12))


def read_sheet(folder) -> list[dict[str, str]]:
    """Read the sheet for assessors."""
    with (folder / "sheet.csv").open(newline="", encoding="utf-8-sig") as stream:
        return list(csv.DictReader(stream))


class TestPool:
    def test_the_intersection_comes_first_and_is_filled_by_fusion(self, finished):
        pool = finished.data("07_model_output/test/pool.parquet")
        for query_id, _ in QUERIES:
            found = [set(lists(finished, 3).get((system, query_id), ())) for system in SYSTEMS]
            everywhere = set.intersection(*found)
            ordered = fused(finished, query_id, 3)
            expected = [one for one in ordered if one in everywhere]
            expected += [one for one in ordered if one not in everywhere]
            own = pool[pool["query_id"] == query_id]
            assert own["doc_id"].tolist() == expected[:3]
            assert own["rank"].tolist() == [1, 2, 3]
            reasons = ["intersection" if one in everywhere else "filled" for one in expected[:3]]
            assert own["reason"].tolist() == reasons

    def test_a_system_without_a_document_for_a_query_is_said(self, finished):
        notes = finished.table("pool_notes")
        assert "S_2 retrieved nothing for query 'q'." in notes["note"].tolist()
        assert "elsewhere retrieved nothing for query 'q'." in finished.said

    def test_the_report_by_hand(self, finished):
        sizes = finished.table("pool_sizes").set_index("query_id")
        assert sizes["n"].to_dict() == {"1": 3, "01": 3, "q": 3}
        judged = {"1": {"00123", "1e5"}, "01": {"LEI", "lei", "x"}, "q": set()}
        expected = {name: len(judged[name] & set(own)) for name, own in pooled(finished).items()}
        assert sizes["n_judged"].to_dict() == expected
        report = finished.table("pool_report")
        whole = report[report[["query_id", "reason", "system"]].isna().all(axis=1)].iloc[0]
        assert (whole["n"], whole["share"]) == (9, 1.0)
        by_system = report[report[["query_id", "reason"]].isna().all(axis=1)].dropna(
            subset=["system"]
        )
        found = finished.data("07_model_output/test/pool_systems.parquet").groupby("system").size()
        assert by_system.set_index("system")["n"].to_dict() == found.to_dict()

    def test_the_overlap_is_a_symmetric_matrix(self, finished):
        overlap = finished.table("pool_overlap")
        matrix = overlap.pivot(index="system_a", columns="system_b", values="overlap")
        assert sorted(matrix) == sorted(SYSTEMS)
        pd.testing.assert_frame_equal(matrix, matrix.T, check_names=False)

    def test_the_csv_is_the_table(self, finished):
        path = finished.root / "data/07_model_output/test/pool.csv"
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [(row["query_id"], row["doc_id"]) for row in csv.DictReader(stream)]
        pool = finished.data("07_model_output/test/pool.parquet")
        assert rows == list(zip(pool["query_id"], pool["doc_id"], strict=True))


class TestPolicies:
    def test_depth_takes_all_that_any_system_has_so_high(self, again, run_again):
        change(again, policy="depth", depth=2)
        run_again("pooling", nodes=POOL)
        for query_id, own in pooled(again).items():
            found = [set(lists(again, 2).get((system, query_id), ())) for system in SYSTEMS]
            assert set(own) == set.union(*found)
        assert set(again.data("07_model_output/test/pool.parquet")["reason"]) == {"depth"}

    def test_fusion_takes_the_best_of_all_lists(self, again, run_again):
        change(again, policy="fusion", size=2)
        run_again("pooling", nodes=POOL)
        for query_id, own in pooled(again).items():
            assert own == fused(again, query_id, 3)[:2]

    def test_changes_by_hand_come_first_and_keep_their_reason(self, again, run_again):
        before = pooled(again)
        taken, added = before["1"][0], next(iter({"1e5", "x", "lei"} - set(before["1"])))
        path = again.root / "by_hand.csv"
        rows = [("1", taken, "remove", ""), ("1", added, "add", 'achado, "à mão"\r\n& <b>')]
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([("query_id", "doc_id", "action", "reason"), *rows])
        run_again("pooling", nodes=POOL, params={"manual_pool": str(path)})
        after = pooled(again)
        assert taken not in after["1"]
        assert added in after["1"]
        assert {name: own for name, own in after.items() if name != "1"} == {
            name: own for name, own in before.items() if name != "1"
        }
        pool = again.data("07_model_output/test/pool.parquet").set_index(["query_id", "doc_id"])
        assert pool.loc[("1", added), ["reason", "note"]].tolist() == ["manual", rows[1][3]]

    def test_a_change_by_hand_of_an_unknown_document_names_its_line(self, again, run_again):
        before = pooled(again)
        path = again.root / "by_hand.csv"
        path.write_text("query_id,doc_id,action\n1,Lei,add\n")
        with pytest.raises(CollectionError, match=r"by_hand\.csv, line 2: the document 'Lei'"):
            run_again("pooling", nodes=POOL, params={"manual_pool": str(path)})
        assert pooled(again) == before


class TestExports:
    """Whatever is in a text, it comes back from every file as it is."""

    @pytest.fixture
    def expected(self, finished) -> list[dict[str, str]]:
        """Return ids and texts of the pooled pairs."""
        documents = finished.data("03_primary/test/documents.parquet").set_index("doc_id")["text"]
        queries = dict(QUERIES)
        pool = finished.data("07_model_output/test/pool.parquet")
        assert "LEI" in set(pool["doc_id"])
        assert documents["LEI"] == queries["01"] == HOSTILE
        return [
            {
                "query_id": row.query_id,
                "query": queries[row.query_id],
                "doc_id": row.doc_id,
                "text": "" if pd.isna(documents[row.doc_id]) else documents[row.doc_id],
            }
            for row in pool.itertuples()
        ]

    @pytest.fixture
    def folder(self, finished):
        return finished.root / "data/08_reporting/test/assessment"

    def test_the_sheet(self, folder, expected):
        rows = read_sheet(folder)
        assert [{name: row[name] for name in expected[0]} for row in rows] == expected

    def test_label_studio(self, folder, expected):
        tasks = json.loads((folder / "label_studio.json").read_text(encoding="utf-8"))
        lines = (folder / "label_studio.jsonl").read_bytes().split(b"\n")
        assert [json.loads(line) for line in lines if line] == tasks
        shown = [{name: task["data"][name] for name in expected[0]} for task in tasks]
        assert shown == expected
        screen = ElementTree.parse(folder / "label_studio.xml")
        assert [choice.get("alias") for choice in screen.iter("Choice")] == [
            *("3", "2", "1", "0"),
            "cannot judge",
        ]

    def test_doccano(self, folder, expected):
        lines = (folder / "doccano.jsonl").read_bytes().split(b"\n")
        examples = [json.loads(line) for line in lines if line]
        for example, pair in zip(examples, expected, strict=True):
            assert (example["query_id"], example["doc_id"]) == (pair["query_id"], pair["doc_id"])
            assert pair["query"] in example["text"]
            assert pair["text"] in example["text"]
        labels = json.loads((folder / "doccano_labels.json").read_text(encoding="utf-8"))
        assert [label["text"] for label in labels] == [
            *("fully", "mostly", "hardly", "no"),
            "cannot judge",
        ]

    def test_a_filled_in_sheet_is_a_file_of_judgments(self, again, run_again, folder):
        rows = read_sheet(folder)
        for number, row in enumerate(rows):
            row |= {"annotator": "Ana", "grade": str(number % 4)}
        path = again.root / "data/01_raw/test/raw_human_eval.csv"
        with path.open("w", newline="", encoding="utf-8-sig") as stream:
            writer = csv.DictWriter(stream, rows[0], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
        run_again("human_qrels", nodes=["ingestion.ingest_assessor_judgments"])
        judged = again.data("03_primary/test/assessor_judgments.parquet")
        found = {(row.query_id, row.doc_id): row.grade for row in judged.itertuples()}
        assert found == {(row["query_id"], row["doc_id"]): int(row["grade"]) for row in rows}
        assert len(found) == 9
        assert {doc_id for _, doc_id in found} <= {doc_id for doc_id, _ in DOCUMENTS}
