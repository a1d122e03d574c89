"""``mbauc compare``: several models on the same rows."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import rate
from mbauc.cli.data_files import files, open_ungrouped, read_groups
from mbauc.cli.options import add_command, add_group, add_reading
from mbauc.cli.output import Output, Usage

_DESCRIPTION = """\
Scores the same labelled rows with several models and tests whether their AUCs differ. The test is DeLong's
for paired scores: it detects differences that overlapping intervals hide. With --group it compares the AUC
within groups, and groups are the sampling unit. Files that end in .mbauc are models, all others DATA.
"""
_EXAMPLES = """\
examples:
  mbauc compare old.mbauc new.mbauc tomorrow.csv
  mbauc compare old.mbauc new.mbauc searches.csv --group query
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "compare", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="two or more models, then the rows")
    add_reading(parser)
    add_group(parser)
    parser.add_argument(
        "--equal-groups", action="store_true", help="weight all groups alike, instead of all pairs"
    )
    parser.add_argument(
        "--confidence",
        type=rate,
        default=0.95,
        metavar="P",
        help="confidence level of the intervals (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score with each and compare."""
    models = [name for name in options.files if name.endswith(".mbauc")]
    options.data = [name for name in options.files if not name.endswith(".mbauc")]
    if len(models) < 2 or not options.data:
        raise Usage(
            f"two or more models (.mbauc) and rows are needed, got {len(models)} models and "
            f"{len(options.data)} other files."
        )
    twice = next((name for place, name in enumerate(models) if _same(name, models[:place])), None)
    if twice is not None:
        raise Usage(f"{twice} is given twice; pass two different models.")
    if options.equal_groups and options.group is None:
        raise Usage("--equal-groups needs --group, the column of the groups.")
    import numpy as np

    from mbauc.metrics import compare_grouped_roc_auc, compare_roc_auc
    from mbauc.model import load_model
    from mbauc.model.seen_files import find_seen_files, list_names
    from mbauc.model.testing import score_source

    output = Output(options.json)
    names = [Path(name).stem for name in models]
    if len(set(names)) < len(names):
        names = models
    with files(options) as paths:
        tested: list[Any] = []
        kinds: list[tuple[Any, Any]] = []
        groups: Any = None
        notes: list[str] = []
        for name, short in zip(models, names, strict=True):
            model = load_model(name, moments=False)
            kinds.append((type(model.layout), getattr(model.layout, "weight", None)))
            if kinds[-1][0] is not kinds[0][0]:
                raise ValueError(
                    f"{models[0]} and {name} cannot be compared: one reads tables, the other LIBSVM text."
                )
            if kinds[-1] != kinds[0]:
                ours, theirs = (repr(weight) if weight else "nothing" for _, weight in (kinds[0], kinds[-1]))
                raise ValueError(
                    f"{models[0]} weighs rows by {ours}, {name} by {theirs}; AUCs are compared on rows of the "
                    "same weights."
                )
            source = open_ungrouped(model, paths, options)
            seen = find_seen_files(model.trained_on.get("files"), source)
            if seen:
                notes.append(
                    f"{short} was trained on {list_names(seen)}: its AUC on these rows is optimistic. "
                    "Compare on rows that none of the models was trained on."
                )
            # before the scores, which take longest: a wrong name is said at once
            groups = read_groups(source, options.group, model) if groups is None else groups
            tested.append(score_source(model, source, verbose=not options.json))
            if not np.array_equal(tested[0].y, tested[-1].y):
                raise ValueError(f"{name} and {models[0]} have different positive labels.")
    first = tested[0]
    scores = {name: one.s for name, one in zip(names, tested, strict=True)}
    for place, (name, s) in enumerate(scores.items()):
        like = next((other for other in names[:place] if np.array_equal(scores[other], s)), None)
        if like is not None:
            notes.append(
                f"{like} and {name} give every row the same score: one may be a copy of the other. Compare "
                "with another model."
            )
    if groups is None:
        found = compare_roc_auc(
            first.y,
            scores,
            sample_weight=first.weight,
            weights=None if first.weight is None else "frequency",
            confidence=options.confidence,
        )
    else:
        counting = {"equal_groups": options.equal_groups, "confidence": options.confidence}
        found = compare_grouped_roc_auc(first.y, scores, groups.codes, sample_weight=first.weight, **counting)
        output.say(f"AUC within each {groups.name!r}, {groups.names.size:,} groups")
    output.say(str(found))
    for note in notes:
        output.note(note, 6)
    return output.finish(
        {
            "models": models,
            "rows": first.y.size,
            "auc": found.auc,
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
            "p_value": found.p_value,
            "holm_p_value": found.holm_p_value,
            "p_value_all": found.p_value_all,
            "confidence": found.confidence,
            "group": None if groups is None else groups.name,
            "notes": notes,
        }
    )


def _same(name: str, others: list[str]) -> bool:
    """Whether a file is one of several others."""
    return any(os.path.realpath(name) == os.path.realpath(other) for other in others)
