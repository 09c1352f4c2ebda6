"""The lexical reranker, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.retrieval.lexical import LexicalScorer, shortest_stretch
from normastcu.retrieval.scoring import Pair
from normastcu.retrieval.settings import LexicalReranker


def score(query, text, prefix=6):
    scorer = LexicalScorer(LexicalReranker(name="lexical", prefix=prefix))
    return scorer.scores([Pair(query, text)])[0]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        # n = 2 (pagame, diaria), m = 2 in two words: (2 + 1/2) / 2.
        ("pagamento de diárias", "Pagamentos, diária.", 1.25),
        # m = 2, the shortest stretch has four words, not the six from the first "diária".
        ("pagamento de diárias", "diária x y diária a b pagamento", (2 + 2 / 8) / 2),
        ("pagamento de diárias", "só DIARIA", (1 + 1 / 2) / 2),
        ("pagamento de diárias", "licença de férias", 0),
        ("pagamento", "", 0),
        ("???", "pagamento", 0),
        # Function words count where there are no others.
        ("como é de", "é assim", (1 + 1 / 2) / 3),
        ("the leave of staff", "staff leave", 1.25),
    ],
)
def test_scores_by_hand(query, text, expected):
    assert score(query, text) == pytest.approx(expected, abs=1e-12)


def test_the_prefix_says_what_one_term_is():
    assert score("diárias", "diário", prefix=5) == 1.5
    assert score("diárias", "diário", prefix=6) == 0
    assert score("diárias", "diária", prefix=6) == 1.5
    assert score("diárias", "diária", prefix=7) == 0


def test_one_more_term_counts_for_more_than_closeness():
    close, spread = "a b c d", "a" + " x" * 500 + " b y c z d e"
    assert score("qa qb qc qd qe", " ".join(f"q{w}" for w in close.split())) < score(
        "qa qb qc qd qe", " ".join(f"q{w}" for w in spread.split())
    )


@given(st.text(), st.text())
def test_a_score_lies_between_0_and_one_and_a_half(query, text):
    assert 0 <= score(query, text) <= 1.5


@given(st.lists(st.sampled_from("abcx"), min_size=1, max_size=12), st.sets(st.sampled_from("abc")))
def test_the_shortest_stretch_is_that_of_all_stretches(text, terms):
    held = terms.intersection(text)
    if held:
        stretches = [
            last - first
            for first in range(len(text))
            for last in range(first + 1, len(text) + 1)
            if held <= set(text[first:last])
        ]
        assert shortest_stretch(text, frozenset(held)) == min(stretches)
