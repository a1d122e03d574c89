"""Hypothesis strategies: small tables with two classes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

NUMBERS = st.floats(-100, 100, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x)


@st.composite
def tables(draw, max_rows=12, max_columns=4, weighted=True):
    """(X, y, weight or None): both classes; general, whole, binary or sparse columns."""
    n = draw(st.integers(2, max_rows))
    d = draw(st.integers(1, max_columns))
    kind = draw(st.sampled_from(["general", "counts", "binary", "sparse"]))
    if kind == "general":
        X = draw(hnp.arrays(np.float64, (n, d), elements=NUMBERS))
    elif kind == "counts":
        X = draw(hnp.arrays(np.int64, (n, d), elements=st.integers(-3, 3))).astype(float)
    elif kind == "binary":
        X = draw(hnp.arrays(np.bool_, (n, d))).astype(float)
    else:
        X = draw(hnp.arrays(np.float64, (n, d), elements=st.one_of(st.just(0.0), st.just(0.0), NUMBERS)))
    y = np.array([False, True, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    y = y[draw(st.permutations(range(n)))]
    weight = None
    if weighted and draw(st.booleans()):
        weight = draw(hnp.arrays(np.float64, n, elements=st.floats(0.125, 8.0, width=32)))
    return X, y, weight


@st.composite
def grouped_tables(draw, **settings):
    """(X, y, weight or None, groups as uint64 keys): at least one group with both classes."""
    X, y, weight = draw(tables(**settings))
    n = len(y)
    groups = draw(hnp.arrays(np.uint64, n, elements=st.integers(0, 4)))
    groups[np.flatnonzero(y)[0]] = groups[np.flatnonzero(~y)[0]]
    return X, y, weight, groups * np.uint64(2**61)


@st.composite
def scored_rows(draw, max_rows=12, grouped=True):
    """(positive, scores, weight or None, groups or None): some group has both classes.

    Scores are general, wide, on a lattice of quarters with ties and margins at the knots, or all the same.
    """
    n = draw(st.integers(2, max_rows))
    positive = np.array([False, True, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    elements = draw(
        st.sampled_from(
            [
                st.floats(-4, 4, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x),
                NUMBERS,
                st.integers(-8, 8).map(lambda x: x / 4),
                st.just(1.5),
            ]
        )
    )
    scores = draw(hnp.arrays(np.float64, n, elements=elements))
    weight = groups = None
    if draw(st.booleans()):
        size = st.one_of(st.just(0.0), st.floats(0.125, 8.0, width=32))
        weight = draw(hnp.arrays(np.float64, n, elements=size))
        weight[:2] = 1.0
    if grouped and draw(st.booleans()):
        groups = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
        groups[:2] = groups[0]
    order = draw(st.permutations(range(n)))
    taken = [None if values is None else values[order] for values in (positive, scores, weight, groups)]
    return tuple(taken)


def close(actual, desired, X, power):
    """Equal up to rounding at the scale of the data to some power."""
    scale = max(float(np.abs(X).max(initial=0.0)), 1e-3) ** power
    np.testing.assert_allclose(actual, desired, rtol=1e-9, atol=1e-11 * scale)
