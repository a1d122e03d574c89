"""A column's curve, with its band and the distribution of its values."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from mbauc.checks import check_share, check_whole
from mbauc.estimators.additive.terms import Curve, Level
from mbauc.estimators.additive.value_axis import squeeze_width
from mbauc.plots.display import Display, options_of, percent
from mbauc.plots.figure import axes_or_new
from mbauc.plots.term_style import LOWERS, RAISES, set_value_scale, shorten, term_name, terms_of

#: Height of the distribution below a curve, and bars that it has.
_BELOW, _BARS = 0.16, 40


class CurveDisplay(Display):
    """Contribution of a column to the log-odds: a line for a number, sorted bars for a category.

    Contributions are centred at their mean over the training rows, so that an average row has 0. The confidence
    band is pointwise, given the penalties. The distribution of the rows is shown below a line, and their share
    beside each level. Missing values are drawn to the right of a line.

    Parameters
    ----------
    curve : Curve
        Curve from the terms of a ranker.
    name : str, optional
        Name for the legend.

    Attributes
    ----------
    line_, band_, bars_, whiskers_, missing_ : matplotlib artists
        The line with its band, or points with whiskers where values are few; the bars of a category; missing
        values. None where there are none.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import AdditiveAUCClassifier
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> ranker = AdditiveAUCClassifier("curves", random_state=0).fit(X, X[:, 0] ** 2 > 1)
    >>> display = CurveDisplay.from_estimator(ranker, 0)
    >>> display.curve.name, display.ax_.get_ylabel()
    ('x0', 'log-odds')
    """

    line_: Any
    band_: Any
    bars_: Any
    whiskers_: Any
    missing_: Any

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: str | int, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the curve of a column.

        Parameters
        ----------
        estimator : TableRanker, AdditiveAUCClassifier or AdditiveTerms
            Fitted.
        column : str or int
            Name of the column, or its position in X. Parts of a time are named: ``"when.hour"``.
        name : str, optional
            Name for the legend.
        ax, **kwargs
            As for :meth:`plot`.
        """
        terms = terms_of(estimator)
        return cls(terms.curve(term_name(estimator, column)), name=name).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        confidence: float = 0.95,
        distribution: bool = True,
        top: int = 20,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve or the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the legend, instead of that of the display.
        confidence : float, default=0.95
            Confidence level of the band.
        distribution : bool, default=True
            Whether to show the distribution of the rows over values or levels.
        top : int, default=20
            Maximum number of levels of a category; the most frequent are shown.
        **kwargs
            Passed to matplotlib's ``plot`` (line) or ``barh`` (bars).
        """
        check_whole("top", top)
        width = float(ndtri((1 + check_share("confidence", confidence)) / 2))
        self.line_ = self.band_ = self.bars_ = self.whiskers_ = self.missing_ = None
        label = self._label(name)
        if self.curve.kind == "category":
            return self._plot_levels(ax, label, width, distribution, top, kwargs)
        return self._plot_line(ax, label, width, distribution, percent(confidence), kwargs)

    # -- numbers -----------------------------------------------------------------------------------------

    def _plot_line(
        self, ax: Any, label: str | None, width: float, distribution: bool, share: str, given: dict[str, Any]
    ) -> Self:
        curve, alone = self.curve, ax is None
        ax = axes_or_new(ax, 6.4, 4.2)
        x, y, half = np.asarray(curve.centers), curve.values, width * curve.errors
        few = curve.has_few_values
        style = {"color": RAISES} if "color" not in given and "c" not in given else {}
        ax.axhline(0, color="0.35", linewidth=0.8)
        if few:
            # each value for itself: between them there is nothing
            at = np.arange(x.size, dtype=np.float64)
            points = {"marker": "o", "markersize": 5, "linestyle": ":", "linewidth": 1}
            self.line_ = self._draw_line(ax, at, y, label, given, **points, **style)
            colour = self.line_.get_color()
            self.whiskers_ = ax.vlines(
                at, y - half, y + half, color=colour, alpha=0.55, linewidth=2, label=f"{share} interval"
            )
            ax.set_xticks(at, curve.labels)
            ends, bars = (-0.6, x.size - 0.4), (np.stack([at - 0.35, at + 0.35]), curve.shares)
        else:
            marks = {"marker": "."} if curve.discrete else {}
            self.line_ = self._draw_line(ax, x, y, label, given, **marks, **style)
            self.band_ = self._draw_band(ax, x, y - half, y + half, f"{share} interval", self.line_)
            set_value_scale(ax, x)
            ends, bars = (float(x[0]), float(x[-1])), _spread(curve)
        self._set_limits(ax, ends, y - half, y + half, distribution and not curve.straight)
        if distribution and not curve.straight:
            _draw_distribution(ax, *bars)
        if curve.missing is not None:
            self.missing_ = _draw_missing(ax, curve.missing, width)
        ax.set(xlabel=shorten(curve.name, 60), ylabel="log-odds")
        # in small pictures beside each other the band needs no words
        return self._finish(ax, "best" if label or alone else None)

    def _set_limits(self, ax: Any, ends: tuple[float, float], low: Any, high: Any, distribution: bool) -> None:
        missing = self.curve.missing
        bottom, top = float(min(low.min(), 0.0)), float(max(high.max(), 0.0))
        if missing is not None:
            bottom, top = min(bottom, missing.value), max(top, missing.value)
        room = 0.06 * (top - bottom) or 0.1
        below = (_BELOW + 0.03) / (1 - _BELOW) * (top - bottom + 2 * room) if distribution else 0.0
        ax.set_ylim(bottom - room - below, top + room)
        transform = ax.xaxis.get_transform()
        first, last = (float(v) for v in transform.transform(np.array(ends)))
        edge, more = 0.02 * (last - first) or 0.5, 0.19 if missing is not None else 0.02
        places = np.array([first - edge, last + more * (last - first or 1.0)])
        ax.set_xlim(*transform.inverted().transform(places))

    # -- categories --------------------------------------------------------------------------------------

    def _plot_levels(
        self, ax: Any, label: str | None, width: float, distribution: bool, top: int, given: dict[str, Any]
    ) -> Self:
        levels = self.curve.levels()
        kept = sorted(range(len(levels)), key=lambda k: -levels[k][1].share)[:top]
        shown = sorted((levels[k] for k in kept), key=lambda entry: (entry[1].value, entry[0]))
        ax = axes_or_new(ax, 6.4, 1.1 + 0.27 * max(len(shown), 4))
        values = np.array([level.value for _, level in shown])
        half = width * np.array([level.error for _, level in shown])
        style = options_of("patch", given, label=label or "", height=0.72)
        if not {"color", "facecolor"} & style.keys():
            style["color"] = np.where(values > 0, RAISES, LOWERS)
        at = np.arange(len(shown))
        self.bars_ = ax.barh(at, values, alpha=0.8, **style)
        self.whiskers_ = ax.hlines(at, values - half, values + half, color="0.25", linewidth=1.2)
        ax.set_yticks(at, [shorten(text) for text, _ in shown], fontsize=8)
        ax.axvline(0, color="0.35", linewidth=0.8)
        if distribution:
            for place, (_, level) in zip(at, shown, strict=True):
                ax.text(
                    1.01, place, _share_text(level.share), transform=ax.get_yaxis_transform(), fontsize=7,
                    color="0.4", va="center",
                )  # fmt: skip
            ax.set_title("share of rows", loc="right", fontsize=7, color="0.4")
        left_out = len(levels) - len(shown)
        more = f", {left_out} smaller levels not shown" if left_out else ""
        ax.set(xlabel="log-odds", ylabel=shorten(self.curve.name) + more)
        return self._finish(ax, "best" if label else None)


def _share_text(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.001 else "<0.1%"


def _spread(curve: Curve) -> tuple[Any, Any]:
    """How rows spread over bars of equal width on the axis: lower and upper ends, and shares."""
    centers, edges = np.asarray(curve.centers), np.asarray(curve.edges)
    width = squeeze_width(centers)

    def place(values: Any) -> Any:
        return values if width is None else np.arcsinh(np.asarray(values) / width)

    if centers.size < 2:
        return np.array([[centers[0] - 0.5], [centers[0] + 0.5]]), curve.shares
    # the open bins are drawn up to their medians
    known = place(np.concatenate([centers[:1], edges, centers[-1:]]))
    upto = np.append(0.0, np.cumsum(curve.shares))
    grid = np.linspace(known[0], known[-1], _BARS + 1)
    height = np.diff(np.interp(grid, known, upto))
    values = grid if width is None else np.sinh(grid) * width
    return np.stack([values[:-1], values[1:]]), height


def _draw_distribution(ax: Any, ends: Any, height: Any) -> None:
    from matplotlib.patches import Rectangle

    tallest = float(np.max(height)) or 1.0
    for low, high, share in zip(*ends, np.asarray(height) / tallest, strict=True):
        ax.add_patch(
            Rectangle(
                (low, 0.0), high - low, _BELOW * share, transform=ax.get_xaxis_transform(), color="0.8",
                linewidth=0, zorder=0.5,
            )
        )  # fmt: skip


def _draw_missing(ax: Any, missing: Level, width: float) -> Any:
    """Missing values at the right end, told apart by a dotted line."""
    at, transform = 0.935, ax.get_yaxis_transform()
    ax.plot([0.87, 0.87], [0, 1], color="0.6", linewidth=0.8, linestyle=":", transform=ax.transAxes)
    half = width * missing.error
    ax.plot([at, at], [missing.value - half, missing.value + half], transform=transform, color="0.35", lw=2)
    (drawn,) = ax.plot([at], [missing.value], transform=transform, color="0.35", marker="D", markersize=5)
    ax.text(
        at, 0.02, f"missing\n{_share_text(missing.share)}", transform=ax.transAxes, fontsize=7, ha="center",
        color="0.3",
    )  # fmt: skip
    return drawn
