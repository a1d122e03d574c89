import warnings

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier
from mbauc.errors import HeavyTailsWarning


def rows(rng, n=2000):
    y = np.arange(n) % 5 == 0
    return rng.standard_normal((n, 4)) + 0.5 * y[:, None], y


def test_a_column_that_one_row_decides_is_named(rng):
    X, y = rows(rng)
    X[7, 2] = 200.0
    with pytest.warns(HeavyTailsWarning, match=r"one row makes up 9\d% of the variance of column 2\. .*log1p"):
        MBAClassifier().fit(X, y)
    pd = pytest.importorskip("pandas", reason="names come with data frames")
    X[9, 0] = 1e9
    with pytest.warns(HeavyTailsWarning, match=r"column 0 \('a'\) \(and of 1 more columns similarly\)"):
        MBAClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)


def test_what_has_no_heavy_tail_is_not_warned_of(rng):
    X, y = rows(rng)
    X[:, 0] = rng.standard_t(5, len(y))
    X[:, 1] = rng.random(len(y)) < 0.002  # a rare level
    X[:, 2] = np.exp(rng.standard_normal(len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MBAClassifier().fit(X, y)


def test_who_gives_the_penalty_is_not_told(rng):
    X, y = rows(rng)
    X[7, 2] = 200.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MBAClassifier(l2=1.0).fit(X, y)
        MBAClassifier().fit(sp.csr_array(X), y)
        MBAClassifier().fit(X[:150], y[:150])
