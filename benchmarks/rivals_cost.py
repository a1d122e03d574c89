"""Cost of a row of every rival: what it grows with, and whether that is what its docstring says."""

import numpy as np
from scipy import sparse as sp

from benchmarks.timing import interleaved, report
from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression

#: Growth of one quantity at a time.
FACTOR = 4


def rows_of(n, k, d, seed=0):
    """n sparse rows of k normal numbers in d columns, a third positive."""
    rng = np.random.default_rng(seed)
    step = d // k
    columns = np.arange(k) * step + rng.integers(step, size=(n, k))
    indptr = np.arange(0, n * k + 1, k)
    X = sp.csr_matrix((rng.standard_normal(n * k), columns.ravel().astype(np.int32), indptr), shape=(n, d))
    return X, rng.random(n) < 1 / 3


def nanoseconds(model, n, k, d, repeats=4):
    """Time a row, from the difference of two sizes so that what is paid once does not count."""
    X, y = rows_of(2 * n, k, d)
    tables = {size: (X[:size], y[:size]) for size in (n, 2 * n)}
    took = interleaved(
        {size: (lambda table=table: model.fit(*table)) for size, table in tables.items()}, repeats
    )
    return 1e9 * (took[2 * n] - took[n]) / n


def run(scale=1):
    def growth(title, what, expected, before, after):
        """Each of ``before`` and ``after`` is (model, n, k, d)."""
        low = nanoseconds(before[0], max(50, before[1] // scale), *before[2:])
        high = nanoseconds(after[0], max(50, after[1] // scale), *after[2:])
        rows.append((f"{title}, {what}", f"{low:,.0f} → {high:,.0f} ns, ×{high / low:.1f}", expected))

    rows = []
    for title, model in (
        ("OnlineLogisticRegression", OnlineLogisticRegression(shuffle=False)),
        ("FTRLProximal", FTRLProximal(shuffle=False)),
        ("MiniBatchPairwise", MiniBatchPairwise(random_state=0)),
    ):
        growth(title, "k 40 → 160", "O(k): ×4", (model, 200_000, 40, 4096), (model, 50_000, 160, 4096))
        growth(title, "d 4,096 → 16,384", "×1", (model, 100_000, 40, 4096), (model, 100_000, 40, 16_384))
    for batch in ("matched", "complete"):
        small, large = (
            MiniBatchPairwise("logistic", batch_size=B, pairing=batch, random_state=0) for B in (128, 512)
        )
        expected = "×1" if batch == "matched" else "O(k + B/2): up to ×4"
        growth(
            f"MiniBatchPairwise logistic, {batch}",
            "B 128 → 512",
            expected,
            (small, 50_000, 40, 4096),
            (large, 50_000, 40, 4096),
        )
    for update in ("sequential", "gradient"):
        small, large = (OAM(update=update, buffer_size=B, random_state=0) for B in (50, 200))
        title = f"OAM {update}"
        growth(title, "k 20 → 80", "O(B k): ×4", (small, 20_000, 20, 4096), (small, 20_000, 80, 4096))
        growth(title, "B 50 → 200", "O(B k): ×4", (small, 20_000, 20, 4096), (large, 20_000, 20, 4096))
        growth(title, "d 4,096 → 16,384", "×1", (small, 20_000, 20, 4096), (small, 20_000, 20, 16_384))
    for name, kind in (("OPAUC", OPAUC), ("AdaOAM", AdaOAM)):
        full, thin, thick = kind(random_state=0), kind(rank=16, random_state=0), kind(rank=64, random_state=0)
        growth(name, "d 128 → 512", "O(d²): ×16", (full, 20_000, 10, 128), (full, 2000, 10, 512))
        growth(name, "k 10 → 40", "×1", (full, 5000, 10, 256), (full, 5000, 40, 256))
        growth(
            f"{name} low-rank",
            "d 1,024 → 4,096",
            "O(d τ): ×4",
            (thin, 8000, 10, 1024),
            (thin, 2000, 10, 4096),
        )
        growth(f"{name} low-rank", "τ 16 → 64", "O(d τ): ×4", (thin, 8000, 10, 1024), (thick, 4000, 10, 1024))
    report(
        "rivals_cost",
        rows,
        notes=[
            "time per row, for sparse rows of k numbers in d columns, with one quantity at a time multiplied "
            "by four. Growth below the expected one is due to the fixed cost of a row (its exponential, its "
            "loops); growth above it is due to the cache: two covariances of 512 columns take 4 MB, of 128 "
            "columns 0.25 MB"
        ],
    )


if __name__ == "__main__":
    run()
