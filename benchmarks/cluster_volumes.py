"""What Spark sends for a fit from moments: results, shuffles and time of each level of the tree.

``python -m benchmarks cluster_volumes``. Each fit runs on a Spark cluster of its own, one or two executors
on this machine, and is read from the event log.
"""

import json
import subprocess
import sys
from importlib.metadata import version

from benchmarks.clusters.volumes import PART_ROWS
from benchmarks.timing import report

#: Columns, partitions, executors, and memory of the driver and of each executor.
FITS = ((1_000, 64, 2, "2g"), (4_000, 16, 2, "3g"), (10_000, 4, 1, "6g"))


def run(fits=FITS):
    table, values = [], []
    for fit in fits:
        command = [sys.executable, "-m", "benchmarks.clusters.volumes", *map(str, fit)]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        what = f"{fit[0]:,} columns, {fit[1]} partitions"
        if done.returncode:
            table.append((what, f"did not finish ({fit[3]} of memory for each process)", ""))
            continue
        got = json.loads(done.stdout.splitlines()[-1])
        values.append(got)
        # a stage that others follow writes; the last one sends its results to the driver
        shuffles = [stage for stage in got["stages"] if stage["written"] > got["result"] / 10]
        sent = sum(stage["written"] for stage in shuffles)
        last = got["stages"][-1]
        table.append(
            (
                what,
                f"{got['result'] / 1e6:,.0f} MB a partition; {len(shuffles)} level"
                f"{'' if len(shuffles) == 1 else 's'} of merges, which shuffle {sent / 1e6:,.0f} MB "
                f"({', '.join(format(stage['written'] / 1e6, ',.0f') for stage in shuffles)}); "
                f"{last['results'] / 1e6:,.0f} MB to the driver, whose Python holds at most "
                f"{got['driver_peak']:,.0f} MB; {got['seconds']:.0f} s in all",
                "",
            )
        )
    report(
        "cluster_volumes",
        table,
        notes=[
            f"{PART_ROWS} dense rows of normal numbers a partition, whose moments Spark can hardly compress; "
            f"Spark {version('pyspark')}, two executors of one core on this machine, one for the widest rows; "
            "from the event log",
        ],
        values=values,
    )
