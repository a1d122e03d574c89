"""When is a linear score enough? The paper's high-SNR claim, tested on problems where its own study cannot.

In all of the paper's simulations the Neyman–Pearson score rises with the sum of the coordinates, so that the
best detector is linear for any number of components. Here it is linear in the first family, as a control, and
not in the three others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import toeplitz

from mbauc.estimators import MBAClassifier
from mbauc.paper.detection import GaussianMixture, Hypotheses
from mbauc.paper.detection.plots import detection_snr_plot
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_figure, write_table, write_text
from mbauc.paper.study import Record, Request, Study
from mbauc.plots import new_figure


class Family(NamedTuple):
    """Hypotheses for each signal-to-noise ratio."""

    name: str
    says: str
    at: Callable[[float], Hypotheses]


@dataclass(frozen=True)
class Settings:
    """What the results depend on."""

    #: Signal-to-noise ratios: energy of a signal over the variance of the noise, in decibels.
    snr_db: tuple[float, ...] = (-12.0, -6.0, 0.0, 3.0, 6.0, 9.0, 12.0)
    #: Rows that MBA learns from, a tenth of them positive.
    train: int = 20_000
    #: Draws for the Neyman–Pearson curve where it has no closed form.
    samples: int = 400_000
    #: Of everything drawn.
    seed: int = 0


QUICK = Settings(samples=40_000)

_DIMENSION = 10
#: Correlated noise: neighbours have correlation 0.7.
_NOISE = toeplitz(0.7 ** np.arange(_DIMENSION))


def _shared(snr_db: float) -> Hypotheses:
    signal = np.sin(np.arange(1.0, _DIMENSION + 1))
    signal *= _amplitude(snr_db) / np.sqrt(signal @ np.linalg.solve(_NOISE, signal))
    return Hypotheses(GaussianMixture(signal, _NOISE), GaussianMixture(np.zeros(_DIMENSION), _NOISE))


def _unequal(snr_db: float) -> Hypotheses:
    signal = np.full(_DIMENSION, _amplitude(snr_db) / np.sqrt(_DIMENSION))
    return Hypotheses(GaussianMixture(signal, 2.0), GaussianMixture(np.zeros(_DIMENSION)))


def _either_channel(snr_db: float) -> Hypotheses:
    means = np.zeros((2, _DIMENSION))
    means[0, 0] = means[1, 1] = _amplitude(snr_db)
    return Hypotheses(GaussianMixture(means), GaussianMixture(np.zeros(_DIMENSION)))


def _either_sign(snr_db: float) -> Hypotheses:
    signal = np.full(_DIMENSION, _amplitude(snr_db) / np.sqrt(_DIMENSION))
    mixture = GaussianMixture([signal, -signal], weights=[0.8, 0.2])
    return Hypotheses(mixture, GaussianMixture(np.zeros(_DIMENSION)))


def _amplitude(snr_db: float) -> float:
    return float(10 ** (snr_db / 20))


FAMILIES = (
    Family(
        "shared covariance",
        "a known signal in correlated noise (the best score is linear: footnote 6 of the paper)",
        _shared,
    ),
    Family("unequal covariances", "a signal that doubles the variance of the noise", _unequal),
    Family(
        "either channel", "a signal in one of two channels, either with probability one half", _either_channel
    ),
    Family("either sign", "a signal whose sign is flipped one time in five", _either_sign),
)


class Finding(NamedTuple):
    """What the detectors reach for one family at one signal-to-noise ratio."""

    family: str
    snr_db: float
    neyman_pearson: float
    linear: float
    learned: float

    @property
    def shortfall(self) -> float:
        """What the linear score lacks, in points of AUC; where draws are involved, up to their noise."""
        return 100 * (self.neyman_pearson - self.linear)

    @property
    def error_ratio(self) -> float:
        """Pairs that the linear score gets wrong for each one that the best score gets wrong."""
        return (1 - self.linear) / (1 - self.neyman_pearson)


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the page."""
    settings = replace(QUICK if request.quick else Settings(), seed=request.seed)
    return render(settings, run(settings, request.out, request.n_jobs), request.out)


