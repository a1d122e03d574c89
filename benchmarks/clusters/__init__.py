"""Ten million rows of Parquet: one machine, Dask and Spark, and Spark's own logistic regression.

``python -m benchmarks clusters``. Each fit runs in a process of its own and prints what it measured. The
cluster has been started and a small fit has been made before the clock starts; reading the files is timed.
"""

from benchmarks.clusters.table import run

__all__ = ["run"]
