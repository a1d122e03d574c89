"""What displays have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_number
from mbauc.plots.displays.scored_rows import estimator_scores
from mbauc.plots.figure import rates_grid

Array = NDArray[np.float64]

#: Of the lines that chance, or a promise kept to the letter, would give.
PLAIN_LINE: dict[str, Any] = {"color": "0.6", "linewidth": 1, "linestyle": ":"}


class Display:
    """What is there after drawing: the axes and their figure."""

    ax_: Any
    figure_: Any

    def _done(self, ax: Any, legend: str | None = "best") -> Self:
        """Grid and legend, where what was drawn twice under the same name stands once."""
        rates_grid(ax)
        entries: dict[str, Any] = {}
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        if entries and legend is not None:
            ax.legend(entries.values(), entries.keys(), loc=legend, fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ScoreDisplay(Display):
    """A display of labels and scores."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Score rows with an estimator and draw.

        Parameters
        ----------
        estimator : fitted classifier
            Of two classes.
        X, y
            Rows that it was not trained on, and their labels.
        sample_weight : array-like of shape (n,), optional
            For how many equal rows each row counts.
        response_method : {"auto", "decision_function", "predict_proba"}
            What to draw; "auto" is ``decision_function`` if the estimator has it, because probabilities near
            0 and 1 may be equal where scores are not.
        pos_label : label, optional
            The positive one; ``estimator.classes_[1]`` if not given.
        name : str, optional
            For the legend; the estimator's class if not given.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options
            As for ``from_predictions``.

        Returns
        -------
        display
            Drawn.
        """
        s, label = estimator_scores(estimator, X, response_method, pos_label)
        name = type(estimator).__name__ if name is None else name
        drawn: Self = cls.from_predictions(  # type: ignore[attr-defined]
            y, s, sample_weight=sample_weight, pos_label=label, name=name, ax=ax, **options
        )
        return drawn


def options_of(artist: str, given: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """What a caller gave for an artist of matplotlib, under full names, and defaults for the rest."""
    from matplotlib import cbook, lines, patches

    kind = {"line": lines.Line2D, "patch": patches.Patch}[artist]
    return defaults | dict(cbook.normalize_kwargs(given, kind))


def with_name(name: str | None, text: str) -> str | None:
    """An entry of a legend; None if there is nothing to say."""
    return ": ".join(part for part in (name, text) if part) or None


def with_label(text: str, pos_label: Any) -> str:
    """Text of an axis, with the positive label."""
    return text if pos_label is None else f"{text} (positive label: {pos_label})"


def percent(share: float) -> str:
    """0.995 as 99.5%."""
    return f"{100 * share:.6g}%"


def inner_share(name: str, value: Any) -> float:
    """A number between 0 and 1, neither of them, or an error that names the argument."""
    return check_number(name, value, low=0.0, high=1.0, open_low=True, open_high=True)


def curve(**parts: Any) -> list[Array]:
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
    _, lower, upper = curve(**along, low=low, high=high)
    return lower, upper
