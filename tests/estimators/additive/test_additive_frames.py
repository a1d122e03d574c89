"""Data frames: numbers stay numbers beside texts, columns are counted as X has them, advice can be followed."""

import warnings

import numpy as np
import pytest

from mbauc import AdditiveAUCClassifier
from mbauc.errors import LeftOutWarning
from mbauc.features import CurveFeatures
from mbauc.plots import CurveDisplay, InteractionDisplay
from mbauc.readers import RawBlock, TableSource

pd = pytest.importorskip("pandas")


def ranker(features="curves", **settings):
    return AdditiveAUCClassifier(features, **{"random_state": 0, "n_jobs": 1, "cv": 2} | settings)


def make_numbers(n=300):
    """Whole numbers that look like serial numbers, times and codes, and labels that depend on them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.arange(n),
            "seconds": 1_600_000_000 + np.sort(rng.integers(0, 10**8, n)),
            "zip": rng.choice([10115, 80331, 20095, 50667, 60311, *range(70173, 70250, 2)], n),
            "bid": rng.normal(size=n),
        }
    )
    return frame, (frame["number"] / n + frame["bid"] + 0.3 * rng.normal(size=n) > 0.5).to_numpy()


def make_dates(n=300):
    """A date, an empty column, a number, a text: the first becomes two columns of codes, the second none."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
            "empty": [None] * n,
            "bid": rng.normal(size=n),
            "site": rng.choice(["a", "b", "c"], n),
            "age": rng.normal(size=n),
        }
    )
    return frame, ((frame["site"] == "a") * frame["bid"] + 0.3 * rng.normal(size=n) > 0).to_numpy()


class Blocks:
    """Rows in memory as a source."""

    classes = (0, 1)

    def __init__(self, X, y):
        self.X, self.y, self.n_features = X, y.astype(int), X.shape[1]

    def __iter__(self):
        yield RawBlock(self.X, self.y)


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "Int64", "decimal"])
def test_numbers_are_the_same_numbers_beside_texts(dtype):
    from decimal import Decimal

    frame, y = make_numbers()
    alone = ranker().fit(frame, y)
    names = ["number", "seconds", "zip"]
    if dtype == "decimal":
        frame[names] = frame[names].map(lambda value: Decimal(int(value)))
    else:
        frame[names] = frame[names].astype(dtype)
    with_text = frame.assign(site="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeftOutWarning)
        both = ranker().fit(with_text, y)
        features = CurveFeatures().fit(with_text).feature_map_
    assert both.feature_map_.names == features.names == ("number", "seconds", "zip", "bid", "site")
    for known, found in zip(alone.feature_map_.columns, both.feature_map_.columns, strict=False):
        np.testing.assert_array_equal(known.edges, found.edges)
    np.testing.assert_allclose(both.decision_function(with_text), alone.decision_function(frame), atol=1e-8)


def test_numbers_named_in_categories_are_levels_beside_texts():
    frame, y = make_numbers()
    fitted = ranker(categories=["zip"]).fit(frame.assign(site="a"), y)
    assert fitted.terms().curve("zip").kind == "category"
    assert fitted.terms().curve("number").kind == "numeric"


@pytest.mark.parametrize("make", [ranker, CurveFeatures])
def test_columns_that_are_left_out_are_named(make):
    frame, y = make_numbers()
    frame = frame.assign(user=[f"u{k}" for k in range(300)], empty=None)
    with pytest.warns(
        LeftOutWarning, match=r"2 columns of X are left out: 'user' \(texts, 300 .*'empty' \("
    ) as said:
        fitted = make().fit(frame, y)
    assert "user" not in fitted.feature_map_.names
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeftOutWarning)
        named = make(categories=["user"]).fit(frame.drop(columns="empty"), y)
    assert "user" in named.feature_map_.names


def test_numbers_of_columns_count_those_of_X():
    frame, y = make_dates()
    with pytest.warns(LeftOutWarning):
        fitted = ranker("interactions", interactions=[(2, 3)]).fit(frame, y)
    with pytest.warns(LeftOutWarning):
        features = CurveFeatures(interactions=[(2, "site")]).fit(frame)
    assert fitted.interactions_ == [("bid", "site")]
    assert [features.feature_map_.names[j] for j in features.feature_map_.pairs[0]] == ["bid", "site"]
    assert CurveDisplay.from_estimator(fitted, 2).curve.name == "bid"
    assert CurveDisplay.from_estimator(fitted, "when.hour").curve.name == "when.hour"
    assert InteractionDisplay.from_estimator(fitted, (3, 2)).heat_map.names == ("bid", "site")
    assert InteractionDisplay.from_estimator(fitted, ("site", "bid")).heat_map.names == ("bid", "site")
    with pytest.raises(
        ValueError, match=r"column 0, 'when', became 'when.hour', 'when.weekday'; name one of them"
    ):
        CurveDisplay.from_estimator(fitted, 0)
    with pytest.raises(ValueError, match=r"column: column 1, 'empty', was left out; there are 'when.hour'"):
        CurveDisplay.from_estimator(fitted, 1)
    with pytest.raises(ValueError, match="column: there is no column 9"):
        CurveDisplay.from_estimator(fitted, 9)


