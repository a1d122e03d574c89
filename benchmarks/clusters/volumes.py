"""One fit from moments on Spark, and what its event log says.

``python -m benchmarks.clusters.volumes COLUMNS PARTS EXECUTORS MEMORY``.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

#: Rows of a partition: few, because what is sent does not depend on them.
PART_ROWS = 50


def fit(columns, parts, executors=2, memory="2g"):
    """Fit so many columns in so many partitions; bytes and seconds of each stage."""
    from mbauc.spark import MBAClassifier

    with tempfile.TemporaryDirectory() as folder:
        spark = _session(folder, executors, memory)
        frame = _dense(spark, columns, parts)
        before = _n_events(folder)
        started = time.perf_counter()
        MBAClassifier(solver="gram", l2=0.01).fit(frame, features="features", label="label")
        took = time.perf_counter() - started
        driver = _peak_megabytes("self")
        spark.stop()
        events = [json.loads(line) for line in _log(folder).read_text().splitlines()]
        return {
            "columns": columns,
            "parts": parts,
            "executors": executors,
            "seconds": took,
            "driver_peak": driver,
            "result": 8 * columns * (columns + 1),
            "stages": stages(events[before:]),
        }


def stages(events):
    """Tasks, seconds and bytes of each stage of an event log, in their order."""
    found = {}
    for event in events:
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            stage = found.setdefault(info["Stage ID"], _nothing())
            stage["seconds"] = (info["Completion Time"] - info["Submission Time"]) / 1e3
        elif event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
            stage, metrics = found.setdefault(event["Stage ID"], _nothing()), event["Task Metrics"]
            read = metrics["Shuffle Read Metrics"]
            stage["tasks"] += 1
            stage["failed"] += event["Task Info"]["Failed"]
            stage["results"] += metrics["Result Size"]
            stage["read"] += read["Remote Bytes Read"] + read["Local Bytes Read"]
            stage["written"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            stage["spilled"] += metrics["Disk Bytes Spilled"]
            stage["run"] += metrics["Executor Run Time"] / 1e3
    return [found[number] for number in sorted(found)]


def _log(folder):
    [log] = [path for path in Path(folder, "events").rglob("*") if path.is_file() and path.stat().st_size]
    return log


def _n_events(folder):
    """Events so far; what the listener has not written yet is counted to the fit."""
    time.sleep(2)
    return len(_log(folder).read_text().splitlines())


def _nothing():
    names = ("seconds", "tasks", "failed", "results", "read", "written", "spilled", "run")
    return dict.fromkeys(names, 0)


def _dense(spark, columns, parts):
    """Normal numbers, whose moments do not get smaller when they are packed, in so many partitions."""
    import numpy as np
    import pyarrow as pa

    n = parts * PART_ROWS
    X = np.random.default_rng(0).standard_normal(n * columns)
    features = pa.FixedSizeListArray.from_arrays(X, columns).cast(pa.list_(pa.float64()))
    frame = spark.createDataFrame(pa.table({"features": features, "label": np.arange(n) % 2}))
    frame = frame.repartition(parts).cache()
    frame.count()
    return frame


def _session(folder, executors, memory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    (Path(folder) / "events").mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "4g",
        "spark.executor.memory": memory,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": Path(folder, "events").as_uri(),
        "spark.local.dir": str(Path(folder, "local")),
    }
    megabytes = int(memory.removesuffix("g")) * 1024
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,{megabytes}]").appName("benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _peak_megabytes(process):
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    print(json.dumps(fit(*map(int, sys.argv[1:4]), sys.argv[4])), flush=True)
