"""The largest weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mbauc.checks import check_whole
from mbauc.plots.display import Display, options_of
from mbauc.plots.figure import axes_or_new

#: Letters kept of the start of a long name.
_START = 24
#: Letters kept of its end.
_END = 15


class WeightsDisplay(Display):
    """Bar chart of the largest weights of a linear model.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    weights : array-like
        Weights of the columns.
    name : str, optional
        Name of the model.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The weights, the largest last.
    zero_ : matplotlib Line2D
        The line at zero.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> display = WeightsDisplay(["age", "height", "weight"], [0.5, 0.0, -2.0]).plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age', 'weight']
    """

    bars_: Any
    zero_: Any

    def __init__(self, names: Sequence[str], weights: ArrayLike, *, name: str | None = None) -> None:
        self.names, self.weights = [str(column) for column in names], np.asarray(weights, dtype=np.float64)
        self.name = name
        if self.weights.shape != (len(self.names),):
            raise ValueError(
                f"there are {len(self.names):,} names and {self.weights.size:,} weights; pass a name for each."
            )
        if np.isnan(self.weights).any():
            column = self.names[int(np.flatnonzero(np.isnan(self.weights))[0])]
            raise ValueError(f"weights has NaN for column {column!r}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        feature_names: Sequence[str] | None = None,
        *,
        top: int = 20,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the weights of a fitted linear estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Binary classifier with ``coef_``.
        feature_names : sequence of str, optional
            Names of the columns; by default those of the training data, or column numbers.
        top : int, default=20
            Maximum number of weights to draw.
        name : str, optional
            Name for the axis; by default the class name of the estimator.
        ax, **kwargs
            As for :meth:`plot`.
        """
        kind = type(estimator).__name__
        if not hasattr(estimator, "coef_"):
            if hasattr(estimator, "fit"):
                check_is_fitted(estimator)
            raise ValueError(
                f"estimator {kind} has no coef_; pass a linear one, of a pipeline its last step (pipeline[-1])."
            )
        weights = np.atleast_2d(np.asarray(estimator.coef_))
        if weights.shape[0] != 1:
            raise ValueError(
                f"estimator {kind} has {weights.shape[0]:,} classes, each with its own weights; pass a "
                "binary one."
            )
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        if names is None:
            names = [f"column {k}" for k in range(weights.size)]
        return cls(names, weights[0], name=kind if name is None else name).plot(ax, top=top, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, top: int = 20, **kwargs: Any) -> Self:
        """Draw the largest weights.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the axis, instead of that of the display.
        top : int, default=20
            Maximum number of weights; zeros are omitted.
        **kwargs
            Passed to matplotlib's ``barh``.
        """
        check_whole("top", top)
        order = np.argsort(-np.abs(self.weights), kind="stable")[:top]
        order = order[self.weights[order] != 0][::-1]
        ax = axes_or_new(ax, 6.4, 1.0 + 0.25 * max(order.size, 4))
        name = self.name if name is None else name
        colours = np.where(self.weights[order] > 0, "tab:blue", "tab:orange")
        style = options_of("patch", kwargs, label=name or "")
        if not {"color", "facecolor"} & style.keys():
            style["color"] = colours
        self.bars_ = ax.barh(range(order.size), self.weights[order], **style)
        ax.set_yticks(range(order.size), [_short(self.names[k]) for k in order], fontsize=8)
        self.zero_ = ax.axvline(0, color="0.3", linewidth=0.8)
        ax.locator_params(axis="x", nbins=6)
        ax.set(xlabel=f"weight in {name}" if name else "weight")
        return self._finish(ax, legend=None)


def _short(name: str) -> str:
    return name if len(name) <= _START + _END + 1 else f"{name[:_START]}…{name[-_END:]}"
