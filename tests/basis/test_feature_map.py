"""Features of rows against a loop over their entries, and to the bit where there are two ways to them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse as sp

from curve_reference import encode
from mbauc.basis import feature_map
from mbauc.basis.columns import Levels, Number, Steps
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.feature_map import FeatureMap, group_levels
from mbauc.basis.smoothing import with_pairs

FEW = settings(max_examples=25)
VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-9, 9, width=32), st.just(np.nan))


@st.composite
def maps(draw):
    """(features, rows that they were not made of)."""
    d = draw(st.integers(1, 4))
    kinds = [ColumnKind(f"c{j}", draw(st.booleans())) for j in range(d)]
    X = draw(hnp.arrays(np.float64, st.tuples(st.integers(1, 25), st.just(d)), elements=VALUES))
    made = DesignSettings(draw(st.integers(2, 6)), min_rows=1, coarse_bins=draw(st.integers(2, 4)))
    features = design_features(X, None, kinds, made)
    pairs = [(a, b) for b in range(d) for a in range(b)]
    kept = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    others = draw(
        hnp.arrays(np.float64, (12, d), elements=st.one_of(VALUES, st.sampled_from([np.inf, -np.inf, 1e308])))
    )
    return with_pairs(features, kept), others


@FEW
@given(maps())
def test_features_are_the_definition(drawn):
    features, X = drawn
    found = features.encode(X)
    assert found.has_sorted_indices
    np.testing.assert_array_equal(found.toarray(), encode(features, X))
    assert found.shape == (len(X), features.n_features)
    assert (np.diff(found.indptr) == features.n_entries).all()


@FEW
@given(maps(), st.integers(0, 2**32))
def test_scores_are_products_to_the_bit_and_sums_of_contributions(drawn, seed):
    features, X = drawn
    coef = np.random.default_rng(seed).normal(size=features.n_features)
    scores = features.scores(X, coef)
    np.testing.assert_array_equal(scores, features.encode(X) @ coef)
    added = features.contributions(X, coef)
    assert added.shape == (len(X), len(list(features.terms())))
    np.testing.assert_allclose(added.sum(axis=1), scores, rtol=1e-12, atol=1e-12 * np.abs(added).sum())


@FEW
@given(maps())
def test_names_are_one_for_each_feature_and_differ(drawn):
    features, _ = drawn
    names = features.feature_names()
    assert len(names) == len(set(names)) == features.n_features
    covered = [k for term in features.terms() for k in range(term.start, term.stop)]
    assert covered == list(range(features.n_features))


@FEW
@given(maps())
def test_features_come_back_from_json(drawn):
    features, X = drawn
    again = FeatureMap.from_dict(json.loads(json.dumps(features.to_dict())))
    assert again.to_dict() == features.to_dict()
    assert again.feature_names() == features.feature_names()
    np.testing.assert_array_equal(again.encode(X).toarray(), features.encode(X).toarray())


def example():
    """A column of numbers and one of categories, with an interaction."""
    steps, levels = Steps(np.array([0.0, 1.0]), np.array([-1.0, 0.5, 2.0])), Levels(np.array([3.0]), ("c",))
    coarse = group_levels(steps, [0, 0, 1, 2]), group_levels(levels, [0, 1, 2])
    return FeatureMap(("bid", "site"), (steps, levels), (Number(0, -2.0, 2.0, 0.0, 1.0),), ((0, 1),), coarse)


def test_blocks_threads_and_sparse_rows_give_the_same_bits(monkeypatch):
    features, rng = example(), np.random.default_rng(0)
    X = np.round(rng.normal(size=(50, 2)) * 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    whole, coef = features.encode(X), rng.normal(size=features.n_features)
    scores = features.scores(X, coef)
    monkeypatch.setattr(feature_map, "_ROWS", 7)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(features.encode(X, n_jobs).toarray(), whole.toarray())
        np.testing.assert_array_equal(features.scores(X, coef, n_jobs), scores)
    for rows in (X[:20].tolist(), np.asfortranarray(X[:20]), sp.csr_array(X[:20])):
        np.testing.assert_array_equal(features.encode(rows).toarray(), whole.toarray()[:20])
    assert features.encode(X[:0]).shape == (0, features.n_features)


def test_names_say_what_a_feature_is():
    assert example().feature_names()[:8] == [
        "bid=≤0", "bid=(0, 1]", "bid=>1", "bid=(missing)", "site=c", "site=(other)", "site=(missing)", "bid"
    ]  # fmt: skip
    assert example().feature_names()[8] == "bid=≤1 × site=c"
    assert [example().term_name(term) for term in example().terms()] == ["bid", "site", "bid", "bid × site"]


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"X must have 2 columns, got shape \(3, 4\)"):
        example().encode(np.zeros((3, 4)))


def change(*path, to):
    """The example's dict with one value changed."""
    found = example().to_dict()
    *inner, last = path
    place = found
    for key in inner:
        place = place[key]
    if to is KeyError:
        del place[last]
    else:
        place[last] = to
    return found


