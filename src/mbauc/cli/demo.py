"""``mbauc demo``: the main job on data made up on the spot."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.cli.output import Output, add_command, seed, whole


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        "fit and evaluate a ranker on data made up on the spot",
        "Makes an imbalanced table (2% positives, 40 columns) block by block, chooses the penalty by "
        "cross-validation in one pass, and evaluates on rows held back: AUC with a confidence interval, next "
        "to logistic regression, and a plot of both ROC curves.",
        "example:\n  mbauc demo --rows 1000000 --out /tmp/demo",
    )
    parser.add_argument(
        "--rows",
        type=_count,
        default=400_000,
        metavar="N",
        help="rows to train on, at least 1000 (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-demo"),
        metavar="DIR",
        help="folder for the plot (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the data (default: %(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run it, and say how it went line by line."""
    from mbauc.cli.demo_run import run as demonstrate

    output = Output(options.json)
    return output.done(demonstrate(options.rows, options.out, options.seed, output.say))


def _count(text: str) -> int:
    value = whole(text)
    if value < 1000:
        raise argparse.ArgumentTypeError(f"expected at least 1000 rows, got {value}")
    return value
