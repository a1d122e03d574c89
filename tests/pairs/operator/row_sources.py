"""Small sources of rows for the tests of caches and checkpoints."""

import numpy as np
from scipy import sparse as sp

from mbauc.readers import RawBlock


class Rows(list):
    """A list of blocks as a source."""

    classes = (0, 1)

    def __init__(self, blocks, n_features):
        super().__init__(blocks)
        self.n_features = n_features


class Vouched(Rows):
    """A source with a fingerprint that counts how often it is read."""

    def __init__(self, blocks, n_features, stamp=1):
        super().__init__(blocks, n_features)
        self.stamp, self.passes = stamp, 0

    def fingerprint(self):
        return {"files": [{"name": "rows", "mtime_ns": self.stamp}]}

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def make_blocks(rng, sizes=(50, 1, 80, 40), d=60, entries=6, kind="ones", weighted=False):
    """Blocks of sparse rows whose label depends on their first columns."""
    blocks = []
    for n in sizes:
        columns = np.sort(rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1)[:, :entries], axis=1)
        values = {
            "ones": np.ones(n * entries),
            "halves": rng.integers(-4, 5, n * entries) / 2,  # exact in float32
            "general": rng.standard_normal(n * entries),
        }[kind]
        X = sp.csr_array((values, columns.ravel(), np.arange(n + 1) * entries), shape=(n, d))
        y = (rng.random(n) < 0.2 + 0.4 * (columns[:, 0] < 4)).astype(np.int8)
        y[: min(n, 2)] = [0, 1][: min(n, 2)]
        blocks.append(RawBlock(X, y, rng.random(n) + 0.5 if weighted else None))
    return blocks


def stacked(blocks):
    """All rows of blocks as (X, y, weight)."""
    X = sp.vstack([sp.csr_array(block.X) for block in blocks]).tocsr()
    weights = [block.weight for block in blocks]
    weight = None if weights[0] is None else np.concatenate(weights)
    return X, np.concatenate([block.y for block in blocks]), weight
