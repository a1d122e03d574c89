"""A heat map: what two columns add together, beyond their curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from mbauc.checks import abbreviate
from mbauc.estimators.additive.labels import format_log_odds
from mbauc.estimators.additive.terms import HeatMap
from mbauc.plots.display import Display
from mbauc.plots.figure import axes_or_new
from mbauc.plots.term_style import LOWERS, RAISES, shorten, term_name, terms_of

#: Cells up to which each shows its number.
_FEW_CELLS = 60


class InteractionDisplay(Display):
    """Heat map of an interaction: contribution of two columns to the log-odds beyond their curves.

    Colours are centred at 0: blue cells raise the score, brown cells lower it, and cells without training rows
    are grey. A dot, or a bold number, marks cells more than two standard errors from 0.

    Parameters
    ----------
    heat_map : HeatMap
        Heat map from the terms of a ranker.
    name : str, optional
        Name for the title.

    Attributes
    ----------
    im_ : matplotlib QuadMesh
        The cells.
    colorbar_ : matplotlib Colorbar or None
        The colour bar.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.estimators.additive.terms import HeatMap
    >>> cells = np.array([[0.5, -0.5], [-0.5, 0.5]])
    >>> heat_map = HeatMap(
    ...     ("age", "sex"), (("≤ 30", "> 30"), ("f", "m")), cells, cells * 0, cells * 0 + 0.25, 0.5
    ... )
    >>> InteractionDisplay(heat_map).plot().im_.get_clim()
    (-0.5, 0.5)
    """

    im_: Any
    colorbar_: Any

    def __init__(self, heat_map: HeatMap, *, name: str | None = None) -> None:
        self.heat_map, self.name = heat_map, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        columns: tuple[str | int, str | int] | int = 0,
        *,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw an interaction of a ranker.

        Parameters
        ----------
        estimator : TableRanker, AdditiveAUCClassifier or AdditiveTerms
            Fitted.
        columns : tuple of two columns, or int, default=0
            Names or positions of the two columns, as for :class:`CurveDisplay`; or the rank of the interaction
            by importance, from 0.
        name : str, optional
            Name for the title.
        ax, **kwargs
            As for :meth:`plot`.
        """
        terms = terms_of(estimator)
        if not terms.heat_maps:
            raise ValueError("the ranker has no interactions to draw; CurveDisplay draws its curves.")
        if isinstance(columns, int | np.integer):
            ranked = sorted(terms.heat_maps, key=lambda one: -one.importance)
            if not 0 <= columns < len(ranked):
                raise ValueError(f"columns must be from 0 to {len(ranked) - 1}, or two columns, got {columns}.")
            heat_map = ranked[int(columns)]
        elif isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray) or len(columns) != 2:
            raise ValueError(
                "columns must be two columns, such as ('age', 'sex'), or a place among the interactions, got "
                f"{abbreviate(columns)}."
            )
        else:
            a, b = (term_name(estimator, one) for one in columns)
            heat_map = terms.heat_map(a, b)
        return cls(heat_map, name=name).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        numbers: bool | None = None,
        colorbar: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the title, instead of that of the display.
        numbers : bool, optional
            Whether to write the value in each cell, bold if more than two standard errors from 0; by default if
            there are few cells.
        colorbar : bool, default=True
            Whether to draw the colour bar.
        **kwargs
            Passed to matplotlib's ``pcolormesh``.
        """
        from matplotlib.colors import LinearSegmentedColormap

        found = self.heat_map
        # the longer side across
        turned = found.values.shape[0] > found.values.shape[1]
        values, errors, shares = (
            one.T if turned else one for one in (found.values, found.errors, found.shares)
        )
        (down, across), labels = (
            (found.names[::-1], found.labels[::-1]) if turned else (found.names, found.labels)
        )
        n_rows, n_columns = values.shape
        ax = axes_or_new(ax, 2.6 + 0.42 * max(n_columns, 6), 1.7 + 0.36 * max(n_rows, 4))
        empty = shares <= 0
        most = float(np.abs(values[~empty]).max(initial=0.0)) or 1.0
        scale = LinearSegmentedColormap.from_list("raises", [LOWERS, "#f7f7f7", RAISES])
        colours = scale.with_extremes(bad="0.85")
        style: dict[str, Any] = {"cmap": colours, "vmin": -most, "vmax": most, "edgecolors": "white"} | kwargs
        self.im_ = ax.pcolormesh(np.ma.array(values, mask=empty), linewidth=0.8, **style)
        sure = ~empty & (np.abs(values) > 2 * errors) & (errors > 0)
        if n_rows * n_columns <= _FEW_CELLS if numbers is None else numbers:
            for (i, j), value in np.ndenumerate(values):
                if not empty[i, j]:
                    colour = "white" if abs(value) > 0.6 * most else "0.2"
                    weight = "bold" if sure[i, j] else "normal"
                    told = format_log_odds(float(value))
                    ax.text(j + 0.5, i + 0.5, told, ha="center", va="center", fontsize=7, color=colour,
                            weight=weight)  # fmt: skip
        else:
            i, j = np.nonzero(sure)
            ax.plot(j + 0.5, i + 0.5, linestyle="", marker=".", markersize=3, color="0.15")
        ax.set_xticks(np.arange(n_columns) + 0.5, [shorten(text, 22) for text in labels[1]], fontsize=8)
        ax.set_yticks(np.arange(n_rows) + 0.5, [shorten(text, 26) for text in labels[0]], fontsize=8)
        if max(map(len, labels[1]), default=0) > 3:
            ax.tick_params(axis="x", labelrotation=40)
            for text in ax.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
        ax.tick_params(length=0)
        for side in ax.spines.values():
            side.set_visible(False)
        ax.set(xlabel=shorten(across, 60), ylabel=shorten(down, 40))
        above = self._label(name)
        if above:
            ax.set_title(above, fontsize=10)
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = ax.figure.colorbar(self.im_, ax=ax, pad=0.02, aspect=25)
            self.colorbar_.set_label("interaction effect (log-odds)", fontsize=8)
            self.colorbar_.outline.set_visible(False)
            self.colorbar_.ax.tick_params(labelsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self
