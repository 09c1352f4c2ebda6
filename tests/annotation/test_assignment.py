"""Who judges which pair: balanced, deterministic, and never taken away from who judged it."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.annotation.assignment import assign, person_seed, shuffled

NAMES = ["A", "B", "C", "D"]


def pairs_of(n_queries, n_documents):
    return [(f"q{q}", f"d{d}") for q in range(n_queries) for d in range(n_documents)]


def loads(given_pairs):
    return sorted(len(pairs) for pairs in given_pairs.values())


def people_of(given_pairs):
    """Return pair to people."""
    found = {}
    for name, pairs in given_pairs.items():
        for pair in pairs:
            assert name not in found.setdefault(pair, set())
            found[pair].add(name)
    return found


def test_all_gives_every_pair_to_everybody():
    pairs = pairs_of(2, 3)
    assert assign(pairs, ["A", "B"], None, 1, {}) == {"A": pairs, "B": pairs}


def test_all_leaves_a_former_assessor_what_they_judged_only():
    pairs = pairs_of(1, 2)
    given_pairs = assign(pairs, ["A"], None, 1, {("q0", "d1"): {"gone"}})
    assert given_pairs == {"A": pairs, "gone": [("q0", "d1")]}


def test_seven_pairs_for_two_of_three_are_five_five_and_four():
    assert loads(assign(pairs_of(1, 7), ["A", "B", "C"], 2, 3, {})) == [4, 5, 5]


def test_with_too_few_assessors_all_of_them_judge_every_pair():
    pairs = pairs_of(1, 3)
    assert loads(assign(pairs, ["A", "B"], 3, 1, {})) == [3, 3]


def test_every_two_assessors_share_pairs():
    """Sharing is what agreement is measured on: 6 couples of 4 people over 600 pairs."""
    given_pairs = assign(pairs_of(30, 20), NAMES, 2, 1, {})
    shared = [
        len(set(given_pairs[a]) & set(given_pairs[b])) for a, b in product(NAMES, NAMES) if a < b
    ]
    assert sum(shared) == 600
    assert min(shared) > 60


@given(
    n_pairs=st.integers(0, 40),
    names=st.sets(st.sampled_from("ABCDEFG"), min_size=1),
    overlap=st.integers(1, 8),
    seed=st.integers(0, 2**32),
    chance=st.randoms(use_true_random=False),
)
def test_an_overlap_is_exact_balanced_and_independent_of_the_order_of_input(
    n_pairs, names, overlap, seed, chance
):
    pairs, assessors = pairs_of(1, n_pairs), sorted(names)
    given_pairs = assign(pairs, assessors, overlap, seed, {})
    people = people_of(given_pairs)
    assert set(people) == set(pairs)
    assert {len(some) for some in people.values()} <= {min(overlap, len(names))}
    assert max(loads(given_pairs)) - min(loads(given_pairs)) <= 1
    chance.shuffle(pairs)
    chance.shuffle(assessors)
    assert people_of(assign(pairs, assessors, overlap, seed, {})) == people


@st.composite
def judged_pairs(draw):
    """Draw pairs, assessors, an overlap, and who judged what, perhaps by people who left."""
    pairs = pairs_of(1, draw(st.integers(1, 5)))
    assessors = draw(st.lists(st.sampled_from("ABC"), min_size=1, unique=True))
    judged = {pair: draw(st.sets(st.sampled_from("ABCX"))) for pair in pairs}
    return pairs, assessors, draw(st.integers(1, 3)), judged


@given(judged_pairs(), st.integers(0, 100))
def test_what_is_judged_stays_and_the_rest_is_as_level_as_any_assignment_could_be(case, seed):
    pairs, assessors, overlap, judged = case
    people = people_of(assign(pairs, assessors, overlap, seed, judged))
    open_to = {pair: sorted(set(assessors) - judged[pair]) for pair in pairs}
    wanted = {pair: min(max(0, overlap - len(judged[pair])), len(open_to[pair])) for pair in pairs}
    for pair in pairs:
        assert judged[pair] <= people.get(pair, set())
        assert len(people.get(pair, set()) - judged[pair]) == wanted[pair]
    assert spread(people.values(), assessors) == best_spread(
        pairs, assessors, judged, open_to, wanted
    )


def spread(groups, assessors):
    """Return the sum of the squared loads: the more level, the lower."""
    return sum(sum(name in group for group in groups) ** 2 for name in assessors)


def best_spread(pairs, assessors, judged, open_to, wanted):
    """Return the lowest spread of all ways to give out the pairs."""
    choices = [
        [judged[pair].union(chosen) for chosen in combinations(open_to[pair], wanted[pair])]
        for pair in pairs
    ]
    return min(spread(groups, assessors) for groups in product(*choices))


@given(
    st.sets(st.text(st.characters(codec="utf-8"), max_size=5)),
    st.sets(st.text(st.characters(codec="utf-8"), max_size=5)),
    st.integers(0, 2**63 - 1),
)
def test_items_that_come_later_leave_the_order_of_the_others(first, later, seed):
    order = shuffled(first | later, seed, "q1")
    assert sorted(order) == sorted(first | later)
    assert [item for item in order if item in first] == shuffled(first, seed, "q1")


def test_orders_differ_between_people_and_between_queries():
    items = [str(number) for number in range(30)]
    seeds = {person_seed(7, name) for name in NAMES}
    orders = {tuple(shuffled(items, seed, query)) for seed in seeds for query in ("q1", "q2")}
    assert len(orders) == 8
    assert tuple(items) not in orders


@pytest.mark.parametrize("position", range(4))
def test_every_document_comes_first_about_equally_often(position):
    """4 documents, 400 people: 100 expected, 5 standard deviations of 8.7 around it."""
    firsts = [shuffled("abcd", person_seed(1, str(number)))[0] for number in range(400)]
    assert 56 < firsts.count("abcd"[position]) < 144
