"""One table says what works for arrays, files, streams and clusters; estimators and docs keep to it."""

from pathlib import Path

import numpy as np
import pytest

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.estimators.capabilities import CAPABILITIES, WAYS, capability_table, check_capabilities
from mbauc.readers import RawBlock

DEFAULTS = MBAClassifier().get_params() | {"cv": 5, "memory": None, "checkpoint": None}
#: Settings that ask for each capability.
ASKED = {
    "all pairs, exactly": {},
    "a number of `pairs`, drawn": {"pairs": 2000},
    '`pairs="enough"`': {"pairs": "enough"},
    "an `l1` of your own": {"l1": 0.1},
    "an `l2` of your own": {"l2": 0.1},
    '`solver="matrix-free"`': {"solver": "matrix-free"},
    '`solver="gram"` with a number of `pairs`': {"solver": "gram", "pairs": 2000},
    "`within_block=True`": {"within_block": True},
    "`decay` of earlier rows": {"decay": 0.9},
    "a splitter, or splits, as `cv`": {"cv": [(range(300), range(300, 600))]},
    "a `checkpoint` to resume from": {"checkpoint": "folder"},
    "a limit of `memory`": {"memory": "1GB"},
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


def fit_of(way, settings):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 3)), np.arange(600) % 2
    if way == "memory folds":
        return MBAClassifierCV(**settings).fit(X, y)
    ranker = MBAClassifier(**settings)
    if way == "source":
        return ranker.fit_source(Blocks([RawBlock(X, y)]))
    return ranker.fit(X, y) if way == "memory" else ranker.partial_fit(X, y)


#: What estimators in this process can be asked for by their parameters.
KNOWN = [
    (capability, way)
    for capability in CAPABILITIES
    for way in ("memory", "source", "stream", "memory folds")
    if ASKED[capability.what].keys()
    <= (MBAClassifierCV if way == "memory folds" else MBAClassifier)().get_params().keys()
]


@pytest.mark.parametrize(("capability", "way"), KNOWN, ids=lambda one: getattr(one, "what", one))
def test_estimators_do_as_the_table_says(capability, way):
    settings = ASKED[capability.what]
    if way in capability.refusals:
        with pytest.raises(ValueError, match=f"^{capability.parameter}"):
            fit_of(way, settings)
    else:
        assert np.isfinite(fit_of(way, settings).coef_).all()


def test_the_docs_have_the_table():
    page = Path(__file__).parents[2] / "docs" / "scale.md"
    assert capability_table() in page.read_text()
