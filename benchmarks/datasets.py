"""The public data sets on which defaults were chosen, from a folder that the user names.

Set MBAUC_DATA to a folder with the files under their official names (LIBSVM text, bzip2).
"""

import dataclasses
import os
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from sklearn.model_selection import train_test_split

from mbauc.paper.datasets import DataSet, load
from mbauc.readers import read_libsvm

#: Sets of the paper, by the names that tables of results have for them.
PAPER = {
    "a1a": "a1a",
    "a9a": "a9a",
    "ijcnn1": "ijcnn",
    "madelon": "madelon",
    "w1a": "w1a",
    "usps": "usps",
    "german": "german",
    "mushrooms": "mushrooms",
    "svmguide3": "svmguide3",
    "bank": "bank",
}


def folder() -> Path | None:
    for candidate in (os.environ.get("MBAUC_DATA"), Path(__file__).parents[2] / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def load_all():
    """Yield every data set; labels are True and False."""
    data = folder()
    if data is None:
        raise SystemExit(
            "no data: set MBAUC_DATA to a folder with the LIBSVM files (docs/user_guide/defaults.md)"
        )
    for name, paper_name in PAPER.items():
        yield _with_truth_values(dataclasses.replace(load(paper_name, data), name=name))
    for load_one in (_mammography, _news20, _criteo):
        yield _with_truth_values(load_one(data))


def _with_truth_values(data):
    return dataclasses.replace(data, y=data.y.astype(bool), y_test=data.y_test.astype(bool))


def _fold(X, width):
    """Columns added up modulo ``width``: narrow enough for a Gram matrix."""
    X = X.tocoo()
    folded = sp.csr_matrix((X.data, (X.row, X.col % width)), shape=(X.shape[0], width))
    folded.sum_duplicates()
    return folded


def _halves(name, X, y):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    return DataSet(name, X, y, X_test, y_test)


def _mammography(data):
    X, y = read_libsvm(data / "mammography.bz2")
    return _halves("mammography", X.toarray(), y)


def _news20(data):
    X, y = read_libsvm(data / "news20.bz2", positive=1)
    return _halves("news20-4096", _fold(X, 4096), y)


def _criteo(data):
    parts = [read_libsvm(data / f"criteo60k.part{k}.bz2", n_features=1 << 20) for k in (1, 2, 3)]
    X = sp.vstack([_fold(X, 4096) for X, _ in parts[:2]]).tocsr()
    y = np.concatenate([y for _, y in parts[:2]])
    return DataSet("criteo-4096", X, y, _fold(parts[2][0], 4096), parts[2][1])
