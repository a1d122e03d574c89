"""The plots of a report as scikit-learn displays: numbers, ``plot`` to draw them, then ``ax_`` and ``figure_``.

Scikit-learn has ``RocCurveDisplay``, ``PrecisionRecallDisplay`` and ``CalibrationDisplay``; these show more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.labels import find_classes, positive_rows
from mbauc.metrics.delong import AucInterval, roc_auc_interval
from mbauc.neyman_pearson import NpBand, np_roc_band
from mbauc.plots.figure import axes_or_new, rates_grid
from mbauc.report.curves import Histogram, histogram, lift_at
from mbauc.report.tally import Tally
from mbauc.report.thresholds import ThresholdTable, threshold_table

Array = NDArray[np.float64]

#: Shares of the rows at which gains are drawn.
_SHARES = np.concatenate([np.geomspace(0.001, 0.1, 30, endpoint=False), np.linspace(0.1, 1.0, 46)])


class _Display:
    """What is there after drawing."""

    ax_: Any
    figure_: Any

    def _done(self, ax: Any) -> Self:
        rates_grid(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class _ScoreDisplay(_Display):
    """A display of labels and scores."""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Any = None, **options: Any) -> Self:
        """Score rows with an estimator and draw.

        Parameters
        ----------
        estimator : fitted classifier
            With ``decision_function`` or ``predict_proba``.
        X, y
            Rows that it was not trained on, and their labels.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            As for ``from_predictions``.
        """
        if hasattr(estimator, "decision_function"):
            s = estimator.decision_function(X)
        else:
            s = estimator.predict_proba(X)[:, 1]
        drawn: Self = cls.from_predictions(y, s, ax=ax, **options)  # type: ignore[attr-defined]
        return drawn


def _tally(y: ArrayLike, s: ArrayLike) -> Tally:
    positive = positive_rows(y, find_classes(y))
    values = np.asarray(s, dtype=np.float64)
    if positive.shape != values.shape:
        raise ValueError(f"y_true has {positive.size:,} labels and y_score {values.size:,} scores.")
    return Tally.of(positive, values, None)


class RocBandDisplay(_ScoreDisplay):
    """ROC curve with its pointwise interval and the Neyman–Pearson band.

    Parameters
    ----------
    table : ThresholdTable
        Counts at thresholds.
    interval : AucInterval
        AUC with DeLong's interval.
    band : NpBand or None
        What a false-alarm promise leaves of the curve.
    name : str
        Of the curve.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = np.random.default_rng(0).standard_normal(1000) + y
    >>> display = RocBandDisplay.from_predictions(y, s, name="signal")
    >>> display.ax_.get_legend_handles_labels()[1][0]
    'signal: AUC 0.7122 (95% interval 0.6579 to 0.7609)'
    """

    def __init__(
        self, table: ThresholdTable, interval: AucInterval, band: NpBand | None = None, name: str = ""
    ) -> None:
        self.table, self.interval, self.band, self.name = table, interval, band, name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Any = None, name: str = "", delta: float = 0.05
    ) -> RocBandDisplay:
        """Draw labels and scores; ``delta`` is the probability of breaking a false-alarm limit."""
        table = threshold_table(_tally(y_true, y_score))
        display = cls(table, roc_auc_interval(y_true, y_score), np_roc_band(y_true, y_score, delta), name)
        return display.plot(ax)

    def plot(self, ax: Any = None, *, color: Any = None) -> RocBandDisplay:
        """Draw on axes, or on a new figure."""
        ax, table = axes_or_new(ax), self.table
        rate = np.concatenate([[0.0], table.false_alarms / table.negatives])
        found = np.concatenate([[0.0], table.found / table.positives])
        label = f"{self.name}: AUC {self.interval}" if self.name else f"AUC {self.interval}"
        (line,) = ax.plot(rate, found, color=color, label=label)
        low, high = (np.concatenate([[0.0], end]) for end in table.detection)
        ax.fill_between(
            rate, low, high, color=line.get_color(), alpha=0.2, linewidth=0, label="95% of each point"
        )
        if self.band is not None:
            ax.fill_between(
                self.band.false_alarm, self.band.low, self.band.high, color="0.5", alpha=0.25, linewidth=0,
                label="where a promised limit leads",
            )  # fmt: skip
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
        ax.set(xlabel="false alarm rate", ylabel="detection rate", xlim=(0, 1), ylim=(0, 1.005))
        ax.legend(loc="lower right", fontsize=8)
        return self._done(ax)


class ScoreDistributionDisplay(_ScoreDisplay):
    """Where the scores of each class lie.

    Parameters
    ----------
    scores : Histogram
        Shares of each class in bins.
    threshold : float or None
        A cut to mark.
    """

    def __init__(self, scores: Histogram, threshold: float | None = None) -> None:
        self.scores, self.threshold = scores, threshold

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        ax: Any = None,
        threshold: float | None = None,
    ) -> ScoreDistributionDisplay:
        """Draw labels and scores; ``threshold`` is a cut to mark."""
        return cls(histogram(_tally(y_true, y_score)), threshold).plot(ax)

    def plot(self, ax: Any = None) -> ScoreDistributionDisplay:
        """Draw on axes, or on a new figure."""
        ax = axes_or_new(ax, 6.4, 4.0)
        for shares, name, hatch in (
            (self.scores.minus, "negatives", ""),
            (self.scores.plus, "positives", "//"),
        ):
            ax.stairs(shares, self.scores.edges, fill=True, alpha=0.45, label=name, hatch=hatch)
        if self.threshold is not None:
            ax.axvline(self.threshold, color="black", linestyle="--", linewidth=1, label="threshold")
        ax.set(xlabel="score", ylabel="share of the class")
        ax.legend(fontsize=8)
        return self._done(ax)


class GainsDisplay(_ScoreDisplay):
    """Positives found among the rows with the highest scores.

    Parameters
    ----------
    share, found : ndarrays
        Shares of the rows, highest scores first, and of the positives among them.
    name : str
        Of the curve.
    """

    def __init__(self, share: Array, found: Array, name: str = "") -> None:
        self.share, self.found, self.name = share, found, name

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Any = None, name: str = ""
    ) -> GainsDisplay:
        """Draw labels and scores."""
        tally = _tally(y_true, y_score)
        found = np.array([lift_at(tally, share).found for share in _SHARES[:-1]] + [1.0])
        return cls(_SHARES, found, name).plot(ax)

    @property
    def lift(self) -> Array:
        """How many times more positives than among as many rows drawn blindly."""
        return np.asarray(self.found / self.share)

    def plot(self, ax: Any = None, *, color: Any = None) -> GainsDisplay:
        """Draw on axes, or on a new figure."""
        ax = axes_or_new(ax)
        ax.plot([0.0, *self.share], [0.0, *self.found], color=color, label=self.name or None)
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":", label="drawn blindly")
        ax.set(xlabel="share of the rows, highest scores first", ylabel="share of the positives found")
        ax.set(xlim=(0, 1), ylim=(0, 1.005))
        ax.legend(loc="lower right", fontsize=8)
        return self._done(ax)


class WeightsDisplay(_Display):
    """The largest weights of a linear ranker by the names of their columns.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    weights : array-like
        Their weights.
    """

    def __init__(self, names: Sequence[str], weights: ArrayLike) -> None:
        self.names, self.weights = list(names), np.asarray(weights, dtype=np.float64)
        if self.weights.shape != (len(self.names),):
            raise ValueError(f"there are {len(self.names):,} names and {self.weights.size:,} weights.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature_names: Sequence[str] | None = None, *, ax: Any = None, top: int = 20
    ) -> WeightsDisplay:
        """Draw the weights of a fitted linear estimator."""
        weights = np.asarray(estimator.coef_).ravel()
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        named = [f"column {k}" for k in range(weights.size)] if names is None else [str(name) for name in names]
        return cls(named, weights).plot(ax, top=top)

    def plot(self, ax: Any = None, *, top: int = 20) -> WeightsDisplay:
        """Draw the so many largest, on axes or on a new figure."""
        order = np.argsort(-np.abs(self.weights), kind="stable")[:top]
        order = order[self.weights[order] != 0][::-1]
        ax = axes_or_new(ax, 6.4, 1.0 + 0.25 * max(order.size, 4))
        colours = np.where(self.weights[order] > 0, "tab:blue", "tab:orange")
        ax.barh(range(order.size), self.weights[order], color=colours)
        ax.set_yticks(range(order.size), [self.names[k][:40] for k in order], fontsize=8)
        ax.axvline(0, color="0.3", linewidth=0.8)
        ax.locator_params(axis="x", nbins=6)
        ax.set(xlabel="weight")
        return self._done(ax)


class PenaltyPathDisplay(_Display):
    """Held-out scores against the penalty, with the chosen one.

    Parameters
    ----------
    penalty, score, error : array-like
        Values of the penalty, their mean held-out scores and standard errors.
    chosen : float
        The penalty chosen.
    name : str
        Of the penalty.
    """

    def __init__(
        self, penalty: ArrayLike, score: ArrayLike, error: ArrayLike, chosen: float, name: str = "l2"
    ) -> None:
        self.penalty, self.score, self.error = (
            np.asarray(values, dtype=np.float64) for values in (penalty, score, error)
        )
        self.chosen, self.name = chosen, name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PenaltyPathDisplay:
        """Draw the path of a fitted :class:`mbauc.MBAClassifierCV`, the other penalty as chosen."""
        found = estimator.cv_results_
        name = "l2" if np.unique(found["param_l2"]).size > 1 else "l1"
        other = "l1" if name == "l2" else "l2"
        same = found[f"param_{other}"] == getattr(estimator, f"{other}_")
        error = found["std_test_score"] / np.sqrt(max(estimator.n_splits_ - 1, 1))
        penalty, score = found[f"param_{name}"][same], found["mean_test_score"][same]
        return cls(penalty, score, error[same], getattr(estimator, f"{name}_"), name).plot(ax)

    def plot(self, ax: Any = None) -> PenaltyPathDisplay:
        """Draw on axes, or on a new figure."""
        ax = axes_or_new(ax, 6.4, 4.0)
        order = np.argsort(self.penalty)
        penalty, score, error = self.penalty[order], self.score[order], self.error[order]
        (line,) = ax.plot(penalty, score, marker="o", markersize=3)
        ax.fill_between(
            penalty, score - error, score + error, color=line.get_color(), alpha=0.2, linewidth=0,
            label="± one standard error",
        )  # fmt: skip
        ax.axvline(self.chosen, color="black", linestyle="--", linewidth=1, label=f"chosen: {self.chosen:.3g}")
        if (penalty > 0).all():
            ax.set_xscale("log")
        ax.set(xlabel=self.name, ylabel="held-out score")
        ax.legend(fontsize=8)
        return self._done(ax)
