"""``mbauc fit``: from files to a trained and tested model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc import defaults
from mbauc.cli.advice import in_options
from mbauc.cli.argument_types import (
    LOSSES,
    jobs,
    memory,
    number,
    number_or_auto,
    pairs,
    rate,
    seed,
    share,
    whole,
)
from mbauc.cli.column_table import column_table
from mbauc.cli.data_files import files, is_libsvm, open_like, open_source
from mbauc.cli.features import add_features, check_features, choose_features, feature_settings, find_crossed
from mbauc.cli.fit_result import describe_updates, say_result
from mbauc.cli.options import COLUMN_OPTIONS, add_columns, add_command, add_data, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, describe_size, note_skipped

if TYPE_CHECKING:
    from mbauc.model.training import Training

_DESCRIPTION = """\
Trains a ranker for AUC over all pairs of a positive and a negative row. A model is first tested on held-out
rows, and its AUC is printed with a confidence interval; the final model is then trained on all rows.

For tables the model is additive: a curve for each number, levels for each category, and heat maps for pairs
of columns that interact, wherever these rank better than straight lines (--features auto). For LIBSVM text,
and with options that only linear models have, the model is linear: exact, in one pass. These options are
--encode, --hash-dim, --signed, --scale, --missing, --l1, --l2, --cv, --pairs, --decay, --solver, --no-moments,
--like, --max-fpr, --min-tpr and --equal-groups.

All pairs count alike by default. For linear models --loss squared_hinge or auto often ranks better than the
squared loss. --group compares only rows of the same user, query or day. --max-fpr 0.05 optimises the top of
the list, where false alarms are few; that model is linear, and the default's curves may still rank the top
better: compare both with 'mbauc evaluate --max-fpr 0.05'.

After its test a model is trained again on all rows. --keep-tested keeps the tested one instead: with one file
only, 'mbauc threshold --held-out' can then set a threshold from the rows that it has not seen.

