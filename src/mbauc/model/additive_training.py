"""Training of curves and interactions: what cannot be combined with them, and the fit to a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbauc.errors import Advice
from mbauc.estimators.additive.classifier import AdditiveAUCClassifier
from mbauc.estimators.additive.settings import check_interactions
from mbauc.features.row_codes import MOST_COLUMNS
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.rows.source import Source

_CHOSEN = "penalties are selected by cross-validation; leave it out."
_WHOLE = "curves optimise the whole ROC curve; leave out one of the two."
#: Settings that mean nothing with curves: their values that ask for nothing, and what to say of others.
_REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "equal_groups": ((None, False), "all pairs have equal weight with curves; leave out one of the two."),
    "l1": ((None, 0.0), _CHOSEN),
    "l2": ((None, "auto"), _CHOSEN),
    "cv": ((None, 0), _CHOSEN),
    "pairs": ((None, "all"), "all pairs are used; leave it out."),
    "decay": ((None, 1.0), "all rows have equal weight; leave out one of the two."),
    "solver": ((None, "auto"), "the features determine the solver; leave it out."),
    "max_fpr": ((None, 1.0), _WHOLE),
    "min_fpr": ((None, 0.0), _WHOLE),
    "min_tpr": ((None, 0.0), _WHOLE),
}


def check_additive(settings: Mapping[str, Any]) -> None:
    """Raise for settings that mean nothing with curves; the error says what to do."""
    for name, (nothing, why) in _REFUSED.items():
        if name in settings and not any(settings[name] == one for one in nothing):
            raise ValueError(Advice.of_argument(name) + Advice(" cannot be combined with {features}: ") + why)
    check_interactions(settings.get("features"), settings.get("interactions"))


def check_codes(layout: TableLayout | LibsvmLayout, *, additive: bool) -> None:
    """Raise if the columns of a layout are not such as curves are made of, or such as only they can be."""
    if additive and layout.n_features > MOST_COLUMNS and not isinstance(layout, TableLayout):
        raise ValueError(
            f"curves support at most {MOST_COLUMNS:,} columns, got {layout.n_features:,}. "
            + Advice("Leave out {features}.")
        )
    if not isinstance(layout, TableLayout) or bool(layout.encoding.code_columns) == additive:
        return
    if additive:
        raise ValueError(
            "curves need the original columns, but these have been "
            + ("hashed. " if layout.encoding.hash_dim is not None else "scaled and one-hot encoded. ")
            + Advice("Read the table with {encode}.", command="Leave out --like.", encode="codes")
        )
    raise ValueError(
        "a linear model cannot use category codes as numbers. " + Advice("Pass {features}.", features="curves")
    )


def fit_additive(
    source: Source,
    settings: Mapping[str, Any],
    *,
    memory: str | int | None,
    checkpoint: str | None,
) -> AdditiveAUCClassifier:
    """Curves and interactions of the rows of a source."""
    known = set(AdditiveAUCClassifier().get_params())
    given = {name: value for name, value in settings.items() if name in known and value is not None}
    return AdditiveAUCClassifier(**given).fit_source(source, memory=memory, checkpoint=checkpoint)
