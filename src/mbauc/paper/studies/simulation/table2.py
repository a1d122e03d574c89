"""Table II: AUC of all methods on simulated data, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import paired_t_test
from mbauc.paper.studies.contenders import FOLDS, MBA, SAMPLED, WHOLE, Contender
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_table, write_text
from mbauc.paper.studies.printed import COMPONENTS, DIMENSION, NEYMAN_PEARSON, RATIOS, TABLE2
from mbauc.paper.studies.simulation import runs
from mbauc.paper.studies.simulation.runs import BestPossible, Settings, Simulation, best_possible
from mbauc.paper.study import Request, describe_origin

_SIGNIFICANT = 0.05
#: Points of AUC that an MBA mean may stay below the printed one.
_TOLERANCE = 0.5


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the table."""
    return render(runs.run_requested(request), request.out)


def render(study: Simulation, folder: Path) -> list[Path]:
    """Write ``table2.csv``, one line for each fit, and ``table2.md``; return their paths."""
    head = ["components", "sample_ratio", "method", "set", "auc", "setting", "value"]
    return [
        write_table(folder / "table2.csv", head, _fits(study)),
        write_text(folder / "table2.md", _markdown(study)),
    ]


def _fits(study: Simulation) -> Iterator[list[str]]:
    for k in COMPONENTS:
        for ratio in RATIOS:
            for contender in SAMPLED:
                yield from _lines(study, contender, k, ratio, str(ratio))
        for contender in WHOLE:
            yield from _lines(study, contender, k, RATIOS[0], "all rows")


def _lines(study: Simulation, contender: Contender, k: int, ratio: float, label: str) -> Iterator[list[str]]:
    """A line for each training set."""
    found = zip(study.auc(contender.name, k, ratio), study.choices(contender.name, k, ratio), strict=True)
    for number, (auc, value) in enumerate(found):
        yield [str(k), label, contender.name, str(number), f"{auc:.4f}", contender.setting, f"{value:g}"]


def _markdown(study: Simulation) -> str:
    best = dict(best_possible(study.settings))
    parts = [
        "# Table II: the simulation study",
        _what(study),
        _table(study, best),
        "## Checks against the paper",
        *_checks(study, best),
        "## Chosen hyperparameters",
        *_settings(study),
        describe_origin(study.settings.seed, study.seconds),
    ]
    if study.settings.sets < Settings().sets:
        parts.insert(1, "**A quick run**: few training sets; standard deviations and circles are unreliable.")
    return "\n\n".join(parts) + "\n"


_WHAT = """
The paper's simulation study, repeated: test AUC of MBA and online methods from sampled pairs, beside the
optimal detector and exact fits. Written by `mbauc reproduce table2{quick}`.

**Data.** {sets} training sets of {train:,} rows, {positive:.0%} positive, d = {d}, from mixtures of
k = {components} components; one test set of {test:,} rows each. AUC in percent, mean ± standard deviation over
the training sets; the paper's figure is in brackets.

**Sampling ratio.** SR is the number S of sampled pairs as a share of {train:,}. At each SR the methods up to
*mean difference* get the same rows, S positive and S negative ones drawn with replacement; the online methods
make one pass over them, in random order. Each method has one hyperparameter, chosen by {folds}-fold
cross-validation on its training rows, with copies of a row in the same fold.

**Methods.** *complete U* takes all S² pairs among the drawn rows, *exact* all pairs of the training set.
*balanced LR* is scikit-learn's logistic regression, run to convergence. *mean difference* is the limit of ridge
for large penalties. It is the optimal direction in this study, because the noise is white, so methods that
choose a large penalty come close to it. *exact* ranks like `RidgeClassifier(class_weight="balanced")` with the
corresponding penalty.

● MBA-ℓ2 is significantly better, ○ significantly worse (paired t-test at 95% over the training sets, which
are drawn independently; the test set is the same for all).
"""


def _what(study: Simulation) -> str:
    components = ", ".join(str(k) for k in COMPONENTS)
    quick = " --quick" if study.settings.sets < Settings().sets else ""
    settings = asdict(study.settings)
    return unwrap(_WHAT.format(folds=FOLDS, d=DIMENSION, components=components, quick=quick, **settings))


