"""The public data sets on which defaults were chosen, from a folder that the user names.

Set MBAUC_DATA to a folder with the files under their official names (LIBSVM text, bzip2).
"""

import io
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class DataSet:
    name: str
    X: object
    y: np.ndarray
    X_test: object
    y_test: np.ndarray


def folder() -> Path | None:
    for candidate in (os.environ.get("MBAUC_DATA"), Path(__file__).parents[2] / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def _svmlight(path: Path, n_features: int | None = None):
    X, y = load_svmlight_file(str(path), n_features=n_features)
    return X.tocsr(), y


def _fold(X, width):
    """Columns added up modulo ``width``: narrow enough for a Gram matrix."""
    X = X.tocoo()
    folded = sp.csr_matrix((X.data, (X.row, X.col % width)), shape=(X.shape[0], width))
    folded.sum_duplicates()
    return folded


def _densified(name, X, y, X_test, y_test):
    if sp.issparse(X) and X.shape[1] <= 1000:
        X, X_test = X.toarray(), X_test.toarray()
    return DataSet(name, X, y, X_test, y_test)


def _halves(name, X, y):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    return _densified(name, X, y, X_test, y_test)


def load_all():
    """Yield every data set that the folder has."""
    data = folder()
    if data is None:
        raise SystemExit("no data: set MBAUC_DATA to a folder with the LIBSVM files (see docs/defaults.md)")
    digits = {2.0, 7.0, 9.0}
    for name, columns in (("a1a", 123), ("a9a", 123), ("ijcnn1", 22), ("madelon", 500), ("w1a", 300)):
        train, test = _svmlight(data / f"{name}.bz2", columns), _svmlight(data / f"{name}.t.bz2", columns)
        yield _densified(name, train[0], train[1] > 0, test[0], test[1] > 0)
    train, test = _svmlight(data / "usps.bz2", 256), _svmlight(data / "usps.t.bz2", 256)
    yield _densified(
        "usps", train[0], np.isin(train[1] - 1, list(digits)), test[0], np.isin(test[1] - 1, list(digits))
    )
    X, y = _svmlight(data / "german.numer.bz2")
    yield _halves("german", X, y > 0)
    X, y = _svmlight(data / "mushrooms.bz2")
    yield _halves("mushrooms", X, y == 2)
    X, y = _svmlight(data / "svmguide3.bz2")
    yield _halves("svmguide3", X, y > 0)
    X, y = _svmlight(data / "mammography.bz2")
    yield _halves("mammography", X, y == y.max())
    X, y = _bank(data / "bank-additional.zip")
    yield _halves("bank", X, y)
    X, y = _svmlight(data / "news20.bz2")
    yield _halves("news20-4096", _fold(X, 4096), y == 1)
    parts = [_svmlight(data / f"criteo60k.part{k}.bz2", 1 << 20) for k in (1, 2, 3)]
    X = sp.vstack([_fold(part[0], 4096) for part in parts[:2]]).tocsr()
    yield DataSet(
        "criteo-4096",
        X,
        np.concatenate([part[1] for part in parts[:2]]) > 0,
        _fold(parts[2][0], 4096),
        parts[2][1] > 0,
    )


def _bank(path: Path):
    import pandas as pd

    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("bank-additional-full.csv"))
        table = pd.read_csv(io.BytesIO(archive.read(name)), sep=";")
    y = (table.pop("y") == "yes").to_numpy()
    return pd.get_dummies(table, dtype=float).to_numpy(), y
