"""Fits within groups to files are those to the same rows in memory."""

import numpy as np
import pytest

from mbauc import MBAClassifier, PairwiseAUCClassifier
from mbauc.errors import OneClassGroupsWarning
from mbauc.readers import LibsvmSource, TableSource


@pytest.fixture
def rows(rng):
    groups = rng.integers(0, 20, 400)
    X = rng.standard_normal((400, 4)) + 2 * rng.standard_normal((20, 4))[groups]
    y = (X[:, 0] - X[:, 1] + rng.standard_normal(400) + 3 * rng.standard_normal(20)[groups] > 0).astype(int)
    for g in range(20):  # rows of both classes
        y[np.flatnonzero(groups == g)[:2]] = 0, 1
    return X, y, groups


def as_table(rows, folder):
    X, y, groups = rows
    lines = [f"{t},{','.join(map(repr, x))},user {g}" for x, t, g in zip(X.tolist(), y, groups, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["click,a,b,c,d,user", *lines]))
    return TableSource(folder / "rows.csv", label="click", group="user", scale=None, block_rows=70)


def as_libsvm(rows, folder):
    lines = [
        f"{t} qid:{g} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(x, 1))
        for x, t, g in zip(rows[0].tolist(), rows[1], rows[2], strict=True)
    ]
    (folder / "rows.libsvm").write_text("\n".join(lines))
    return LibsvmSource(folder / "rows.libsvm", group="qid", block_rows=70)


@pytest.mark.parametrize("read", [as_table, as_libsvm])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("kind", [MBAClassifier, PairwiseAUCClassifier])
def test_files(rows, tmp_path, read, equal, kind):
    X, y, groups = rows
    ranker = kind(l2=0.1, equal_groups=equal, tol=1e-11)
    local = ranker.fit(X, y, groups=groups).coef_
    np.testing.assert_allclose(ranker.fit(read(rows, tmp_path)).coef_, local, rtol=1e-3, atol=1e-6)
    across = ranker.set_params(equal_groups=False).fit(X, y).coef_
    assert np.abs(across - local).max() > 0.01  # groups matter here


@pytest.mark.parametrize("read", [as_table, as_libsvm])
def test_the_automatic_penalty_of_a_file_is_that_of_memory(rows, tmp_path, read):
    X, y, groups = rows
    formed, products = (
        MBAClassifier(solver=solver).fit(X, y, groups=groups).l2_ for solver in ("gram", "matrix-free")
    )
    filed = MBAClassifier().fit(read(rows, tmp_path)).l2_
    np.testing.assert_allclose([products, filed], formed, rtol=0.01)


def test_a_fit_resumes_from_its_checkpoint(rows, tmp_path):
    ranker = MBAClassifier(l2=0.1)
    first = ranker.fit_source(as_table(rows, tmp_path), checkpoint=tmp_path / "fit").coef_
    again = ranker.fit_source(as_table(rows, tmp_path), checkpoint=tmp_path / "fit").coef_
    np.testing.assert_array_equal(first, again)


def test_a_stream_counts_pairs_within_a_group_within_a_block(rows):
    X, y, groups = rows
    order = np.argsort(groups, kind="stable")
    X, y, groups = X[order], y[order], groups[order]
    cuts = np.searchsorted(groups, [7, 13])
    ranker = MBAClassifier(l2=0.1)
    for part in np.split(np.arange(400), cuts):  # of whole groups
        ranker.partial_fit(X[part], y[part], classes=[0, 1], groups=groups[part])
    np.testing.assert_allclose(ranker.coef_, MBAClassifier(l2=0.1).fit(X, y, groups=groups).coef_, rtol=1e-9)


def test_a_stream_says_which_groups_have_no_pair_in_a_block(rows):
    X, y, groups = rows
    own = (groups < 3) & (y == 1)
    ranker = MBAClassifier(l2=0.1)
    with pytest.warns(OneClassGroupsWarning, match=r"^3 of 3 groups have rows of one class only"):
        ranker.partial_fit(X[own], y[own], classes=[0, 1], groups=groups[own])
    more = np.append(np.arange(400), np.arange(5))
    alone = np.append(groups, np.arange(100, 105))
    with pytest.warns(OneClassGroupsWarning, match=r"^5 of 25 groups have .* \(5 rows in all\)"):
        ranker.partial_fit(X[more], y[more], groups=alone)
