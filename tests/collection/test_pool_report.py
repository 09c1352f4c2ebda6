"""Sizes, reasons, systems, overlap of a pool, against counts made by hand."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.pool import POOL_SYSTEM_TYPES
from normastcu.collection.pool_report import pool_overlap, pool_report, pool_sizes
from normastcu.collection.pool_schemas import PoolOverlap, PoolReport, PoolSizes

RUN_TYPES = {"system": "str", "query_id": "str", "doc_id": "str", "rank": "Int64"}
POOL = typed_frame(
    [
        ("q", "d2", "intersection"),
        ("q", "d1", "intersection"),
        ("q", "d7", "manual"),
        ("q", "d5", "filled"),
        ("p", "d1", "intersection"),
        ("p", "d4", "filled"),
    ],
    dict.fromkeys(("query_id", "doc_id", "reason"), "str"),
)
FOUND = typed_frame(
    [
        ("q", "d2", "A", 1),
        ("q", "d2", "B", 1),
        ("q", "d1", "A", 2),
        ("q", "d1", "B", 3),
        ("q", "d5", "B", 2),
        ("p", "d1", "A", 1),
        ("p", "d1", "B", 1),
        ("p", "d4", "A", 2),
    ],
    POOL_SYSTEM_TYPES,
)
QREL_TYPES = {"query_id": "str", "doc_id": "str", "grade": "Int64"}
QRELS = typed_frame(
    [("q", "d2", 2), ("q", "d1", 0), ("q", "d7", 1), ("p", "d4", 1), ("p", "d9", 2)], QREL_TYPES
)
UNJUDGED = typed_frame([], QREL_TYPES)


def none_for_missing(frame):
    """Return a frame's rows as tuples, a missing value as None."""
    rows = frame.astype(object).itertuples(index=False)
    return [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows]


def runs_of(lists, query_id="q"):
    """Make runs from texts of document ids, in order, by system."""
    rows = [
        (system, query_id, doc_id, rank)
        for system, documents in lists.items()
        for rank, doc_id in enumerate(documents.split(), start=1)
    ]
    return typed_frame(rows, RUN_TYPES)


class TestSizes:
    def test_every_query_is_counted(self):
        sizes = pool_sizes(POOL, ["p", "q", "r"], QRELS)

        PoolSizes.validate(sizes)
        assert none_for_missing(sizes) == [("p", 2, 1, 1), ("q", 4, 3, 2), ("r", 0, 0, None)]

    def test_without_judgments_relevance_is_unknown_not_none(self):
        sizes = pool_sizes(POOL, ["q"], UNJUDGED)

        assert none_for_missing(sizes) == [("q", 4, 0, None)]


@pytest.fixture(scope="module")
def rows():
    report = pool_report(POOL, FOUND, QRELS)
    PoolReport.validate(report)
    return {row[:3]: row[3:] for row in none_for_missing(report)}


class TestReport:
    @pytest.mark.parametrize(
        ("cell", "counts"),
        [
            # n, n_relevant, n_judged, share, n_unique, n_unique_relevant
            ((None, None, None), (6, 3, 4, 1.0, 2, 1)),
            (("q", None, None), (4, 2, 3, 1.0, 1, None)),
            (("p", None, None), (2, 1, 1, 1.0, 1, 1)),
            (("q", "intersection", None), (2, 1, 2, 0.5, 0, None)),
            (("q", "intersection", "A"), (2, 1, 2, 0.5, 0, None)),
            (("q", "manual", None), (1, 1, 1, 0.25, 0, None)),
            (("q", "manual", "A"), (0, None, 0, 0.0, 0, None)),
            (("q", "filled", "B"), (1, None, 0, 0.25, 1, None)),
            (("q", None, "B"), (3, 1, 2, 0.75, 1, None)),
            (("p", "filled", "A"), (1, 1, 1, 0.5, 1, 1)),
            (("p", "manual", None), (0, None, 0, 0.0, 0, None)),
            ((None, "intersection", None), (3, 1, 2, 0.5, 0, None)),
            ((None, None, "A"), (4, 2, 3, 4 / 6, 1, 1)),
            ((None, "filled", "A"), (1, 1, 1, 1 / 6, 1, 1)),
        ],
    )
    def test_counts_made_by_hand(self, rows, cell, counts):
        assert rows[cell] == counts

    def test_there_is_a_row_for_every_query_reason_and_system(self, rows):
        assert len(rows) == (1 + 2) * (1 + 3) * (1 + 2)

    def test_totals_come_first_and_reasons_in_their_order(self, rows):
        assert next(iter(rows)) == (None, None, None)
        assert list(dict.fromkeys(reason for _, reason, _ in rows)) == [
            None,
            "intersection",
            "manual",
            "filled",
        ]

    def test_without_judgments(self):
        report = pool_report(POOL, FOUND, UNJUDGED)

        PoolReport.validate(report)
        assert report["n_relevant"].isna().all()
        assert report["n_judged"].eq(0).all()

    def test_an_empty_pool(self):
        report = pool_report(POOL.head(0), FOUND.head(0), QRELS)

        PoolReport.validate(report)
        assert none_for_missing(report) == [(None, None, None, 0, None, 0, None, 0, None)]

    def test_two_grades_of_a_pair_are_refused(self):
        with pytest.raises(ValueError, match="many-to-one"):
            pool_report(POOL, FOUND, pd.concat([QRELS, QRELS]))