@pytest.mark.filterwarnings("ignore::mbauc.errors.LeftOutWarning")
@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ((0, 2), "interactions: column 0, 'when', became 'when.hour', 'when.weekday'; name one of them"),
        (("when", 2), "interactions: column 0, 'when', became 'when.hour', 'when.weekday'; name one of them"),
        ((2, 1), "interactions: column 1, 'empty', was left out"),
        ((2, 5), "interactions: there is no column 5"),
        ((2, "nowhere"), "interactions: there is no column 'nowhere'"),
    ],
)
@pytest.mark.parametrize("make", [lambda **given: ranker("interactions", **given), CurveFeatures])
def test_numbers_of_columns_that_became_none_or_several_are_refused(make, pair, said):
    frame, y = make_dates()
    with pytest.raises(ValueError, match=said):
        make(interactions=[pair]).fit(frame, y)


def test_arrays_of_pairs_are_pairs():
    frame, y = make_dates()
    frame = frame[["bid", "site", "age"]]
    fitted = ranker("interactions", interactions=np.array([[0, 1]])).fit(frame, y)
    assert fitted.interactions_ == [("bid", "site")]
    with pytest.raises(ValueError, match="interactions must be pairs of columns"):
        ranker("interactions", interactions=np.array([[0, 1, 2]])).fit(frame, y)


def test_columns_of_lists_and_of_ids_alone_get_advice_that_can_be_followed():
    frame, y = make_dates()
    with pytest.raises(ValueError, match=r"column 'b' holds list.*[Dd]rop it from X") as said:
        ranker().fit(frame[["bid"]].assign(b=[[1, 2]] * 300), y)
    assert "ignore" not in str(said.value)
    ids = pd.DataFrame({"user": [f"u{k}" for k in range(300)]})
    with pytest.raises(
        ValueError, match=r"X has no column to learn from: 'user' \(texts.*in categories"
    ) as said:
        ranker().fit(ids, y)
    assert "types" not in str(said.value)


def test_columns_of_numbers_and_texts_are_named():
    frame, y = make_dates()
    mixed = frame[["bid"]].assign(b=np.array([1, "x"] * 150, dtype=object))
    for X in (mixed, mixed.assign(site="a")):
        with pytest.raises(ValueError, match=r"column 'b' .*Convert it to texts.* or to numbers"):
            ranker().fit(X, y)


def test_names_do_not_outlive_a_fit_without_names():
    frame, y = make_numbers()
    fitted = ranker().fit(frame, y)
    assert fitted.scorer().names.tolist() == list(frame)
    fitted.fit_source(Blocks(frame.to_numpy(dtype=float), y))
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.scorer().names is None


def test_scorers_name_the_columns_that_they_take():
    frame, y = make_dates()
    frame = frame.drop(columns="empty")
    fitted = ranker().fit(frame, y)
    scorer = fitted.scorer()
    assert scorer.names.tolist() == ["when.hour", "when.weekday", "bid", "site", "age"]
    assert len(scorer.names) == scorer.n_features
    again = AdditiveAUCClassifier.restore(scorer)
    np.testing.assert_array_equal(
        again.decision_function(pd.DataFrame(fitted.encode_rows(frame), columns=scorer.names)),
        fitted.decision_function(frame),
    )


def test_sources_have_their_labels_and_types_with_them(tmp_path):
    frame, y = make_numbers()
    source = Blocks(frame.to_numpy(dtype=float), y)
    for more in ({"y": y}, {"sample_weight": np.ones(300)}):
        with pytest.raises(ValueError, match="leave out y, sample_weight and groups"):
            ranker().fit(source, **more)
    frame.assign(y=y.astype(int)).to_csv(tmp_path / "rows.csv", index=False)
    table = TableSource(tmp_path / "rows.csv", label="y", encode="codes")
    with pytest.raises(ValueError, match=r"categories .*TableSource.*types=\{'zip': 'category'\}"):
        ranker(categories=["zip"]).fit(table)


def test_two_columns_of_one_name_are_refused():
    frame, y = make_numbers()
    for twice in (frame[["bid", "bid"]], frame[["bid", "bid"]].set_axis([0, 0], axis=1)):
        with pytest.raises(ValueError, match=r"X has two columns named ('bid'|0); give each a name of its own"):
            ranker().fit(twice, y)
