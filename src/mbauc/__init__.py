"""Rank positives above negatives (AUC) on large, imbalanced data: clicks, fraud, alarms, diagnoses.

Hand over a table, files or a stream, and mbauc fits a model that you can read (weights, curves, heat maps) with
nothing to tune, tests it on held-out rows (AUC with a confidence interval), calibrates its probabilities, and
sets thresholds that keep a false-alarm promise.
"""

import typing as _typing

from mbauc.runtime.lazy_names import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from mbauc.estimators import AdditiveAUCClassifier as AdditiveAUCClassifier
    from mbauc.estimators import MBAClassifier as MBAClassifier
    from mbauc.estimators import MBAClassifierCV as MBAClassifierCV
    from mbauc.estimators import NeymanPearsonClassifier as NeymanPearsonClassifier
    from mbauc.estimators import PairwiseAUCClassifier as PairwiseAUCClassifier
    from mbauc.estimators import PairwiseAUCClassifierCV as PairwiseAUCClassifierCV
    from mbauc.estimators.additive.auc_without import auc_without as auc_without
    from mbauc.estimators.additive.explain import explain as explain
    from mbauc.pairs.moments import PairMoments as PairMoments
    from mbauc.pairs.sampling import sample_batches as sample_batches
    from mbauc.pairs.sampling import sample_pairs as sample_pairs
    from mbauc.ranker import TableRanker as TableRanker
    from mbauc.ranker import load as load
    from mbauc.runtime.versions import show_versions as show_versions

    __version__: str

__all__ = [
    "AdditiveAUCClassifier",
    "MBAClassifier",
    "MBAClassifierCV",
    "NeymanPearsonClassifier",
    "PairMoments",
    "PairwiseAUCClassifier",
    "PairwiseAUCClassifierCV",
    "TableRanker",
    "auc_without",
    "explain",
    "load",
    "sample_batches",
    "sample_pairs",
    "show_versions",
]

# so that ``mbauc --help`` does not wait for them
_get, _show = _lazy_names(
    __name__,
    {
        "AdditiveAUCClassifier": "mbauc.estimators",
        "MBAClassifier": "mbauc.estimators",
        "MBAClassifierCV": "mbauc.estimators",
        "NeymanPearsonClassifier": "mbauc.estimators",
        "PairMoments": "mbauc.pairs.moments",
        "PairwiseAUCClassifier": "mbauc.estimators",
        "PairwiseAUCClassifierCV": "mbauc.estimators",
        "TableRanker": "mbauc.ranker",
        "auc_without": "mbauc.estimators.additive.auc_without",
        "explain": "mbauc.estimators.additive.explain",
        "load": "mbauc.ranker",
        "sample_batches": "mbauc.pairs.sampling",
        "sample_pairs": "mbauc.pairs.sampling",
        "show_versions": "mbauc.runtime.versions",
    },
)

# type checkers must not take a misspelt name for one of any type
if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> _typing.Any:
        if name != "__version__":
            return _get(name)
        from importlib.metadata import version

        found = globals()[name] = version("mbauc")
        return found


def __dir__() -> list[str]:
    return sorted([*_show(), "__version__"])
