"""Incremental training: update a model with new rows, merge models from several machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from mbauc.checks import check_number
from mbauc.errors import Advice
from mbauc.estimators.classifier import MBAClassifier
from mbauc.model.agreement import check_same_columns, check_same_settings, join_classes, penalty
from mbauc.model.hashed_names import find_hashed_names
from mbauc.model.model import RankerModel
from mbauc.model.record import describe_fit, list_ids
from mbauc.model.seen_files import file_marks
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source
from mbauc.runtime.threads import thread_count

#: What a record says of the weights as they were; it is not true of the new ones.
_OF_THE_WEIGHTS = ("tested", "seconds", "threshold_files", "calibration_files", "held_out")
_SOLVED_ANEW = "weights solved anew after"
_NO_THRESHOLD = "an earlier threshold was dropped, since its promise was for other weights"


def update_model(
    model: RankerModel,
    source: Source,
    *,
    decay: float = 1.0,
    n_jobs: int | None = None,
    about: dict[str, Any] | None = None,
    verbose: bool = False,
) -> RankerModel:
    r"""Update a model with new rows; with ``decay=1`` the weights are those of a fit to all rows together.

    The moments of the new rows are added to those of the model, after these are multiplied by ``decay``. The
    weights are then solved again with the model's settings: with the same penalties, except that ``l2="auto"``
    is selected again. A threshold is dropped, because it was set for other weights. ``O(n d² + d³)`` time for n
    new rows, whatever the number of old ones; memory of three moments.

    Parameters
    ----------
    model : RankerModel
        A model with moments; it is not modified.
    source : Source
        New rows, such as ``model.layout.source(paths, model.classes)``.
    decay : float, default=1.0
        Forgetting factor in (0, 1] for the weights of earlier rows; 1 means no forgetting.
    n_jobs : int, optional
        Number of threads; by default as many as BLAS may use.
    about : dict, optional
        Information to store: ``files`` (by default those of the source) are appended to the known files, other
        entries are stored with the update.
    verbose : bool, default=False
        Show progress on a terminal.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc import MBAClassifier
    >>> from mbauc.readers import LibsvmSource
    >>> from mbauc.model import RankerModel, update_model
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "monday").write_text("1 1:2 2:1\n0 1:1 2:2\n0 2:1\n")
    >>> _ = (folder / "tuesday").write_text("1 1:3\n0 1:1 2:1\n")
    >>> monday = LibsvmSource(folder / "monday")
    >>> ranker = MBAClassifier(l2=0.1, solver="gram").fit_source(monday)
    >>> model = RankerModel.of(ranker, monday.layout, monday.classes, settings={"l2": 0.1})
    >>> model = update_model(model, model.layout.source(folder / "tuesday", model.classes), decay=0.99)
    >>> model.moments
    PairMoments(2 features, 2 positives × 3 negatives = 6 pairs)
    """
    old = _moments(model, "the model")
    check_number("decay", decay, low=0.0, high=1.0, open_low=True)
    if source.n_features != model.n_features:
        raise ValueError(
            f"the new rows have {source.n_features:,} columns, the model has {model.n_features:,}. Read them "
            "in the same way as the training rows, with model.layout.source(paths, model.classes)."
        )
    classes = join_classes(model, source.classes, "the new rows")
    rows = rows_in_source(source, title="pair moments", show=verbose)
    [new], _ = sum_moments(rows, thread_count(n_jobs))
    if model.settings.get("weights") == "frequency":
        new = new.as_frequencies()
    total = MomentsAccumulator.resume(old.decayed(decay))
    moments = total.add_moments(new.closed() if old.is_closed else new).finish()
    record = {name: value for name, value in model.trained_on.items() if name not in _OF_THE_WEIGHTS}
    details = dict(about or {})
    files = [*_entries(record, "files"), *(details.pop("files", None) or file_marks(source))]
    if files:
        record["files"] = files
    step = {"positives": new.weights[0], "negatives": new.weights[1], "decay": float(decay), **details}
    record["updates"] = [*_entries(record, "updates"), step]
    kept = [note for note in _entries(record, "notes") if not str(note).startswith(_SOLVED_ANEW)]
    number = len(record["updates"])
    record["notes"] = [*kept, f"{_SOLVED_ANEW} {number} update{'s' if number > 1 else ''}"]
    _note_threshold(record, [model])
    result = _solve(model, moments, classes, model.l1, penalty(model, "l2"), record)
    record["hashed_columns"] = _drop_repeated_columns(
        [*find_hashed_names(source, result.coef), *_entries(record, "hashed_columns")]
    )
    return result


def merge_models(
    models: Iterable[RankerModel], *, l1: float | None = None, l2: float | Literal["auto"] | None = None
) -> RankerModel:
    """Merge models trained on different rows; the weights are those of a fit to all rows together.

    The moments are added, and the weights are solved once. Layouts, classes and settings must be equal; only
    the negative labels seen may differ if positive labels were named. Thresholds are dropped, because they were
    set for other weights. ``O(d³)`` time, memory of two moments besides those of the models.

    Parameters
    ----------
    models : iterable of RankerModel
        Two or more models with moments.
    l1, l2 : float, or "auto" as l2, optional
        Penalties, if those of the models differ or others are wanted.
    """
    several = list(models)
    if len(several) < 2:
        raise ValueError(f"merging takes two models or more, got {len(several)}.")
    first, classes = several[0], several[0].classes
    names = [f"model {place}" for place in range(1, len(several) + 1)]
    parts = [_moments(model, name) for model, name in zip(several, names, strict=True)]
    for model, name in zip(several[1:], names[1:], strict=True):
        check_same_columns(first, model, name)
        classes = join_classes(first, model.classes, name, classes)
    check_same_settings(several, names, [key for key, given in (("l1", l1), ("l2", l2)) if given is not None])
    total = MomentsAccumulator.resume(parts[0])
    for part in parts[1:]:
        total.add_moments(part)
    record = {
        "files": [file for model in several for file in _entries(model.trained_on, "files")],
        "merged": [entry for model in several for entry in _history(model.trained_on)],
        "hashed_columns": _drop_repeated_columns(
            [name for model in several for name in _entries(model.trained_on, "hashed_columns")]
        ),
        "notes": [f"{_SOLVED_ANEW} a merge of {len(several)} models"],
    }
    if list_ids(first.trained_on):
        record["id"] = list_ids(first.trained_on)
    _note_threshold(record, several)
    l1 = first.l1 if l1 is None else l1
    return _solve(first, total.finish(), classes, l1, penalty(first, "l2") if l2 is None else l2, record)


def _solve(
    model: RankerModel,
    moments: PairMoments,
    classes: tuple[Any, Any],
    l1: float,
    l2: float | Literal["auto"],
    record: dict[str, Any],
) -> RankerModel:
    """A model with other moments and the same settings, but for the penalties."""
    ranker = MBAClassifier(**(model.estimator_settings() | {"l1": l1, "l2": l2})).fit_moments(moments)
    record |= {"columns": model.n_features, **describe_fit(ranker)}
    settings = model.settings | {"l1": l1, "l2": l2}
    return RankerModel.of(ranker, model.layout, classes, settings=settings, trained_on=record, path=model.path)


def _note_threshold(record: dict[str, Any], models: list[RankerModel]) -> None:
    """Say in a record that thresholds were dropped, if there were any."""
    if any(model.threshold is not None for model in models) and _NO_THRESHOLD not in record["notes"]:
        record["notes"].append(_NO_THRESHOLD)


def _entries(record: dict[str, Any], name: str) -> list[Any]:
    """A list of a record; records are for people, and malformed ones are ignored."""
    found = record.get(name, [])
    return list(found) if isinstance(found, list | tuple) else []


def _drop_repeated_columns(names: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first entry for each hashed column."""
    known = [entry for entry in names if isinstance(entry, dict) and isinstance(entry.get("column"), int)]
    return list({entry["column"]: entry for entry in reversed(known)}.values())


def _moments(model: RankerModel, name: str) -> PairMoments:
    if model.terms is not None:
        raise ValueError(
            f"{name} cannot be updated or merged: its bins, levels and penalties depend on the rows. "
            "Retrain on all rows" + Advice(", or with MBAClassifier.", command=", or with --encode onehot.")
        )
    if not model.is_quadratic or model.group is not None:
        raise ValueError(
            f"{name} was trained with the {model.describe_objective()} and cannot be updated or merged. "
            "Retrain on all rows"
            + Advice(", or with {loss} over all pairs, which can be updated.", loss="squared")
        )
    if model.moments is None:
        raise ValueError(
            f"{name} cannot be updated or merged: it has no moments. They were left out of its file, or it was "
            "fitted matrix-free. "
            + Advice("Train it with {solver} and save it with its moments.", solver="gram")
        )
    return model.moments


def _history(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model was trained on as a flat list, so that merging every day does not nest ever deeper."""
    own = {name: value for name, value in record.items() if name != "merged"}
    return [*_entries(record, "merged"), *([own] if "merged" not in record or "updates" in record else [])]
