"""AUC against seconds: one line a contender, its ladder; a star where it ends with nothing set."""

from benchmarks.click_fit.contender import OURS
from mbauc.plots.figure import new_figure, rates_grid

#: AUC below the best linear one that is still drawn.
DEPTH = 0.03
#: The first is ours.
COLOURS = ("black", *(f"C{number}" for number in range(10)), "gold", "darkblue")


def draw(races):
    """A figure with one panel for each width; ``races`` maps titles to races."""
    figure = new_figure(7.2 * len(races), 5.2)
    handles = {}
    for ax, (title, race) in zip(figure.subplots(1, len(races), squeeze=False)[0], races.items(), strict=True):
        _panel(ax, title, race, handles)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=2 * len(races),
        fontsize=8,
        frameon=False,
    )
    return figure


def _panel(ax, title, race, handles):
    best = race.best_linear()[0]
    ax.axhline(race.common_auc(), color="0.5", linewidth=1, linestyle=":")
    for number, (name, contender) in enumerate(race.contenders.items()):
        own = name == OURS
        style = {"color": COLOURS[number % len(COLOURS)], "zorder": 3 if own else 2}
        curve = race.curve(name)
        if curve:
            seconds, auc = zip(*curve, strict=True)
            (line,) = ax.plot(seconds, auc, marker="o", markersize=3.5, linewidth=2.4 if own else 1.4, **style)
            handles.setdefault(contender.title, line)
        default = race.auc(name, {})
        if default is not None:
            star = ax.scatter(race.seconds(name, {}), default, marker="*", s=110, edgecolor="white", **style)
            handles.setdefault(contender.title, star)
    ax.set_xscale("log")
    ax.set(
        xlabel="seconds of a fit",
        ylabel="AUC on test rows",
        title=title,
        ylim=(best - DEPTH, best + DEPTH / 15),
    )
    ax.annotate(
        "common AUC", (0.005, race.common_auc()), xycoords=("axes fraction", "data"), fontsize=7, va="top"
    )
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    rates_grid(ax)
