"""Held-out scores against the penalty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from mbauc.metrics.curves import penalty_path
from mbauc.plots.display import Display, curve_points
from mbauc.plots.figure import axes_or_new

_SCORES = {
    "roc_auc": "held-out AUC",
    "binormal_auc": "held-out AUC, if scores were normal",
    "risk": "minus held-out pairwise risk",
}


class PenaltyPathDisplay(Display):
    """Validation curve: held-out score against the penalty, with the selected value.

    Parameters
    ----------
    penalty, score : array-like of shape (m,)
        Values of the penalty and their mean held-out scores.
    error : array-like of shape (m,), optional
        Standard errors of the scores.
    chosen : float, optional
        The selected penalty.
    penalty_name, score_name : str
        Labels of the axes.
    best_other : str, optional
        Name of another penalty, at whose best value the score is shown for each value of this one.
    name : str, optional
        Name of the estimator.

    Attributes
    ----------
    line_, fill_, chosen_ : matplotlib artists
        The curve, a band of one standard error and the selected penalty; None if not drawn.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> display = PenaltyPathDisplay([0.1, 1.0, 10.0], [0.70, 0.75, 0.72], chosen=1.0).plot()
    >>> display.chosen_.get_label()
    'selected l2: 1'
    """

    line_: Any
    fill_: Any
    chosen_: Any

    def __init__(
        self,
        penalty: ArrayLike,
        score: ArrayLike,
        error: ArrayLike | None = None,
        chosen: float | None = None,
        *,
        penalty_name: str = "l2",
        score_name: str = "held-out score",
        best_other: str | None = None,
        name: str | None = None,
    ) -> None:
        self.penalty, self.score = curve_points(penalty=penalty, score=score)
        self.error = None if error is None else curve_points(penalty=penalty, error=error)[1]
        self.chosen, self.penalty_name, self.score_name = chosen, penalty_name, score_name
        self.best_other, self.name = best_other, name

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the cross-validation results of a fitted :class:`mbauc.MBAClassifierCV`.

        Parameters
        ----------
        estimator : fitted MBAClassifierCV
            If it varied both penalties, scores are for the best l1 at each l2.
        name : str, optional
            Name for the legend; by default the class name of the estimator.
        ax, **kwargs
            As for :meth:`plot`.
        """
        kind = type(estimator).__name__
        found = _results(estimator, kind)
        splits = sum(key.startswith("split") for key in found)
        stderr = found["std_test_score"] / np.sqrt(max(splits - 1, 1))
        columns = (found["param_l1"], found["param_l2"], found["mean_test_score"], stderr)
        path = penalty_path(
            [
                {"l1": float(l1), "l2": float(l2), "score": float(score), "stderr": float(error)}
                for l1, l2, score, error in zip(*columns, strict=True)
                if not np.isnan(score)  # it need not be tried
            ]
        )
        if path is None:
            raise ValueError(
                f"cv_results_ of estimator {kind} holds one penalty only, which is no path; "
                "fit with several values in l1_grid or l2_grid."
            )
        penalty, score, error = (
            [entry[key] for entry in path.entries] for key in (path.name, "score", "stderr")
        )
        return cls(
            penalty,
            score,
            error,
            float(getattr(estimator, f"{path.name}_")),
            penalty_name=path.name,
            score_name=_SCORES.get(getattr(estimator, "scoring", ""), "held-out score"),
            best_other="l1" if path.other_varied else None,
            name=kind if name is None else name,
        ).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax, name
            As for :meth:`RocBandDisplay.plot`.
        **kwargs
            Passed to matplotlib's ``plot`` of the curve.
        """
        ax = axes_or_new(ax, 6.4, 4.0)
        order = np.argsort(self.penalty)
        penalty, score = self.penalty[order], self.score[order]
        self.line_ = self._draw_line(ax, penalty, score, self._label(name), kwargs, marker="o", markersize=3)
        self.fill_ = self.chosen_ = None
        if self.error is not None:
            error = self.error[order]
            ends = score - error, score + error
            self.fill_ = self._draw_band(ax, penalty, *ends, "± one standard error", self.line_)
        if self.chosen is not None:
            self.chosen_ = ax.axvline(
                self.chosen, color="black", linestyle="--", linewidth=1,
                label=f"selected {self.penalty_name}: {self.chosen:.3g}",
            )  # fmt: skip
        self._scale(ax)
        more = f", the best {self.best_other} for each" if self.best_other else ""
        ax.set(xlabel=self.penalty_name + more, ylabel=self.score_name)
        return self._finish(ax)

    def _scale(self, ax: Any) -> None:
        """Logarithmic; a penalty of zero stands at the left end, one decade below the others."""
        values = np.append(self.penalty, [] if self.chosen is None else [self.chosen])
        positive = values[values > 0]
        if positive.size == values.size:
            ax.set_xscale("log")
        elif positive.size:
            least = float(positive.min())
            ax.set_xscale("symlog", linthresh=least, linscale=1.0)
            ax.set_xlim(-0.2 * least, 1.6 * float(positive.max()))


def _results(estimator: Any, kind: str) -> dict[str, Any]:
    """``cv_results_`` of an estimator, or an error that says which estimators have the right ones."""
    found = getattr(estimator, "cv_results_", None)
    if found is None:
        if hasattr(estimator, "l2_grid"):
            raise NotFittedError(f"estimator {kind} is not fitted yet; call fit before drawing its path.")
        raise ValueError(
            f"estimator {kind} has no cv_results_: it tried one penalty only; fit MBAClassifierCV, or draw "
            "scores of your own with PenaltyPathDisplay(penalty, score).plot()."
        )
    if not (
        {"param_l1", "param_l2"} <= found.keys() and hasattr(estimator, "l1_") and hasattr(estimator, "l2_")
    ):
        raise ValueError(
            f"cv_results_ of estimator {kind} do not come from MBAClassifierCV (param_l1, param_l2, and the "
            "chosen l1_ and l2_); fit that, or draw your own: PenaltyPathDisplay(penalty, score).plot()."
        )
    return dict(found)
