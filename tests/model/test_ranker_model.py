import numpy as np
import pytest
from scipy import sparse
from trained_models import plain_model, rows, table_model, threshold

from mbauc import MBAClassifier
from mbauc.model import LibsvmLayout, RankerModel, Threshold


def test_scores_probabilities_and_labels_are_those_of_the_estimator():
    X, y = rows()
    ranker = MBAClassifier(l2=0.5).fit(X, y)
    model = RankerModel.of(ranker, LibsvmLayout(4, False), (0, 1))
    s = model.score(X)
    np.testing.assert_array_equal(s, ranker.decision_function(X))
    np.testing.assert_array_equal(model.probability(s), ranker.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(model.label(s), ranker.predict(X))
    np.testing.assert_allclose(model.score(sparse.csr_array(X)), s, rtol=1e-12, atol=1e-12)


def test_the_threshold_decides_labels_where_there_is_one():
    model = plain_model(classes=("no", "yes"))
    s = np.array([-1.0, 0.0, 0.3, np.nextafter(0.3, 1), 1.0])
    assert model.label(s).tolist() == ["no", "no", "yes", "yes", "yes"]
    armed = model.with_threshold(Threshold(0.3, 0.01, 0.95, 1000))
    assert armed.label(s).tolist() == ["no", "no", "no", "yes", "yes"]
    assert armed.with_threshold(None).cut == 0.0


def test_labels_keep_their_types():
    assert plain_model(classes=(-1, 1)).labels.tolist() == [-1, 1]
    assert plain_model(classes=(False, True)).labels.dtype == bool
    assert plain_model(classes=("b", "a")).labels.tolist() == ["b", "a"]
    assert plain_model(classes=((0, 2), 1)).labels.tolist() == [0, 1]
    mixed = plain_model(classes=(0, "yes")).labels.tolist()
    assert mixed == [0, "yes"]
    assert [type(label) for label in mixed] == [int, str]


def test_the_weights_cannot_be_changed_and_are_a_copy():
    X, y = rows()
    ranker = MBAClassifier(l2=0.5).fit(X, y)
    model = RankerModel.of(ranker, LibsvmLayout(4, False), (0, 1))
    with pytest.raises(ValueError, match="read-only"):
        model.coef[0] = 1.0
    ranker.coef_[0, 0] = np.nan
    assert np.isfinite(model.coef).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coef": [1.0, np.nan, 0.0, 0.0]}, "coef must be finite, got nan for column 1"),
        ({"coef": [1.0]}, "one weight for each of 4 columns"),
        ({"intercept": np.inf}, "intercept must be a finite number"),
        ({"slope": np.nan}, "slope must be a finite number"),
        ({"l2": -1.0}, "l2 must be a finite number at least 0"),
        ({"classes": (0, 1, 2)}, "classes must be two"),
    ],
    ids=str,
)
def test_models_that_make_no_sense_are_refused(change, message):
    good = {"coef": np.ones(4), "intercept": 0.0, "slope": 1.0, "l1": 0.0, "l2": 1.0, "classes": (0, 1)}
    RankerModel(LibsvmLayout(4, False), **good)
    with pytest.raises(ValueError, match=message):
        RankerModel(LibsvmLayout(4, False), **(good | change))


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="the model's 4 columns, got 5"):
        plain_model().score(np.ones((2, 5)))


@pytest.mark.parametrize(
    "change", [{"value": np.nan}, {"false_alarm": 1.1}, {"confidence": -0.1}, {"negatives": 2.5}], ids=str
)
def test_thresholds_that_make_no_sense_are_refused(change):
    with pytest.raises(ValueError, match=r"must be"):
        Threshold(**(vars(threshold()) | change))


@pytest.mark.parametrize("settings", [{"l2": 0.5}, {"l1": 0.01, "l2": 0.1, "scale": True}], ids=str)
def test_the_estimator_of_a_model_is_the_one_it_came_from(settings):
    X, y = rows()
    ranker = MBAClassifier(**settings).fit(X, y)
    model = RankerModel.of(
        ranker,
        LibsvmLayout(4, False),
        (0, 1),
        settings={**settings, "n_jobs": 10_000, "verbose": True, "odd": 1},
    )
    again = model.estimator()
    assert again.n_jobs is None
    assert again.verbose is False
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X), ranker.predict_proba(X))
    np.testing.assert_array_equal(again.coef_standard_errors(X, y), ranker.coef_standard_errors(X, y))
    np.testing.assert_array_equal(
        again.partial_fit(X[:50], y[:50]).coef_, ranker.partial_fit(X[:50], y[:50]).coef_
    )


def test_an_estimator_without_moments_says_so():
    with pytest.raises(ValueError, match="kept no moments"):
        plain_model(kind="none").estimator().coef_standard_errors()


def test_layouts_name_their_columns(tmp_path):
    assert LibsvmLayout(3, zero_based=False).feature_names() == ["1", "2", "3"]
    assert LibsvmLayout(2, zero_based=True).feature_names() == ["0", "1"]
    assert "site=a" in table_model(tmp_path).layout.feature_names()


def test_libsvm_files_with_several_labels_on_a_side_can_be_read_again(tmp_path):
    path = tmp_path / "digits"
    path.write_text("3 1:1\n8 2:1\n1 1:2\n5 3:1\n")
    source = LibsvmLayout(3, zero_based=False).source(path, ((1, 5), (3, 8)))
    assert [block.y.tolist() for block in source] == [[1, 1, 0, 0]]
