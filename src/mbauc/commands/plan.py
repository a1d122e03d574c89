"""``mbauc plan``: how many pairs a sample would need."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.commands.rows import add_columns, add_data, files, opened
from mbauc.commands.terminal import Output, add_command, number_or_auto, rate, whole

_DESCRIPTION = """\
Says how many pairs must be drawn so that the weights come close to those of all pairs (Theorem 4 of the MBA
paper, with constants that can be proved), and what samples of several sizes really do, from the first rows of
the files.
Training on all pairs is usually faster than any such sample: this is for understanding, and for data to come.
"""
_EXAMPLES = """\
example:
  mbauc plan clicks.csv --label click --encode onehot --delta 0.2
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "plan", "how many pairs a sample would need (Theorem 4)", _DESCRIPTION, _EXAMPLES
    )
    add_data(parser)
    add_columns(parser)
    parser.add_argument("--l2", type=number_or_auto, default="auto", help="ridge penalty (default: auto)")
    parser.add_argument(
        "--delta", type=rate, default=0.1, help="largest distance of the weights, as a share (default: 0.1)"
    )
    parser.add_argument("--p", type=rate, default=0.05, help="probability that this fails (default: 0.05)")
    parser.add_argument(
        "--rows",
        type=whole,
        default=200_000,
        metavar="N",
        help="of the files to look at (default: %(default)s)",
    )
    parser.add_argument("--seed", type=whole, default=0, help="of the draws (default: %(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the plan."""
    import numpy as np
    from scipy import sparse as sp

    from mbauc.theory import plan_pairs

    output = Output(options.json)
    with files(options) as paths:
        source, _ = opened(paths, options)
        blocks, count = [], 0
        for block in source:
            blocks.append(block)
            count += block.y.size
            if count >= options.rows:
                break
    if not blocks:
        raise ValueError("there are no rows.")
    sparse = any(sp.issparse(block.X) for block in blocks)
    X: Any = (
        sp.vstack([sp.csr_array(block.X) for block in blocks], format="csr")
        if sparse
        else np.concatenate([block.X for block in blocks])
    )
    y = np.concatenate([block.y for block in blocks])
    plan = plan_pairs(
        X,
        y,
        l2=options.l2,
        delta=options.delta,
        p=options.p,
        random_state=options.seed,
        verbose=not options.json,
    )
    output.say(str(plan))
    return output.done(
        {
            "rows": int(y.size),
            "pairs": plan.pairs,
            "needed": plan.needed.pairs,
            "l2": plan.l2,
            "delta": plan.delta,
            "p": plan.p,
            "positives": plan.n_positive,
            "negatives": plan.n_negative,
        }
    )
