"""The pool: policies, manual changes, reasons, notes."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from pydantic import ValidationError

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.manual_pool import MANUAL_TYPES
from normastcu.collection.pool import PoolSettings, build_pool
from normastcu.collection.pool_schemas import Pool, PoolNotes, PoolSystems

RUN_TYPES = {"system": "str", "query_id": "str", "doc_id": "str", "rank": "Int64"}
LISTS = {"A": "d1 d2 d3 d9", "B": "d2 d1 d4 d9", "C": "d5 d2 d1 d9"}
"""Fused to depth 3: d2 1/62+1/61+1/62, d1 1/61+1/62+1/63, d5 1/61, d3 and d4 1/63."""
DOCUMENTS = {f"d{number}" for number in range(1, 10)}


def runs_of(lists, query_id="q"):
    """Make runs from texts of document ids, in order, by system."""
    rows = [
        (system, query_id, doc_id, rank)
        for system, documents in lists.items()
        for rank, doc_id in enumerate(documents.split(), start=1)
    ]
    return typed_frame(rows, RUN_TYPES)


def changes(*rows):
    """Make manual changes of the query q from (document, action, reason)."""
    return typed_frame([("q", *row) for row in rows], MANUAL_TYPES)


def settings_of(**settings):
    """Return settings for the lists above."""
    return PoolSettings(**{"systems": ("A", "B", "C"), "depth": 3, "size": 4} | settings)


def pool_of(*manual, runs=None, queries=("q",), **settings):
    """Build a pool of the lists above and check its tables."""
    built = build_pool(
        runs_of(LISTS) if runs is None else runs,
        queries,
        DOCUMENTS,
        changes(*manual),
        settings_of(**settings),
    )
    for schema, table in (
        (Pool, built.pool),
        (PoolSystems, built.systems),
        (PoolNotes, built.notes),
    ):
        schema.validate(table)
    return built


def entries(built, query_id="q"):
    """Return the pool of a query as (document, reason, filled_at)."""
    own = built.pool[built.pool["query_id"] == query_id]
    assert own["rank"].tolist() == list(range(1, len(own) + 1))
    cells = own[["doc_id", "reason", "filled_at"]].astype(object)
    return [tuple(None if pd.isna(c) else c for c in row) for row in cells.itertuples(index=False)]


class TestPolicies:
    def test_the_intersection_is_filled_from_the_other_documents(self):
        assert entries(pool_of()) == [
            ("d2", "intersection", None),
            ("d1", "intersection", None),
            ("d5", "filled", 3),
            ("d3", "filled", 4),
        ]

    def test_of_a_larger_intersection_the_best_are_taken(self):
        assert entries(pool_of(size=1)) == [("d2", "intersection", None)]

    def test_only_the_depth_is_looked_at(self):
        documents = [document for document, _, _ in entries(pool_of(depth=4))]

        assert documents == ["d2", "d1", "d9", "d5"]
        assert "d9" not in pool_of(size=20).pool["doc_id"].tolist()

    def test_depth_takes_every_document_of_every_list(self):
        pool = entries(pool_of(policy="depth", size=1))

        assert pool == [(f"d{n}", "depth", None) for n in (2, 1, 5, 3, 4)]

    def test_fusion_takes_the_best(self):
        pool = entries(pool_of(policy="fusion", size=3))

        assert pool == [(f"d{n}", "fusion", None) for n in (2, 1, 5)]

    def test_other_systems_of_the_runs_are_not_looked_at(self):
        runs = runs_of({**LISTS, "D": "d8"})

        assert entries(pool_of(runs=runs)) == entries(pool_of())

    def test_one_system_alone(self):
        assert entries(pool_of(systems=("A",), size=2)) == [
            ("d1", "intersection", None),
            ("d2", "intersection", None),
        ]

    def test_queries_come_in_their_order(self):
        runs = pd.concat([runs_of(LISTS, "q1"), runs_of(LISTS, "q10"), runs_of(LISTS, "q2")])

        built = pool_of(runs=runs, queries=("q2", "q10", "q1"))

        assert list(dict.fromkeys(built.pool["query_id"])) == ["q2", "q10", "q1"]


class TestManualChanges:
    def test_additions_count_towards_the_size_and_keep_their_reason(self):
        built = pool_of(("d7", "add", "seen elsewhere"), ("d4", "add", None))

        assert entries(built) == [
            ("d2", "intersection", None),
            ("d1", "intersection", None),
            ("d7", "manual", None),
            ("d4", "manual", None),
        ]
        notes = built.pool.set_index("doc_id")["note"]
        assert notes["d7"] == "seen elsewhere"
        assert notes.drop("d7").isna().all()

    def test_additions_leave_less_room_for_the_intersection_and_the_filling(self):
        assert entries(pool_of(("d7", "add", None), size=2)) == [
            ("d2", "intersection", None),
            ("d7", "manual", None),
        ]
        assert entries(pool_of(("d7", "add", None))) == [
            ("d2", "intersection", None),
            ("d1", "intersection", None),
            ("d7", "manual", None),
            ("d5", "filled", 3),
        ]

    def test_an_added_document_of_the_intersection_is_manual(self):
        assert entries(pool_of(("d1", "add", None), size=2)) == [
            ("d2", "intersection", None),
            ("d1", "manual", None),
        ]

    def test_a_removed_document_never_enters_and_pulls_nothing_up(self):
        assert entries(pool_of(("d5", "remove", None), ("d2", "remove", None), size=20)) == [
            ("d1", "intersection", None),
            ("d3", "filled", 4),
            ("d4", "filled", 5),
        ]

    def test_a_pool_made_by_hand_is_reproduced(self):
        by_hand = [(f"d{n}", "add", None) for n in (9, 7, 1, 8)]

        assert [document for document, _, _ in entries(pool_of(*by_hand))] == [
            "d9",
            "d7",
            "d1",
            "d8",
        ]

    @pytest.mark.parametrize(("policy", "n"), [("depth", 6), ("fusion", 4)])
    def test_additions_under_other_policies(self, policy, n):
        pool = entries(pool_of(("d7", "add", None), policy=policy))

        assert pool[-1] == ("d7", "manual", None)
        assert len(pool) == n


class TestSystems:
    def test_who_retrieved_each_document_and_where(self):
        built = pool_of(("d7", "add", None))

        assert built.systems.drop(columns="query_id").to_numpy().tolist() == [
            ["d2", "A", 2],
            ["d2", "B", 1],
            ["d2", "C", 2],
            ["d1", "A", 1],
            ["d1", "B", 2],
            ["d1", "C", 3],
            ["d5", "C", 1],
        ]

    def test_systems_come_in_the_order_of_the_settings(self):
        built = pool_of(systems=("C", "A", "B"), size=1)

        assert built.systems["system"].tolist() == ["C", "A", "B"]


class TestNotes:
    def test_an_ordinary_pool_has_none(self):
        assert pool_of().notes.empty

    def test_a_system_that_retrieved_nothing_for_a_query(self):
        runs = pd.concat([runs_of(LISTS), runs_of({"A": "d1 d2", "B": "d2 d3"}, "p")])

        built = pool_of(runs=runs, queries=("q", "p"), size=3)

        assert entries(built, "p") == [
            ("d2", "filled", 1),
            ("d1", "filled", 2),
            ("d3", "filled", 3),
        ]
        assert built.notes.to_numpy().tolist() == [
            ["p", "nothing retrieved", "C retrieved nothing for query 'p'."]
        ]

    def test_a_query_for_which_nobody_retrieved_anything(self):
        built = pool_of(queries=("q", "p"))

        assert entries(built, "p") == []
        assert built.notes["kind"].tolist() == ["nothing retrieved"] * 3 + ["short"]

    def test_a_query_that_the_collection_lacks(self):
        built = pool_of(runs=pd.concat([runs_of(LISTS), runs_of({"A": "x"}, "p")]))

        assert built.notes[["query_id", "kind"]].to_numpy().tolist() == [["p", "unknown query"]]
        assert set(built.pool["query_id"]) == {"q"}

    def test_a_pool_that_is_too_small(self):
        notes = pool_of(size=6).notes

        assert notes["note"].tolist() == [
            "The pool of query 'q' has 5 documents, not 6: the lists hold no more."
        ]
        assert pool_of(size=6, policy="depth").notes.empty

    def test_a_pool_that_additions_make_too_large(self):
        built = pool_of(("d7", "add", None), ("d8", "add", None), size=1)

        assert entries(built) == [("d7", "manual", None), ("d8", "manual", None)]
        assert built.notes["kind"].tolist() == ["too large"]

    def test_a_removal_of_what_nobody_retrieved(self):
        notes = pool_of(("d9", "remove", None)).notes

        assert notes["kind"].tolist() == ["removed in vain"]
        assert "'d9'" in notes["note"].iloc[0]


class TestErrors:
    def test_an_unknown_system(self):
        with pytest.raises(CollectionError, match=r"called 'Z'\. There are: A, B, C"):
            pool_of(systems=("A", "Z"))

    def test_a_pooled_document_that_the_collection_lacks(self):
        with pytest.raises(CollectionError, match=r"^1 pooled .* document 'D1' for query 'q'"):
            pool_of(runs=runs_of({"A": "D1 d1", "B": "d1", "C": "d1"}))

    @pytest.mark.parametrize(
        "settings", [{"systems": ()}, {"systems": ("A", "A")}, {"size": 0}, {"depht": 3}]
    )
    def test_settings_that_are_none(self, settings):
        with pytest.raises(ValidationError):
            settings_of(**settings)


documents = st.sampled_from(sorted(DOCUMENTS))
any_lists = st.fixed_dictionaries(
    {name: st.lists(documents, unique=True, min_size=1).map(" ".join) for name in "ABC"}
)
any_changes = st.dictionaries(documents, st.sampled_from(["add", "remove"]), max_size=4)
policies = st.sampled_from(["intersection", "depth", "fusion"])


@given_settings(deadline=None, max_examples=50)
@given(any_lists, any_changes, policies, st.integers(1, 9), st.integers(1, 9), st.randoms())
def test_what_holds_for_every_pool(lists, changed, policy, depth, size, random):
    manual = [(document, action, None) for document, action in changed.items()]
    runs = runs_of(lists)
    order = list(range(len(runs)))
    random.shuffle(order)
    settings = {"policy": policy, "depth": depth, "size": size}

    built = pool_of(*manual, runs=runs, **settings)

    shuffled = pool_of(*manual, runs=runs.iloc[order], **settings)
    pd.testing.assert_frame_equal(built.pool, shuffled.pool)
    pd.testing.assert_frame_equal(built.systems, shuffled.systems)
    pd.testing.assert_frame_equal(built.notes, shuffled.notes)
    pool = built.pool["doc_id"].tolist()
    added = {document for document, action in changed.items() if action == "add"}
    removed = set(changed) - added
    seen = {document for own in lists.values() for document in own.split()[:depth]}
    everywhere = set.intersection(*(set(own.split()[:depth]) for own in lists.values()))
    assert len(pool) == len(set(pool))
    assert added <= set(pool) <= (seen | added) - removed
    if policy == "depth":
        assert set(pool) == (seen | added) - removed
    else:
        most = len((seen | added) - removed)
        assert len(pool) == max(len(added), min(size, most))
    reasons = built.pool["reason"].tolist()
    assert reasons == sorted(reasons, key=[policy, "manual", "filled"].index)
    by_reason = built.pool.groupby("reason")["doc_id"].agg(set).to_dict()
    assert by_reason.get("manual", set()) == added
    assert by_reason.get("intersection", set()) <= everywhere - added
    if "filled" in by_reason:
        assert by_reason.get("intersection", set()) == everywhere - added - removed


def test_real_runs_of_one_first_stage_fill_the_intersection(shared_data):
    # S_14 and S_15 are the same 50 documents in different orders: nothing needs to be filled.
    folder = shared_data / "normastcu" / "runs"
    names = {"QUERY_KEY": "query_id", "DOC_KEY": "doc_id", "RANK": "rank"}
    runs = pd.concat(
        [
            pd.read_csv(folder / f"{name}.csv", dtype=str).rename(columns=names).assign(system=name)
            for name in ("S_14", "S_15")
        ]
    ).astype(RUN_TYPES)
    queries = sorted(set(runs["query_id"]))

    built = build_pool(
        runs, queries, set(runs["doc_id"]), changes(), PoolSettings(systems=("S_14", "S_15"))
    )

    assert set(built.pool["reason"]) == {"intersection"}
    assert built.pool["query_id"].value_counts().to_dict() == dict.fromkeys(queries, 20)
    assert built.notes.empty
