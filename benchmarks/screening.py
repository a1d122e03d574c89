"""How good the screening of interactions is: its order against the gain of fitting each pair of columns alone.

``python -m benchmarks.screening`` takes tables whose pairs are few enough to fit one by one, and one that is
made up, of which the interactions are known. Gains are of AUC on test rows, so the best pair is known up to
their noise.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr

from benchmarks.timing import report
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.estimators.additive.coordinates import Statistics
from mbauc.estimators.additive.gain import paired_gain
from mbauc.estimators.additive.search import FeatureSearch
from mbauc.estimators.additive.search_rows import SearchRows
from mbauc.paper.studies.tables.runs import Split, split_rows
from mbauc.paper.studies.tables.sets import TABLES as ALL_TABLES
from mbauc.paper.studies.tables.sets import load_table
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldsByRank

TABLES = ("mammography", "svmguide3", "german", "ijcnn")
#: Training rows at most, so that each pair is fitted within a second; test rows at most.
MOST_ROWS, MOST_TEST_ROWS = 4_000, 10_000
#: Interactions of the table that is made up, and what they add to log-odds.
KNOWN = {
    (0, 1): lambda a, b: 0.4 * a * b,
    (2, 3): lambda a, b: 0.4 * np.sign(a * b),
    (4, 5): lambda a, b: 0.8 * ((a > 0.5) & (b > 0.5)),
}
MADE_UP_COLUMNS = 12


def make_rows(rows, seed):
    """Normal columns that all bend, some with interactions; about one row in seven is positive."""
    rng = np.random.default_rng([7, seed])
    X = rng.standard_normal((rows, MADE_UP_COLUMNS))
    bends = 0.3 * np.sin(2 * X[:, ::2]).sum(axis=1) + 0.3 * np.tanh(2 * X[:, 1::2]).sum(axis=1)
    crossed = sum(add(X[:, a], X[:, b]) for (a, b), add in KNOWN.items())
    return X, (rng.random(rows) < expit(-2.2 + bends + crossed)).astype(np.int64)


def load(name, folder):
    """Training and test rows of a table; of many rows some."""
    if name == "made up":
        return Split(*make_rows(MOST_ROWS, 0), *make_rows(MOST_TEST_ROWS, 1))
    part, rng = split_rows(load_table(ALL_TABLES[name], folder), 0, 0), np.random.default_rng(0)
    train, test = (
        np.sort(rng.permutation(y.size)[:most])
        for y, most in ((part.y, MOST_ROWS), (part.y_test, MOST_TEST_ROWS))
    )
    X, X_test = (np.asarray(X, dtype=float) for X in (part.X, part.X_test))
    return Split(X[train], part.y[train], X_test[test], part.y_test[test])


def search_features(part):
    """The search for features of the training rows, as a fit has it."""
    X, y = part.X, part.y.astype(bool)
    features = design_features(X, None, [ColumnKind(f"x{j}") for j in range(X.shape[1])], DesignSettings())
    sizes = int(y.sum()), int((~y).sum())
    fold = FoldsByRank.draw(sizes, 5, np.random.default_rng(0)).for_part(0).assign(Block(X, y))
    rows = SearchRows(
        features.codes(X), features.number_values(X), y, None, np.ones(y.size), fold,
        widths=tuple(column.width for column in features.columns),
    )  # fmt: skip
    return FeatureSearch(rows, features)


def measure(name, folder):
    """Pairs of columns in the screened order, and the gain of each on test rows with its standard error."""
    part = load(name, folder)
    search, positive = search_features(part), part.y_test.astype(bool)
    features, curves = search.features, search.curves()
    screened = search.screen(curves)
    codes, numbers = features.codes(part.X_test), features.number_values(part.X_test)
    [w] = Statistics.of(search.folded.whole).select(curves.columns).solve(curves.strength[None, :])
    before = curves.basis.rows(features, codes, numbers)[:, curves.columns] @ w
    common = np.median(curves.strength / search.basis.roughness)
    pairs, gains = [tuple(pair) for pair in screened.pairs.tolist()], []
    for pair in pairs:
        crossed = search.cross([pair], -1, narrow=False)
        own = 10.0 * common * crossed.basis.roughness[curves.strength.size :]
        [w] = Statistics.of(crossed.rows.whole).solve(np.append(curves.strength, own)[None, :])
        gains.append(
            paired_gain(positive, crossed.basis.rows(crossed.features, codes, numbers) @ w, before, None)
        )
    return part, pairs, 100 * np.array(gains), search.most_pairs


def describe(name, part, pairs, gains, kept):
    """A row of the report."""
    gain, error = gains.T
    best, agree = int(np.argmax(gain)), float(spearmanr(-np.arange(gain.size), gain).statistic)
    top = min(kept, gain.size)
    cells = [
        f"{gain.size}",
        f"{best + 1}",
        f"{gain[best]:.2f} ± {error[best]:.2f}",
        f"{gain[0]:.2f} ± {error[0]:.2f}",
        f"{top}",
        f"{gain[:top].max():.2f}",
        f"{gain[:top].mean():.3f}",
        f"{gain.mean():.3f}",
        f"{agree:.2f}",
    ]
    return f"{name} ({part.y.size:,} × {part.X.shape[1]})", " | ".join(cells), ""


def run(folder=None):
    head = (
        "pairs | place of the best | its gain | gain of the first | kept | best gain of those | "
        "mean gain of those | mean gain of all | rank correlation"
    )
    table = [("table", head, "")]
    for name in (*TABLES, "made up"):
        part, pairs, gains, kept = measure(name, folder)
        table.append(describe(name, part, pairs, gains, kept))
        print(*table[-1], flush=True)
    places = [pairs.index(pair) + 1 for pair in KNOWN]
    true = [f"{gains[place - 1, 0]:.2f}" for place in places]
    report(
        "screening",
        table,
        notes=[
            "gains are of test AUC over curves in points, each pair fitted alone, ± their standard errors; the "
            "best of many pairs is partly luck; kept are the pairs that a fit tries; one split",
            f"made up: its {len(KNOWN)} interactions stand at places {', '.join(map(str, places))} "
            f"and gain {', '.join(true)}",
        ],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of the data sets")
    run(parser.parse_args().data_dir)
