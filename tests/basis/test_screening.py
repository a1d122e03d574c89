"""What an interaction is estimated to gain, against its definition over dense rows."""

import numpy as np
import pytest

from curve_reference import interaction_gain
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.screening import screen_pairs
from mbauc.basis.smoothing import coarse_functions


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_gains_are_the_definition_and_fall(n_jobs):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 3, 60), np.full(60, 1.0)])
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = 1.0
    kinds = [ColumnKind("a"), ColumnKind("b"), ColumnKind("c", categorical=True), ColumnKind("constant")]
    features = design_features(X, None, kinds, DesignSettings(bins=8, min_rows=2, coarse_bins=4))
    codes, residual = features.codes(X), rng.normal(size=60)
    totals = [
        np.bincount(codes[:, j], minlength=column.width) * 1.0 for j, column in enumerate(features.columns)
    ]
    found = screen_pairs(features, codes, residual, totals, noise=0.3, penalty=0.7, functions=3, n_jobs=n_jobs)
    pairs = [tuple(pair) for pair in found.pairs.tolist()]
    assert sorted(pairs) == [(0, 1), (0, 2), (1, 2)]  # a constant has no interactions
    assert (np.diff(found.gains) <= 0).all()
    for pair, gain in zip(pairs, found.gains, strict=True):
        functions, rough = zip(*(coarse_functions(features, j, totals[j], 3) for j in pair), strict=True)
        groups = [features.coarse[j][codes[:, j]] for j in pair]
        expected = interaction_gain(groups, functions, rough, residual, 0.3, 0.7)
        assert gain == pytest.approx(expected, rel=1e-9)
