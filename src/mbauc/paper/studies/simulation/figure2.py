"""Figure 2: ROC curves of the Neyman–Pearson detector and the learners, nine panels."""

from __future__ import annotations

from pathlib import Path

from mbauc.paper.studies.contenders import ADA_AUC, MBA, ONLR
from mbauc.paper.studies.outputs import write_figure, write_table
from mbauc.paper.studies.printed import COMPONENTS, RATIOS
from mbauc.paper.studies.simulation import runs
from mbauc.paper.studies.simulation.runs import FALSE_ALARMS, Simulation, best_possible
from mbauc.paper.study import Request
from mbauc.plots import new_figure

_LEARNERS = (MBA.name, ONLR.name, ADA_AUC.name)


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and draw the figure."""
    return render(runs.run_requested(request), request.out)


def render(study: Simulation, folder: Path) -> list[Path]:
    """Write ``figure2.csv``, ``figure2.png`` and ``figure2.svg``; return their paths."""
    best = dict(best_possible(study.settings))
    figure = new_figure(9.0, 9.6)
    panels = figure.subplots(len(COMPONENTS), len(RATIOS), sharex=True, sharey=True)
    rows: list[list[object]] = []
    for k, line in zip(COMPONENTS, panels, strict=True):
        for ratio, axes in zip(RATIOS, line, strict=True):
            curves = {"Neyman–Pearson": (best[k].curve, best[k].on_test_set)}
            for name in _LEARNERS:
                curves[name] = study.curve(name, k, ratio), study.auc(name, k, ratio).mean()
            for number, (name, (detection, auc)) in enumerate(curves.items()):
                style = {"color": "black", "linestyle": "--", "linewidth": 1.4} if number == 0 else {}
                axes.plot(FALSE_ALARMS, detection, label=f"{name} {auc:.2f}", **{"linewidth": 1.6, **style})
                points = zip(FALSE_ALARMS, detection, strict=True)
                rows += [[k, ratio, name, f"{x:.6g}", f"{value:.6f}"] for x, value in points]
            axes.set_title(f"k = {k}, SR = {ratio:.0%}", fontsize=10)
            axes.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
            axes.grid(color="0.9", linewidth=0.6)
            axes.legend(loc="lower right", fontsize=7, title="mean AUC", title_fontsize=7)
    figure.supxlabel("false alarm rate", fontsize=10)
    figure.supylabel("detection rate", fontsize=10)
    sets = study.settings.sets
    figure.suptitle(f"ROC curves on the test set, mean of {sets} training sets", fontsize=11)
    head = ["components", "sample_ratio", "method", "false_alarm", "detection"]
    return [write_table(folder / "figure2.csv", head, rows), *write_figure(folder, "figure2", figure)]
