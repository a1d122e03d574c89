"""How the AUC of held-out rows settles as pairs are doubled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from mbauc.estimators.enough_pairs import FIRST_PAIRS
from mbauc.plots.display import Display
from mbauc.plots.figure import axes_or_new


class EnoughPairsDisplay(Display):
    """Held-out AUC against the number of sampled pairs, with the intervals of the stopping rule.

    The inner bars are the 95% intervals of the gains, drawn around each AUC but the first. All pairs, if they
    were needed, are at the right end.

    Parameters
    ----------
    path : sequence of steps
        ``pairs_path_`` of a classifier that was fitted with ``pairs="enough"``.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    line_, fill_, whiskers_, gains_ : matplotlib artists
        AUCs, their 95% intervals as a band and as bars, and the intervals of the gains; the last is None if
        there was no second step.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import MBAClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [5000, 5000])
    >>> X = rng.standard_normal((10_000, 5)) + 0.2 * y[:, None]
    >>> ranker = MBAClassifier(pairs="enough", random_state=0).fit(X, y)
    >>> EnoughPairsDisplay.from_estimator(ranker).ax_.get_xlabel()
    'pairs'
    """

    line_: Any
    fill_: Any
    whiskers_: Any
    gains_: Any

    def __init__(self, path: Sequence[Any], *, name: str | None = None) -> None:
        self.path, self.name = list(path), name
        if not self.path:
            raise ValueError("path must hold at least one step, such as those of pairs_path_.")

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the path of a fitted ``MBAClassifier(pairs="enough")``.

        Parameters
        ----------
        estimator : MBAClassifier
            Fitted with ``pairs="enough"``.
        name : str, optional
            Name for the legend.
        ax, **kwargs
            As for :meth:`plot`.
        """
        path = getattr(estimator, "pairs_path_", None)
        if not path:
            raise ValueError(
                "estimator has no pairs_path_; fit an MBAClassifier(pairs='enough') first, "
                f"got {estimator!r:.100}."
            )
        return cls(path, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the learning curve.

        Parameters
        ----------
        ax, name
            As for :meth:`RocBandDisplay.plot`.
        **kwargs
            Passed to matplotlib's ``plot`` of the AUCs.
        """
        ax = axes_or_new(ax, 7.0, 4.6)
        x, auc = self._pairs(), np.array([step.auc for step in self.path])
        low, high = np.array([step.interval for step in self.path]).T
        label = self._label(name, "held-out AUC")
        self.line_ = self._draw_line(ax, x, auc, label, kwargs, marker="o", markersize=4)
        self.fill_ = self._draw_band(ax, x, low, high, "95% interval of the AUC", self.line_)
        self.whiskers_ = ax.vlines(x, low, high, color=self.line_.get_color(), alpha=0.4, linewidth=1.5)
        self.gains_ = self._draw_gains(ax, x, auc)
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [step.pairs if step.pairs == "all" else _short(step.pairs) for step in self.path])
        ax.minorticks_off()
        ax.set(xlabel="pairs", ylabel="AUC")
        return self._finish(ax)

    def _pairs(self) -> Any:
        """Where each step stands: at its number of pairs, and all pairs at twice the step before."""
        x = FIRST_PAIRS / 2 * np.ones(len(self.path))
        for number, step in enumerate(self.path):
            x[number] = 2 * x[max(0, number - 1)] if step.pairs == "all" else step.pairs
        return x

    def _draw_gains(self, ax: Any, x: Any, auc: Any) -> Any:
        later = [number for number, step in enumerate(self.path) if step.gain_interval is not None]
        if not later:
            return None
        before = auc[[number - 1 for number in later]]
        ends = before + np.array([self.path[number].gain_interval for number in later]).T
        return ax.errorbar(
            x[later], auc[later], yerr=np.maximum(0.0, [auc[later] - ends[0], ends[1] - auc[later]]),
            fmt="none", ecolor="black", elinewidth=1.2, capsize=3,
            label="95% interval of the gain over the previous step",
        )  # fmt: skip


def _short(pairs: int) -> str:
    """16,000 as 16k: many numbers share an axis."""
    return f"{pairs // 1000:,}k" if pairs % 1000 == 0 else f"{pairs:,}"
