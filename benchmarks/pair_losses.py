"""Losses over all pairs against sorting the scores: value and gradient, value alone, one Hessian product.

Beside them: the same squared hinge by numpy alone (argsort and running sums, as in Rust and Hocking 2023), and
the errors of gradient and product at some rows, whose pairs are looked at one by one.
"""

import csv
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.timing import interleaved, report
from mbauc.losses import LOSSES, PairObjective, PairWeights, Region, get_loss
from mbauc.plots.figure import new_figure, rates_grid, save_figure

DOCS = Path(__file__).parents[1] / "docs" / "results"
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
TARGET = {"squared_hinge": "at most 6", "logistic": "at most 3"}
DASHES = ("-", (0, (4, 1)), (0, (8, 2, 1, 2)), (0, (2, 2)), (0, (6, 4)))
#: Rows whose pairs are all looked at.
CHECKED = 40


HEAD = (
    "rows | np.sort, ms | value and gradient, ms | of np.sort | value alone | one product | "
    "error of the gradient | of a product"
)


def run(sizes=SIZES):
    table, growth = [("loss", HEAD, "")], []
    for n in sizes:
        rows = _rows(n)
        for name, took, errors in _measure(rows):
            growth.append({"loss": name, "rows": n, **took})
            table.append((name, _cells(name, n, took, errors), ""))
            print(*table[-1][:2], flush=True)
    report(
        "pair_losses",
        table,
        notes=[
            "normal scores, 30% positive, classes one standard deviation apart; times of the processor, "
            "summed over at most two threads, relative to np.sort of the scores in the same run: on an idle "
            f"machine two threads take less than that; errors at {CHECKED} rows, relative to the largest",
        ],
    )
    if sizes == SIZES:
        _write(growth)


def _measure(rows):
    """Name, times and errors of each case."""
    positive, scores, v = rows
    n = scores.size
    repeats = 7 if n <= 1_000_000 else 2
    for name, (loss, pairs) in _cases(positive, n).items():
        expansion = loss.expand(pairs, scores)
        took = interleaved(
            {
                "sort": lambda: np.sort(scores),
                "both": lambda loss=loss, pairs=pairs: _both(loss.expand(pairs, scores)),
                "value": lambda loss=loss, pairs=pairs: loss.expand(pairs, scores).value,
                "product": lambda expansion=expansion: expansion.product(v),
            },
            repeats,
            process_time,
        )
        yield name, took, _errors(loss, expansion, rows) if name in LOSSES else ("", "")
    tasks = {"sort": lambda: np.sort(scores), "both": lambda: _by_numpy(positive, scores)}
    yield "squared_hinge by numpy alone", interleaved(tasks, repeats, process_time), ("", "")


def _cells(name, n, took, errors):
    cells = [f"{n:,}", f"{1e3 * took['sort']:.2f}", f"{1e3 * took['both']:.2f}"]
    cells += [f"{took[key] / took['sort']:.2f}" if key in took else "" for key in ("both", "value", "product")]
    if n == 1_000_000 and name in TARGET:
        cells[3] += f" ({TARGET[name]})"
    return " | ".join([*cells, *errors])


def _rows(n):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    return positive, rng.standard_normal(n) + positive, rng.standard_normal(n)


class _InRegion:
    """A loss over the pairs of a region, with the interface of a loss."""

    def __init__(self, loss, region):
        self._loss, self._region = loss, region

    def expand(self, pairs, scores):
        return PairObjective(self._loss, pairs, self._region).expand(scores)


class _Wider:
    """A loss of scores that are multiplied, with the interface of a loss."""

    def __init__(self, loss, factor):
        self._loss, self._factor = loss, factor

    def expand(self, pairs, scores):
        return self._loss.expand(pairs, self._factor * scores)