class TestOverlap:
    def test_counts_made_by_hand(self):
        # Depth 2: {d1 d2} and {d2 d4} share 1 of 2; depth 3: d2 and d3 of 3.
        overlap = pool_overlap(runs_of({"A": "d1 d2 d3", "B": "d2 d4 d3"}), ["A", "B"], [2, 3])

        PoolOverlap.validate(overlap)
        assert none_for_missing(overlap) == [
            ("A", "A", 2, 1.0, 1),
            ("A", "B", 2, 0.5, 1),
            ("B", "A", 2, 0.5, 1),
            ("B", "B", 2, 1.0, 1),
            ("A", "A", 3, 1.0, 1),
            ("A", "B", 3, 2 / 3, 1),
            ("B", "A", 3, 2 / 3, 1),
            ("B", "B", 3, 1.0, 1),
        ]

    def test_a_short_list_is_compared_with_the_longer_one_and_a_missing_one_shares_nothing(self):
        runs = pd.concat(
            [
                runs_of({"A": "d1", "B": "d1 d2 d3"}),
                runs_of({"B": "d1"}, "p"),
                runs_of({"C": "x"}, "r"),
            ]
        )

        overlap = pool_overlap(runs, ["A", "B"], [3]).set_index(["system_a", "system_b"])

        # 1/3 for q, 0 for p, nothing said for r.
        assert overlap.loc[("A", "B"), "overlap"] == pytest.approx((1 / 3 + 0) / 2)
        assert overlap["n_queries"].to_dict() == {
            ("A", "A"): 1,
            ("A", "B"): 2,
            ("B", "A"): 2,
            ("B", "B"): 2,
        }

    def test_lists_that_begin_below_the_depth_are_no_lists(self):
        runs = runs_of({"A": "d1"}).assign(rank=pd.array([5], dtype="Int64"))

        assert none_for_missing(pool_overlap(runs, ["A"], [4])) == [("A", "A", 4, None, 0)]

    def test_an_unknown_system(self):
        with pytest.raises(CollectionError, match="nothing of a system called 'Z'"):
            pool_overlap(runs_of({"A": "d1"}), ["A", "Z"], [1])

    def test_real_systems_that_reorder_the_same_fifty_documents(self, shared_data):
        folder = shared_data / "normastcu" / "runs"
        names = {"QUERY_KEY": "query_id", "DOC_KEY": "doc_id", "RANK": "rank"}
        runs = pd.concat(
            [
                pd.read_csv(folder / f"{name}.csv", dtype=str)
                .rename(columns=names)
                .assign(system=name)
                for name in ("S_9", "S_14", "S_15")
            ]
        ).astype(RUN_TYPES)

        overlap = pool_overlap(runs, ["S_9", "S_14", "S_15"], [50])

        shares = overlap.set_index(["system_a", "system_b"])["overlap"]
        assert shares["S_14", "S_15"] == 1
        assert shares["S_9", "S_14"] == shares["S_9", "S_15"] < 1
        assert set(overlap["n_queries"]) == {46}

    @settings(deadline=None, max_examples=50)
    @given(
        st.dictionaries(
            st.sampled_from("ABCD"),
            st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1).map(" ".join),
            min_size=1,
        ),
        st.integers(1, 9),
    )
    def test_symmetric_and_one_on_the_diagonal(self, lists, depth):
        table = pool_overlap(runs_of(lists), sorted(lists), [depth])

        matrix = table.pivot(index="system_a", columns="system_b", values="overlap")
        assert matrix.equals(matrix.T)
        assert all(matrix.loc[system, system] == 1 for system in lists)
        assert table["overlap"].between(0, 1).all()
