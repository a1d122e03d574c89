"""Other losses and features at the size of Criteo's log, from Parquet files within 8 GB.

``python -m benchmarks criteo_losses`` runs all of it; ``python -m benchmarks.criteo_losses squared_hinge`` one
part. Each part keeps its own result, and the table is made of those that are there.
"""


def run():
    """All parts, and the table."""
    # the fits are programs of their own in this package, which are not to be imported first
    from benchmarks.criteo_losses.table import run as run_parts

    run_parts()
