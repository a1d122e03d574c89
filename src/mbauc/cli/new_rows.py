"""Labelled rows that are new to a model, for what must not rest on rows of its training."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from mbauc.cli.data_files import open_like, open_ungrouped
from mbauc.cli.output import note_skipped


class NewRows(NamedTuple):
    """Labels and scores of rows, the files they are of, those of the training among them, and rows left out."""

    tested: Any
    marks: list[dict[str, Any]]
    seen: list[str]
    left_out: dict[str, Any]


def add_held_out(parser: argparse.ArgumentParser, without: str) -> None:
    """``MODEL``'s held-out rows or, against advice, rows of its training."""
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="use the rows of the training file that 'mbauc fit --keep-tested' held out",
    )
    parser.add_argument(
        "--on-training-rows",
        action="store_true",
        help=f"accept rows that the model was trained on; then {without}",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """MODEL, the first of the files."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")


def score_new_rows(
    model: Any, paths: list[str], options: argparse.Namespace, why: str, without: str
) -> NewRows:
    """Score DATA, or refuse rows of the training; ``why``, and what there is ``without`` new rows, in words."""
    from mbauc.model.seen_files import file_marks, find_seen_files, list_names
    from mbauc.model.testing import score_source, select_held_out

    # which rows were held out depends on their groups
    source = (open_like if options.held_out else open_ungrouped)(model, paths, options)
    marks, seen = file_marks(source), find_seen_files(model.trained_on.get("files"), source)
    rows = source
    if options.held_out:
        rows, seen = select_held_out(model, source), []
    if seen and not options.on_training_rows:
        kept = (
            "use the rows that 'mbauc fit' held out, with --held-out."
            if "held_out" in model.trained_on
            else "train again with 'mbauc fit --keep-tested'; --held-out then uses the rows that it held out."
        )
        raise ValueError(
            f"{list_names(seen)}: the model was trained on these rows. {why} Pass rows that were not used for "
            f"training, such as another day. Without such rows, {kept} --on-training-rows uses the training "
            f"rows anyway, {without}."
        )
    tested = score_source(model, rows, verbose=not options.json)
    return NewRows(tested, marks, seen, note_skipped(options, source))