Column types are detected from the first rows and printed; override them with --types, --ignore and --id.
The model file scores raw rows on any machine (mbauc score). Linear models can be updated with new rows
(mbauc update) if the file holds their moments: by default up to 2,048 columns, beyond with --solver gram.
Their l2 is selected by a leave-one-out estimate of AUC, unless it is given or selected by cross-validation
(--cv).
"""
_EXAMPLES = """\
examples:
  mbauc fit clicks.csv --label click -o model.mbauc
  mbauc fit logs/*.parquet --label fraud --weight times_seen --cv 5 -o model.mbauc
  mbauc fit clicks.libsvm --loss auto -o model.mbauc
  mbauc fit loans.csv --label default --features linear -o model.mbauc
  mbauc fit loans.csv --label default --cross age,income -o model.mbauc
  mbauc fit searches.csv --label click --group query --loss squared_hinge -o model.mbauc
  mbauc fit fraud.csv --label fraud --max-fpr 0.01 -o model.mbauc
  mbauc fit fraud.csv --label fraud --keep-tested -o model.mbauc
  mbauc fit west.csv --like east.mbauc -o west.mbauc
  mbauc fit day.libsvm.gz --l1 0.001 --memory 2GB --checkpoint run/ -o model.mbauc
  zcat big.tsv.gz | mbauc fit - --format tsv --label click -o model.mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "fit", _DESCRIPTION, _EXAMPLES)
    add_data(parser)
    add_out(parser, "model file to write, usually with the ending .mbauc")
    add_columns(parser)
    parser.add_argument(
        "--like",
        type=Path,
        metavar="MODEL",
        help="reuse the columns, scales and hashing of this model, so that 'mbauc merge' can merge the two",
    )
    _add_objective(parser)
    add_features(parser)
    fit = parser.add_argument_group("training")
    fit.add_argument("--l1", type=number, default=0.0, metavar="λ₁", help="lasso penalty (default: 0)")
    fit.add_argument(
        "--l2",
        type=number_or_auto,
        default="auto",
        metavar="λ₂",
        help="ridge penalty (default: auto, selected from the data)",
    )
    fit.add_argument(
        "--cv",
        type=whole,
        nargs="?",
        const=defaults.FOLDS,
        default=0,
        metavar="K",
        help=f"select l2 by K-fold cross-validation ({defaults.FOLDS} folds if K is left out)",
    )
    fit.add_argument(
        "--pairs",
        type=pairs,
        default="all",
        metavar="all|S",
        help="all pairs of a positive and a negative row, or a random sample of S pairs (default: all)",
    )
    fit.add_argument(
        "--decay",
        type=rate,
        metavar="F",
        help="forget old rows: multiply their weight by F after each file, and after each 65,536 rows within "
        "a file",
    )
    fit.add_argument(
        "--solver",
        choices=("auto", "gram", "matrix-free"),
        default="auto",
        help="gram forms a columns × columns matrix, which 'mbauc update' needs; matrix-free never forms it, "
        "for very many columns (default: %(default)s, the faster one)",
    )
    fit.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="memory limit of the process, such as 4GB. A limit that is too low for this fit is refused before "
        "anything is read; the least is 450MB for LIBSVM text and 750MB for tables (default: half of the free "
        "memory)",
    )
    fit.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="folder for the state of the fit; after a kill, the same command resumes from it",
    )
    fit.add_argument("--test", nargs="+", metavar="DATA", help="files to test on, instead of held-out rows")
    fit.add_argument(
        "--hold-out",
        type=_hold_out,
        metavar="SHARE|last",
        help="rows to test on: a random share (0.2 or 20%%), the last rows in the order of the files, "
        "or 0 for no test (default: "
        f"{defaults.HOLD_OUT}; the latest rows of a table with a time; cross-validation folds where rows are "
        f"few)",
    )
    fit.add_argument(
        "--time", metavar="NAME", help="column of times or increasing numbers: test on the latest rows"
    )
    fit.add_argument(
        "--cluster",
        metavar="NAME",
        help="column of clusters, such as patients: rows of one cluster are never split between training and "
        "test, the confidence interval accounts for clusters, and the column is not a feature",
    )
    fit.add_argument(
        "--keep-tested",
        action="store_true",
        help="keep the model that was tested, instead of training again on all rows; 'mbauc threshold "
        "--held-out' needs it, to set a threshold from the rows that were held out",
    )
    fit.add_argument(
        "--no-moments",
        action="store_true",
        help="leave the moments out of the file: it is smaller, but cannot be updated",
    )
    fit.add_argument("--seed", type=seed, default=defaults.SEED, help="random seed (default: %(default)s)")
    fit.add_argument(
        "--jobs", type=jobs, metavar="N", help="number of threads (default: as many as BLAS may use)"
    )
    parser.set_defaults(run=run)


def _add_objective(parser: argparse.ArgumentParser) -> None:
    """Loss, groups and part of the ROC curve."""
    group = parser.add_argument_group("objective")
    group.add_argument(
        "--loss",
        choices=(*LOSSES, defaults.LOG_LOSS, "auto"),
        help="loss of a pair: squared (one pass, can be updated); squared_hinge, hinge or logistic (robust to "
        "pairs ranked right by a wide margin: often better, some dozen passes); exponential; log_loss (of rows "
        "instead "
        "of pairs, as in logistic regression; curves only); auto: selected on held-out rows (default: auto for "
        "curves; for linear models squared, or squared_hinge with --max-fpr or --min-tpr)",
    )
    group.add_argument(
        "--group",
        metavar="NAME",
        help="column of groups, such as a query, a user or a day (qid: query numbers of LIBSVM text): only "
        "rows of the same group are compared. It is not a feature, and scoring does not need it",
    )
    group.add_argument(
        "--equal-groups", action="store_true", help="weight all groups alike, instead of all pairs"
    )
    group.add_argument(
        "--max-fpr",
        type=rate,
        metavar="B",
        help="optimise the partial AUC up to this false-alarm rate, such as 0.05 or 5%%: for lists of which "
        "only the top is used; with --loss auto losses are also compared by it. Such models are linear; "
        "compare them with the default, whose curves may rank the top better ('mbauc evaluate --max-fpr')",
    )
    group.add_argument(
        "--min-tpr",
        type=rate,
        metavar="T",
        help="optimise the partial AUC from this detection rate on, such as 0.9 or 90%%: where few positives "
        "may be missed",
    )


def run(options: argparse.Namespace) -> int:
    """Train, test, write."""
    check_writable(options.out, options.force, finished=_measure_checkpoint(options.checkpoint))
    from mbauc.cli.memory_need import Room
    from mbauc.model import save_model
    from mbauc.model.hold_out import choose_hold_out
    from mbauc.model.training import train
    from mbauc.rows.source import about_rows
    from mbauc.runtime.progress import show_wait

    output = Output(options.json)
    with files(options) as paths:
        if not is_libsvm(paths, options.format):
            choose_features(options)
        training = _make_training(options)
        room = Room(options.memory, paths, options)
        open_rows = open_source if options.like is None else _open_alike
        source, layout = open_rows(paths, options, room.block_rows)
        additive = find_crossed(options, layout)
        if training.is_additive:
            additive |= room.search_settings(layout.n_features)
        grouped, rows = getattr(layout, "group", None) is not None, about_rows(source) or 0
        room.require_for(
            source,
            gram=options.solver == "gram",
            test_rows=0 if options.test else round(training.hold_out.share * rows),
            swept_rows=rows if grouped or not training.is_quadratic else 0,
        )
        plan = getattr(source, "plan", None)
        if plan is not None:
            output.say(column_table(plan))
            output.say()
        negative, positive = source.classes
        columns = f"{layout.n_features:,} column{'s' if layout.n_features != 1 else ''}"
        output.say(f"labels      {positive!r} is positive, {negative!r} negative; {columns}")
        if _measure_checkpoint(options.checkpoint):
            output.say(f"checkpoint  resuming from {options.checkpoint}")
        test = None
        if options.test is not None:
            test = layout.source(
                options.test, source.classes, on_error=options.on_error, block_rows=room.block_rows
            )
        about: dict[str, Any] = {"columns": layout.n_features}
        names = [*(options.id or ()), *(name for name, kind in (options.types or {}).items() if kind == "id")]
        if names:
            about["id"] = names
        if options.equal_groups and not grouped:
            raise Usage("--equal-groups needs --group, the column of the groups.")
        settings = training.settings | additive
        training = replace(training, settings=settings, memory=room.for_rows(), grouped=grouped)
        if test is None and options.hold_out is None:
            chosen, why = choose_hold_out(source, training.hold_out, grouped=grouped, folds=training.refit)
            training = replace(training, hold_out=chosen)
            if why:
                output.note(f"on {chosen.describe()}: {why}", 12, "test")
        with show_wait("", show=training.verbose):
            model, tested = train(source, layout, training, about=about, test=test)
        left_out = note_skipped(options, source, test)
    say_result(output, model, tested)
    output.say(f"updates     {describe_updates(model, training, options)}")
    save_model(model, options.out, moments=not options.no_moments)
    output.say(f"wrote       {options.out} ({describe_size(options.out.stat().st_size)})")
    kept = _measure_checkpoint(options.checkpoint)
    if kept:
        output.say(
            f"checkpoint  {options.checkpoint} holds {describe_size(kept)} and is no longer needed: delete it"
        )
    kinds = {} if plan is None else {column.name: column.kind for column in plan.columns}
    result = {"model": options.out, "l1": model.l1, "l2": model.l2, "path": model.path, "seen_as": kinds}
    return output.finish({**result, **left_out, **model.trained_on})


def _hold_out(text: str) -> float | str:
    """A share of the rows, or "last"."""
    if text == "last":
        return text
    value = share(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"expected a share between 0 and 1, such as 0.2 or 20%, or last, got {text!r}"
        )
    return value


def _make_hold_out(options: argparse.Namespace) -> Any:
    """The rows to test on, as far as the options say."""
    from mbauc.model.hold_out import HoldOut

    share = options.hold_out if isinstance(options.hold_out, float) else defaults.HOLD_OUT
    by = "time" if options.time else "cluster" if options.cluster else options.hold_out
    return HoldOut(
        share, options.seed, by if isinstance(by, str) else "random", options.time or options.cluster
    )


def _make_training(options: argparse.Namespace) -> Training:
    """What to do, unless options contradict each other."""
    if options.test is not None and options.hold_out is not None:
        raise Usage("--hold-out cannot be combined with --test: both select the test rows.")
    told = [name for name in ("time", "cluster") if getattr(options, name) is not None]
    if told and (options.test is not None or options.hold_out == "last" or len(told) > 1):
        other = "--test" if options.test is not None else "--hold-out last" if len(told) == 1 else "--cluster"
        raise Usage(f"--{told[0]} cannot be combined with {other}: both select the test rows.")
    if options.keep_tested and options.hold_out == 0:
        raise Usage("--keep-tested keeps the model that was tested, and --hold-out 0 tests no model.")
    if options.cv == 1:
        raise Usage("--cv needs at least 2 folds.")
    if options.test is not None and "-" in options.test:
        raise Usage("--test takes files; standard input can only be DATA.")
    from mbauc.model.training import Training

    check_features(options)
    settings = {name: getattr(options, name) for name in ("l1", "l2", "pairs", "solver")}
    asked = {name: getattr(options, name) for name in ("loss", "max_fpr", "min_tpr")}
    settings |= {name: value for name, value in asked.items() if value is not None}
    settings |= {"equal_groups": True} if options.equal_groups else {}
    training = Training(
        {**settings, **feature_settings(options), "random_state": options.seed, "n_jobs": options.jobs},
        folds=options.cv,
        grouped=options.group is not None,
        hold_out=_make_hold_out(options),
        refit=not options.keep_tested,
        baseline=True,
        calibrate=True,
        memory=options.memory,
        checkpoint=options.checkpoint,
        decay=options.decay or 1.0,
        verbose=not options.json,
    )
    try:
        training.check()
    except ValueError as error:
        raise Usage(in_options(error)) from None
    return training


def _open_alike(paths: list[str], options: argparse.Namespace, block_rows: int) -> tuple[Any, Any]:
    """A source of files, read as another model's were."""
    from mbauc.model import load_model
    from mbauc.model.record import list_ids

    given = next((name for name in COLUMN_OPTIONS if getattr(options, name) is not None), None)
    if given is not None:
        raise Usage(
            f"--like uses the columns of the model and cannot be combined with --{given.replace('_', '-')}."
        )
    model = load_model(options.like, moments=False)
    options.id = list_ids(model.trained_on)
    return open_like(model, paths, options, block_rows=block_rows), model.layout


def _measure_checkpoint(checkpoint: str | None) -> int:
    """Bytes that an earlier run left in the folder of a checkpoint; 0 if there was none."""
    if checkpoint is None:
        return 0
    return sum(file.stat().st_size for file in Path(checkpoint).glob("*.*") if file.is_file())
