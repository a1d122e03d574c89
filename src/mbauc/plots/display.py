"""What displays have in common: how they are made of rows or of an estimator, and how they draw."""

from __future__ import annotations

import inspect
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.metrics.ranked import RankedScores, label_place
from mbauc.plots.figure import encode_png, rates_grid

Array = NDArray[np.float64]

#: Of the lines that chance, or a promise kept to the letter, would give.
PLAIN_LINE: dict[str, Any] = {"color": "0.6", "linewidth": 1, "linestyle": ":"}
#: Ways to score rows, the better one first.
_RESPONSES = ("decision_function", "predict_proba")


class Display:
    """Numbers that can be drawn; after drawing, ``ax_`` and ``figure_`` say where.

    Attributes
    ----------
    name : str or None
        Of what is shown, for the legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where the last drawing is.
    """

    name: str | None
    ax_: Any
    figure_: Any

    def _repr_png_(self) -> bytes | None:
        """The picture, where a notebook shows the last line of a cell; figures of pyplot show themselves."""
        figure = getattr(self, "figure_", None)
        return None if figure is None or figure.canvas.manager is not None else encode_png(figure)

    def _draw_line(
        self, ax: Any, x: Any, y: Any, label: str | None, given: dict[str, Any], **style: Any
    ) -> Any:
        """The line of the display, with what the caller gave for it."""
        (line,) = ax.plot(x, y, **options_of("line", given, label=label, **style))
        return line

    def _draw_band(self, ax: Any, x: Any, low: Any, high: Any, label: str, line: Any, **style: Any) -> Any:
        """An area around a line, in its colour."""
        return ax.fill_between(
            x, low, high, color=line.get_color(), alpha=0.2, linewidth=0, label=label, **style
        )

    def _finish(self, ax: Any, legend: str | None = "best") -> Self:
        """Grid and legend, where what was drawn twice under the same name stands once."""
        rates_grid(ax)
        entries: dict[str, Any] = {}
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        if entries and legend is not None:
            ax.legend(entries.values(), entries.keys(), loc=legend, fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label(self, name: str | None, text: str = "") -> str | None:
        """Entry of the legend: the name and what is to be said; None if there is nothing."""
        return ": ".join(part for part in (self.name if name is None else name, text) if part) or None


class ScoreDisplay(Display):
    """A display of labels and scores. A subclass says in ``measure`` what it takes from them."""

    pos_label: Any

    @classmethod
    def measure(cls, ranked: RankedScores, *, name: str | None = None) -> Self:
        """Compute the display without drawing it."""
        raise NotImplementedError

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the display."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the display from labels and scores, and draw it.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Two-valued labels, and scores that are higher for positive rows.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; weight k counts as k equal rows.
        pos_label : label, optional
            Positive label; by default the larger.
        name : str, optional
            Name for the legend; by default "Classifier".
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **options
            Parameters of :meth:`measure`, such as ``confidence``; all others are passed to :meth:`plot`.

        Returns
        -------
        display
            Drawn.
        """
        return cls._from_rows("y_score", y_true, y_score, sample_weight, pos_label, name, ax, options)

    @classmethod
    def _from_rows(
        cls,
        s_name: str,
        y_true: Any,
        scores: Any,
        sample_weight: Any,
        pos_label: Any,
        name: str | None,
        ax: Any,
        options: dict[str, Any],
    ) -> Self:
        ranked = RankedScores.validate(
            y_true, scores, sample_weight, s_name=s_name, pos_label=pos_label, finite=True
        )
        own = inspect.signature(cls.measure).parameters
        settings = {key: value for key, value in options.items() if key in own}
        display = cls.measure(ranked, name="Classifier" if name is None else name, **settings)
        display.pos_label = ranked.pos_label
        return display.plot(ax, **{key: value for key, value in options.items() if key not in own})

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        response_method: Literal["auto", "decision_function", "predict_proba"] = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the display from the scores of an estimator, and draw it.

        Parameters
        ----------
        estimator : fitted classifier
            Binary classifier.
        X, y
            Held-out rows and their labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; weight k counts as k equal rows.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Scores to use; "auto" is ``decision_function`` if the estimator has it, because probabilities near 0
            and 1 may be tied where scores are not.
        pos_label : label, optional
            Positive label; by default ``estimator.classes_[1]``.
        name : str, optional
            Name for the legend; by default the class name of the estimator.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **options
            As for :meth:`from_predictions`.

        Returns
        -------
        display
            Drawn.
        """
        s, label = _score_rows(estimator, X, response_method, pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(
            y, s, sample_weight=sample_weight, pos_label=label, name=name, ax=ax, **options
        )


def _score_rows(estimator: Any, X: Any, response_method: str, pos_label: Any) -> tuple[ArrayLike, Any]:
    """Scores that rise with the positive label, and that label."""
    check_choice("response_method", response_method, ("auto", *_RESPONSES))
    kind = type(estimator).__name__
    tried = _RESPONSES if response_method == "auto" else (response_method,)
    method = next((name for name in tried if hasattr(estimator, name)), None)
    if method is None:
        lacks = f"neither {tried[0]} nor {tried[1]}" if len(tried) > 1 else f"no {tried[0]}"
        raise ValueError(f"estimator {kind} has {lacks}; score the rows yourself and use from_predictions.")
    labels = np.asarray(getattr(estimator, "classes_", [0, 1])).tolist()
    if len(labels) != 2:
        raise ValueError(f"estimator {kind} has {len(labels):,} classes; a display needs a classifier of two.")
    place = label_place(pos_label, labels)
    values = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba":
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(f"predict_proba of {kind} must give two columns, got shape {values.shape}.")
        values = values[:, place]
    elif place == 0:
        values = -values
    return values, labels[place] if hasattr(estimator, "classes_") else pos_label


# -- pieces ---------------------------------------------------------------------------------------------------


def options_of(artist: str, given: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """What a caller gave for an artist of matplotlib, under full names, and defaults for the rest."""
    from matplotlib import cbook, lines, patches

    kind = {"line": lines.Line2D, "patch": patches.Patch}[artist]
    return defaults | dict(cbook.normalize_kwargs(given, kind))


def with_label(text: str, pos_label: Any) -> str:
    """Text of an axis, with the positive label."""
    return text if pos_label is None else f"{text} (positive label: {pos_label})"


def percent(share: float) -> str:
    """0.995 as 99.5%."""
    return f"{100 * share:.6g}%"


def curve_points(**parts: Any) -> list[Array]:
    """Coordinates of a curve as arrays of equal length, or an error that names the one that differs."""
    first, *_ = parts
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in parts.items()}
    for name, values in arrays.items():
        if values.ndim != 1 or values.shape != arrays[first].shape:
            raise ValueError(
                f"{name} must have as many points as {first}, got shape {values.shape} "
                f"and {arrays[first].shape}."
            )
    return list(arrays.values())


def band_ends(
    low: ArrayLike | None, high: ArrayLike | None, **along: Array
) -> tuple[Array | None, Array | None]:
    """Both ends of a band along a curve, or nothing if there is none."""
    if low is None and high is None:
        return None, None
    if low is None or high is None:
        raise ValueError("low and high are the ends of a band; pass both or none.")
    _, lower, upper = curve_points(**along, low=low, high=high)
    return lower, upper
