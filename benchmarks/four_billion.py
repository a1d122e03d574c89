"""The arithmetic of four billion rows on a cluster: what was measured here, scaled, and what is assumed.

``python -m benchmarks four_billion``, after ``billion``, ``merge_tree`` and ``cluster_volumes``, whose stored
values it starts from. It measures one thing itself: products over packed rows.
"""

import time

from benchmarks.timing import report, stored
from mbauc.rows.parts.protocol import fan_in

#: Assumptions: the log, the cluster, its network in bytes a second for each executor, jobs and products.
ROWS, EXECUTORS, CORES, NETWORK = 4e9, 100, 4, 10e9 / 8
PARTS, JOB, PRODUCTS = 400, 1.0, 15
#: Rows that products are measured on.
MEASURED_ROWS = 1_000_000


def product():
    """Seconds of CPU and bytes for each row: of packing, of a product, and of the packed row."""
    import numpy as np

    from mbauc.pairs.operator.from_source import build_source_operator
    from mbauc.paper.clicks import ClickLog

    source = ClickLog(MEASURED_ROWS)
    few = build_source_operator(source[:1000], n_threads=1, memory=1 << 30)
    few.product(np.ones(few.mu.size))  # loads what is compiled
    began = time.process_time()
    pairs = build_source_operator(source, n_threads=1, memory=1 << 30)
    packing = time.process_time() - began
    times = []
    for v in np.random.default_rng(0).standard_normal((5, pairs.mu.size)):  # a product is remembered
        began = time.process_time()
        pairs.product(v)
        times.append(time.process_time() - began)
    return packing / MEASURED_ROWS, min(times) / MEASURED_ROWS, pairs.nbytes / MEASURED_ROWS


def handling(volumes):
    """Seconds of a Spark task for each byte that it merges, of the widest rows that were measured."""
    widest = max(volumes, key=lambda got: got["columns"])
    merges = [stage for stage in widest["stages"] if stage["read"] > widest["result"] / 10]
    return sum(stage["run"] for stage in merges) / sum(stage["read"] for stage in merges), widest["columns"]


def tree(columns, merge, per_byte):
    """Levels, bytes, and seconds on the network, in merges and in Spark's handling of results."""
    size, left = 8 * columns * (columns + 1), PARTS
    width = fan_in(size)
    levels = moved = 0
    wire = adding = serving = 0.0
    while left > 1:
        groups = -(-left // width)
        per_executor = -(-groups // EXECUTORS)
        at_once = -(-per_executor // CORES)
        levels, moved = levels + 1, moved + left * size
        wire += per_executor * width * size / NETWORK
        adding += at_once * (width - 1) * merge
        serving += at_once * width * size * per_byte
        left = groups
    return levels, moved + size, wire + size / NETWORK, adding, serving


def run():
    billion, merges, volumes = stored("billion"), stored("merge_tree"), stored("cluster_volumes")
    first, last = billion["marks"][0], billion["marks"][-1]
    per_row = (last[2] - first[2]) / (last[0] - first[0])
    solving = billion["seconds"] - last[1]
    per_byte, widest = handling(volumes)
    packing, per_product, packed = product()
    cores = EXECUTORS * CORES
    table = [
        (
            "counting rows into Σ of 10,000 columns, making them included",
            f"{per_row * 1e6:.2f} µs of CPU a row: {ROWS * per_row / cores:.0f} s on {cores} cores",
            "",
        )
    ]
    for columns in (1_000, 10_000):
        levels, moved, wire, adding, serving = tree(columns, merges[f"merge_{columns}"], per_byte)
        table.append(
            (
                f"tree of {PARTS} results of {8 * columns * (columns + 1) / 1e6:,.0f} MB, "
                f"{fan_in(8 * columns * (columns + 1))} at a time",
                f"{levels} levels, {moved / 1e9:,.1f} GB sent: {wire:.1f} s of network, {adding:.1f} s of "
                f"additions, {serving:.1f} s between Spark's JVM and Python",
                "",
            )
        )
    sweeps = ROWS * per_product / cores
    table += [
        ("solution of 10,000 equations at the driver, two cores", f"{solving:.0f} s", ""),
        (
            "matrix-free: packing, making the rows included",
            f"{packing * 1e6:.2f} µs of CPU a row: {ROWS * packing / cores:.0f} s; {packed:.0f} bytes a row: "
            f"{ROWS * packed / EXECUTORS / 1e9:.1f} GB on each executor",
            "",
        ),
        (
            f"matrix-free: {PRODUCTS} products",
            f"{per_product * 1e9:.0f} ns of CPU a row: {PRODUCTS * sweeps:.0f} s of sweeps and "
            f"{PRODUCTS * JOB:.0f} s of jobs; 80 kB out to an executor and 80 kB back from each of {PARTS} "
            "partitions",
            "",
        ),
    ]
    report(
        "four_billion",
        table,
        notes=[
            f"assumed: {ROWS:.0e} rows of 39 fields, {EXECUTORS} executors of {CORES} cores as fast as these, "
            f"{PARTS} partitions, {NETWORK * 8 / 1e9:.0f} Gbit/s to each executor and nobody else on it, "
            f"{JOB:.0f} s for a job of Spark beside its work, {PRODUCTS} products; nothing waits for the "
            "slowest",
            "measured: times a row and of merges by `billion`, `merge_tree` and here; "
            f"{per_byte * 1e9:.0f} ns a byte between JVM and Python by `cluster_volumes` at {widest:,} columns",
        ],
    )
