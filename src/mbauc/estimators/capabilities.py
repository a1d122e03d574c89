"""What works for arrays, files, streams and clusters: one table that estimators, command line and docs read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from mbauc.defaults import LOG_LOSS
from mbauc.errors import Advice
from mbauc.losses import Squared, get_loss

#: Ways of fitting: how rows come, and whether folds of them choose the penalties.
Way = Literal[
    "memory", "source", "decayed source", "stream", "cluster", "memory folds", "source folds", "cluster folds"
]
#: How each way is called for, in the words of the docs.
WAYS: dict[Way, str] = {
    "memory": "`fit(X, y)`",
    "source": "`fit_source`, `mbauc fit`",
    "decayed source": "`mbauc fit --decay`",
    "stream": "`partial_fit`",
    "cluster": "Dask, Spark",
    "memory folds": "CV: `fit(X, y)`",
    "source folds": "CV: `fit_source`, `mbauc fit --cv`",
    "cluster folds": "CV: Dask, Spark",
}


class Capability(NamedTuple):
    """An option of a fit."""

    #: in the words of the docs
    what: str
    #: those that have it
    ways: tuple[Way, ...]
    #: the parameter that asks for it
    parameter: str
    #: whether it does, from its value and all settings
    asks: Callable[[Any, Mapping[str, Any]], bool]
    #: for other ways that can be asked for it: what is said behind the parameter and its value
    refusals: dict[Way, str]


_WITH_FOLDS = Advice(" cannot be combined with {cv} or {loss}.", loss="auto")
_WITH_DECAY = Advice(" cannot be combined with {decay}.")
_CHOSEN = " is chosen by " + Advice("{cv} or {loss}; leave out one of the two.", loss="auto")
_ALL_OR_NUMBER = Advice("{pairs} or a number.", pairs="all")
_LEAVE_ALL = Advice("leave {pairs}.", pairs="all")
_PASS_BLOCKS = " is for streams: pass the blocks to partial_fit; fit_source needs the default."
_NO_ORDER = (
    " is for streams, whose blocks come one after the other; on a cluster there is no order among them. Use "
    "mbauc.MBAClassifier.partial_fit."
)
_ONLY_ONE = " is available in MBAClassifier only; use " + _ALL_OR_NUMBER

_NEEDS_GROUPS = " needs the group of each row; " + Advice(
    "pass {groups}.", command="name their column with {group}."
)

#: Ways that have losses other than the squared one: all but streams, of which nothing but moments is kept.
_LOSS_WAYS: tuple[Way, ...] = ("memory", "source", "cluster", "memory folds", "source folds", "cluster folds")

CAPABILITIES = (
    Capability(
        "all pairs, exact",
        tuple(WAYS),
        "pairs",
        lambda pairs, _: isinstance(pairs, str) and pairs == "all",
        {},
    ),
    Capability(
        "sampled pairs, `pairs=S`",
        ("memory", "source", "stream", "cluster", "memory folds"),
        "pairs",
        lambda pairs, _: not isinstance(pairs, str),
        {
            "decayed source": _WITH_DECAY,
            "source folds": ": cross-validation of a source uses all pairs, in the same pass; " + _LEAVE_ALL,
            "cluster folds": ": cross-validation on a cluster uses all pairs, in the same pass; " + _LEAVE_ALL,
        },
    ),
    Capability(
        '`pairs="enough"`',
        ("memory",),
        "pairs",
        lambda pairs, _: isinstance(pairs, str) and pairs == "enough",
        {
            "source": " is for rows in memory; fit_source needs " + _ALL_OR_NUMBER,
            "decayed source": " is for rows in memory; use " + _ALL_OR_NUMBER,
            "stream": " needs all rows at once, for fit; with partial_fit use " + _ALL_OR_NUMBER,
            "cluster": " is for rows in memory; on a cluster use " + _ALL_OR_NUMBER,
            "memory folds": _ONLY_ONE,
            "source folds": _ONLY_ONE,
            "cluster folds": _ONLY_ONE,
        },
    ),
    Capability(
        "a fixed `l1`",
        ("memory", "source", "decayed source", "stream", "cluster"),
        "l1",
        lambda l1, _: bool(l1),
        {"source folds": _CHOSEN},
    ),
    Capability(
        "a fixed `l2`",
        ("memory", "source", "decayed source", "stream", "cluster"),
        "l2",
        lambda l2, _: l2 != "auto",
        {"source folds": _CHOSEN},
    ),
    Capability(
        '`solver="matrix-free"`',
        ("memory", "source", "cluster", "memory folds", "source folds", "cluster folds"),
        "solver",
        lambda solver, _: str(solver) == "matrix-free",
        {"decayed source": " keeps no moments, which " + Advice("{decay} needs.")},
    ),
    Capability(
        '`solver="gram"` with sampled pairs',
        ("memory", "stream", "cluster", "memory folds"),
        "solver",
        lambda solver, settings: str(solver) == "gram" and not isinstance(settings.get("pairs", "all"), str),
        {
            "source": " with a number of pairs needs rows in memory; "
            + Advice("use {solver} for a source.", command="leave it out, or take all pairs.", solver="auto")
        },
    ),
    Capability(
        "`within_block=True`",
        ("memory", "stream"),
        "within_block",
        lambda within_block, _: bool(within_block),
        {"source": _PASS_BLOCKS, "cluster": _NO_ORDER},
    ),
    Capability(
        "`decay` of earlier rows",
        ("decayed source", "stream"),
        "decay",
        lambda decay, _: decay is not None and decay < 1,
        {"source": _PASS_BLOCKS, "cluster": _NO_ORDER, "source folds": _WITH_FOLDS},
    ),
    Capability(
        "a `loss` other than the squared one",
        _LOSS_WAYS,
        "loss",
        lambda loss, _: loss is not None and not (isinstance(loss, str) and loss == "squared"),
        {"decayed source": _WITH_DECAY},
    ),
    Capability(
        "partial AUC, few false alarms: `max_fpr`, `min_fpr`",
        _LOSS_WAYS,
        "max_fpr",
        lambda max_fpr, settings: max_fpr not in (None, 1.0) or bool(settings.get("min_fpr")),
        {"decayed source": _WITH_DECAY},
    ),
    Capability(
        "partial AUC, many detections: `min_tpr`",
        _LOSS_WAYS,
        "min_tpr",
        lambda min_tpr, _: bool(min_tpr),
        {"decayed source": _WITH_DECAY},
    ),
    Capability(
        "such a `loss`, or partial AUC, with sampled pairs",
        (),
        "pairs",
        lambda pairs, settings: pairs != "all" and not is_quadratic(settings),
        {"source": ": pairs are drawn for the squared loss over the whole ROC curve alone; " + _LEAVE_ALL},
    ),
    Capability(
        'such a `loss`, or partial AUC, with `solver="gram"`',
        (),
        "solver",
        lambda solver, settings: str(solver) == "gram" and not is_quadratic(settings),
        dict.fromkeys(
            ("source", "source folds"),
            " is for the squared loss over the whole ROC curve alone; "
            + Advice("use {solver}.", solver="auto"),
        ),
    ),
    Capability(
        "partial AUC with a `loss` that is not monotone, such as the squared one",
        (),
        "loss",
        lambda loss, settings: (
            asks_for_part(settings) and not (loss is None or _is_auto(loss) or get_loss(loss).falls)
        ),
        dict.fromkeys(
            _LOSS_WAYS,
            " also penalises pairs ranked right by a wide margin; a part of the ROC curve needs a monotone "
            "loss. " + Advice("Use {loss}.", loss="squared_hinge"),
        ),
    ),
    Capability(
        "curves and interactions: `AdditiveAUCClassifier`",
        ("memory", "source", "cluster"),
        "features",
        lambda features, _: features is not None,
        {
            "decayed source": _WITH_DECAY,
            "stream": " needs rows twice: to choose features, and to fit them. Use fit, or fit_source.",
            "source folds": " and penalties are selected by an internal cross-validation; "
            + Advice("leave out {cv} and {loss}.", loss="auto"),
        },
    ),
    Capability(
        "curves and interactions with `groups`",
        ("memory", "source"),
        "groups",
        lambda groups, settings: bool(groups) and settings.get("features") is not None,
        {
            "cluster": " cannot be combined with curves on a cluster. Leave the groups out, fit to files "
            "(fit_source), or use MBAClassifier or PairwiseAUCClassifier.",
        },
    ),
    Capability(
        "pairs within `groups`",
        ("memory", "source", "stream", "cluster", "memory folds", "source folds", "cluster folds"),
        "groups",
        lambda groups, _: bool(groups),
        {"decayed source": _WITH_DECAY},
    ),
    Capability(
        '`groups` with sampled pairs, or `pairs="enough"`',
        (),
        "groups",
        lambda groups, settings: bool(groups) and settings.get("pairs", "all") != "all",
        dict.fromkeys(
            ("memory", "source", "stream", "cluster", "memory folds"),
            ": within groups all pairs are used; " + _LEAVE_ALL,
        ),
    ),
    Capability(
        "`groups` with `within_block=True`",
        (),
        "groups",
        lambda groups, settings: bool(groups) and bool(settings.get("within_block")),
        dict.fromkeys(
            ("memory", "stream"),
            " already selects the pairs; " + Advice("leave {within_block}.", within_block=False),
        ),
    ),
    Capability(
        '`groups` with `solver="gram"`',
        ("memory", "stream", "memory folds"),
        "solver",
        lambda solver, settings: str(solver) == "gram" and bool(settings.get("groups")),
        dict.fromkeys(
            ("source", "cluster", "source folds", "cluster folds"),
            " cannot be combined with groups here: rows of a group may be spread over blocks, whose moments do "
            "not add up then. " + Advice("Use {solver}.", solver="auto"),
        ),
    ),
    Capability(
        "`equal_groups=True` without `groups`",
        (),
        "equal_groups",
        lambda equal, settings: bool(equal) and settings.get("groups") is False,
        dict.fromkeys(WAYS, _NEEDS_GROUPS),
    ),
    Capability(
        "`within_groups=True` without `groups`",
        (),
        "within_groups",
        lambda within, settings: bool(within) and settings.get("groups") is False,
        dict.fromkeys(("memory folds", "source folds", "cluster folds"), _NEEDS_GROUPS),
    ),
    Capability(
        "`groups` for the splitter only",
        ("memory folds",),
        "groups",
        lambda groups, settings: bool(groups) and settings.get("within_groups") is False,
        {
            "cluster folds": " would be for the splitter alone, and on a cluster there is none. To count pairs "
            "within groups only, set within_groups=True; to hold out groups together, give them as id."
        },
    ),
    Capability(
        "a splitter or splits as `cv`",
        ("memory folds",),
        "cv",
        lambda cv, _: not (cv is None or isinstance(cv, int | np.integer)),
        {
            "source folds": ": of a source cv is a number of folds.",
            "cluster folds": ": on a cluster cv is a number of folds. To hold out groups of rows together, "
            "give their group as id.",
        },
    ),
    Capability(
        "checkpoint and resume: `checkpoint`",
        ("source",),
        "checkpoint",
        lambda checkpoint, _: checkpoint is not None,
        {"decayed source": _WITH_DECAY, "source folds": _WITH_FOLDS},
    ),
    Capability(
        "memory limit: `memory`",
        ("source",),
        "memory",
        lambda memory, _: memory is not None,
        {"decayed source": _WITH_DECAY, "source folds": _WITH_FOLDS},
    ),
)


def is_quadratic(settings: Mapping[str, Any]) -> bool:
    """Whether settings ask for the squared loss over the whole ROC curve, which moments of rows suffice for.

    Without a loss it is the squared one, or the squared hinge for a part of the curve.
    """
    loss = settings.get("loss")
    if asks_for_part(settings) or _is_auto(loss) or loss == LOG_LOSS:
        return False
    return loss is None or isinstance(get_loss(loss), Squared)


def asks_for_part(settings: Mapping[str, Any]) -> bool:
    """Whether settings ask for a part of the ROC curve."""
    whole = settings.get("max_fpr") in (None, 1.0)
    return not whole or bool(settings.get("min_tpr")) or bool(settings.get("min_fpr"))


def _is_auto(loss: Any) -> bool:
    return isinstance(loss, str) and loss == "auto"


def check_capabilities(way: Way, settings: Mapping[str, Any]) -> None:
    """Raise if settings ask for an option that a way of fitting lacks; the error says what to do."""
    for capability in CAPABILITIES:
        name = capability.parameter
        if way in capability.refusals and name in settings and capability.asks(settings[name], settings):
            # a limit, a folder or groups cannot be had, whichever they are
            asked = () if name in ("memory", "checkpoint", "groups") else (settings[name],)
            raise ValueError(Advice.of_argument(name, *asked) + capability.refusals[way])


def capability_table() -> str:
    """The table for the docs, in Markdown."""
    lines = ["| | " + " | ".join(WAYS.values()) + " |", "|---" * (1 + len(WAYS)) + "|"]
    for capability in CAPABILITIES:
        marks = ("yes" if way in capability.ways else "–" for way in WAYS)
        lines.append(f"| {capability.what} | {' | '.join(marks)} |")
    return "\n".join(lines)
