"""One fit from moments on Spark, and what its event log says.

``python -m benchmarks.clusters.volumes COLUMNS PARTS MEMORY``.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

#: Rows of a partition: few, because what is sent does not depend on them.
PART_ROWS = 500


def fit(columns, parts, memory="4g"):
    """Fit clicks hashed to so many columns in so many partitions; bytes and seconds of each stage."""
    from mbauc.spark import MBAClassifier

    with tempfile.TemporaryDirectory() as folder:
        spark = _session(folder, memory)
        frame = _clicks(spark, columns, parts)
        started = time.perf_counter()
        MBAClassifier(solver="gram", l2=0.01).fit(frame, features="features", label="label")
        took = time.perf_counter() - started
        driver = _peak_megabytes("self")
        spark.stop()
        [log] = [path for path in Path(folder, "events").rglob("*") if path.is_file() and path.stat().st_size]
        return {
            "columns": columns,
            "parts": parts,
            "seconds": took,
            "driver_peak": driver,
            "result": 8 * columns * (columns + 1),
            "stages": stages([json.loads(line) for line in log.read_text().splitlines()]),
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


def _nothing():
    names = ("seconds", "tasks", "failed", "results", "read", "written", "spilled", "run")
    return dict.fromkeys(names, 0)


def _clicks(spark, columns, parts):
    """A DataFrame of sparse vectors in memory, one partition after the other."""
    from pyspark.ml.linalg import Vectors

    from mbauc.paper.clicks import ClickLog

    X, y, _ = ClickLog(parts * PART_ROWS, hash_dim=columns).rows()
    rows = [
        (Vectors.sparse(columns, X.indices[a:b].tolist(), X.data[a:b].tolist()), int(label))
        for a, b, label in zip(X.indptr[:-1], X.indptr[1:], y, strict=True)
    ]
    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, parts), ["features", "label"])
    frame = frame.cache()
    frame.count()
    return frame


def _session(folder, memory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    (Path(folder) / "events").mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.executor.memory": memory,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": Path(folder, "events").as_uri(),
        "spark.local.dir": str(Path(folder, "local")),
    }
    megabytes = int(memory.removesuffix("g")) * 1024
    builder = SparkSession.builder.master(f"local-cluster[2,1,{megabytes}]").appName("benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _peak_megabytes(process):
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    print(json.dumps(fit(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])), flush=True)
