"""An exact fit to 200 million rows that are never on disk: time a row and memory stay the same.

``python -m benchmarks billion``. Rows are made as they are read and counted into one matrix; the fit runs in a
process of its own. ``python -m benchmarks.billion ROWS`` is one such fit, which prints what it measured.
"""

import json
import subprocess
import sys
import time

from benchmarks.timing import report, status_megabytes

ROWS, COLUMNS, FIELDS = 200_000_000, 10_000, 39
#: Shares of the rows after which time and memory are noted.
MARKS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
TEST_ROWS, L2 = 200_000, 1e-5


class Watched:
    """A source that notes time, CPU time and memory on its way, and counts rows and entries."""

    def __init__(self, inner):
        self._inner = inner
        self.n_features, self.classes, self.n_rows = inner.n_features, inner.classes, inner.n_rows
        self._places = [round(share * inner.n_rows) for share in MARKS]
        self.n_entries, self.n_positive, self.marks = 0, 0, []

    def __iter__(self):
        done, place, began = 0, 0, (time.perf_counter(), time.process_time())
        for block in self._inner:
            yield block
            # the caller has come back for more: this block is in work, or waits to be
            done += block.y.size
            self.n_entries += block.X.nnz
            self.n_positive += int(block.y.sum())
            if done >= self._places[place]:
                clocks = time.perf_counter() - began[0], time.process_time() - began[1]
                self.marks.append((done, *clocks, status_megabytes("VmRSS")))
                print(f"  {done:,} rows: {clocks[0]:.0f} s", file=sys.stderr, flush=True)
                place += 1


def fit(rows):
    """One fit in this process; what was measured."""
    import numpy as np

    from mbauc import MBAClassifier
    from mbauc.metrics import roc_auc
    from mbauc.paper.clicks import ClickLog

    # compiled loops are loaded once, by a fit to a few rows
    MBAClassifier(solver="gram", l2=1.0).fit_source(ClickLog(2_000, hash_dim=COLUMNS // 10))
    source = Watched(ClickLog(rows, hash_dim=COLUMNS))
    began = time.perf_counter()
    ranker = MBAClassifier(solver="gram", l2=L2, verbose=True).fit_source(source, memory="5GB")
    took, moments = time.perf_counter() - began, ranker.moments_
    test = ClickLog(TEST_ROWS, hash_dim=COLUMNS, start=rows)
    X, y, _ = test.rows()
    # every entry is one, so that sums over the columns must be whole numbers, and all of them the entries
    totals = [n * mean for n, mean in zip(moments.counts, moments.class_means, strict=True)]
    return {
        "rows": rows,
        "seconds": took,
        "marks": source.marks,
        "peak": status_megabytes("VmHWM"),
        "auc": float(roc_auc(y, X @ np.ravel(ranker.coef_))),
        "best_auc": float(roc_auc(y, test.log_odds())),
        "pairs": moments.n_pairs,
        "rows_counted": moments.counts == (source.n_positive, rows - source.n_positive),
        "entries_counted": int(sum(np.rint(total).sum() for total in totals)) == source.n_entries,
        "not_whole": float(max(np.abs(total - np.rint(total)).max() for total in totals)),
    }


def run(rows=ROWS):
    command = [sys.executable, "-m", "benchmarks.billion", str(rows)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    got = json.loads(found.splitlines()[-1])
    table, before = [], (0, 0.0, 0.0)
    for done, seconds, cpu, memory in got["marks"]:
        step, wall, work = done - before[0], seconds - before[1], cpu - before[2]
        table.append(
            (
                f"{done / 1e6:.0f}M rows",
                f"{seconds:.0f} s; since the line above {wall / step * 1e6:.2f} µs a row, "
                f"{work / step * 1e6:.2f} µs of CPU; {memory:,.0f} MB",
                "",
            )
        )
        before = done, seconds, cpu
    first, last = got["marks"][0], got["marks"][-1]
    later = (last[2] - first[2]) / (last[0] - first[0])
    table += [
        (
            f"CPU a row from {first[0] / 1e6:.0f}M on / up to there",
            f"{later / (first[2] / first[0]):.2f}",
            "at most 1.1",
        ),
        ("memory at the end / at the first line", f"{last[3] / first[3]:.2f}", "at most 1.1"),
        (
            f"all, with the solution of {COLUMNS:,} equations",
            f"{got['seconds']:.0f} s, {got['peak']:,.0f} MB at most",
            "",
        ),
        (
            f"AUC of {TEST_ROWS:,} further rows",
            f"{got['auc']:.4f}; of the true log-odds {got['best_auc']:.4f}",
            "",
        ),
        (
            "rows and ones counted are those that were made",
            "yes" if got["rows_counted"] and got["entries_counted"] else "no",
            "yes",
        ),
    ]
    report(
        "billion",
        table,
        notes=[
            f"{rows:,} synthetic clicks in the shape of Criteo's log, {FIELDS} fields hashed to {COLUMNS:,} "
            f"columns, {got['pairs']:.1e} pairs; rows are made as they are read (ClickLog) and never on disk; "
            f"solver='gram', l2={L2:g}; resident memory, that of the generator included",
        ],
        values=got,
    )


if __name__ == "__main__":
    print(json.dumps(fit(int(float(sys.argv[1])))), flush=True)
