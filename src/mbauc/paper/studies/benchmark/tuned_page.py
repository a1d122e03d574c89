"""The part of Table III's page on losses over all pairs and tuned rivals, and its file of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scipy.special import ndtr, ndtri

from mbauc.metrics import holm
from mbauc.paper.studies.benchmark.runs import is_halved
from mbauc.paper.studies.benchmark.tuned import AUTO, PAIRWISE, RIVALS, Tuned
from mbauc.paper.studies.contenders import FOLDS
from mbauc.paper.studies.outputs import markdown_table, unwrap

_SIGNIFICANT = 0.05
#: What auto may lie below the best rival, in points, at worst.
_MARGIN = 0.3
HEAD = ["dataset", "algorithm", "run", "auc", "auto_minus", "stderr", "setting", "choice", "seconds"]
#: Names on the page by names in files, ours first.
OURS = {key: name for key, name, _ in PAIRWISE}
NAMES = OURS | {rival.key: rival.name for rival in RIVALS}


def list_runs(study: Tuned, datasets: tuple[str, ...]) -> Iterator[list[object]]:
    """Rows of ``table3_tuned.csv``; AUCs in percent."""
    for dataset in datasets:
        for key in () if dataset in study.missing else NAMES:
            for number, one in enumerate(study.outcomes(dataset, key)):
                numbers = (f"{100 * value:.6f}" for value in (one.auc, one.gain, one.stderr))
                yield [dataset, key, number, *numbers, f"{one.setting:g}", one.choice, f"{one.seconds:.3f}"]


class Verdict(NamedTuple):
    """Auto against the rival with the highest mean AUC on a data set, in points."""

    rival: str
    gain: float
    low: float
    high: float

    @property
    def within_margin(self) -> bool:
        """Whether auto is shown not to be worse by more than the margin."""
        return self.low > -_MARGIN


def judge(study: Tuned, dataset: str) -> Verdict:
    """The interval holds for all rivals of the set at once (Bonferroni, the first step of Holm)."""
    best = max((rival.key for rival in RIVALS), key=lambda key: float(study.auc(dataset, key).mean()))
    gain, stderr = study.gain(dataset, best)
    width = float(ndtri(1 - _SIGNIFICANT / 2 / len(RIVALS))) * stderr
    return Verdict(best, gain, gain - width, gain + width)


def find_significant(study: Tuned, present: list[str]) -> dict[tuple[str, str], str]:
    """``●`` where auto is significantly better than a rival, ``○`` where worse: Holm over sets and rivals."""
    pairs = [(dataset, rival.key) for dataset in present for rival in RIVALS]
    p_values = []
    for dataset, key in pairs:
        gain, stderr = study.gain(dataset, key)
        p_values.append(2 * float(ndtr(-abs(gain) / stderr)) if stderr > 0 else 1.0)
    found = zip(pairs, holm(p_values), strict=True)
    return {pair: "●" if study.gain(*pair)[0] > 0 else "○" for pair, p_value in found if p_value < _SIGNIFICANT}


_WHAT = """
`PairwiseAUCClassifierCV(loss)` with defaults (*pairs*; *auto* chooses the loss as well) against tuned linear
models. Each linear model has {settings} settings, with raw and with standardised columns, and uses the one with
the best cross-validated AUC, {folds} folds held out in turn; *pairs* also choose between raw and
standardised columns, by folds of their own. {halves} runs on small sets that are halved, one on all others.
*balanced* is `class_weight="balanced"`; the SVM has the squared hinge loss; balanced ridge ranks like MBA-ℓ2.

No fit uses test rows. However, the losses that *auto* tries, and their order of preference, were selected on
these sets with their test rows in view, so *auto* is slightly optimistic here.

● *auto* is significantly better than this model, ○ significantly worse (paired DeLong test on the test rows,
Holm's adjustment for all {tests} comparisons, 95%).
"""

_AGAINST = """
*auto* minus the linear model with the best test AUC, in points, with a simultaneous 95% interval for all
{rivals} models. Selecting the best model by its test AUC favours it. On halved sets both are means over the
runs, and the standard error is that of one run, because halves share rows.
"""


def write_section(study: Tuned, present: list[str]) -> list[str]:
    """Paragraphs and tables."""
    settings = study.settings
    what = _WHAT.format(
        settings="seven to nine" if settings.thorough else "two or three",
        folds=f"{FOLDS}" if settings.thorough else f"one of {FOLDS}",
        halves=settings.halves_runs,
        tests=len(RIVALS) * len(present),
    )
    return [
        "## Pairwise losses against tuned linear models",
        unwrap(what),
        _aucs(study, present),
        unwrap(_AGAINST.format(rivals=len(RIVALS))),
        _verdicts(study, present),
        "\n".join(f"* {line}" for line in _conclusions(study, present)),
    ]


def _aucs(study: Tuned, present: list[str]) -> str:
    marks = find_significant(study, present)

    def show(dataset: str, key: str) -> str:
        return f"{marks.get((dataset, key), '')} {study.auc(dataset, key).mean():.2f}".strip()

    rows = ([dataset, *(show(dataset, key) for key in NAMES)] for dataset in present)
    return markdown_table(["data set", *NAMES.values()], rows)


def _verdicts(study: Tuned, present: list[str]) -> str:
    rows = []
    for dataset in present:
        verdict = judge(study, dataset)
        choices = dict.fromkeys(one.choice for one in study.outcomes(dataset, AUTO))
        rows.append(
            [
                dataset,
                "; ".join(choices),
                NAMES[verdict.rival],
                f"{verdict.gain:+.2f}",
                f"{verdict.low:+.2f} to {verdict.high:+.2f}",
                "yes" if verdict.within_margin else "**no**",
            ]
        )
    head = ["data set", "auto chose", "best linear model", "difference", "95% interval", f"above -{_MARGIN:g}"]
    return markdown_table(head, rows)


def _conclusions(study: Tuned, present: list[str]) -> Iterator[str]:
    """Sentences with the figures of the runs."""
    marks = find_significant(study, present)
    for mark, what in (("○", "worse"), ("●", "better")):
        where: dict[str, list[str]] = {}
        for (dataset, key), seen in marks.items():
            if seen == mark:
                where.setdefault(dataset, []).append(NAMES[key])
        found = "; ".join(f"{dataset} ({', '.join(names)})" for dataset, names in where.items())
        yield f"*auto* is significantly {what} than: {found or 'none'}."
    best = [dataset for dataset in present if marks.get((dataset, judge(study, dataset).rival)) == "●"]
    yield f"It is significantly better than the best linear model on: {', '.join(best) or 'none'}."
    outside = [dataset for dataset in present if not judge(study, dataset).within_margin]
    if not outside:
        yield f"On every set the interval excludes that the best linear model is {_MARGIN:g} points ahead."
    for dataset in outside:
        verdict = judge(study, dataset)
        stderr = study.gain(dataset, verdict.rival)[1]
        if verdict.high < 0:
            why = "the linear model is better"
        elif verdict.gain < -_MARGIN:
            why = "the linear model is ahead, but not significantly"
        elif (verdict.high - verdict.low) / 2 > _MARGIN:
            why = "too few test rows for a conclusion"
        else:
            why = "the interval is inconclusive"
        half = " of one half" if is_halved(dataset) else ""
        yield (
            f"Exception: {dataset}, {verdict.gain:+.2f} points against {NAMES[verdict.rival]}, standard error "
            f"{stderr:.2f}{half}: {why}."
        )
