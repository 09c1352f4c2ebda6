"""Run files: what is read, what is refused, and that trec_eval reads ours in the same order."""

import gzip

import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.collection.errors import CollectionError
from normastcu.collection.run_files import read_run, restrict_run, write_run
from normastcu.collection.run_order import RUN_TYPES
from normastcu.collection.sources import local_file

TREC = "q1 Q0 d1 1 3.5 r\nq1 Q0 d2 2 2.0 r\nq2 Q0 d1 1 -1e-3 r\n"
READ = [("q1", "d1", 1, 3.5), ("q1", "d2", 2, 2.0), ("q2", "d1", 1, -0.001)]


def rows(table):
    return list(table[["query_id", "doc_id", "rank", "score"]].itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "content",
    [
        TREC,
        TREC.replace(" ", "\t"),
        TREC.replace(" ", " \t "),
        TREC.replace("\n", "\r\n"),
        "\ufeff" + TREC,
        "\ufeff" + TREC.replace("\n", "\r\n").replace(" ", "\t") + "\r\n",
        TREC.removesuffix("\n"),
        "".join(reversed(TREC.splitlines(keepends=True)[:2])) + TREC.splitlines()[2],
    ],
    ids=["blanks", "tabs", "both", "CRLF", "BOM", "BOM CRLF tabs", "no last LF", "rows shuffled"],
)
def test_trec_files_that_say_the_same_are_read_the_same(raw_file, content):
    read = read_run(raw_file("a.run", content), "S")
    assert read.table.dtypes.astype(str).to_dict() == RUN_TYPES
    assert rows(read.table) == READ
    assert read.table["system"].unique().tolist() == ["S"]
    assert (read.n_tied, read.n_misranked) == (0, 0)


def test_a_packed_file_is_read_like_a_plain_one(raw_file):
    assert rows(read_run(raw_file("a.run.gz", gzip.compress(TREC.encode())), "S").table) == READ
    with pytest.raises(CollectionError, match=r"a\.run\.gz can't be unpacked"):
        read_run(raw_file("a.run.gz", TREC), "S")
    with pytest.raises(CollectionError, match=r"a\.run\.gz can't be unpacked"):
        read_run(raw_file("a.run.gz", gzip.compress(TREC.encode())[:-9]), "S")


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\n01,00123,2\n01,1e5,1\n1,LEI,1\n1,lei,3\n", None),
        ("a.csv", "QUERY_ID,RANK,DOC_ID\r\n01,2,00123\r\n01,1,1e5\r\n1,1,LEI\r\n1,3,lei\r\n", None),
        ("a.csv", "\ufeffquery_id;doc_id;rank\n1;lei;3\n01;1e5;1\n01;00123;2\n1;LEI;1\n", None),
        (
            "a.tsv",
            "topic\tdocno\tpos\n01\t00123\t2\n01\t1e5\t1\n1\tLEI\t1\n1\tlei\t3\n",
            {"query_id": "topic", "doc_id": "docno", "rank": "pos"},
        ),
    ],
)
def test_a_csv_of_ranks_is_ordered_by_them_and_keeps_its_ids(raw_file, name, content, columns):
    table = read_run(raw_file(name, content), "S", columns).table
    by_query = table.sort_values(["query_id", "rank"])
    assert by_query["query_id"].tolist() == ["01", "01", "1", "1"]
    assert by_query["doc_id"].tolist() == ["1e5", "00123", "LEI", "lei"]
    assert by_query["rank"].tolist() == [1, 2, 1, 2]
    assert by_query["score"].isna().all()


def test_a_csv_of_scores_needs_no_ranks(raw_file):
    read = read_run(raw_file("a.csv", "query_id,doc_id,score\nq,a,0.5\nq,b,0.5\nq,c,1\n"), "S")
    assert rows(read.table) == [("q", "c", 1, 1.0), ("q", "b", 2, 0.5), ("q", "a", 3, 0.5)]
    assert read.n_tied == 2


def test_scores_count_where_ranks_say_otherwise(raw_file):
    content = "q Q0 a 0 1.0 r\nq Q0 b 1 2.0 r\nq Q0 c 2 0.5 r\np Q0 a 1 1 r\np Q0 b 1 1 r\n"
    read = read_run(raw_file("a.run", content), "S")
    assert rows(read.table) == [
        ("q", "b", 1, 2.0),
        ("q", "a", 2, 1.0),
        ("q", "c", 3, 0.5),
        ("p", "b", 1, 1.0),
        ("p", "a", 2, 1.0),
    ]
    # a and b of q stand in each other's place; equal ranks of p contradict nothing.
    assert (read.n_misranked, read.n_tied) == (2, 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.run",
            "q1 Q0 d1 1 3.0 r\nq1 Q0 d1 2 2.0 r\n",
            "a.run, line 2: document 'd1' for query 'q1' stands on line 1 already",
        ),
        (
            "a.run",
            "".join(f"q Q0 d{i} {i} {9 - i} r\n" for i in range(6)) + "q Q0 d7 7 2\n",
            "a.run, line 7: 5 fields where a line of a TREC run has 6",
        ),
        ("a.run", "q Q0 d 1 3,5 r\n", "line 1: '3,5' is not a score.*a decimal point, not a comma"),
        ("a.run", "\n\nq Q0 d 1 nan r\n", "line 3: 'nan' is not a score"),
        ("a.run", "q Q0 d 1 -inf r\n", "line 1: '-inf' is not a score"),
        ("a.run", "q Q0 d 1 1_0 r\n", "line 1: '1_0' is not a score"),
        ("a.run", "q Q0 d 1 1e39 r\n", "line 1: the score 1e39 is beyond what single precision"),
        ("a.run", "q Q0 d 1e400 1 r\n", "line 1: '1e400' is not a rank"),
        ("a.run", "q Q0 d 1.5 1 r\n", "line 1: '1.5' is not a rank"),
        ("a.run", "", "a.run has no documents"),
        ("a.run", "\ufeff\r\n", "a.run has no documents"),
        ("a.run", TREC.encode("utf-16"), "a.run: the byte .* is not utf-8"),
        ("a.csv", "", "a.csv, line 1: a header"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\n", "a.csv has no documents"),
        ("a.csv", "QUERY_KEY,DOC_KEY\nq,d\n", "line 1: neither a rank nor a score"),
        ("a.csv", "QUERY_KEY,DOC,RANK\nq,d,1\n", "line 1: the column DOC_KEY is missing"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,d,1\nq,e\n", "line 3: 2 fields where the header has"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,d,1\nq,d,2\n", "line 3: document 'd' for query 'q'"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,d,1\nq,e,1\n", "line 3: query 'q' has rank 1 twice"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,d,0\n", "line 2: the rank 0 is below 1"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,,1\n", "line 2: '' can't be a doc_id"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,a b,1\n", "line 2: 'a b' can't be a doc_id"),
        ("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,d,\n", "line 2: neither a rank nor a score"),
        ("a.csv", "query_id,doc_id,rank,score\nq,d,1,2\nq,e,2,\n", "line 3: no score is given, "),
        ("a.csv", "query_id,doc_id,rank,score\nq,d,1,\nq,e,2,3\n", "line 3: a score is given, "),
    ],
)
def test_a_fault_is_named_with_its_line(raw_file, name, content, message):
    with pytest.raises(CollectionError, match=message):
        read_run(raw_file(name, content), "S")


