"""Whether models go together: the same columns, the same settings, the same labels; if not, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mbauc.errors import Advice
from mbauc.model.model import RUNNING, RankerModel

#: Settings that machines may differ in: they change how rows are read or drawn, not what is solved.
_OWN = (*RUNNING, "random_state", "batch_size", "solver")

#: How text files are read, which does not change what their columns are.
_READING = ("names", "delimiter")


def check_same_columns(first: RankerModel, other: RankerModel, name: str) -> None:
    """Raise unless moments of both models add up; the error says what differs."""
    ours, theirs = (
        {key: value for key, value in model.layout.to_dict().items() if key not in _READING}
        for model in (first, other)
    )
    if ours == theirs:
        return
    where = "rows"
    if ours["kind"] == theirs["kind"] == "table" and ours["encoding"] != theirs["encoding"]:
        ours, theirs, where = ours["encoding"], theirs["encoding"], "encoding"
        for key in ("columns", "features"):
            pairs = zip(ours[key], theirs[key], strict=False)
            one, two = next(((a, b) for a, b in pairs if a != b), (None, None))
            if one is not None and two is not None and one["name"] == two["name"]:
                ours, theirs, where = one, two, f"column {one['name']!r}"
                break
    raise ValueError(
        f"model 1 and {name} have different columns and cannot be merged: in the {where}, "
        f"{_compare(ours, theirs)}. Train the others on the columns of the first: "
        "'mbauc fit --like first.mbauc'"
        + Advice(", or TableSource(…, encoding=first.layout.encoding)", command="")
        + "."
    )


def check_same_settings(models: Sequence[RankerModel], names: list[str], given: list[str]) -> None:
    """Raise unless all models would be solved alike, but for penalties that are given; the error says why."""
    first, *others = models
    for model, name in zip(others, names[1:], strict=True):
        ours, theirs = (
            {
                key: value.tolist() if hasattr(value, "tolist") else value
                for key, value in one.settings.items()
                if key not in (*_OWN, "l1", "l2")
            }
            for one in (first, model)
        )
        if ours != theirs:
            raise ValueError(
                f"model 1 and {name} have different settings: {_compare(ours, theirs)}. Train all models with "
                "the same settings."
            )
        for key in ("l1", "l2"):
            one, two = (penalty(each, key) for each in (first, model))
            if one != two and key not in given:
                raise ValueError(
                    f"{key} is {one} in model 1 and {two} in {name}; say which to use ("
                    + Advice.of_argument(key, ...)
                    + ")."
                )


def join_classes(
    model: RankerModel, classes: Any, name: str, joined: tuple[Any, Any] | None = None
) -> tuple[Any, Any]:
    """Join the model's classes with others; negative labels may differ where positives are named."""
    ours, theirs = joined or model.classes, tuple(classes)
    sides = [[_labels(side) for side in both] for both in (ours, theirs)]
    (minus, plus), (other_minus, other_plus) = sides
    named = bool(getattr(model.layout, "positive", ())) or any(len(side) > 1 for both in sides for side in both)
    known = {repr(label) for label in minus}
    more = [label for label in other_minus if repr(label) not in known]
    same = {repr(label) for label in plus} == {repr(label) for label in other_plus}
    if not same or (more and not named):
        raise ValueError(
            f"the model ranks {ours[1]!r} above {ours[0]!r}, {name} {theirs[1]!r} above {theirs[0]!r}. Both "
            "must have the same labels, in the same roles."
        )
    both = (*minus, *more)
    return (ours[0] if not more else both), ours[1]


def penalty(model: RankerModel, key: str) -> float | Literal["auto"]:
    """The penalty that a model would be solved with again."""
    if key == "l2" and model.settings.get("l2") == "auto":
        return "auto"
    return float(getattr(model, key))


def _labels(side: Any) -> tuple[Any, ...]:
    labels = side if isinstance(side, tuple | list) else (side,)
    return tuple(label.item() if hasattr(label, "item") else label for label in labels)


def _compare(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """The first few differences in words."""
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    words = (f"{key} is {_short(ours.get(key))} and {_short(theirs.get(key))}" for key in keys[:3])
    return "; ".join(words)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:80] + "…"