def _table(study: Simulation, best: dict[int, BestPossible]) -> str:
    names = [contender.name for contender in (*SAMPLED, *WHOLE)]
    rows = []
    for k, ratio in product(COMPONENTS, RATIOS):
        known = f"{best[k].on_test_set:.2f} ({NEYMAN_PEARSON[k]:.2f})" if ratio == RATIOS[0] else ""
        rows.append([str(k), f"{ratio:.0%}", known, *(_cell(study, name, k, ratio) for name in names)])
    return markdown_table(["k", "SR", "Neyman–Pearson", *names], rows)


def _cell(study: Simulation, name: str, k: int, ratio: float) -> str:
    auc = study.auc(name, k, ratio)
    mark = "" if name == MBA.name else _mark(study.auc(MBA.name, k, ratio), auc)
    printed = TABLE2.get(name, {}).get((k, ratio))
    beside = "" if printed is None else f" ({printed[0]:.2f} ± {printed[1]:.2f})"
    return f"{mark}{_mean_and_spread(auc)}{beside}"


def _mean_and_spread(auc: NDArray[np.float64]) -> str:
    return f"{auc.mean():.2f}" + (f" ± {auc.std(ddof=1):.2f}" if auc.size > 1 else "")


def _mark(mba: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    if mba.size < 2 or paired_t_test(mba, other).p_value >= _SIGNIFICANT:
        return ""
    return "● " if mba.mean() > other.mean() else "○ "


def _checks(study: Simulation, best: dict[int, BestPossible]) -> Iterator[str]:
    yield "The Neyman–Pearson detector on the test set, against its closed form:"
    yield markdown_table(
        ["k", "closed form", "on the test set", "difference, in DeLong standard errors"],
        (
            [str(k), f"{one.closed_form:.2f}", f"{one.on_test_set:.2f}", f"{one.luck / one.stderr:+.2f}"]
            for k, one in best.items()
        ),
    )
    yield (
        "MBA-ℓ2 against the printed mean, corrected for the random test set (the AUC of Neyman–Pearson on it "
        f"minus the closed form); it should be at most {_TOLERANCE} points below:"
    )
    rows = []
    for k, ratio in product(COMPONENTS, RATIOS):
        ours = study.auc(MBA.name, k, ratio).mean() - best[k].luck
        printed = TABLE2[MBA.name][k, ratio][0]
        verdict = "holds" if ours >= printed - _TOLERANCE else "**fails**"
        rows.append(
            [str(k), f"{ratio:.0%}", f"{ours:.2f}", f"{printed:.2f}", f"{ours - printed:+.2f}", verdict]
        )
    yield markdown_table(["k", "SR", "MBA-ℓ2, corrected", "printed", "difference", ""], rows)
    yield "The paper finds MBA-ℓ2 significantly better than both rivals in all nine rows. Found here:"
    if study.settings.sets < 2:
        yield "(nothing: a test needs at least two training sets)"
        return
    rows = []
    for contender in (*SAMPLED[1:], *WHOLE):
        marks = {
            (k, ratio): _mark(study.auc(MBA.name, k, ratio), study.auc(contender.name, k, ratio))
            for k, ratio in product(COMPONENTS, RATIOS)
        }
        counts = [sum(mark == which for mark in marks.values()) for which in ("● ", "", "○ ")]
        where = ", ".join(f"k={k} SR={ratio:.0%}" for (k, ratio), mark in marks.items() if mark != "● ")
        where = "everywhere" if counts[0] == 0 else where
        rows.append([contender.name, *map(str, counts), where or "–"])
    yield markdown_table(["against", "better", "no difference", "worse", "not better at"], rows)


def _settings(study: Simulation) -> Iterator[str]:
    yield "Median over the training sets (smallest to largest)."
    contenders = (*SAMPLED, *WHOLE)
    rows = []
    for k, ratio in product(COMPONENTS, RATIOS):
        chosen = (study.choices(contender.name, k, ratio) for contender in contenders)
        cells = (f"{np.median(one):.3g} ({one.min():.3g} to {one.max():.3g})" for one in chosen)
        rows.append([str(k), f"{ratio:.0%}", *cells])
    yield markdown_table(["k", "SR", *(f"{one.name}: {one.setting}" for one in contenders)], rows)
