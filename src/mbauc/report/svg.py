"""Plots as SVG text: axes, lines, bands and dots, sized to be read on a phone as they are.

Colours and dashes come from classes in style.css; an attribute ``style`` would be barred by the page's
security policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.curves import round_step
from mbauc.report.text import escape

Array = NDArray[np.float64]

#: Width of a plot, in pixels.
WIDTH = 360
#: Margin on the right.
_RIGHT = 18
#: Margin below, with room for the labels of the axis.
_BOTTOM = 40
#: Height of a line of text.
_LINE = 17
#: Width of a letter, in wide fonts.
_LETTER = 7.0
#: Points of a line, at most.
_POINTS = 1000
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """From values to places.

    Attributes
    ----------
    low, high : float
        Values at the ends; what lies outside is drawn at the end.
    label : str
        What the values are.
    log : bool
        Whether equal ratios have equal lengths.
    percent : bool
        Whether ticks are shares.
    zero : bool
        Whether the lower end of a logarithmic axis is the place of zero.
    """

    low: float
    high: float
    label: str
    log: bool = False
    percent: bool = False
    zero: bool = False

    def places(self, values: ArrayLike, start: float, stop: float) -> Array:
        """Where values lie between start and stop."""
        inside = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        low, high = self.low, self.high
        if self.log:
            inside, low, high = np.log10(inside), np.log10(low), np.log10(high)
        return np.asarray(start + (stop - start) * (inside - low) / (high - low))

    def ticks(self) -> list[tuple[float, str]]:
        """Round values with their texts."""
        if not self.log:
            least = (self.high - self.low) / 5
            if not max(1e-300, 1e-12 * max(abs(self.low), abs(self.high))) < least < np.inf:
                # next to nothing, or more than there are numbers
                return [(end, f"{end:.3g}") for end in (self.low, self.high)]
            step = round_step(least)
            first, last = np.ceil(self.low / step - 1e-9), np.floor(self.high / step + 1e-9)
            values = np.arange(first, last + 1) * step + 0.0  # not minus zero
            digits = max(0, -int(np.floor(np.log10(step * (100 if self.percent else 1)) + 1e-9)))
            return [(float(v), self._text(float(v), digits)) for v in values]
        powers = np.arange(np.ceil(np.log10(self.low) - 1e-9), np.floor(np.log10(self.high) + 1e-9) + 1)
        plain, each = bool((abs(powers) <= 3).all()), 1 if powers.size <= 5 or not self.percent else 2
        texts = [self._power(int(k), plain) if (powers[-1] - k) % each == 0 else "" for k in powers]
        texts[0] = "0" if self.zero else texts[0]
        return [(float(10.0**k), text) for k, text in zip(powers, texts, strict=True)]

    def _text(self, value: float, digits: int) -> str:
        if self.percent:
            return f"{100 * value:.{digits}f}%"
        text = f"{value:.{digits}f}"
        if digits > 4 or abs(value) >= 1e5:
            text = f"{value:.2g}".replace("e+0", "e").replace("e-0", "e-")
        return text.replace("-", "−", 1) if value < 0 else text

    def _power(self, power: int, plain: bool) -> str:
        if self.percent:
            return f"{100 * 10.0**power:.{max(0, -power - 2)}f}%"
        if plain or power == 0:
            return f"{10.0**power:.{max(0, -power)}f}"
        return "10" if power == 1 else "10" + str(power).translate(_RAISED)


class Plot:
    """A plot that is drawn on piece by piece.

    Parameters
    ----------
    label : str
        What a screen reader says it is.
    x, y : Axis
        Its axes; the label of y stands above the plot.
    key : sequence of (shape, class, text), default=()
        Legend; shapes are "line", "area" and "dot".
    height : int, default=220
        Of the area between the axes.
    """

    def __init__(
        self, label: str, x: Axis, y: Axis, key: Sequence[tuple[str, str, str]] = (), height: int = 220
    ) -> None:
        self._label, self._x, self._y = label, x, y
        self._key, rows = _key(key)
        self._top = _LINE * (rows + 1) + 10
        self._bottom = self._top + height
        self._left = 12 + _LETTER * max(len(text) for _, text in y.ticks())
        self._pieces: list[str] = []

    def line(self, x: ArrayLike, y: ArrayLike, kind: str) -> None:
        """A line through points."""
        self._pieces.append(f'<path class="{kind}" d="{_path(self._places(x, y))}"/>')

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, kind: str) -> None:
        """The area between two lines over the same x."""
        there, back = self._places(x, high), self._places(x, low)[::-1]
        self._pieces.append(f'<path class="{kind}" d="{_path(there)}{_path(back).replace("M", "L", 1)}Z"/>')

    def whiskers(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, kind: str) -> None:
        """A vertical stroke at each x."""
        ends = zip(self._places(x, low), self._places(x, high), strict=True)
        strokes = "".join(f"M{a:.1f},{b:.1f}V{c:.1f}" for (a, b), (_, c) in ends)
        self._pieces.append(f'<path class="{kind}" d="{strokes}"/>')

    def dots(self, x: ArrayLike, y: ArrayLike, kind: str, radius: float = 3.5) -> None:
        """A dot at each point."""
        self._pieces += [
            f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}"/>' for a, b in self._places(x, y)
        ]

    def mark(self, x: float, y: float | None, of: str) -> None:
        """What the explorer moves, a ring or a vertical line; ``of`` says which numbers it follows."""
        a, b = self._places([x], [self._y.low if y is None else y])[0]
        shape = (
            f'<path class="mark" d="M0,{self._top}V{self._bottom}"/>'
            if y is None
            else f'<circle class="mark" r="6" cy="{b:.1f}"/>'
        )
        across = _spoken(self._x, self._left, WIDTH - _RIGHT)
        axes = f'data-x="{across}" data-y="{_spoken(self._y, self._bottom, self._top)}"'
        self._pieces.append(f'<g data-mark="{of}" {axes} transform="translate({a:.1f} 0)">{shape}</g>')

    def svg(self, described_by: str) -> str:
        """The whole plot; ``described_by`` is the id of the text that says what is to be seen."""
        label = f'role="img" aria-label="{escape(self._label)}" aria-describedby="{described_by}"'
        return (
            f'<svg viewBox="0 0 {WIDTH} {self._bottom + _BOTTOM}" {label}>'
            f'<text x="4" y="13" class="label">↑ {escape(self._y.label)}</text>'
            f"{self._key}{self._grid()}{''.join(self._pieces)}</svg>"
        )

    def _places(self, x: ArrayLike, y: ArrayLike) -> Array:
        return np.column_stack(
            [self._x.places(x, self._left, WIDTH - _RIGHT), self._y.places(y, self._bottom, self._top)]
        )

    def _grid(self) -> str:
        lines, texts = "", ""
        for value, text in self._x.ticks():
            at = float(self._x.places(value, self._left, WIDTH - _RIGHT))
            lines += f"M{at:.1f},{self._top}V{self._bottom}"
            texts += f'<text x="{at:.1f}" y="{self._bottom + 16}" class="middle">{escape(text)}</text>'
        for value, text in self._y.ticks():
            at = float(self._y.places(value, self._bottom, self._top))
            lines += f"M{self._left},{at:.1f}H{WIDTH - _RIGHT}"
            texts += f'<text x="{self._left - 6}" y="{at + 4:.1f}" class="end">{escape(text)}</text>'
        place = f'x="{(self._left + WIDTH - _RIGHT) / 2:g}" y="{self._bottom + 34}"'
        label = f'<text {place} class="middle label">{escape(self._x.label)} →</text>'
        return f'<path class="grid" d="{lines}"/>{texts}{label}'


def _spoken(axis: Axis, start: float, stop: float) -> str:
    """What the script needs to place a value."""
    return f"{float(axis.low)!r} {float(axis.high)!r} {start:g} {stop:g} {int(axis.log)}"


def _key(entries: Sequence[tuple[str, str, str]]) -> tuple[str, int]:
    """The legend below the label of y, and how many rows it takes."""
    text, row, at = "", 0, 4.0
    for shape, kind, words in entries:
        width = 28 + _LETTER * len(words)
        if row == 0 or at + width > WIDTH:
            row, at = row + 1, 4.0
        y = 13 + _LINE * row
        drawn: Any = {
            "line": f'<path class="{kind}" d="M{at:g},{y - 4}h22"/>',
            "area": f'<rect class="{kind}" x="{at:g}" y="{y - 10}" width="22" height="11"/>',
            "dot": f'<circle class="{kind}" cx="{at + 11:g}" cy="{y - 4}" r="4"/>',
        }[shape]
        text += f'{drawn}<text x="{at + 28:g}" y="{y}">{escape(words)}</text>'
        at += width + 14
    return text, row


def _path(points: Array) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in _thin(points))


def _thin(points: Array) -> list[Any]:
    """At most ``_POINTS`` points; a point is left out only if it is too near to the one before to be seen."""
    apart, kept = 0.1, list(points)
    while True:
        some = [kept[0]]
        for point in kept[1:-1]:
            if np.abs(point - some[-1]).max() >= apart:
                some.append(point)
        kept = [*some, *kept[len(kept) - 1 :]] if len(kept) > 1 else some
        if len(kept) <= _POINTS:
            return kept
        apart *= 1.5