FORM = r"expected a dict with format 'mbauc feature map'"
PAIR = "an interaction must be of two columns in their order, got "
NUMBER = "a number needs finite bounds in order, a finite center and a scale above 0"
GROUPS = "coarse must have a group for each indicator of its column"
WHOLE = r"must be a whole number of at least 0 and .*, got "

#: What is wrong, and how the message begins.
BROKEN = {
    "another format": (change("format", to="something"), FORM),
    "a newer version": (change("version", to=2), "the feature map has version 2, this mbauc reads 1"),
    "no format": (change("format", to=KeyError), FORM),
    "no version": (change("version", to=KeyError), "the feature map has version None"),
    **{
        f"no {key}": (change(key, to=KeyError), f"feature map lacks '{key}'")
        for key in ("columns", "numbers", "pairs", "coarse")
    },
    "an empty list of columns": (
        change("columns", to=[]),
        r"feature map\['columns'\] must be a non-empty list",
    ),
    "another kind": (change("columns", 0, "kind", to="waves"), r".*'kind'\] must be 'steps' or 'levels'"),
    "a name that is a number": (change("columns", 0, "name", to=7), r".*'name'\] must be a text, got 7"),
    "edges that fall": (change("columns", 0, "edges", to=[1.0, 0.0]), "edges must be finite and increasing"),
    "infinite edges": (
        change("columns", 0, "edges", to=[0.0, float("inf")]),
        r".*'edges'\]\[1\] must be a number, got inf",
    ),
    "missing edges": (
        change("columns", 0, "edges", to=[0.0, float("nan")]),
        r".*'edges'\]\[1\] must be a number, got nan",
    ),
    "edges of text": (
        change("columns", 0, "edges", to=["0", "1"]),
        r".*'edges'\]\[0\] must be a number, got '0'",
    ),
    "too few centers": (change("columns", 0, "centers", to=[1.0]), "centers must be 3 finite numbers"),
    "a level twice": (change("columns", 1, "kept", to=[3.0, 3.0]), "kept must be finite and increasing"),
    "levels without names": (change("columns", 1, "names", to=[]), "names must be 1, one for each level"),
    "a number of no column": (change("numbers", 0, "column", to=2), "there is no column 2"),
    "a number of column -1": (change("numbers", 0, "column", to=-1), rf".*'column'\] {WHOLE}-1"),
    "a scale of 0": (change("numbers", 0, "scale", to=0.0), NUMBER),
    "bounds the other way round": (change("numbers", 0, "low", to=3.0), NUMBER),
    "a pair of one column": (change("pairs", 0, to=[1, 1]), rf"{PAIR}\(1, 1\)"),
    "a pair the other way round": (change("pairs", 0, to=[1, 0]), rf"{PAIR}\(1, 0\)"),
    "a pair with no column": (change("pairs", 0, to=[0, 2]), rf"{PAIR}\(0, 2\)"),
    "a pair of three": (change("pairs", 0, to=[0, 1, 1]), r".*'pairs'\]\[0\] must be a list of 2 items"),
    "groups of one column alone": (
        change("coarse", to=[[0, 0, 1, 2]]),
        "interactions need the coarse groups of each column",
    ),
    "no groups": (change("coarse", to=[]), "interactions need the coarse groups of each column"),
    "a group for too few bins": (change("coarse", 0, to=[0, 1]), GROUPS),
    "a group far away": (change("coarse", 0, to=[0, 0, 1, 99]), GROUPS),
    "a negative group": (change("coarse", 0, to=[0, 0, 1, -1]), rf".*'coarse'\]\[0\]\[3\] {WHOLE}-1"),
    "half a group": (change("coarse", 0, to=[0, 0, 0.5, 1]), rf".*'coarse'\]\[0\]\[2\] {WHOLE}0.5"),
    "a list": ([], FORM),
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_dicts_are_refused_in_a_few_words(broken, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        FeatureMap.from_dict(broken)
    assert len(str(caught.value)) < 300


@FEW
@given(st.data())
def test_a_dict_with_one_other_value_is_refused_or_encodes(data):
    found, place = example().to_dict(), None
    path = found
    while isinstance(path, dict | list) and path:
        key = data.draw(st.sampled_from(sorted(path) if isinstance(path, dict) else range(len(path))))
        place, path = (path, key), path[key]
    others = st.integers(-3, 2**40), st.floats(), st.sampled_from([None, True, [], "text"])
    place[0][place[1]] = data.draw(st.one_of(*others))
    try:
        features = FeatureMap.from_dict(found)
    except ValueError:
        return
    assert features.encode(np.array([[0.5, 3.0], [np.nan, 7.0]])).shape == (2, features.n_features)


def test_arguments_that_do_not_fit_are_refused():
    steps = Steps(np.zeros(0), np.zeros(1))
    with pytest.raises(ValueError, match="a name for each of its columns"):
        FeatureMap(("a", "b"), (steps,))
    with pytest.raises(ValueError, match="groups for each of 1 columns, or none"):
        FeatureMap(("a",), (steps,), coarse=(np.zeros(2, dtype=np.int32),) * 2)
    with pytest.raises(ValueError, match="a group for each of 2 indicators, got 3"):
        group_levels(steps, [0, 1, 2])
