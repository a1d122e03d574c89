"""mbauc: linear rankers for AUC on large, imbalanced data."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from mbauc.estimators import MBAClassifier as MBAClassifier
    from mbauc.estimators import MBAClassifierCV as MBAClassifierCV
    from mbauc.estimators import NeymanPearsonClassifier as NeymanPearsonClassifier
    from mbauc.pairs.moments import PairMoments as PairMoments
    from mbauc.pairs.sampling import sample_batches as sample_batches
    from mbauc.pairs.sampling import sample_pairs as sample_pairs

    __version__: str

#: Where the public names are; imported when first asked for, so that ``mbauc --help`` does not wait for them.
_PLACES = {
    "MBAClassifier": "mbauc.estimators",
    "MBAClassifierCV": "mbauc.estimators",
    "NeymanPearsonClassifier": "mbauc.estimators",
    "PairMoments": "mbauc.pairs.moments",
    "sample_batches": "mbauc.pairs.sampling",
    "sample_pairs": "mbauc.pairs.sampling",
}

__all__ = [
    "MBAClassifier",
    "MBAClassifierCV",
    "NeymanPearsonClassifier",
    "PairMoments",
    "sample_batches",
    "sample_pairs",
]


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        found: _Any = version("mbauc")
    elif name in _PLACES:
        found = getattr(_import_module(_PLACES[name]), name)
    else:
        raise AttributeError(f"module 'mbauc' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
