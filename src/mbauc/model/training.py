"""From a source to a model: hold some rows out, train on the others, test, and keep what was learned."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.classifier_cv import MBAClassifierCV
from mbauc.estimators.source_fit import first_block, rows_of
from mbauc.metrics import AucInterval, roc_auc_interval
from mbauc.model.hashed_names import hashed_names
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel
from mbauc.model.seen_files import file_marks, named, seen_files
from mbauc.pairs.accumulator import moments_of_block
from mbauc.pairs.moments import PairMoments
from mbauc.rows.reading import read_blocks
from mbauc.rows.source import Source
from mbauc.rows.split import SomeRows
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count
from mbauc.solvers.choice import SolverChoice, Workload

Array = NDArray[np.float64]

#: Columns up to which a model keeps its moments if that takes less than so many seconds.
_SMALL, _PATIENCE = 2_048, 20.0


@dataclass(frozen=True)
class Training:
    """What to do.

    Attributes
    ----------
    settings : dict
        Of :class:`mbauc.MBAClassifier`.
    folds : int
        Folds of a cross-validation that chooses the penalties; 0 for none.
    hold_out : float
        Share of the rows to test on; 0 for none.
    seed : int
        Of what is held out and of folds.
    memory, checkpoint
        As for :meth:`mbauc.MBAClassifier.fit_source`.
    decay : float
        What earlier blocks' weights are multiplied by at each block; 1 forgets nothing.
    show : bool
        Show progress on a terminal.
    """

    settings: dict[str, Any]
    folds: int = 0
    hold_out: float = 0.2
    seed: int = 0
    memory: str | int | None = None
    checkpoint: str | None = None
    decay: float = 1.0
    show: bool = False


@dataclass(frozen=True)
class Tested:
    """Labels and scores of rows that a model was not trained on."""

    y: NDArray[np.int8]
    s: Array
    weight: Array | None

    def interval(self, confidence: float = 0.95) -> AucInterval:
        """AUC with its interval; weights count as repeated rows."""
        return roc_auc_interval(
            self.y,
            self.s,
            self.weight,
            weights=None if self.weight is None else "frequency",
            confidence=confidence,
        )


def train(
    source: Source,
    layout: TableLayout | LibsvmLayout,
    training: Training,
    *,
    about: dict[str, Any] | None = None,
    test: Source | None = None,
) -> tuple[RankerModel, Tested | None]:
    """A model of the rows of a source, and how it does on rows held out, or on other rows.

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
    if getattr(layout, "weight", None) is not None:
        # in files, and on the command line, a row of weight 3 counts as three equal rows
        training = replace(training, settings={"weights": "frequency"} | training.settings)
    rows, other, drawn = source, test is not None, {}
    if test is None and training.hold_out > 0:
        rows = SomeRows(source, training.hold_out, held_out=False, seed=training.seed)
        test = SomeRows(source, training.hold_out, held_out=True, seed=training.seed)
        drawn = {"share": training.hold_out, "seed": training.seed}
    ranker, path = _fitted(rows, training)
    sizes = ranker.effective_sample_size_
    marks = file_marks(source)
    record = {
        "files": marks,
        **(about or {}),
        "mbauc": version("mbauc"),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "solver": str(ranker.solver_),
        "positives": float(sizes[0]),
        "negatives": float(sizes[1]),
        "notes": [],
    }
    settings = dict(training.settings)
    if training.folds:
        settings |= {"l1": ranker.l1_, "l2": ranker.l2_}
        if (ranker.scale_ != 1.0).any():
            # l2 was chosen for columns divided by their scales; for the columns as they are these are factors
            given = settings.get("penalty_factors")
            factors = ranker.scale_**2 * (1.0 if given is None else np.asarray(given))
            settings |= {"penalty_factors": factors.tolist(), "scale": False}
    model = RankerModel.of(ranker, layout, source.classes, settings=settings, trained_on=record, path=path)
    record["seconds"] = round(time.time() - started, 3)
    record["hashed_columns"] = hashed_names(source, model.coef)
    if drawn:
        record["held_out"] = drawn
    if test is None:
        return model, None
    tested = score_source(model, test, show=training.show)
    positives, negatives = int(tested.y.sum()), int(tested.y.size - tested.y.sum())
    if min(positives, negatives) < 2:
        record["notes"].append(
            f"not tested: {positives:,} positives and {negatives:,} negatives are too few for an interval"
        )
        return model, None
    interval = tested.interval()
    where = f"{training.hold_out:g} of the rows, held out"
    if other:
        seen = seen_files(marks, test)
        where = f"rows it was trained on ({named(seen)})" if seen else "other files"
    record["tested"] = {
        "auc": interval.auc,
        "low": interval.low,
        "high": interval.high,
        "confidence": interval.confidence,
        "positives": positives,
        "negatives": negatives,
        "rows": where,
        "trained_on": other and bool(seen),
    }
    return model, tested