def run(settings: Settings, folder: Path, n_jobs: int | None = None) -> list[Finding]:
    """All families at all signal-to-noise ratios; AUCs of linear scores are exact, learned ones included."""
    families = {family.name: family for family in FAMILIES}

    def perform(name: str, snr_db: float) -> Record:
        both = families[name].at(snr_db)
        seed = [settings.seed, list(families).index(name), round(100 * (snr_db + 1000))]
        X, y = both.sample(settings.train, 0.1, seed)
        ranker = MBAClassifier(n_jobs=1).fit(X, y)
        return {
            "neyman_pearson": both.curve(settings.samples, seed).auc,
            "linear": both.linear_curve(both.linear_weights()).auc,
            "learned": both.linear_curve(ranker.coef_[0]).auc,
        }

    # what a problem gives does not depend on the other ratios
    depends_on = {name: value for name, value in asdict(settings).items() if name != "snr_db"}
    study = Study(folder, "linearity", ("family", "snr_db"), depends_on)
    tasks = [(name, snr_db) for name in families for snr_db in settings.snr_db]
    records = study.run(perform, tasks, n_jobs=n_jobs, what="problems", unit="problem")
    return [Finding(**{name: record[name] for name in Finding._fields}) for record in records.values()]


def render(settings: Settings, findings: list[Finding], folder: Path) -> list[Path]:
    """Write ``linearity`` as ``.csv``, ``.md``, ``.png`` and ``.svg``; return the paths."""
    figure = new_figure(10.0, 7.6)
    levels = np.linspace(min(settings.snr_db), max(settings.snr_db) + 6, 25)
    for family, ax in zip(FAMILIES, figure.subplots(2, 2, sharex=True, sharey=True).ravel(), strict=True):
        detection_snr_plot(family.at, levels, samples=settings.samples // 4, title=family.name, ax=ax)
    rows = ([one.family, one.snr_db, *(f"{value:.6f}" for value in one[2:])] for one in findings)
    return [
        write_table(folder / "linearity.csv", Finding._fields, rows),
        write_text(folder / "linearity.md", page(settings, findings)),
        *write_figure(folder, "linearity", figure),
    ]


_WHAT = """
How much AUC does a linear score lose against the optimal detector, by signal-to-noise ratio (SNR)? The paper
argues that a linear score is a good approximation at high SNR. Its own simulations cannot test this, because
their optimal score is linear at any SNR. Written by `mbauc reproduce linearity`: {dimension} dimensions, seed
{seed}.

SNR is the energy of the signal over the variance of the noise. The tables have AUC in percent of the
Neyman–Pearson detector (closed form or {samples:,} draws), of the linear score of MBA with infinitely many
pairs (exact), and of MBA trained on {train:,} rows with 10% positives (exact as well: no test set is drawn).
*AUC loss* is the first minus the second. *error ratio* is the number of misordered pairs of the linear score
divided by that of the optimal score. Figures from draws have a standard error of about {error:.2f} points.
"""


def page(settings: Settings, findings: list[Finding]) -> str:
    """The text of ``linearity.md``."""
    # an AUC from n weighted draws has a standard error of at most about 1/(2√n)
    error = 50 / np.sqrt(settings.samples)
    what = _WHAT.format(dimension=_DIMENSION, error=error, **asdict(settings))
    parts = [
        "# When is a linear score enough?",
        unwrap(what),
        "![P_D against SNR](linearity.png)",
        "P_D against SNR at three false-alarm rates: Neyman–Pearson detector solid, linear score dashed.",
    ]
    for family in FAMILIES:
        table = markdown_table(_HEAD, (_cells(one) for one in findings if one.family == family.name))
        parts += [f"## {family.name.capitalize()}", f"{family.says.capitalize()}.", table]
    parts += ["## Findings", "\n".join(f"* {line}" for line in _conclusions(findings))]
    return "\n\n".join(parts) + "\n"


_HEAD = ["SNR, dB", "Neyman–Pearson", "linear, infinite data", "MBA", "AUC loss", "error ratio"]


def _cells(one: Finding) -> list[str]:
    aucs = [f"{100 * auc:.2f}" for auc in (one.neyman_pearson, one.linear, one.learned)]
    return [f"{one.snr_db:g}", *aucs, f"{one.shortfall + 0.0:.2f}", f"{one.error_ratio:.2f}"]


def _conclusions(findings: list[Finding]) -> Iterator[str]:
    """Sentences with the figures of the run."""
    for family in FAMILIES:
        rows = sorted((one for one in findings if one.family == family.name), key=lambda one: one.snr_db)
        low, high = rows[0], rows[-1]
        worst = max(rows, key=lambda one: one.shortfall)
        yield (
            f"{family.name.capitalize()}: the linear score loses {low.shortfall:.2f} points of AUC at "
            f"{low.snr_db:g} dB and {high.shortfall:.2f} at {high.snr_db:g} dB, {worst.shortfall:.2f} at worst "
            f"({worst.snr_db:g} dB); its error ratio goes from {low.error_ratio:.2f} to {high.error_ratio:.2f}."
        )
