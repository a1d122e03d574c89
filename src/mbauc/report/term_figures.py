"""Curves and heat maps of a report: lines with bands, bars of levels, and cells in colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.estimators.additive.labels import format_log_odds, short_numbers
from mbauc.estimators.additive.terms import Curve, HeatMap
from mbauc.estimators.additive.value_axis import round_values, squeeze_width
from mbauc.report.svg import WIDTH, Axis, Plot
from mbauc.report.text import escape

Array = NDArray[np.float64]

#: Standard errors on either side of a curve.
ERRORS = 1.96
#: Share of a plot that the distribution below a curve takes.
_BELOW = 0.18
#: Width of a letter, and letters of a name beside a heat map.
_LETTER, _LONGEST = 6.4, 18


@dataclass(frozen=True)
class ValueAxis(Axis):
    """An axis of values of a column, squeezed where a few are very large; ``width`` is where that begins."""

    width: float | None = None

    def places(self, values: ArrayLike, start: float, stop: float) -> Array:
        """Where values lie between start and stop."""
        if self.width is None:
            return super().places(values, start, stop)
        inside = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        at, low, high = (np.arcsinh(np.asarray(v) / self.width) for v in (inside, self.low, self.high))
        return np.asarray(start + (stop - start) * (at - low) / (high - low))

    def ticks(self) -> list[tuple[float, str]]:
        """Round values with their texts."""
        if self.width is None:
            found = [value for value, _ in super().ticks()]
        else:
            found = round_values(np.array([self.low, self.high]), self.width)
        return list(zip(found, short_numbers(found), strict=True))


def curve_plot(curve: Curve, ends: tuple[float, float]) -> Plot:
    """The curve of a number between two ends of log-odds, with its band and, below, where the rows are."""
    x, y, half = np.asarray(curve.centers), curve.values, ERRORS * curve.errors
    low, high = ends
    below = low - _BELOW * (high - low)
    width = squeeze_width(x)
    first, last = float(x[0]), float(x[-1])
    if first == last:
        first, last = first - 0.5, last + 0.5
    plot = Plot(
        f"Curve of {curve.name}",
        ValueAxis(first, last, curve.name[:40], width=width),
        Axis(below, high, "log-odds"),
        [("line", "curve", "effect"), ("area", "band", "95% interval"), ("area", "rows", "rows")],
        height=190,
    )
    if not curve.straight:
        known = np.concatenate([x[:1], np.asarray(curve.edges), x[-1:]])
        squeezed = known if width is None else np.arcsinh(known / width)
        grid = np.linspace(squeezed[0], squeezed[-1], 33)
        share = np.diff(np.interp(grid, squeezed, np.append(0.0, np.cumsum(curve.shares))))
        at = np.repeat(grid if width is None else np.sinh(grid) * width, 2)[1:-1]
        tall = np.repeat(share / (float(share.max()) or 1.0), 2) * (low - below) * 0.92
        plot.band(at, np.full(at.size, below), below + tall, "rows")
    plot.band(x, y - half, y + half, "band")
    plot.line([first, last], [0.0, 0.0], "chance")
    plot.line(x, y, "curve")
    return plot


def curve_ends(curves: list[Curve]) -> tuple[float, float]:
    """Log-odds between which curves lie, with their bands."""
    low = min(float((one.values - ERRORS * one.errors).min()) for one in curves)
    high = max(float((one.values + ERRORS * one.errors).max()) for one in curves)
    room = 0.05 * (high - low) or 0.1
    return min(low - room, -room), max(high + room, room)


def heat_map_svg(found: HeatMap, described_by: str) -> str:
    """Cells in colours: the deeper, the more they add; a dashed frame where no row was."""
    turned = found.values.shape[0] > found.values.shape[1]
    values, errors, shares = (one.T if turned else one for one in (found.values, found.errors, found.shares))
    names, labels = (found.names[::-1], found.labels[::-1]) if turned else (found.names, found.labels)
    down, across = ([_cut(text) for text in side] for side in labels)
    left = 10 + _LETTER * max(map(len, down))
    wide, tall = (WIDTH - left - 4) / len(across), 22.0
    top, most = 22.0, float(np.abs(values[shares > 0]).max(initial=0.0)) or 1.0
    pieces = [f'<text x="4" y="13" class="label">↑ {escape(names[0], 45)}</text>']
    for (i, j), value in np.ndenumerate(values):
        # the first row at the bottom, as on an axis
        x, y = left + j * wide, top + (len(down) - 1 - i) * tall
        place = f'x="{x:.1f}" y="{y:.1f}" width="{wide - 1:.1f}" height="{tall - 1:.1f}"'
        if shares[i, j] <= 0:
            pieces.append(f'<rect class="no-rows" {place}/>')
            continue
        kind = "plus-weight" if value > 0 else "minus-weight"
        told = f"{labels[0][i]}, {labels[1][j]}: {format_log_odds(value)} ± {ERRORS * errors[i, j]:.2f}"
        pieces.append(
            f'<rect class="{kind}" fill-opacity="{abs(value) / most:.2f}" {place}>'
            f"<title>{escape(told)}</title></rect>"
        )
    bottom = top + len(down) * tall
    for i, text in enumerate(down):
        at = top + (len(down) - 1 - i) * tall + 15
        pieces.append(f'<text x="{left - 6:.1f}" y="{at:.1f}" class="end">{escape(text)}</text>')
    slanted = max(map(len, across)) * _LETTER > wide
    depth = 0.62 * _LETTER * max(map(len, across)) + 16 if slanted else 16.0
    for j, text in enumerate(across):
        x = left + (j + 0.5) * wide
        turn = f' transform="rotate(-38 {x:.1f} {bottom + 12:.1f})"' if slanted else ""
        kind = "end" if slanted else "middle"
        pieces.append(f'<text x="{x:.1f}" y="{bottom + 12:.1f}" class="{kind}"{turn}>{escape(text)}</text>')
    height = bottom + depth + 22
    place = f'x="{(left + WIDTH) / 2:.1f}" y="{height - 6:.1f}"'
    pieces.append(f'<text {place} class="middle label">{escape(names[1], 45)} →</text>')
    label = f'role="img" aria-label="Heat map of {escape(found.name)}" aria-describedby="{described_by}"'
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" {label}>{"".join(pieces)}</svg>'


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
