"""``mbauc plan``: how many pairs a sample would need."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mbauc.cli.argument_types import number_or_auto, rate, seed, whole
from mbauc.cli.data_files import files, open_source
from mbauc.cli.options import add_columns, add_command, add_data
from mbauc.cli.output import Output

_DESCRIPTION = """\
Computes how many pairs must be drawn so that the weights come close to those of all pairs (Theorem 4 of the
MBA paper, with constants that can be proved), and measures how close samples of several sizes come, on the
first rows of the files. Training on all pairs is usually faster than on any such sample; use the numbers to
judge a sample, or to plan for data that you do not have yet.
"""
_EXAMPLES = """\
example:
  mbauc plan clicks.csv --label click --encode onehot --delta 0.2
"""

#: Columns from which on people should know what they are waiting for.
_WIDE = 3_000


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "plan", _DESCRIPTION, _EXAMPLES)
    add_data(parser)
    add_columns(parser)
    parser.add_argument("--l2", type=number_or_auto, default="auto", help="ridge penalty (default: auto)")
    parser.add_argument(
        "--delta", type=rate, default=0.1, help="largest relative distance of the weights (default: 0.1)"
    )
    parser.add_argument("--p", type=rate, default=0.05, help="probability of a larger distance (default: 0.05)")
    parser.add_argument(
        "--rows",
        type=_rows,
        default=200_000,
        metavar="N",
        help="number of rows to read (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")
    parser.set_defaults(run=run)


def _rows(text: str) -> int:
    value = whole(text)
    if value < 10:
        raise argparse.ArgumentTypeError(f"expected at least 10 rows, got {text!r}")
    return value


def run(options: argparse.Namespace) -> int:
    """Make the plan."""
    import numpy as np
    from scipy import sparse as sp

    from mbauc.paper.theory import plan_pairs

    output = Output(options.json)
    with files(options) as paths:
        source, _ = open_source(paths, options)
        blocks: list[Any] = []
        count = 0
        if source.n_features > _WIDE:
            fewer = "; --encode hash --hash-dim 1000 takes seconds" if hasattr(source, "plan") else ""
            sys.stderr.write(
                f"mbauc: note: a plan looks at all pairs of {source.n_features:,} columns, which takes minutes "
                f"and {24 * source.n_features**2 / 1e9:.1f} GB{fewer}.\n"
            )
        for X, y, weight in source:
            rows = min(y.size, options.rows - count)
            blocks.append((X[:rows], y[:rows], None if weight is None else weight[:rows]))
            count += rows
            if count >= options.rows:
                break
    if not blocks:
        raise ValueError("there are no rows.")
    parts, labels, weights = zip(*blocks, strict=True)
    sparse = any(sp.issparse(part) for part in parts)
    matrix: Any = sp.vstack(list(map(sp.csr_array, parts)), format="csr") if sparse else np.concatenate(parts)
    y = np.concatenate(labels)
    plan = plan_pairs(
        matrix,
        y,
        sample_weight=None if weights[0] is None else np.concatenate(weights),
        l2=options.l2,
        delta=options.delta,
        p=options.p,
        random_state=options.seed,
        verbose=not options.json,
    )
    output.say(str(plan))
    return output.finish(
        {
            "rows": int(y.size),
            "pairs": plan.pairs,
            "needed": plan.needed.pairs,
            "l2": plan.l2,
            "delta": plan.delta,
            "p": plan.p,
            "positives": plan.n_positive,
            "negatives": plan.n_negative,
            "measured": [vars(one) for one in plan.measured],
        }
    )
