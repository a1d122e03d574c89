"""One product Σv: two passes of scipy over a CSR matrix against ours."""

from functools import partial

import numpy as np

from benchmarks.clicks import click_labels, click_rows
from benchmarks.timing import interleaved, report
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.runtime.threads import thread_count


def scipys_product(X, positive):
    """v → Σv = X'D(Xv) - m₊(m₋'v) - m₋(m₊'v), by two products with a CSR matrix and nothing else."""
    weights = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum())
    plus, minus = X.T @ (weights * positive), X.T @ (weights * ~positive)
    transposed = X.T

    def product(v):
        return transposed @ (weights * (X @ v)) - plus * (minus @ v) - minus * (plus @ v)

    return product


def our_product(X, positive):
    """v → Σv by this package, rows packed beforehand; vectors are over the columns that occur."""
    rows = build_matrix_operator(
        X, [np.flatnonzero(positive), np.flatnonzero(~positive)], None, thread_count(None)
    )
    return lambda v: rows.order.restore(rows.product(v[rows.order.columns]))


def run(n=1_000_000):
    rows = []
    for columns, name in ((10_000, "10,000"), (2**20, "2^20")):
        X = click_rows(n, width=columns)
        positive = click_labels(X)
        v = np.random.default_rng(2).standard_normal(columns)
        products = {"scipy": scipys_product(X, positive), "ours": our_product(X, positive)}
        wanted = products["scipy"](v)
        np.testing.assert_allclose(products["ours"](v), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
        took = interleaved({who: partial(product, v) for who, product in products.items()})
        rows.append((f"{name} columns: scipy's two passes", f"{took['scipy']:.3f} s", ""))
        rows += [
            ("ours", f"{took['ours']:.3f} s", ""),
            (
                "scipy / ours",
                f"{took['scipy'] / took['ours']:.1f}",
                "at least 2.5" if columns == 10_000 else "",
            ),
        ]
    report("products", rows, notes=[f"{n:,} rows of 39 ones, float64; setup is not timed"])


if __name__ == "__main__":
    run()
