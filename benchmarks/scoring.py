"""Scores of raw rows: from files to a table of scores, against reading the files alone."""

import tempfile
from pathlib import Path

from benchmarks.timing import interleaved, report
from mbauc.model import load_model, save_model
from mbauc.model.hold_out import HoldOut
from mbauc.model.layout import TableLayout
from mbauc.model.scoring import score_files
from mbauc.model.training import Training, train
from mbauc.paper.clicks import ClickLog
from mbauc.readers import TableSource

ROWS, TRAIN = 1_000_000, 50_000


def run(rows=ROWS):
    table = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        parquet, csv = folder / "rows.parquet", folder / "rows.csv"
        ClickLog(rows).write_parquet(parquet)
        _as_csv(parquet, csv)
        small = folder / "small.parquet"
        ClickLog(TRAIN).write_parquet(small)
        source = TableSource(small, label="label", encode="hash", hash_dim=10_000)
        layout = TableLayout(source.encoding, "label")
        model, _ = train(source, layout, Training({"l2": 0.01}, hold_out=HoldOut(0.0)))
        save_model(model, folder / "model.mbauc")
        model = load_model(folder / "model.mbauc")
        for name, path in (("CSV", csv), ("Parquet", parquet)):
            times = interleaved(
                {
                    "read": lambda path=path: _read(path, model),
                    "arrow": lambda path=path: _arrow(path),
                    "score": lambda path=path: score_files(model, path, folder / "scores.parquet"),
                    "score csv": lambda path=path: score_files(model, path, folder / "scores.csv"),
                },
                repeats=2,
            )
            table += [
                (
                    f"{name} to {kind}",
                    f"{rows / times[key] / 1e6:.2f}M rows/s: {times['read'] / times[key]:.2f} of the speed of "
                    f"reading into columns ({rows / times['read'] / 1e6:.2f}M rows/s), "
                    f"{times['arrow'] / times[key]:.2f} of that of pyarrow alone "
                    f"({rows / times['arrow'] / 1e6:.2f}M rows/s)",
                    "at least 0.5 of reading",
                )
                for kind, key in (("Parquet", "score"), ("CSV", "score csv"))
            ]
    report(
        "scoring",
        table,
        notes=[
            f"{rows:,} rows of 39 raw columns in the shape of Criteo's log, hashed to 10,000 columns; reading "
            "into columns is what a fit does with the files, pyarrow alone only parses them into Arrow tables",
        ],
    )


def _read(path, model):
    return sum(block.X.shape[0] for block in model.layout.source(path, model.classes))


def _arrow(path):
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix == ".csv":
        with pyarrow.csv.open_csv(path) as stream:
            return sum(batch.num_rows for batch in stream)
    return sum(batch.num_rows for batch in pyarrow.parquet.ParquetFile(path).iter_batches())


def _as_csv(parquet, csv):
    import pyarrow.csv
    import pyarrow.parquet

    source = pyarrow.parquet.ParquetFile(parquet)
    with pyarrow.csv.CSVWriter(csv, source.schema_arrow) as writer:
        for batch in source.iter_batches():
            writer.write_batch(batch)