def test_columns_are_for_a_csv_only(raw_file):
    with pytest.raises(CollectionError, match="take `columns` out"):
        read_run(raw_file("a.run", TREC), "S", {"query_id": "q"})


def test_a_document_that_the_collection_lacks_is_an_error_or_taken_out(raw_file):
    file = raw_file("a.run", TREC.replace("q2 Q0 d1", "q2 Q0 D2"))
    with pytest.raises(CollectionError, match=r"a\.run, line 1: the collection has no .*'d1'"):
        read_run(file, "S", documents={"d2", "D2"})
    restricted, removed = restrict_run(read_run(file, "S").table, {"d2", "other"})
    assert rows(restricted) == [("q1", "d2", 1, 2.0)]
    assert restricted.dtypes.astype(str).to_dict() == RUN_TYPES
    assert removed == 2
    with pytest.raises(CollectionError, match="no document of the run 'S'; the first is 'd1'"):
        restrict_run(read_run(file, "S").table, {"x"})


IDS = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters="0e.+,\"'"), min_size=1
)
RUNS = st.lists(
    st.tuples(IDS, IDS, st.floats(-1e30, 1e30) | st.sampled_from([0.0, 1.0, 1.0 + 1e-9])),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


@settings(deadline=None)
@given(RUNS)
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, written):
    table = pd.DataFrame(written, columns=["query_id", "doc_id", "score"]).assign(system="S")
    path = tmp_path_factory.mktemp("run") / "S.run"
    write_run(table, path)
    first = path.read_bytes()
    read = read_run(local_file(path), "S")
    assert (read.n_tied, read.n_misranked) == (0, 0)
    assert set(zip(read.table["query_id"], read.table["doc_id"], strict=True)) == {
        row[:2] for row in written
    }
    write_run(read.table[::-1].iloc[::-1], path)
    assert path.read_bytes() == first


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([0.1, 0.1 + 1e-10, 7.0, -2.0]), min_size=1, max_size=6))
def test_trec_eval_reads_our_files_in_the_same_order(tmp_path_factory, scores):
    documents = [f"d{number}" for number in range(len(scores))]
    table = pd.DataFrame({"doc_id": documents, "score": scores}).assign(query_id="q", system="S")
    path = tmp_path_factory.mktemp("run") / "S.run"
    write_run(table, path)
    with path.open() as stream:
        run = pytrec_eval.parse_run(stream)
    for query_id, doc_id, rank, _ in rows(read_run(local_file(path), "S").table):
        evaluator = pytrec_eval.RelevanceEvaluator({query_id: {doc_id: 1}}, {"recip_rank"})
        assert evaluator.evaluate(run)[query_id]["recip_rank"] == pytest.approx(1 / rank)
    # And as trec_eval would have read the scores before they were made to fall.
    with_ties = {"q": dict(zip(documents, scores, strict=True))}
    for doc_id in documents:
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {doc_id: 1}}, {"recip_rank"})
        assert evaluator.evaluate(with_ties) == evaluator.evaluate(run)


def test_a_file_holds_one_system_and_ids_without_blanks(tmp_path):
    table = pd.DataFrame({"system": ["A", "B"], "query_id": "q", "doc_id": "d", "rank": 1})
    with pytest.raises(CollectionError, match="would hold the runs of A, B"):
        write_run(table, tmp_path / "A.run")
    with pytest.raises(CollectionError, match="'a b' can't be a doc_id"):
        write_run(table[:1].assign(doc_id="a b"), tmp_path / "A.run")
    assert not list(tmp_path.iterdir())


def test_a_run_of_ranks_gets_falling_scores_when_it_is_written(tmp_path, raw_file):
    read = read_run(raw_file("a.csv", "QUERY_KEY,DOC_KEY,RANK\nq,b,2\nq,a,1\n"), "S")
    write_run(read.table, tmp_path / "S.run")
    assert (tmp_path / "S.run").read_text() == "q Q0 a 1 1.0 S\nq Q0 b 2 0.5 S\n"
