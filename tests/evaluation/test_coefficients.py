"""Coefficients beside scikit-learn, krippendorff, irrCAC and values worked out by hand."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score

from normastcu.evaluation.coefficients import (
    coincidences_by_query,
    confusion_by_query,
    describe_alpha,
    describe_kappa,
    errors_by_query,
    exact_agreement,
    grade_positions,
    gwet_ac2,
    kappa,
    krippendorff_alpha,
    mean_absolute_error,
    mean_error,
    reading,
    sample_std,
)

SCALES = [(0, 1), (0, 1, 2), (0, 1, 2, 3)]
NAN = float("nan")

tables = st.integers(2, 5).flatmap(
    lambda k: hnp.arrays(np.int64, (k, k), elements=st.integers(0, 50))
)
graded = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def scale_of(table):
    return tuple(range(len(table)))


def confusion_of(a, b, scale):
    return confusion_by_query(a, b, np.zeros(len(a), int), scale, n_queries=1)[0]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("weights", "name"), [("quadratic", "quadratic"), ("linear", "linear"), ("none", None)]
)
def test_kappa_is_scikit_learns(scale, weights, name):
    rng = np.random.default_rng(len(scale))
    a = rng.choice(scale, 200)
    b = np.where(rng.random(200) < 0.5, a, rng.choice(scale, 200))

    expected = cohen_kappa_score(a, b, labels=list(scale), weights=name)
    assert float(kappa(confusion_of(a, b, scale), scale, weights)) == pytest.approx(expected)


def test_kappa_of_a_scale_with_a_missing_middle_grade():
    # statistics.md: 0.5714 with the full list of grades, 0.1724 with class positions.
    a, b = [0, 3, 1, 0, 0, 1, 0, 1], [1, 3, 1, 1, 1, 0, 1, 0]

    value = float(kappa(confusion_of(a, b, (0, 1, 2, 3)), (0, 1, 2, 3)))

    assert value == pytest.approx(0.571428571, abs=1e-9)


# Made with irrCAC 0.4.4: CAC(frame, weights, categories).gwet() and, for kappa, .conger(), which
# is Cohen's kappa for two annotators.
A = [0, 3, 1, 0, 0, 1, 0, 1]
B = [1, 3, 1, 1, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("a", "b", "scale", "weights", "expected"),
    [
        (A, B, (0, 1, 2, 3), "quadratic", 0.80540540540541),
        (A, B, (0, 1, 2, 3), "linear", 0.53548387096774),
        (A, B, (0, 1, 2, 3), "none", 0.06493506493506),
        ([*A, 3, 5], [*B, 5, 0], (0, 1, 3, 5), "quadratic", 0.60685200786296),
        ([*A, 3, 5], [*B, 5, 0], (0, 1, 3, 5), "linear", 0.45243945243945),
        ([*A, 3, 5], [*B, 5, 0], (0, 1, 3, 5), "none", -0.03671706263499),
    ],
)
def test_ac2_is_irrcacs(a, b, scale, weights, expected):
    assert float(gwet_ac2(confusion_of(a, b, scale), scale, weights)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "expected"), [("quadratic", 0.2798353909465), ("linear", 0.17721518987342)]
)
def test_kappa_of_a_scale_with_gaps_is_irrcacs(weights, expected):
    confusion = confusion_of([*A, 3, 5], [*B, 5, 0], (0, 1, 3, 5))

    assert float(kappa(confusion, (0, 1, 3, 5), weights)) == pytest.approx(expected)


@settings(deadline=None)
@given(table=tables)
def test_pair_coefficients_are_symmetric(table):
    scale = scale_of(table)
    for weights in ("quadratic", "linear", "none"):
        np.testing.assert_array_equal(kappa(table, scale, weights), kappa(table.T, scale, weights))
        np.testing.assert_allclose(
            gwet_ac2(table, scale, weights), gwet_ac2(table.T, scale, weights), atol=1e-12
        )
    np.testing.assert_array_equal(exact_agreement(table), exact_agreement(table.T))


@settings(deadline=None)
@given(table=tables)
def test_pair_coefficients_keep_their_bounds(table):
    scale = scale_of(table)
    values = {
        "kappa": float(kappa(table, scale)),
        "ac2": float(gwet_ac2(table, scale)),
        "exact": float(exact_agreement(table)),
    }
    if table.sum() == 0:
        assert np.isnan(list(values.values())).all()
        return
    assert np.isnan(values["kappa"]) or -1 - 1e-12 <= values["kappa"] <= 1
    assert values["ac2"] <= 1 + 1e-12
    assert 0 <= values["exact"] <= 1


@settings(deadline=None)
@given(pairs=graded, queries=st.integers(1, 5), seed=st.integers(0, 99))
def test_sums_over_queries_and_order_of_pairs_do_not_matter(pairs, queries, seed):
    rng = np.random.default_rng(seed)
    grades = np.array(pairs)
    query = rng.integers(0, queries, len(grades))
    order = rng.permutation(len(grades))
    scale = (0, 1, 2, 3)

    by_query = confusion_by_query(*grades.T, query, scale, n_queries=queries)
    shuffled = confusion_by_query(*grades[order].T, query[order], scale, n_queries=queries)

    np.testing.assert_array_equal(by_query, shuffled)
    np.testing.assert_array_equal(by_query.sum(axis=0), confusion_of(*grades.T, scale))
    alpha_sums = coincidences_by_query(grades, query, scale, n_queries=queries)
    assert (alpha_sums == np.swapaxes(alpha_sums, 1, 2)).all()


def test_coefficients_evaluate_many_tables_at_once():
    table = np.random.default_rng(1).integers(0, 9, (2, 4, 3, 3))
    for coefficient in (kappa, gwet_ac2, krippendorff_alpha):
        together = coefficient(table, (0, 1, 2))
        assert together.shape == (2, 4)
        assert together[1, 2] == pytest.approx(float(coefficient(table[1, 2], (0, 1, 2))))


@pytest.mark.parametrize("level", ["ordinal", "interval", "nominal"])
@pytest.mark.parametrize("scale", [(0, 1, 2), (0, 1, 2, 3), (0, 1, 3, 7)])
def test_alpha_is_krippendorffs_with_missing_cells(level, scale):
    rng = np.random.default_rng(len(scale))
    truth = rng.choice(scale, (150, 1))
    grades = np.where(rng.random((150, 4)) < 0.5, truth, rng.choice(scale, (150, 4))).astype(float)
    grades[rng.random(grades.shape) < 0.4] = NAN

    sums = coincidences_by_query(grades, rng.integers(0, 9, 150), scale, n_queries=9)

    expected = krippendorff.alpha(grades.T, value_domain=scale, level_of_measurement=level)
    value = float(krippendorff_alpha(sums.sum(axis=0), scale, level))
    assert value == pytest.approx(expected, rel=0, abs=1e-12)


def test_alpha_of_the_published_example_with_an_unused_grade():
    # The example of Krippendorff (2011) that the krippendorff package documents: 0.815.
    grades = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    scale = (0, 1, 2, 3, 4, 5)

    sums = coincidences_by_query(np.transpose(grades), np.zeros(12, int), scale, n_queries=1)

    assert krippendorff_alpha(sums, scale).round(3) == [0.815]


def test_undefined_where_nothing_varies():
    all_zero = confusion_of([0, 0, 0], [0, 0, 0], (0, 1, 2))

    assert np.isnan(kappa(all_zero, (0, 1, 2)))
    assert np.isnan(krippendorff_alpha(all_zero + all_zero.T, (0, 1, 2)))
    assert exact_agreement(all_zero) == 1
    assert gwet_ac2(all_zero, (0, 1, 2)) == 1
    assert describe_kappa(all_zero, (0, 1, 2))[0] == "both annotators gave only the grade 0"
    assert describe_alpha(all_zero + all_zero.T) == "all grades are equal"


def test_undefined_without_a_pair():
    empty = np.zeros((3, 3), int)

    for value in (kappa(empty, (0, 1, 2)), exact_agreement(empty), gwet_ac2(empty, (0, 1, 2))):
        assert np.isnan(value)
    assert np.isnan(krippendorff_alpha(empty, (0, 1, 2)))
    assert describe_kappa(empty, (0, 1, 2)) == ("no pair was graded by both", None)
    assert describe_alpha(empty) == "no pair was graded by two annotators"


def test_perfect_agreement_with_variation_is_1():
    perfect = np.diag([5, 3, 2])

    assert kappa(perfect, (0, 1, 2)) == 1
    assert krippendorff_alpha(2 * perfect, (0, 1, 2)) == 1
    assert gwet_ac2(perfect, (0, 1, 2)) == 1
    assert describe_kappa(perfect, (0, 1, 2)) == (None, None)


@pytest.mark.parametrize("weights", ["quadratic", "linear", "none"])
def test_one_constant_annotator_gives_0_and_a_note(weights):
    confusion = confusion_of([1, 1, 1, 1], [0, 1, 2, 2], (0, 1, 2))

    assert kappa(confusion, (0, 1, 2), weights) == 0
    assert describe_kappa(confusion, (0, 1, 2), ("A_1", "A_2")) == (
        None,
        "A_1 gave only the grade 1: kappa is 0",
    )


def test_two_constant_annotators_at_different_grades_give_0_and_a_note():
    confusion = confusion_of([0, 0], [2, 2], (0, 1, 2))

    assert kappa(confusion, (0, 1, 2)) == 0
    assert describe_kappa(confusion, (0, 1, 2)) == (
        None,
        "A gave only the grade 0 and B gave only the grade 2: kappa is 0",
    )


@pytest.mark.parametrize("grade", [3, -1, 1.5])
def test_a_grade_outside_the_scale_is_named(grade):
    with pytest.raises(ValueError, match=f"grade {grade} is not on the scale 0, 1, 2"):
        confusion_of([0, grade], [0, 1], (0, 1, 2))
    with pytest.raises(ValueError, match=f"grade {grade} is not on the scale 0, 1, 2"):
        coincidences_by_query([[0, grade]], [0], (0, 1, 2), n_queries=1)


@pytest.mark.parametrize("scale", [(0,), (), (2, 1, 0), (0, 0, 1)])
def test_a_scale_that_is_none_is_an_error(scale):
    with pytest.raises(ValueError, match="at least two, in ascending order"):
        grade_positions([0], scale)


def test_a_table_of_another_scale_is_an_error():
    with pytest.raises(ValueError, match="the scale has 3 grades"):
        kappa(np.eye(2), (0, 1, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kappa(np.eye(2), (0, 1), "cubic"), "weights are 'cubic'"),
        (lambda: krippendorff_alpha(np.eye(2), (0, 1), "ratio"), "level is 'ratio'"),
    ],
)
def test_an_unknown_option_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_errors_by_hand():
    # Query 0: errors 0.5, -0.25; query 2: error 1; a pair without grade or mean adds nothing.
    sums = errors_by_query([2, 0, 1, NAN, 2], [1.5, 0.25, 0, 1, NAN], [0, 0, 2, 1, 1], n_queries=3)

    np.testing.assert_array_equal(sums, [[2, 0.25, 0.75], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(mean_error(sums), [0.125, NAN, 1])
    np.testing.assert_array_equal(mean_absolute_error(sums), [0.375, NAN, 1])


def test_sample_standard_deviation():
    assert sample_std([1, 2, 3, 4]) == pytest.approx((5 / 3) ** 0.5)
    assert np.isnan(sample_std([1]))


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-1, "poor"),
        (-1e-9, "poor"),
        (0, "slight"),
        (0.20, "slight"),
        (0.1 + 0.1 + 1e-15, "slight"),
        (0.2001, "fair"),
        (0.40, "fair"),
        (0.41, "moderate"),
        (0.60, "moderate"),
        (0.61, "substantial"),
        (0.80, "substantial"),
        (0.81, "almost perfect"),
        (1, "almost perfect"),
    ],
)
def test_reading(value, word):
    assert reading(value) == word
