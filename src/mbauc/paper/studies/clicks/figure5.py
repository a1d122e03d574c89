"""Figure 5: running times on click logs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mbauc.paper.studies.clicks.times import METHODS, PENALTY, Times, run_requested
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_figure, write_table, write_text
from mbauc.paper.studies.printed import CLICK_ROWS, CRITEO_SECONDS_BELOW
from mbauc.paper.study import Request, describe_origin
from mbauc.plots import new_figure

#: Load for each core from which on others must have been at work.
_BUSY = 1.5


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and draw the figure."""
    return render(run_requested(request), request.out)


def render(times: Times, folder: Path) -> list[Path]:
    """Write ``figure5.csv``, ``figure5.md``, ``figure5.png`` and ``figure5.svg``; return their paths."""
    head = ["dataset", "rows", "method", "seconds", "rows_per_second"]
    rows = [
        [
            shape,
            size,
            method,
            f"{(seconds := times.seconds_of(shape, size, method)):.4f}",
            round(size / seconds),
        ]
        for shape in times.shapes
        for size in times.sizes(shape)
        for method in (*METHODS, "data")
    ]
    return [
        write_table(folder / "figure5.csv", head, rows),
        write_text(folder / "figure5.md", page(times)),
        *write_figure(folder, "figure5", _figure(times)),
    ]


def _figure(times: Times) -> Any:
    from matplotlib.ticker import LogLocator

    figure = new_figure(10.0, 4.2)
    bars, lines = figure.subplots(1, 2)
    places = np.arange(len(times.shapes))
    width = 0.8 / len(METHODS)
    for number, (method, name) in enumerate(METHODS.items()):
        heights = [times.seconds_of(shape, times.sizes(shape)[-1], method) for shape in times.shapes]
        left = places + (number - (len(METHODS) - 1) / 2) * width
        bars.bar(left, heights, width, label=name, color=f"C{number}")
        for shape, style in zip(times.shapes, ("-", "--", ":"), strict=False):
            sizes = times.sizes(shape)
            seconds = [times.seconds_of(shape, size, method) for size in sizes]
            lines.plot(sizes, seconds, style, marker="o", markersize=3, color=f"C{number}")
    labels = [f"{_title(shape)}\n{times.sizes(shape)[-1]:,} rows" for shape in times.shapes]
    bars.set_xticks(places, labels, fontsize=8)
    lowest = min(
        times.seconds_of(shape, times.sizes(shape)[-1], method) for shape in times.shapes for method in METHODS
    )
    # a bar on a log scale needs a foot to stand on: the power of ten below
    bars.set(yscale="log", ylabel="seconds", ylim=(10 ** np.floor(np.log10(lowest) - 0.3), None))
    bars.legend(fontsize=8)
    for shape, style in zip(times.shapes, ("-", "--", ":"), strict=False):
        lines.plot([], [], style, color="0.3", label=_title(shape))
    lines.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    lines.legend(fontsize=8)
    sizes = sorted({size for shape in times.shapes for size in times.sizes(shape)})
    lines.set_xticks(sizes, [f"{size / 1e6:.3g}M" for size in sizes], fontsize=7, rotation=45)
    lines.set_xticks([], minor=True)
    for ax in (bars, lines):
        # plain numbers: a range of few powers of ten has labels between them too
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
        ax.tick_params(axis="y", which="both", labelsize=8)
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
    return figure


def _title(shape: str) -> str:
    return shape.replace("-", " ").title()


_WHAT = """
Training time and throughput of MBA, exact fits and mini-batch methods on click logs. Written by `mbauc
reproduce figure5{option}`.

**Data.** Synthetic logs in the shape of the paper's (its own files are not used here), 10,000 columns. Times
are seconds for one pass over the chunks and one solution with λ = {penalty:g}, {repeats}. Generating the rows
is not included and has its own column.

**Methods.** MBA-ℓ2 draws half as many pairs as there are rows, within the chunks; exact-ℓ2 uses all pairs.
Both are matrix-free on compact rows (in memory, up to half of what is free; the rest in a temporary file), on
{threads}. The mini-batch methods (automatic step) compute gradients only, on one thread.

**Comparison with the paper.** The paper compares plain implementations of its own. The only time that it prints
is that MBA on Criteo took under an hour, on another machine.{estimate}
"""


