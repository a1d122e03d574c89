"""How good the screening of interactions is: its order against the gain of fitting each pair of columns alone.

``python -m benchmarks.screening`` takes tables whose pairs are few enough to fit one by one, and prints where
the pair with the largest true gain stands in the screened order, and how the two orders agree.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from benchmarks.timing import report
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.estimators.additive.coordinates import Statistics
from mbauc.estimators.additive.search import FeatureSearch
from mbauc.estimators.additive.search_rows import SearchRows
from mbauc.metrics import roc_auc
from mbauc.paper.studies.tables.runs import split_rows
from mbauc.paper.studies.tables.sets import load_table
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldsByRank

TABLES = ("mammography", "svmguide3", "german")


def measure(name, folder):
    """Screened and true gains of all pairs of columns of a table."""
    part = split_rows(load_table(name, folder), 0, 0)
    X, y = np.asarray(part.X, dtype=float), part.y.astype(bool)
    kinds = [ColumnKind(f"x{j}") for j in range(X.shape[1])]
    features = design_features(X, None, kinds, DesignSettings())
    sizes = int(y.sum()), int((~y).sum())
    fold = FoldsByRank.draw(sizes, 5, np.random.default_rng(0)).for_part(0).assign(Block(X, y))
    rows = SearchRows(
        features.codes(X), features.number_values(X), y, None, np.ones(y.size), fold,
        widths=tuple(column.width for column in features.columns),
    )  # fmt: skip
    search = FeatureSearch(rows, features)
    curves = search.curves()
    screened = search.screen(curves)
    codes, numbers = features.codes(part.X_test), features.number_values(part.X_test)
    true = {}
    base = _test_auc(
        search, curves.columns, curves.strength, curves.basis, features, codes, numbers, part.y_test
    )
    pairs = [tuple(pair) for pair in screened.pairs.tolist()]
    for pair in pairs:
        crossed = search.cross([pair], -1, narrow=False)
        statistics = Statistics.of(crossed.rows.whole)
        common = curves.strength / search.basis.roughness
        own = np.append(
            curves.strength, 10.0 * np.median(common) * crossed.basis.roughness[curves.strength.size :]
        )
        [w] = statistics.solve(own[None, :])
        Z = crossed.basis.rows(crossed.features, codes, numbers)
        true[pair] = roc_auc(part.y_test, Z @ w) - base
    gains = np.array([true[pair] for pair in pairs])
    best = int(np.argmax(gains))
    agree = float(spearmanr(-np.arange(gains.size), gains).statistic)
    top = gains[: max(1, gains.size // 10)]
    return [
        (f"{name}: place of the best of {gains.size} pairs", f"{best + 1}", ""),
        (
            f"{name}: gain of the best pair, of the first (points)",
            f"{100 * gains[best]:.2f}, {100 * gains[0]:.2f}",
            "",
        ),
        (
            f"{name}: mean gain, of the first tenth, of all",
            f"{100 * top.mean():.2f}, {100 * gains.mean():.2f}",
            "",
        ),
        (f"{name}: rank correlation", f"{agree:.2f}", ""),
    ]


def _test_auc(search, columns, strength, basis, features, codes, numbers, y):
    statistics = Statistics.of(search.folded.whole).select(columns)
    [w] = statistics.solve(strength[None, :])
    return roc_auc(y, basis.rows(features, codes, numbers)[:, columns] @ w)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of the data sets")
    folder = parser.parse_args().data_dir
    rows = [row for name in TABLES for row in measure(name, folder)]
    report("screening", rows, ["gains are of test AUC over curves, each pair fitted alone; one split"])


if __name__ == "__main__":
    main()