def _cases(positive, n):
    pairs = PairWeights.build(positive)
    cases = {name: (get_loss(name), pairs) for name in LOSSES}
    rng = np.random.default_rng(1)
    tens, thousands = (PairWeights.build(positive, None, rng.integers(0, n // size, n)) for size in (10, 1000))
    for name in ("squared_hinge", "logistic"):
        cases[f"{name}, groups of 10"] = get_loss(name), tens
        cases[f"{name}, groups of 1,000"] = get_loss(name), thousands
        cases[f"{name}, false alarms up to 5%"] = _InRegion(get_loss(name), Region(max_fpr=0.05)), pairs
    cases["logistic, scores 10,000 times as wide"] = _Wider(get_loss("logistic"), 1e4), pairs
    return cases


def _both(expansion):
    return expansion.value, expansion.gradient


def _by_numpy(positive, scores, margin=1.0):
    high, low = scores[positive], scores[~positive]
    up, down = np.argsort(high), np.argsort(low)
    x, y = high[up], low[down]
    size = x.size * y.size

    def above(values):
        return np.append(np.cumsum(values[::-1])[::-1], 0.0)

    first = np.searchsorted(y, x - margin, side="right")
    count, line, square = y.size - first, above(y)[first], above(y * y)[first]
    gap = margin - x
    value = 0.5 * np.sum(count * gap**2 + 2 * gap * line + square) / size
    gradient = np.empty(scores.size)
    slopes = np.empty(x.size)
    slopes[up] = -(count * gap + line) / size
    gradient[positive] = slopes
    last = np.searchsorted(x, y + margin, side="left")
    slopes = np.empty(y.size)
    slopes[down] = (last * (y + margin) - np.append(0.0, np.cumsum(x))[last]) / size
    gradient[~positive] = slopes
    return value, gradient


def _errors(loss, expansion, rows):
    """Largest errors at some rows of both classes, relative to the largest number."""
    positive, scores, v = rows
    rng = np.random.default_rng(2)
    found = []
    for own in (positive, ~positive):
        some = rng.choice(np.flatnonzero(own), CHECKED // 2, replace=False)
        sign = 1.0 if own is positive else -1.0
        size = float(own.sum()) * float((~own).sum())
        others, along = scores[~own], v[~own]
        for row in some:
            m = sign * (scores[row] - others)
            slope, product = loss.slopes(m).sum(), loss.curvatures(m) @ (v[row] - along)
            found.append((row, sign * slope / size, product / size))
    rows, gradient, product = (np.array(column) for column in zip(*found, strict=True))
    return tuple(
        f"{np.abs(actual[rows] - exact).max() / np.abs(exact).max():.0e}"
        for actual, exact in ((expansion.gradient, gradient), (expansion.product(v), product))
    )


def _write(growth):
    with (DOCS / "pair_losses.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["loss", "rows", "sort", "both", "value", "product"])
        writer.writeheader()
        writer.writerows(growth)
    draw(growth)


def draw(growth):
    """One line a case: its colour is the loss, its dashes say what is special."""
    figure = new_figure(7.2, 5.2)
    ax = figure.add_subplot()
    kinds = []
    for name in dict.fromkeys(row["loss"] for row in growth):
        own = [row for row in growth if row["loss"] == name]
        loss, _, kind = name.partition(", ")
        kinds += [kind] if kind not in kinds else []
        colour = f"C{list(LOSSES).index(loss)}" if loss in LOSSES else "0.5"
        style = (0, (1, 1)) if loss not in LOSSES else DASHES[kinds.index(kind)]
        ax.plot(
            [row["rows"] for row in own],
            [row["both"] for row in own],
            color=colour,
            linestyle=style,
            marker="o",
            markersize=3,
            label=name,
        )
    sizes = np.array(sorted({row["rows"] for row in growth}), dtype=float)
    sort = [min(row["sort"] for row in growth if row["rows"] == n) for n in sizes]
    ax.plot(sizes, sort, color="black", linewidth=2.5, label="np.sort")
    scale = sort[-1] / (sizes[-1] * np.log(sizes[-1]))
    ax.plot(sizes, scale * sizes * np.log(sizes), color="0.6", linewidth=1, label="n log n")
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds of the processor for value and gradient")
    ax.legend(fontsize=7, frameon=False, handlelength=4.5)
    rates_grid(ax)
    for kind in ("png", "svg"):
        save_figure(figure, DOCS / f"pair_losses.{kind}")


if __name__ == "__main__":
    run()
