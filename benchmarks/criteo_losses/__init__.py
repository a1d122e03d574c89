"""Other losses and features at the size of Criteo's log, from Parquet files within 8 GB.

``python -m benchmarks criteo_losses`` runs all of it; ``python -m benchmarks.criteo_losses squared_hinge`` one
part. Each part keeps its own result, and the table is made of those that are there.
"""

from benchmarks.criteo_losses.table import run

__all__ = ["run"]
