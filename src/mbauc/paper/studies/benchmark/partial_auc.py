"""Fitting for the top of the list: detections at few false alarms, against fitting for the whole AUC."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators import PairwiseAUCClassifier, PairwiseAUCClassifierCV
from mbauc.metrics import partial_roc_auc, roc_auc
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.partial_auc import standardized_partial_auc
from mbauc.metrics.ranked import RankedScores
from mbauc.paper.datasets.registry import find
from mbauc.paper.studies.benchmark.runs import DATASETS, RunSplit, fingerprint, split_rows
from mbauc.paper.studies.benchmark.runs import Settings as BenchmarkSettings
from mbauc.paper.studies.benchmark.tuned import RIVALS, Labels, tune
from mbauc.paper.studies.contenders import FOLDS, draw_folds
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_table, write_text
from mbauc.paper.study import Record, Request, Results, Study, describe_origin, load_available

Array = NDArray[np.float64]

#: Sets of Table III with some hundred training negatives or more, that linear scores do not part entirely.
SETS = ("a1a", "a9a", "bank", "codrna", "ijcnn", "mnist", "phishing", "usps", "w1a", "w7a")
WHOLE, WHOLE_TUNED, PARTIAL = "whole", "whole-tuned", "partial"
#: Rivals of Table III that take part, tuned for the top of the list.
_RIVALS = tuple(rival for rival in RIVALS if rival.key in ("tuned-logistic", "tuned-logistic-balanced"))
NAMES = {
    WHOLE: "whole AUC",
    WHOLE_TUNED: "whole AUC, tuned for the top",
    PARTIAL: "partial AUC",
    **{rival.key: rival.name for rival in _RIVALS},
}


@dataclass(frozen=True)
class Settings:
    """What the results depend on."""

    #: False-alarm rate up to which detections count.
    max_fpr: float = 0.01
    loss: str = "squared_hinge"
    #: Bootstrap samples of the test rows.
    samples: int = 500
    #: Whether all settings are tried.
    thorough: bool = True
    #: Of everything drawn.
    seed: int = 0


QUICK = Settings(samples=200, thorough=False)


class Gain(NamedTuple):
    """A difference with its 95% interval."""

    value: float
    low: float
    high: float


class Outcome(NamedTuple):
    """What a method reached on the test rows, and how far it is above the whole AUC tuned for the top."""

    detections: float
    partial_auc: float
    auc: float
    #: Of the detections, and of the partial AUC (paired bootstrap).
    gain: Gain
    partial_gain: Gain
    choice: str
    seconds: float

    def row(self) -> list[object]:
        """As numbers and words of a file."""
        numbers = (*self[:3], *self.gain, *self.partial_gain)
        return [*(f"{number:.8f}" for number in numbers), self.choice, f"{self.seconds:.3f}"]


#: Columns of a row.
_HEAD = [
    *("dataset", "algorithm", "detections", "partial_auc", "auc", "gain", "low", "high"),
    *("partial_gain", "partial_low", "partial_high", "choice", "seconds"),
]


class TopOfList(Results[Settings]):
    """What the runs have found."""

    def outcome(self, dataset: str, key: str) -> Outcome:
        """Of a method on a data set."""
        found = self.records[(dataset,)]["methods"][key]
        return Outcome(**{**found, **{name: Gain(*found[name]) for name in ("gain", "partial_gain")}})


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the page."""
    settings = replace(QUICK if request.quick else Settings(), seed=request.seed)
    datasets = request.datasets or SETS
    return render(run(settings, request.out, datasets, request.data_dir, request.n_jobs), datasets, request.out)


