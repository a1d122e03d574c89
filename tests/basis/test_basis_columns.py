"""Bins, levels and numbers of single columns, value by value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curve_reference import level_code, number_value, step_code
from mbauc.basis.columns import Levels, Number, Steps

FEW = settings(max_examples=30)
SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.0, np.nextafter(1, 2), 1e308, -1e308, 3.0, 7.0]
finite = st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=False, allow_infinity=False))
points = st.lists(finite, max_size=8).map(lambda values: np.unique(np.array(values) + 0.0))


def values_around(points):
    """The points, their neighbours, and what is beyond all numbers."""
    with np.errstate(over="ignore"):
        near = [points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)]
    return np.concatenate([*near, SPECIAL, [np.nan, np.inf, -np.inf]])


@FEW
@given(points)
def test_steps_are_the_bins_by_definition(edges):
    steps = Steps(edges, np.zeros(edges.size + 1))
    x = values_around(edges)
    assert steps.codes(x).tolist() == [step_code(one, edges) for one in x]
    assert steps.width == len(steps.labels()) == len(set(steps.labels()))


@FEW
@given(points)
def test_levels_are_the_kept_codes_by_definition(kept):
    levels = Levels(kept, tuple(f"level {k}" for k in range(kept.size)))
    x = values_around(kept)
    assert levels.codes(x).tolist() == [level_code(one, kept) for one in x]
    assert levels.width == len(levels.labels())


@FEW
@given(
    st.tuples(*[st.floats(-1e150, 1e150)] * 2).map(sorted), st.floats(-1e150, 1e150), st.floats(1e-150, 1e150)
)
def test_numbers_are_cut_off_and_standardised(bounds, center, scale):
    number = Number(0, *bounds, center, scale)
    x = values_around(np.array(bounds))
    with np.errstate(over="ignore"):
        assert number.values(x).tolist() == [number_value(one, number) for one in x]


def test_one_value_is_a_value_too():
    assert Steps(np.array([1.0]), np.zeros(2)).codes(2.0) == 1
    assert Number(0, 0.0, 4.0, 2.0, 2.0).values(np.nan) == 0.0


def test_nobody_changes_a_column_afterwards():
    edges = np.array([1.0, 2.0])
    steps = Steps(edges, np.zeros(3))
    edges[0] = 5.0
    assert steps.edges.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        steps.edges[0] = 0.0


def test_labels_have_the_digits_that_tell_them_apart():
    assert Steps(np.array([0.123456789, 2.0]), np.zeros(3)).labels()[:2] == ["≤0.123457", "(0.123457, 2]"]
    assert Steps(np.array([1.0, 1.0000001]), np.zeros(3)).labels()[1] == "(1, 1.0000001]"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Steps(np.array([1.0, 1.0]), np.zeros(3)), "edges must be finite and increasing"),
        (lambda: Steps(np.array([np.inf]), np.zeros(2)), "edges must be finite and increasing"),
        (lambda: Steps(np.array([1.0]), np.zeros(3)), "centers must be 2 finite numbers"),
        (lambda: Steps(np.array([1.0]), np.array([0.0, np.nan])), "centers must be 2 finite numbers"),
        (lambda: Levels(np.array([2.0, 1.0]), ("a", "b")), "kept must be finite and increasing codes"),
        (lambda: Levels(np.array([1.0]), ()), "names must be 1"),
        (lambda: Number(0, 2.0, 1.0, 0.0, 1.0), "bounds in order"),
        (lambda: Number(0, 0.0, 1.0, 0.0, 0.0), "scale above 0"),
    ],
)
def test_broken_columns_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
