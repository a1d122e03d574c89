"""One table says what works for arrays, files, streams and clusters; estimators and docs keep to it."""

from pathlib import Path

import numpy as np
import pytest

from mbauc import (
    AdditiveAUCClassifier,
    MBAClassifier,
    MBAClassifierCV,
    PairwiseAUCClassifier,
    PairwiseAUCClassifierCV,
)
from mbauc.estimators.capabilities import CAPABILITIES, WAYS, capability_table, check_capabilities
from mbauc.losses import Squared

#: Of one estimator, as if it could do all that there is.
DEFAULTS = (
    MBAClassifier().get_params()
    | PairwiseAUCClassifier(loss=None).get_params()
    | {"cv": 5, "memory": None, "checkpoint": None, "groups": False, "features": None}
)
#: Settings that ask for each capability.
ASKED = {
    "all pairs, exact": {},
    "sampled pairs, `pairs=S`": {"pairs": 2000},
    '`pairs="enough"`': {"pairs": "enough"},
    "a fixed `l1`": {"l1": 0.1},
    "a fixed `l2`": {"l2": 0.1},
    '`solver="matrix-free"`': {"solver": "matrix-free"},
    '`solver="gram"` with sampled pairs': {"solver": "gram", "pairs": 2000},
    "`within_block=True`": {"within_block": True},
    "`decay` of earlier rows": {"decay": 0.9},
    "a `loss` other than the squared one": {"loss": "hinge"},
    "partial AUC, few false alarms: `max_fpr`, `min_fpr`": {"max_fpr": 0.2},
    "partial AUC, many detections: `min_tpr`": {"min_tpr": 0.5},
    "such a `loss`, or partial AUC, with sampled pairs": {"loss": "hinge", "pairs": 2000},
    'such a `loss`, or partial AUC, with `solver="gram"`': {"max_fpr": 0.2, "solver": "gram"},
    "partial AUC with a `loss` that is not monotone, such as the squared one": {
        "loss": Squared(),
        "min_tpr": 0.5,
    },
    "curves and interactions: `AdditiveAUCClassifier`": {"features": "curves"},
    "curves and interactions with `groups`": {"features": "linear", "groups": True},
    "pairs within `groups`": {"groups": True},
    '`groups` with sampled pairs, or `pairs="enough"`': {"groups": True, "pairs": 2000},
    "`groups` with `within_block=True`": {"groups": True, "within_block": True},
    '`groups` with `solver="gram"`': {"groups": True, "solver": "gram"},
    "`equal_groups=True` without `groups`": {"equal_groups": True},
    "`within_groups=True` without `groups`": {"within_groups": True},
    "`groups` for the splitter only": {"groups": True, "within_groups": False},
    "a splitter or splits as `cv`": {"cv": [(range(300), range(300, 600))]},
    "checkpoint and resume: `checkpoint`": {"checkpoint": "folder"},
    "memory limit: `memory`": {"memory": "1GB"},
}


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda one: one.what)
def test_no_way_both_has_and_refuses_it(capability):
    assert not set(capability.ways) & set(capability.refusals)
    assert {*capability.ways, *capability.refusals} <= set(WAYS)


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda one: one.what)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_lacking_is_refused_by_name(capability, way):
    check_capabilities(way, DEFAULTS)
    settings = DEFAULTS | ASKED[capability.what]
    if way in capability.refusals:
        with pytest.raises(ValueError, match=f"^{capability.parameter}") as caught:
            check_capabilities(way, settings)
        assert "  " not in str(caught.value)
    elif way in capability.ways and "pairs" not in ASKED[capability.what]:
        check_capabilities(way, settings)


class Blocks(list):
    n_features, classes = 3, (0, 1)


#: Estimators of all losses, and of the squared one, by way of fitting.
ESTIMATORS = {
    "memory": (MBAClassifier, PairwiseAUCClassifier, AdditiveAUCClassifier),
    "source": (MBAClassifier, PairwiseAUCClassifier, AdditiveAUCClassifier),
    "stream": (MBAClassifier, None),
    "memory folds": (MBAClassifierCV, PairwiseAUCClassifierCV),
    "source folds": (MBAClassifierCV, PairwiseAUCClassifierCV),
}


def estimator_of(way, settings):
    """The class that has these settings, if any."""
    for kind in ESTIMATORS[way]:
        if kind is not None and settings.keys() - {"groups"} <= kind().get_params().keys():
            return kind
    return None


def fit_of(way, settings):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 3)), np.arange(600) % 2
    kind, grouped = estimator_of(way, settings), settings.get("groups")
    settings = {name: value for name, value in settings.items() if name != "groups"}
    if kind is MBAClassifierCV and grouped and way == "memory folds":
        settings["within_groups"] = True
    ranker, groups = kind(**settings), {"groups": rng.integers(20, size=600)} if grouped else {}
    if "source" in way:
        source = Blocks([(X, y, None, *groups.values())])
        source.has_groups = bool(grouped)
        return ranker.fit_source(source)
    return ranker.partial_fit(X, y, **groups) if way == "stream" else ranker.fit(X, y, **groups)


#: What estimators in this process can be asked for by their parameters.
KNOWN = [
    (capability, way)
    for capability in CAPABILITIES
    for way in ESTIMATORS
    if estimator_of(way, ASKED[capability.what]) and way in (*capability.ways, *capability.refusals)
]


@pytest.mark.filterwarnings("ignore::mbauc.errors.PenaltyWarning")
@pytest.mark.parametrize(("capability", "way"), KNOWN, ids=lambda one: getattr(one, "what", one))
def test_estimators_do_as_the_table_says(capability, way):
    settings = ASKED[capability.what]
    if way in capability.refusals:
        with pytest.raises(ValueError, match=f"^{capability.parameter}"):
            fit_of(way, settings)
    else:
        assert np.isfinite(fit_of(way, settings).coef_).all()


def test_the_docs_have_the_table():
    page = Path(__file__).parents[2] / "docs" / "user_guide" / "scale.md"
    assert capability_table() in page.read_text()