def run(
    settings: Settings,
    out: Path,
    datasets: tuple[str, ...] = SETS,
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> TopOfList:
    """Run what is not yet in the journal; sets that are not there are named in ``missing``."""
    present, missing = load_available(datasets, lambda name: fingerprint(name, folder))
    study = Study(out, "partial_auc", ("dataset",), {**asdict(settings), "folds": FOLDS})
    for name, data in present.items():
        study.check_data(name, data)
    records = study.run(
        lambda dataset: one_run(dataset, settings, folder),
        [(name,) for name in present],
        n_jobs=n_jobs,
        what="data sets",
        unit="set",
    )
    return TopOfList(settings, records, missing)


# -- one data set ---------------------------------------------------------------------------------------------


class _Fitted(NamedTuple):
    weights: Array
    choice: str
    seconds: float


def one_run(dataset: str, settings: Settings, folder: Path | None) -> Record:
    """All methods on one data set, each tuned on the training rows."""
    part = split_rows(dataset, 0, BenchmarkSettings(seed=settings.seed), folder)
    rng = np.random.default_rng([settings.seed, 6, DATASETS.index(dataset)])
    fold = draw_folds(part.y, rng)

    def measure(y: Labels, scores: Array) -> float:
        return partial_roc_auc(y, scores, max_fpr=settings.max_fpr)

    fitted = _fit_pairs(part, settings)
    for rival in _RIVALS:
        found = tune(rival, part, fold, settings.thorough, measure)
        fitted[rival.key] = _Fitted(found.weights, f"{rival.setting} {found.setting:g}", found.seconds)
    scores = {key: part.X_test @ one.weights for key, one in fitted.items()}
    reached = {key: _look_at_top(part.y_test, one, None, settings.max_fpr) for key, one in scores.items()}
    gains = bootstrap(part.y_test, scores, settings, rng)
    methods = {}
    for key, one in fitted.items():
        ends = np.percentile(gains[key], [2.5, 97.5], axis=0)
        table = np.vstack([reached[key] - reached[WHOLE_TUNED], ends])
        gain, partial_gain = (Gain(*map(float, column)) for column in table.T)
        detections, area = map(float, reached[key])
        auc = roc_auc(part.y_test, scores[key])
        methods[key] = Outcome(detections, area, auc, gain, partial_gain, one.choice, one.seconds)._asdict()
    return {"data": fingerprint(dataset, folder), "methods": methods}


def _fit_pairs(part: RunSplit, settings: Settings) -> dict[str, _Fitted]:
    """Fits for the whole AUC and for the part that is asked for."""
    some: dict[str, Any] = {} if settings.thorough else {"cv": 3}
    fitted = {}
    for key, max_fpr in ((WHOLE, 1.0), (PARTIAL, settings.max_fpr)):
        began = time.perf_counter()
        model = PairwiseAUCClassifierCV(
            settings.loss, max_fpr=max_fpr, random_state=settings.seed, n_jobs=1, **some
        ).fit(part.X, part.y)
        choice = f"fitted up to {model.region_.max_fpr:g}, l2 {model.l2_:.3g}"
        fitted[key] = _Fitted(model.coef_[0], choice, time.perf_counter() - began)
    # the same candidates, by the same folds and measure, but for the region
    began, results = time.perf_counter(), model.cv_results_
    whole = np.flatnonzero(results["param_max_fpr"] == 1.0)
    best = results["params"][int(whole[results["mean_test_score"][whole].argmax()])]
    tuned = PairwiseAUCClassifier(settings.loss, l2=best["l2"], scale=best["scale"], n_jobs=1)
    weights = tuned.fit(part.X, part.y).coef_[0]
    if model.region_.max_fpr == 1.0:
        weights = fitted[PARTIAL].weights
    seconds = fitted[PARTIAL].seconds + time.perf_counter() - began
    fitted[WHOLE_TUNED] = _Fitted(weights, f"fitted up to 1, l2 {best['l2']:.3g}", seconds)
    return {key: fitted[key] for key in (WHOLE, WHOLE_TUNED, PARTIAL)}


def _look_at_top(y: Labels, scores: Array, times: Array | None, max_fpr: float) -> Array:
    """Detections at a false-alarm rate, and the partial AUC up to it; rows may count several times."""
    ranked = RankedScores.validate(y, scores, times)
    curve = roc_curve(ranked, max_fpr=max_fpr)
    alarms, found = curve.false_alarms / curve.negatives, curve.found / curve.positives
    detections = np.interp(max_fpr, np.append(0.0, alarms), np.append(0.0, found))
    return np.array([detections, standardized_partial_auc(ranked, max_fpr)])


def bootstrap(
    y: Labels, scores: dict[str, Array], settings: Settings, rng: np.random.Generator
) -> dict[str, Array]:
    """Gains over the whole AUC tuned for the top, for rows of each class drawn with replacement."""
    classes = [np.flatnonzero(y == label) for label in (0, 1)]
    gains: dict[str, list[Array]] = {key: [] for key in scores}
    for _ in range(settings.samples):
        times = np.zeros(y.size)
        for rows in classes:
            times[rows] = rng.multinomial(rows.size, np.full(rows.size, 1 / rows.size))
        drawn = times > 0
        tops = {
            key: _look_at_top(y[drawn], one[drawn], times[drawn], settings.max_fpr)
            for key, one in scores.items()
        }
        for key, top in tops.items():
            gains[key].append(top - tops[WHOLE_TUNED])
    return {key: np.array(found) for key, found in gains.items()}


# -- the page -------------------------------------------------------------------------------------------------


def render(study: TopOfList, datasets: tuple[str, ...], folder: Path) -> list[Path]:
    """Write ``partial_auc.csv`` and ``partial_auc.md``; return their paths."""
    present = [name for name in datasets if name not in study.missing]
    rows = ([name, key, *study.outcome(name, key).row()] for name in present for key in NAMES)
    return [
        write_table(folder / "partial_auc.csv", _HEAD, rows),
        write_text(folder / "partial_auc.md", page(study, datasets)),
    ]


_WHAT = """
Does it pay to fit the partial AUC if only the top of the list is acted on? This page compares the detection
rate at {rate} false alarms of models fitted to the whole and to the partial AUC, and of tuned logistic
regression. Written by `mbauc reproduce partial_auc`.

**Methods.** *partial AUC* is `PairwiseAUCClassifierCV("{loss}", max_fpr={max_fpr:g})`, which fits the pairs of
the negatives with the highest scores. Their share, between this rate and all of them, and the penalty are
chosen by cross-validation of the partial AUC. *whole AUC* is the same call without `max_fpr`; *tuned for the
top* also has its penalty and the scaling of its columns chosen by the partial AUC, so it differs from *partial
AUC* in the loss alone.
Logistic regression is tuned by the partial AUC over nine decades of C, with raw and standardised columns.

**Metrics.** Detection rate at {rate} false alarms on the test rows, and partial AUC up to that rate
(standardised: 50 for random scores, 100 at best), both in percent. In brackets: difference to *tuned for the
top* with a 95% interval, paired bootstrap of the test rows, {samples:,} samples. Bold: the interval excludes
zero. The splits are those of [Table III](table3.md), first run. The multiples of the rate that are tried were
selected on some of these sets with their test rows in view.
"""


def page(study: TopOfList, datasets: tuple[str, ...]) -> str:
    """The text of ``partial_auc.md``."""
    s = study.settings
    present = [name for name in datasets if name not in study.missing]
    rate = f"{100 * s.max_fpr:g}%"
    head = ["data set", *NAMES.values()]
    parts = [
        "# Partial AUC: fit for low false-alarm rates",
        unwrap(_WHAT.format(loss=s.loss, max_fpr=s.max_fpr, rate=rate, samples=s.samples)),
        f"## Detections at {rate} false alarms",
        markdown_table(head, ([name, *_detections(study, name)] for name in present)),
        f"## Partial AUC up to {rate}",
        markdown_table(head, ([name, *_partial_aucs(study, name)] for name in present)),
        "## AUC and chosen settings",
        markdown_table(
            [*head, "chosen for partial AUC"],
            (
                [
                    name,
                    *(f"{100 * study.outcome(name, key).auc:.2f}" for key in NAMES),
                    study.outcome(name, PARTIAL).choice,
                ]
                for name in present
            ),
        ),
        "\n".join(f"* {line}" for line in _conclusions(study, present)),
        describe_origin(s.seed, study.seconds),
    ]
    if study.missing:
        missing = (f"{name} ({find(name).source})" for name in datasets if name in study.missing)
        parts.insert(-1, f"Not available: {', '.join(missing)}.")
    if not s.thorough:
        parts.insert(1, "**A quick run**: few settings and folds.")
    return "\n\n".join(parts) + "\n"


def _show(key: str, value: float, gain: Gain) -> str:
    if key == WHOLE_TUNED:
        return f"{100 * value:.2f}"
    text = f"{100 * value:.2f} ({100 * gain.value:+.2f}, {100 * gain.low:+.2f} to {100 * gain.high:+.2f})"
    return f"**{text}**" if gain.low > 0 or gain.high < 0 else text


def _detections(study: TopOfList, dataset: str) -> Iterator[str]:
    for key in NAMES:
        one = study.outcome(dataset, key)
        yield _show(key, one.detections, one.gain)


def _partial_aucs(study: TopOfList, dataset: str) -> Iterator[str]:
    for key in NAMES:
        one = study.outcome(dataset, key)
        yield _show(key, one.partial_auc, one.partial_gain)


def _conclusions(study: TopOfList, present: list[str]) -> Iterator[str]:
    """Sentences with the figures of the runs."""
    found = {name: study.outcome(name, PARTIAL) for name in present}
    for what, gains in (
        ("detections", {name: one.gain for name, one in found.items()}),
        ("partial AUC", {name: one.partial_gain for name, one in found.items()}),
    ):
        more = [name for name, gain in gains.items() if gain.low > 0]
        less = [name for name, gain in gains.items() if gain.high < 0]
        same = [name for name in present if name not in more + less]
        listed = (", ".join(names) or "none" for names in (more, less, same))
        yield (
            "Fitting the partial AUC, effect on {}: significantly higher on {}; lower on {}; no significant "
            "difference on {}.".format(what, *listed)
        )
    best = [
        name
        for name, one in found.items()
        if all(one.partial_auc >= study.outcome(name, key).partial_auc for key in NAMES)
    ]
    yield f"It has the highest partial AUC of all methods on: {', '.join(best) or 'none'}."
