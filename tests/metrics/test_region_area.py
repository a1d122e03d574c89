"""The area of a part of the ROC curve within groups is the mean of those of the groups, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.losses import PairWeights, Region
from mbauc.metrics import partial_roc_auc
from mbauc.metrics.region_area import RegionSize, share_of_region, standardized_area
from strategies import scored_rows

regions = st.builds(Region, st.floats(0.05, 1.0), st.floats(0.0, 0.9))


@given(scored_rows(), regions, st.booleans())
def test_groups_are_averaged(rows, region, equal_groups):
    y, s, weight, groups = rows
    pairs = PairWeights.build(y, weight, groups, equal_groups=equal_groups)
    groups = np.zeros(y.size) if groups is None else groups
    size = np.ones(y.size) if weight is None else weight
    areas, worth = [], []
    for one in np.unique(groups):
        own = (groups == one) & (size > 0)
        if len(set(y[own])) == 2:
            areas.append(
                partial_roc_auc(
                    y[own], s[own], sample_weight=size[own], max_fpr=region.max_fpr, min_tpr=region.min_tpr
                )
            )
            worth.append(1.0 if equal_groups else size[own & y].sum() * size[own & ~y].sum())
    assert standardized_area(pairs, s, region) == pytest.approx(np.average(areas, weights=worth), abs=1e-9)


@given(st.integers(0, 2**32), st.floats(0.0, 0.5), st.floats(0.1, 0.5), st.floats(0.0, 0.9))
def test_a_band_is_the_difference_of_two_parts(seed, low, width, floor):
    rng = np.random.default_rng(seed)
    y, s = np.arange(30) % 3 == 0, rng.integers(6, size=30).astype(float)
    band = Region(low + width, floor, low)
    parts = [reference.partial_area(y, s, end, floor) if end > 0 else 0.0 for end in (low + width, low)]
    share = share_of_region(PairWeights.build(y), s, band)
    assert share * RegionSize.of(band).largest == pytest.approx(parts[0] - parts[1], abs=1e-3)


def test_infinite_scores_tie():
    y, s = np.array([True, False, False]), np.array([-np.inf, -np.inf, 1.0])
    pairs, region = PairWeights.build(y), Region(0.8)
    assert standardized_area(pairs, s, region) == pytest.approx(partial_roc_auc(y, s, max_fpr=0.8))
