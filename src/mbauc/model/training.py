"""From a source to a model: hold some rows out, train on the others, test, train on all, and keep that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mbauc.defaults import FOLDS, LOG_LOSS
from mbauc.errors import Advice
from mbauc.estimators.capabilities import Way, check_capabilities, is_quadratic
from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.classifier_cv import MBAClassifierCV
from mbauc.estimators.pairwise import PairwiseAUCClassifier
from mbauc.estimators.pairwise_cv import PairwiseAUCClassifierCV
from mbauc.estimators.validation import check_class_weights
from mbauc.metrics.calibration import fit_calibration
from mbauc.model.additive_training import check_additive, check_codes, fit_additive
from mbauc.model.baseline import Baseline, measure_baseline
from mbauc.model.hashed_names import find_hashed_names
from mbauc.model.hold_out import HoldOut
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel
from mbauc.model.objective import LOSS_SETTINGS, loss_of, region_of
from mbauc.model.odd_columns import find_odd_columns
from mbauc.model.record import compare_losses, describe_fit, describe_test, list_penalties
from mbauc.model.seen_files import file_marks, find_seen_files, list_names
from mbauc.model.testing import NoRowsError, Tested, score_source
from mbauc.pairs.accumulator import accumulate_with_decay
from mbauc.rows.held_out import SplitSource
from mbauc.rows.source import Source, unpack_block
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import show_wait

#: Held-out rows may take one part in this many of the memory; beyond it they are read again.
_FOR_HELD_OUT = 8
#: Rows of each class that probabilities are fitted to, at least.
_TO_CALIBRATE = 30


@dataclass(frozen=True)
class Training:
    """What to do.

    Attributes
    ----------
    settings : dict
        Of :class:`mbauc.MBAClassifier`, or, if they name another loss than the squared one or a part of the ROC
        curve, of :class:`mbauc.PairwiseAUCClassifier`; with the loss "auto" it is chosen. If they name
        ``features``, of :class:`mbauc.AdditiveAUCClassifier`.
    folds : int
        Folds of a cross-validation that chooses the penalties; 0 for none, or for 5 where a loss is chosen.
    grouped : bool
        Whether the rows are of groups, within which alone pairs count.
    hold_out : HoldOut
        Rows to test on.
    refit : bool
        Whether the model that is kept is trained on all rows, once another one has been tested.
    baseline : bool
        Whether logistic regression is tested on the same rows; not of groups, which it does not know.
    calibrate : bool
        Whether probabilities are fitted to the rows that were tested.
    memory, checkpoint
        As for :meth:`mbauc.MBAClassifier.fit_source`.
    decay : float
        What earlier blocks' weights are multiplied by at each block; 1 forgets nothing.
    verbose : bool
        Show progress on a terminal.
    """

    settings: dict[str, Any]
    folds: int = 0
    grouped: bool = False
    hold_out: HoldOut = field(default_factory=HoldOut)
    refit: bool = False
    baseline: bool = False
    calibrate: bool = False
    memory: str | int | None = None
    checkpoint: str | None = None
    decay: float = 1.0
    verbose: bool = False

    @property
    def is_quadratic(self) -> bool:
        """Whether the squared loss over the whole ROC curve is lowered, which moments suffice for."""
        return is_quadratic(self.settings)

    @property
    def is_additive(self) -> bool:
        """Whether curves and interactions are fitted."""
        return self.settings.get("features") is not None

    @property
    def chooses_by_folds(self) -> bool:
        """Whether a cross-validation chooses the penalties, or the loss; curves have one of their own."""
        if self.is_additive:
            return False
        return self.folds > 0 or self.settings.get("loss") == "auto"

    @property
    def way(self) -> Way:
        """How the rows are fitted."""
        return "source folds" if self.chooses_by_folds else "decayed source" if self.decay < 1 else "source"

    def check(self) -> None:
        """Raise for what cannot be combined, before anything is read; the error says what to do."""
        region_of(self.settings)
        if self.is_additive:
            check_additive({**self.settings, "cv": self.folds, "decay": self.decay})
            return
        if self.settings.get("loss") == LOG_LOSS:
            raise ValueError(
                Advice("{loss} is for curves, ", loss=LOG_LOSS)
                + "but other settings select a linear model. Leave out l1, l2, cv, encode, scale, decay, "
                "max_fpr and similar, or use another loss."
            )
        asked = {"memory": self.memory, "checkpoint": self.checkpoint, "decay": self.decay}
        # the columns of another model may yet say that there are groups
        known = {"pairs": "all", "groups": self.grouped or None}
        check_capabilities(self.way, known | self.settings | asked)

    def fit(
        self, source: Source, memory: str | int | None, checkpoint: str | None = None
    ) -> tuple[Any, list[dict[str, float]]]:
        """A fitted ranker, and the penalties that were tried with their held-out scores."""
        settings = {name: value for name, value in self.settings.items() if value is not None}
        settings |= {"loss": loss_of(settings), "verbose": self.verbose}
        if self.is_additive:
            return fit_additive(source, settings, memory=memory, checkpoint=checkpoint), []
        if self.chooses_by_folds:
            kind = MBAClassifierCV if self.is_quadratic else PairwiseAUCClassifierCV
            folds = self.folds or FOLDS
            chosen = kind(cv=folds, **_known(kind, settings)).fit_source(source)
            return chosen, list_penalties(chosen, folds)
        if not self.is_quadratic:
            other = PairwiseAUCClassifier(**_known(PairwiseAUCClassifier, settings))
            return other.fit_source(source, memory=memory, checkpoint=checkpoint), []
        ranker = MBAClassifier(**{name: settings[name] for name in settings if name not in LOSS_SETTINGS})
        if self.decay < 1:
            frequencies = settings.get("weights") == "frequency"
            n_jobs = settings.get("n_jobs")
            moments = accumulate_with_decay(source, self.decay, n_jobs=n_jobs, frequencies=frequencies)
            return ranker.fit_moments(moments), []
        return ranker.fit_source(source, memory=memory, checkpoint=checkpoint, keep_moments=True), []


def train(
    source: Source,
    layout: TableLayout | LibsvmLayout,
    training: Training,
    *,
    about: dict[str, Any] | None = None,
    test: Source | None = None,
) -> tuple[RankerModel, Tested | None]:
    """A model of the rows of a source, and how it does on rows held out, or on other rows.

    Rows that are held out are kept while the others are learned from, if they fit into an eighth of the memory;
    otherwise the source is read once more to test on them.

    Parameters
    ----------
    source : Source
        The rows.
    layout : TableLayout or LibsvmLayout
        How they came from files.
    training : Training
        What to do with them.
    about : dict, optional
        More for the model's record, which has the files of the source.
    test : Source, optional
        Rows to test on, instead of some that are held out. If files of them are files of the source, the
        record says so.
    """
    started = time.time()
    training.check()
    check_codes(layout, additive=training.is_additive)
    if getattr(layout, "weight", None) is not None:
        # in files, and on the command line, a row of weight 3 counts as three equal rows
        training = replace(training, settings={"weights": "frequency"} | training.settings)
    make = _ModelMaker(source, layout, training)
    trial: _Trial | None = None
    if test is None and training.hold_out.share > 0:
        with _name_zero_weights(source, layout), show_wait("test", show=training.verbose):
            trial = _try_held_out(make)
    if trial is None or training.refit or trial.ranker is None:
        with _name_zero_weights(source, layout), show_wait("fit", show=training.verbose):
            ranker, path = training.fit(source, training.memory, training.checkpoint)
    else:
        ranker, path = trial.ranker, trial.path
    record = {"files": file_marks(source), **(about or {}), **describe_fit(ranker), "notes": []}
    if compare_losses(ranker):
        record["losses"] = compare_losses(ranker)
    if training.is_additive:
        record |= {"choice": ranker.choice_, "kinds": ranker.search_}
    with show_wait("looking at columns", show=training.verbose and training.is_additive):
        findings = find_odd_columns(source, by_rows=training.is_additive)
    if findings or training.is_additive:
        record["findings"] = [asdict(one) for one in findings]
    asked = region_of(training.settings)
    if not asked.is_whole:
        record["asked"] = asdict(asked)
    model = make(ranker, path, record)
    record["seconds"] = round(time.time() - started, 3)
    record["hashed_columns"] = [] if training.is_additive else find_hashed_names(source, model.coef)
    tested, seen, where = None, list[str](), training.hold_out.describe()
    if trial is not None:
        refitted = ranker is not trial.ranker
        if not refitted:
            record["held_out"] = training.hold_out.to_record()
        tested = trial.tested
        if trial.baseline is not None:
            record["baseline"] = trial.baseline._asdict()
        if tested is None:
            record["notes"].append(trial.note)
        elif refitted:
            tested = tested.in_units_of(model)
            where += "; then trained on all rows"
    elif test is not None:
        seen = find_seen_files(record["files"], test)
        where = f"rows it was trained on ({list_names(seen)})" if seen else "other files"
        tested = score_source(model, test, verbose=training.verbose)
    if tested is None:
        return model, None
    positives, negatives = int(tested.y.sum()), int(tested.y.size - tested.y.sum())
    if tested.describe_too_few():
        record["notes"].append(f"not tested: {tested.describe_too_few()}")
        return model, None
    if tested.describe_few_rows():
        record["notes"].append(tested.describe_few_rows())
    equal_groups = bool(model.settings.get("equal_groups"))
    record["tested"] = describe_test(tested, asked, equal_groups=equal_groups, rows=where, seen=bool(seen))
    if training.calibrate and not seen and min(positives, negatives) >= _TO_CALIBRATE:
        current = model.current_calibration
        calibration = fit_calibration(tested.y, tested.s, sample_weight=tested.weight, current=current)
        model = model.with_calibration(calibration)
    return model, tested


@contextmanager
def _name_zero_weights(source: Source, layout: TableLayout | LibsvmLayout) -> Iterator[None]:
    """Where a fit fails, see whether all rows of a class weigh nothing; then the error names the column."""
    try:
        yield
    except ValueError:
        name = getattr(layout, "weight", None)
        if name is None:
            raise
        totals = np.zeros(2)
        for raw in source:
            _, y, weight, *_ = unpack_block(raw, "the source")
            totals += np.bincount(np.asarray(y), weight, minlength=2)[:2]
        what = "the column of " + Advice.of_argument("weight", name)
        if not totals.any():
            raise ValueError(what + " is zero for all rows; at least one must be positive.") from None
        check_class_weights(totals, np.array([False, True]), source.classes, what)
        raise


@dataclass(frozen=True)
class _ModelMaker:
    """Makes models of rankers that are fitted to rows of one source."""

    source: Source
    layout: TableLayout | LibsvmLayout
    training: Training

    def __call__(self, ranker: Any, path: list[dict[str, float]], record: dict[str, Any]) -> RankerModel:
        settings = _settings_to_keep(self.training, ranker)
        classes = self.source.classes
        return RankerModel.of(ranker, self.layout, classes, settings=settings, trained_on=record, path=path)


class _Trial(NamedTuple):
    """How rows do that were held out, or why nobody knows; and the ranker, if there is only one."""

    tested: Tested | None
    note: str
    ranker: Any
    path: list[dict[str, float]]
    baseline: Baseline | None = None


def _try_held_out(make: _ModelMaker) -> _Trial:
    """Fit to the rows that are not held out, and score those that are; for each fold."""
    source, training = make.source, make.training
    limit = parse_memory(training.memory)
    room = limit // _FOR_HELD_OUT
    memory = None if training.memory is None else limit - room
    splits = training.hold_out.splits(source)
    checkpoint = training.checkpoint
    if checkpoint is not None and (training.refit or len(splits) > 1):
        checkpoint = str(Path(checkpoint, "test"))
    tested: list[Tested] = []
    ranker, path, what, baseline = None, list[dict[str, float]](), "rows", None
    for k, split in enumerate(splits):
        rows = SplitSource(source, split, memory=room)
        own = checkpoint if checkpoint is None or len(splits) == 1 else f"{checkpoint}-{k}"
        try:
            ranker, path = training.fit(rows, memory, own)
        except ValueError as error:
            if not training.refit:
                raise
            # rows without those held out may be too few; if it is more than that, the fit to all rows says so
            said = error.args[0] if error.args else ""
            fact = str(said.fact if isinstance(said, Advice) else said)
            return _Trial(None, f"not tested: {fact.removesuffix('.')}", None, [])
        what = "groups" if rows.has_groups else "rows"
        model = make(ranker, path, {})
        try:
            found = score_source(model, rows.held_out, verbose=training.verbose)
        except NoRowsError:
            continue
        if training.baseline and len(splits) == 1 and not rows.has_groups:
            with show_wait("logistic regression", show=training.verbose):
                baseline = measure_baseline(rows, rows.held_out, rows.encoding)
        clusters = training.hold_out.clusters(source, split)
        if clusters is not None:
            found = replace(found, clusters=clusters)
        if training.refit or len(splits) > 1:
            # scores of several models have one unit: log-odds, where there are some
            found = replace(found, s=found.s * (model.slope if model.slope > 0 else 1.0))
        tested.append(found)
    kept = (None, []) if len(splits) > 1 else (ranker, path)
    note = f"not tested: too few {what} to hold any out; test on other files (mbauc evaluate)"
    return _Trial(Tested.join(tested), note, *kept, baseline)


def _known(kind: type, settings: dict[str, Any]) -> dict[str, Any]:
    """Those of the settings that an estimator has."""
    return {name: settings[name] for name in set(kind().get_params()) & set(settings)}


def _settings_to_keep(training: Training, ranker: Any) -> dict[str, Any]:
    """Settings that give the same weights from the moments of the same rows."""
    settings = dict(training.settings)
    if training.is_additive:
        settings = {name: value for name, value in settings.items() if name in ranker.get_params()}
    if hasattr(ranker, "loss_"):
        settings["loss"] = ranker.loss_
    fitted = getattr(ranker, "region_", None)
    if fitted is not None and fitted != region_of(settings):
        # the whole curve may do better at a part of it than that part, where rows are few
        settings |= asdict(fitted)
    if training.chooses_by_folds:
        settings |= {"l1": ranker.l1_, "l2": ranker.l2_}
        if (ranker.scale_ != 1.0).any():
            # l2 was chosen for columns divided by their scales; for the columns as they are these are factors
            given = settings.get("penalty_factors")
            factors = ranker.scale_**2 * (1.0 if given is None else np.asarray(given))
            settings |= {"penalty_factors": factors.tolist(), "scale": False}
    return settings
