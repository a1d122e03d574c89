"""The rows that everybody gets, made once and kept as files."""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy import sparse as sp

from benchmarks.clicks import click_labels, click_rows
from mbauc.store.atomic import atomic_write


@dataclass(frozen=True)
class Rows:
    """Which rows: where from, how many of them to learn from, how wide. A fifth more are for testing."""

    source: str = "clicks"
    rows: int = 1_000_000
    columns: int = 10_000
    seed: int = 0

    def made(self):
        """A CSR matrix of all rows and their labels, those to learn from first."""
        return SOURCES[self.source](self.rows + self.rows // 5, self.columns, self.seed)

    def folder(self, root):
        """Where the files of these rows are; made if they are not there."""
        folder = Path(root) / f"{self.source}-{self.rows}x{self.columns}-seed{self.seed}"
        if not (folder / "test.npz").exists():
            folder.mkdir(parents=True, exist_ok=True)
            X, y = self.made()
            save(folder / "train.npz", X[: self.rows], y[: self.rows])
            save(folder / "test.npz", X[self.rows :], y[self.rows :])
        return folder

    def settings(self):
        return asdict(self)


def simple_clicks(rows, columns, seed):
    """Fields of skewed categories, hashed; log-odds linear in the columns."""
    X = click_rows(rows, width=columns, seed=seed)
    return X, click_labels(X, seed=seed + 1)


#: A function of (rows, columns, seed) each; another generator is one more line.
SOURCES = {"clicks": simple_clicks}


def save(path, X, y):
    parts = {"indices": X.indices, "indptr": X.indptr, "y": np.asarray(y, dtype=np.int64), "shape": X.shape}
    if not (X.data == 1).all():
        parts["data"] = X.data
    with atomic_write(path) as stream:
        np.savez(stream, **parts)


def load(path):
    """A CSR matrix in float64 and the labels 0 and 1."""
    with np.load(path) as file:
        data = file["data"] if "data" in file.files else np.ones(len(file["indices"]))
        X = sp.csr_matrix((data, file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        return X, file["y"]


def megabytes(X):
    """Memory of a CSR matrix."""
    return (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
