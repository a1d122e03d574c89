"""``mbauc data clicks``: a synthetic click log as a file."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import whole
from mbauc.cli.options import add_command, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, describe_size
from mbauc.paper.clicks.log import ClickLog
from mbauc.paper.clicks.shapes import SHAPES
from mbauc.readers.libsvm.paths import is_libsvm_name

_DESCRIPTION = """\
Writes a synthetic click log in the shape of Criteo or Avazu: columns of up to ten million values that
depend on each other, few clicks, and effects of which a linear ranker finds most but not all.

parquet has the original columns as texts; libsvm has them hashed to --hash-dim columns. Row i depends on
the shape, the seed and i alone: the same command writes the same rows everywhere, and a test set is the
same log from a later row on.
"""
_EPILOG = """\
example, 20 million rows to train on and the next million to test on:
  mbauc data clicks --rows 2e7 --shape avazu-app -o train.libsvm
  mbauc data clicks --rows 1e6 --shape avazu-app --start 2e7 -o test.libsvm
In Python no file is needed: mbauc.paper.clicks.ClickLog(20_000_000, shape='avazu-app').
"""


def add_clicks(actions: Any) -> None:
    """Add ``clicks`` to the actions of ``mbauc data``."""
    clicks = add_command(
        actions,
        "clicks",
        _DESCRIPTION,
        _EPILOG,
        summary="make a click log in the shape of Criteo or Avazu",
    )
    clicks.add_argument("--rows", type=whole, default=1_000_000, metavar="N", help="rows (default: 1e6)")
    clicks.add_argument(
        "--shape",
        choices=tuple(SHAPES),
        default="criteo",
        help="criteo: 39 columns, 2.92 negatives for each positive; avazu-app: 22, 8.33; avazu-site: 22, 4.06 "
        "(default: %(default)s)",
    )
    clicks.add_argument(
        "--format",
        choices=("parquet", "libsvm"),
        help="what to write (default: parquet if FILE ends in .parquet, libsvm otherwise)",
    )
    clicks.add_argument(
        "--hash-dim", type=whole, default=10_000, metavar="D", help="columns of libsvm (default: %(default)s)"
    )
    clicks.add_argument("--seed", type=whole, default=0, help="seed of the log (default: %(default)s)")
    clicks.add_argument("--start", type=whole, default=0, metavar="N", help="first row (default: %(default)s)")
    add_out(clicks, "file to write")
    clicks.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    path: Path = options.out
    if options.format is None and path.suffix.lower() in (".csv", ".tsv", ".json", ".arrow"):
        raise Usage(f"-o {path}: a click log is written as Parquet or as LIBSVM text; say which with --format.")
    check_writable(path, options.force)
    output = Output(options.json)
    log = ClickLog(
        options.rows, shape=options.shape, hash_dim=options.hash_dim, seed=options.seed, start=options.start
    )
    parquet = (options.format or path.suffix.lower().lstrip(".")) == "parquet"
    if parquet:
        rows = log.write_parquet(path)
        how = f"label column: {log.label}; next: mbauc fit {shlex.quote(str(path))} --label {log.label}"
    else:
        rows = log.write_libsvm(path)
        how = f"next: mbauc fit {shlex.quote(str(path))}{' --format libsvm' * (not is_libsvm_name(path))}"
    size = path.stat().st_size
    output.say(f"wrote {rows:,} rows to {path} ({describe_size(size)})\n{how} -o model.mbauc")
    return output.finish(
        {
            "file": path,
            "format": "parquet" if parquet else "libsvm",
            "rows": rows,
            "bytes": size,
            "label": log.label if parquet else None,
            "columns": None if parquet else log.n_features,
        }
    )