def page(times: Times) -> str:
    """The text of ``figure5.md``."""
    s = times.settings
    count = " or ".join(str(number) for number in times.threads)
    threads = f"{count} thread{'' if count == '1' else 's'}"
    parts = [
        "# Figure 5: running times on click logs",
        unwrap(_WHAT.format(penalty=PENALTY, threads=threads, **_options(times))),
        "![Seconds by method, and against rows](figure5.png)",
        _busy(times),
        "Seconds, and throughput in thousands of rows a second in brackets.",
        _table(times),
        "## Times at the paper's number of rows",
        _estimates(times),
        "## Speed relative to MBA",
        "\n".join(_order(times)),
        describe_origin(s.seed, times.seconds, elapsed=True),
    ]
    return "\n\n".join(parts) + "\n"


def _options(times: Times) -> dict[str, str]:
    """What the page says of runs with as many rows as the paper has."""
    repeats = _times(times.settings.repeats)
    measured = [shape for shape in times.shapes if times.is_full(shape)]
    if measured and times.settings.repeats > 1:
        repeats += f" ({_times(1)} with the paper's number of rows)"
    scaled = """ A time marked *estimate* is extrapolated in proportion to the rows from the largest run
        here."""
    return {
        "option": " --full" if measured else "",
        "repeats": repeats,
        "estimate": scaled if len(measured) < len(times.shapes) else "",
    }


def _times(repeats: int) -> str:
    return "one run" if repeats == 1 else f"median of {repeats} runs"


def _busy(times: Times) -> str:
    """How much else the machine had to do."""
    cores = os.cpu_count() or 1
    machine = f"Run on {' or '.join(times.machines)}."
    if not times.loads:
        return f"{machine} How much else it had to do is not known."
    said = f"{machine} Load of the machine: {times.loads[0]:.1f} to {times.loads[-1]:.1f}, on {cores} cores."
    if times.loads[-1] > _BUSY * cores:
        said += " **It was busy with other things: times are inflated and noisy.**"
    return said


def _table(times: Times) -> str:
    rows = []
    for shape in times.shapes:
        for size in times.sizes(shape):
            found = [times.seconds_of(shape, size, method) for method in (*METHODS, "data")]
            cells = (f"{seconds:.3g} ({size / seconds / 1000:,.0f})" for seconds in found)
            rows.append([_title(shape), f"{size:,}", *cells])
    return markdown_table(["data", "rows", *METHODS.values(), "generating the rows"], rows)


def _estimates(times: Times) -> str:
    rows = []
    for shape in times.shapes:
        found = [times.estimate(shape, method) for method in METHODS]
        cells = (f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s" for seconds, _ in found)
        kind = "measured" if all(measured for _, measured in found) else "estimate"
        below = f"under {CRITEO_SECONDS_BELOW:,.0f} s" if shape == "criteo" else "not stated"
        rows.append([_title(shape), f"{CLICK_ROWS[shape.replace('-', ' ')]:,}", *cells, kind, below])
    return markdown_table(["data", "rows", *METHODS.values(), "", "the paper's MBA"], rows)


def _order(times: Times) -> Iterator[str]:
    yield (
        "Time of MBA-ℓ2 divided by that of each other method, for the largest number of rows: above 1 the "
        "other is faster. In the paper the mini-batch gradient methods are faster."
    )
    yield ""
    for shape in times.shapes:
        size = times.sizes(shape)[-1]
        mba = times.seconds_of(shape, size, "mba")
        others = (
            f"{name} {mba / times.seconds_of(shape, size, method):.2g}"
            for method, name in METHODS.items()
            if method != "mba"
        )
        yield f"* {_title(shape)}: {', '.join(others)}"
