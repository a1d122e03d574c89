"""The fits, each a program: ``python -m benchmarks.clusters.fits NAME WORKERS ROWS``."""

import glob
import json
import os
import sys
import time

import numpy as np

from benchmarks.clusters.data import FILES, NAMES, make, test_rows
from mbauc.metrics import roc_auc

SMALL = 100_000
#: Iterations that logistic regression is given, until it is as good as it gets.
LADDER = (1, 2, 3, 5, 8, 12, 20, 100)


def local(workers, rows):
    from mbauc import MBAClassifier
    from mbauc.readers import TableSource

    def fit(place):
        files = sorted(glob.glob(str(place / "*.parquet")))
        source = TableSource(
            files,
            label="label",
            types=dict.fromkeys(NAMES, "numeric"),
            ignore=["user"],
            missing="mean",
            scale=None,
        )
        return MBAClassifier(n_jobs=workers).fit_source(source)

    return _timed(fit, rows)


def on_dask(workers, rows):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from mbauc.dask import MBAClassifier

    with (
        LocalCluster(workers, threads_per_worker=1, dashboard_address=None, memory_limit="6GB") as cluster,
        Client(cluster),
    ):

        def fit(place):
            frame = dd.read_parquet(str(place / "*.parquet"))
            return MBAClassifier().fit(frame[NAMES], frame["label"])

        return _timed(fit, rows)


def on_spark(workers, rows):
    from mbauc.spark import MBAClassifier

    spark = start_spark(workers)

    def fit(place):
        return MBAClassifier().fit(spark.read.parquet(str(place)), features=NAMES, label="label")

    return _timed(fit, rows)


def logistic(workers, rows):
    """Spark ML's logistic regression, from few iterations to many; reading is within each time."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler

    spark = start_spark(workers)
    assemble = VectorAssembler(inputCols=NAMES, outputCol="features")

    def fit(place, steps):
        return LogisticRegression(maxIter=steps).fit(assemble.transform(spark.read.parquet(str(place))))

    fit(make(SMALL, FILES, seed=2), 3)
    X, y = test_rows()
    found, place = [], make(rows, FILES, seed=0)
    for steps in LADDER:
        started = time.perf_counter()
        model = fit(place, steps)
        took = time.perf_counter() - started
        weights = np.array(model.coefficients.toArray())
        done = int(model.summary.totalIterations)
        found.append({"steps": steps, "done": done, "seconds": took, "auc": roc_auc(y, X @ weights)})
        if done < steps:
            break
    return {"ladder": found}


def _timed(fit, rows):
    fit(make(SMALL, FILES, seed=2))
    place = make(rows, FILES, seed=0)
    times = []
    for _ in range(2):
        started = time.perf_counter()
        ranker = fit(place)
        times.append(time.perf_counter() - started)
    X, y = test_rows()
    return {
        "seconds": min(times),
        "auc": roc_auc(y, X @ ranker.coef_[0]),
        "coef": ranker.coef_[0].tolist(),
        "moments": [ranker.moments_.mean_difference.tolist(), ranker.moments_.second_moment.tolist()],
    }


def start_spark(workers):
    """A local cluster of executors with one core each."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "5g",
        "spark.sql.files.maxPartitionBytes": str(1 << 27),
    }
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,5120]").appName("benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


FITS = {"local": local, "dask": on_dask, "spark": on_spark, "logistic": logistic}

if __name__ == "__main__":
    name, workers, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    result = FITS[name](workers, rows)
    print(json.dumps(result), flush=True)
