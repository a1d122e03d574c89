"""``mbauc fit``: from files to a trained and tested model."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.commands.rows import add_columns, add_data, described, files, opened
from mbauc.commands.terminal import (
    Output,
    Usage,
    add_command,
    add_out,
    may_write,
    memory,
    number,
    number_or_auto,
    pairs,
    rate,
    whole,
)

_DESCRIPTION = """\
Trains the linear ranker with the best pairwise squared loss over all positive/negative pairs, exactly, in one
pass over the files. Some rows are held out: their AUC, with its interval, is that of rows not seen.

What each column is gets decided from the first rows and is printed; --types, --ignore and --id overrule it. The
penalty l2 is chosen by generalised cross-validation unless it is given, or by K-fold cross-validation (--cv).
The model file scores raw rows anywhere (mbauc score) and goes on learning (mbauc update).
"""
_EXAMPLES = """\
examples:
  mbauc fit clicks.csv --label click -o model.mbauc
  mbauc fit logs/*.parquet --label fraud --weight amount --cv 5 -o model.mbauc
  mbauc fit day.libsvm.gz --l1 0.001 --memory 2GB --checkpoint run/ -o model.mbauc
  zcat big.tsv.gz | mbauc fit - --format tsv --label click -o model.mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "fit", "train a ranker on a table, a click log or a stream", _DESCRIPTION, _EXAMPLES
    )
    add_data(parser)
    add_out(parser, "model file to write, usually with the ending .mbauc")
    add_columns(parser)
    fit = parser.add_argument_group("training")
    fit.add_argument("--l1", type=number, default=0.0, metavar="λ₁", help="lasso penalty (default: 0)")
    fit.add_argument(
        "--l2",
        type=number_or_auto,
        default="auto",
        metavar="λ₂",
        help="ridge penalty (default: chosen from the data)",
    )
    fit.add_argument(
        "--cv",
        type=whole,
        nargs="?",
        const=5,
        default=0,
        metavar="K",
        help="choose l2 by cross-validation with K folds (5 if no number follows)",
    )
    fit.add_argument(
        "--pairs",
        type=pairs,
        default="all",
        metavar="all|S",
        help="all pairs, or so many drawn ones (default: all)",
    )
    fit.add_argument(
        "--decay",
        type=rate,
        metavar="F",
        help="multiply the weight of earlier rows by F at each block of 65,536: old rows count for less",
    )
    fit.add_argument(
        "--solver", choices=("auto", "gram", "matrix-free"), default="auto", help="(default: %(default)s)"
    )
    fit.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="that the process may take, such as 4GB (default: half of what is free)",
    )
    fit.add_argument(
        "--checkpoint", metavar="DIR", help="folder to keep the state in; the same command goes on from there"
    )
    fit.add_argument(
        "--test", nargs="+", metavar="DATA", help="files to test on, instead of rows that are held out"
    )
    fit.add_argument(
        "--hold-out",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="of rows to test on; 0 for none (default: 0.2)",
    )
    fit.add_argument(
        "--no-moments",
        action="store_true",
        help="leave the moments out of the file: smaller, but cannot be updated",
    )
    fit.add_argument("--seed", type=whole, default=0, help="of everything that is drawn (default: %(default)s)")
    fit.add_argument("--jobs", type=whole, metavar="N", help="threads (default: all cores that BLAS may use)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, test, write."""
    may_write(options.out, options.force)
    if not 0 <= options.hold_out < 1:
        raise Usage(f"--hold-out must lie between 0 and 1, got {options.hold_out}.")
    if options.cv == 1:
        raise Usage("--cv needs at least 2 folds.")
    if options.cv and (options.checkpoint or options.decay or options.pairs != "all"):
        raise Usage("--cv cannot be combined with --checkpoint, --decay or --pairs.")
    if options.cv and (options.l2 != "auto" or options.l1):
        raise Usage("--cv chooses the penalties; leave out --l1 and --l2.")
    if options.memory and (options.cv or options.decay):
        raise Usage("--memory cannot be combined with --cv or --decay.")
    if options.decay and (options.checkpoint or options.pairs != "all"):
        raise Usage("--decay cannot be combined with --checkpoint or --pairs.")
    from mbauc.memory import own_memory
    from mbauc.model import save_model
    from mbauc.model.training import Training, train

    output = Output(options.json)
    with files(options) as paths:
        source, layout = opened(paths, options)
        told: dict[str, Any] = {"files": described(paths), "columns": layout.n_features}
        plan = getattr(source, "plan", None)
        if plan is not None:
            output.say(plan.describe(options=True))
            output.say()
        negative, positive = source.classes
        output.say(
            f"labels      {positive!r} is positive, {negative!r} negative; {layout.n_features:,} columns"
        )
        settings = {
            "l1": options.l1,
            "l2": options.l2,
            "pairs": options.pairs,
            "solver": options.solver,
            "random_state": options.seed,
            "n_jobs": options.jobs,
        }
        training = Training(
            settings,
            folds=options.cv,
            hold_out=options.hold_out,
            seed=options.seed,
            memory=None if options.memory is None else max(options.memory - own_memory(), 1 << 20),
            checkpoint=options.checkpoint,
            decay=options.decay or 1.0,
            show=not options.json,
        )
        test = None if options.test is None else layout.source(options.test, source.classes)
        model, tested = train(source, layout, training, about=told, test=test, say=output.say)
    output.say(f"penalties   l1 = {model.l1:g}, l2 = {model.l2:g}{' (cross-validated)' if model.path else ''}")
    record = model.trained_on
    output.say(f"trained on  {record['positives']:,.0f} positives and {record['negatives']:,.0f} negatives")
    if tested is not None:
        output.say(f"test AUC    {tested.interval()} on {tested.y.size:,} rows not trained on")
    save_model(model, options.out, moments=not options.no_moments)
    output.say(f"wrote       {options.out} ({options.out.stat().st_size / 1e6:,.1f} MB)")
    return output.done({"model": options.out, "l1": model.l1, "l2": model.l2, "path": model.path, **record})