def held_out_rows(model: RankerModel, source: Source) -> Source:
    """Those rows of the files that a model was trained on which the training held out, and never saw.

    Parameters
    ----------
    model : RankerModel
        As it came from :func:`train`, not updated or merged since.
    source : Source
        All rows of the same files, in the same order.

    Raises
    ------
    ValueError
        If no rows were held out, or the files are others.
    """
    drawn = model.trained_on.get("held_out")
    if not isinstance(drawn, dict):
        raise ValueError("the training of this model held no rows out, or it has learned more since.")
    trained = [mark for mark in model.trained_on.get("files", []) if isinstance(mark, dict)]
    if [mark.get("digest") for mark in trained] != [mark["digest"] for mark in file_marks(source)]:
        raise ValueError(
            "these files are not those that the model was trained on, in their order, so that nobody knows "
            "which of their rows were held out."
        )
    return SomeRows(source, drawn["share"], held_out=True, seed=drawn["seed"])


def score_source(model: RankerModel, source: Source, *, show: bool = False) -> Tested:
    """Labels and scores of all rows of a source; 9 bytes a row, 17 with weights."""
    from mbauc.rows.source import about_rows

    labels, values, weights = [], [], []
    with progress(about_rows(source), "scoring", show=show) as advance:
        for y, s, weight in model.scored_blocks(source):
            labels.append(np.asarray(y, dtype=np.int8))
            values.append(s)
            weights.append(weight)
            advance(s.size)
    if not values:
        raise ValueError("there are no rows to test on.")
    weight = None
    if any(one is not None for one in weights):
        weight = np.concatenate(
            [np.ones(s.size) if one is None else one for one, s in zip(weights, values, strict=True)]
        )
    return Tested(np.concatenate(labels), np.concatenate(values), weight)


def _fitted(rows: Source, training: Training) -> tuple[Any, list[dict[str, float]]]:
    settings = training.settings | {"verbose": training.show}
    if training.folds:
        known = set(MBAClassifierCV().get_params()) & set(settings)
        chosen = MBAClassifierCV(cv=training.folds, **{name: settings[name] for name in known})
        chosen.fit_source(rows)
        found = chosen.cv_results_
        keys = ("param_l1", "param_l2", "mean_test_score", "std_test_score")
        path = []
        for point in zip(*(found[key] for key in keys), strict=True):
            l1, l2, score, std = map(float, point)
            # of the mean over the folds
            path.append({"l1": l1, "l2": l2, "score": score, "stderr": std / math.sqrt(training.folds - 1)})
        return chosen, path
    ranker = MBAClassifier(**settings)
    if training.decay < 1:
        return ranker.fit_moments(_decayed(rows, training)), []
    keep = _keeps_moments(rows, training)
    if keep:
        ranker.set_params(solver="gram")
    ranker.fit_source(rows, memory=training.memory, checkpoint=training.checkpoint)
    if keep:
        ranker.solver_ = SolverChoice("gram", "its moments are small, and let the model go on learning")
    return ranker, []


def _keeps_moments(rows: Source, training: Training) -> bool:
    """Whether moments are worth their time to a model that may be updated, where the solver is free."""
    settings = training.settings
    if settings.get("solver", "auto") != "auto" or settings.get("pairs", "all") != "all":
        return False
    if rows.n_features > _SMALL:
        return False
    workload = Workload.of(first_block(rows).X, rows_of(rows), in_blocks=True)
    if training.memory is not None and workload.gram_bytes > parse_memory(training.memory):
        return False
    return workload.gram_seconds(1, 1, settings.get("l2", "auto") != "auto") < _PATIENCE


def _decayed(rows: Source, training: Training) -> PairMoments:
    """Moments in which earlier blocks count for less."""
    total = PairMoments(rows.n_features)
    n_threads = thread_count(training.settings.get("n_jobs"))
    frequencies = training.settings.get("weights") == "frequency"
    for block in read_blocks(rows):
        if block.X.shape[0]:
            part = moments_of_block(replace(block, frequencies=frequencies), n_threads)
            total = total.decayed(training.decay) + part
    return total
