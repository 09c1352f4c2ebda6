"""Several systems in one list, worked out by hand."""

import pandas as pd
import pytest
from pydantic import ValidationError
from tests.retrieval.lists import order, runs

from normastcu.collection.errors import CollectionError
from normastcu.collection.run_order import RUN_TYPES, order_run
from normastcu.retrieval.combine import hybrid_run
from normastcu.retrieval.settings import HybridSystem


def hybrid(**changes):
    return HybridSystem(**({"name": "H", "family": "h", "systems": ("A", "B")} | changes))


def test_reciprocal_rank_fusion_of_all_documents():
    table = runs(A={"2": "abc", "10": "x"}, B={"2": "bad", "7": "y"}, C={"2": "z"})
    run = hybrid_run(hybrid(), table)
    # a and b: 1/61 + 1/62 each, both at best first: by id. c and d tie at 1/63.
    assert order(run) == {"2": "abcd", "10": "x", "7": "y"}
    assert run.dtypes.astype(str).to_dict() == RUN_TYPES
    assert run["system"].unique().tolist() == ["H"]
    first = run[run["query_id"] == "2"]
    assert first["score"].iloc[0] == pytest.approx(1 / 61 + 1 / 62, rel=1e-6)
    pd.testing.assert_frame_equal(order_run(run), run)


def test_the_constant_counts():
    table = runs(A={"2": "abc"}, B={"2": "cde"})
    # c: 1/(k + 3) + 1/(k + 1), a: 1/(k + 1): c is first; b and d tie and go by id.
    assert order(hybrid_run(hybrid(rrf_k=1), table)) == {"2": "cabde"}
    score = hybrid_run(hybrid(rrf_k=0.5), table)["score"].iloc[0]
    assert score == pytest.approx(1 / 3.5 + 1 / 1.5, rel=1e-6)


def test_shares_choose_the_candidates_and_fusion_orders_them():
    table = runs(A={"2": "abcdefgh"}, B={"2": "stuvabwx"})
    run = hybrid_run(hybrid(shares=(0.25, 0.75), candidates=4), table)
    # One from A (a) and three from B (s, t, u); a also stands fifth in B.
    assert order(run) == {"2": "astu"}
    assert run["score"].iloc[0] == pytest.approx(1 / 61 + 1 / 65, rel=1e-6)


def test_fewer_documents_than_candidates_are_all_taken():
    table = runs(A={"2": "ab"}, B={"2": "ba"})
    run = hybrid_run(hybrid(shares=(0.25, 0.75), candidates=570), table)
    assert sorted(run["doc_id"]) == ["a", "b"]


def test_systems_that_are_not_there_or_named_twice_are_errors():
    with pytest.raises(CollectionError, match="nothing of a system called 'B'"):
        hybrid_run(hybrid(), runs(A={"2": "a"}))
    with pytest.raises(ValidationError, match="the systems A, A must be distinct"):
        hybrid(systems=("A", "A"))
