import pytest


@pytest.fixture
def holes(rng):
    """400 rows, 8 columns, two thirds of the values zero, some rows empty, 30% positive."""
    X = rng.standard_normal((400, 8)) * (rng.random((400, 8)) < 1 / 3) + 0.0
    y = X @ rng.standard_normal(8) + rng.standard_normal(400) > 0.7
    return X, y.astype(int)
