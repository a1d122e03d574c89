import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest
from sklearn.base import ClassifierMixin, clone
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.metrics import calibration_error, roc_auc, roc_auc_interval
from mbauc.metrics.neyman_pearson import np_roc_band
from mbauc.metrics.operating_point import starting_point
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import threshold_table
from mbauc.report import figures

pytest.importorskip("matplotlib", reason="displays are drawn with matplotlib")

from matplotlib.collections import PolyCollection
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

from mbauc.plots import (
    GainsDisplay,
    PenaltyPathDisplay,
    PrecisionBandDisplay,
    ReliabilityDisplay,
    RocBandDisplay,
    ScoreDistributionDisplay,
    WeightsDisplay,
)

OF_SCORES = [RocBandDisplay, ScoreDistributionDisplay, GainsDisplay, PrecisionBandDisplay, ReliabilityDisplay]
SCORE_ARGUMENT = dict.fromkeys(OF_SCORES, "y_score") | {ReliabilityDisplay: "y_prob"}
WITH_CONFIDENCE = [RocBandDisplay, PrecisionBandDisplay, ReliabilityDisplay]

of_scores = pytest.mark.parametrize("kind", OF_SCORES)


@pytest.fixture
def scored(rng):
    """Labels and scores between 0 and 1, with ties."""
    y = np.repeat([0, 1], [900, 100])
    return y, np.round(expit(rng.standard_normal(1000) + 1.5 * y - 2), 3)


@pytest.fixture
def ranker(table):
    return MBAClassifier().fit(*table)


@pytest.fixture
def path_of_both(table):
    return MBAClassifierCV(l1_grid=[0.0, 0.01, 0.1], l2_grid=[0.01, 0.1, 1.0], random_state=0).fit(*table)


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def corners(fill):
    """Points of what ``fill_between`` drew, as a set."""
    (path,) = fill.get_paths()
    return {(float(x), float(y)) for x, y in path.vertices}


def six_digits(values):
    """As the page of a report holds them."""
    return [float(f"{value:.6g}") for value in values]


def numbers(display):
    """All numbers of a display, under the names of its attributes."""
    found = {}
    for name, value in vars(display).items():
        if not name.endswith("_") and not isinstance(value, str | type(None)):
            parts = vars(value) if hasattr(value, "__dataclass_fields__") else {"": value}
            for part, held in parts.items():
                entries = held if isinstance(held, tuple) else (held,)
                found |= {(name, part, k): np.asarray(entry) for k, entry in enumerate(entries)}
    return found


# -- what all have in common ----------------------------------------------------------------------------------


@of_scores
def test_displays_of_scores_keep_to_scikit_learn(kind, scored, table, ranker):
    y, s = scored
    display = kind.from_predictions(y, s)
    assert display.figure_ is display.ax_.figure
    ax = Figure().add_subplot()
    assert display.plot(ax) is display
    assert display.plot(ax=ax).ax_ is ax
    ax = Figure().add_subplot()
    assert kind.from_estimator(ranker, *table, ax=ax).ax_ is ax


@of_scores
def test_wrong_lengths_and_shapes_name_the_argument(kind, scored):
    y, s = scored
    name = SCORE_ARGUMENT[kind]
    with pytest.raises(ValueError, match=f"1,000 labels.*{name} 999"):
        kind.from_predictions(y, s[:-1])
    with pytest.raises(ValueError, match=f"{name} must be one-dimensional"):
        kind.from_predictions(y, s[:, None])
    with pytest.raises(ValueError, match=f"{name} must hold numbers"):
        kind.from_predictions(y, ["high"] * 1000)


@of_scores
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_name_the_argument_and_the_row(kind, scored, value):
    y, s = scored
    s[17] = value
    with pytest.raises(ValueError, match=f"{SCORE_ARGUMENT[kind]} has {value} at row 17"):
        kind.from_predictions(y, s)


@of_scores
def test_an_estimator_that_scores_nan_is_told_so(kind, table):
    class Broken(ClassifierMixin):
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(ValueError, match=f"{SCORE_ARGUMENT[kind]} has nan at row 0"):
        kind.from_estimator(Broken(), *table)


@of_scores
def test_the_name_is_that_of_the_class_unless_given(kind, scored, table, ranker):
    display = kind.from_estimator(ranker, *table)
    assert display.name == "MBAClassifier"
    assert any("MBAClassifier" in text for text in labels(display))
    assert any("mine" in text for text in labels(kind.from_estimator(ranker, *table, name="mine")))
    display = kind.from_predictions(*scored)
    assert display.name == "Classifier"
    again = display.plot(name="yours")
    assert any("yours" in text for text in labels(again))
    assert not any("Classifier" in text for text in labels(again))
    assert again.name == "Classifier"


@of_scores
def test_options_of_the_main_artist_reach_it(kind, scored):
    y, s = scored
    display = kind.from_predictions(y, s, alpha=0.625)
    (artist, *_) = [getattr(display, name) for name in ("line_", "positives_") if hasattr(display, name)]
    assert artist.get_alpha() == 0.625
    display.plot(alpha=0.125)
    (artist, *_) = [getattr(display, name) for name in ("line_", "positives_") if hasattr(display, name)]
    assert artist.get_alpha() == 0.125


@pytest.mark.parametrize("kind", [RocBandDisplay, GainsDisplay, PrecisionBandDisplay, ReliabilityDisplay])
def test_short_names_of_options_and_own_labels_are_taken(kind, scored):
    display = kind.from_predictions(*scored, c="red", lw=3, ls="--", label="own")
    assert display.line_.get_color() == "red"
    assert display.line_.get_linewidth() == 3
    assert display.line_.get_linestyle() == "--"
    assert "own" in legend(display)


@of_scores
def test_what_was_drawn_is_kept(kind, scored):
    kinds = {
        RocBandDisplay: {
            "line_": Line2D,
            "fill_": PolyCollection,
            "band_": PolyCollection,
            "chance_level_": Line2D,
        },
        PrecisionBandDisplay: {"line_": Line2D, "fill_": PolyCollection, "chance_level_": Line2D},
        GainsDisplay: {"line_": Line2D, "chance_level_": Line2D, "ideal_": Line2D},
        ScoreDistributionDisplay: {"negatives_": StepPatch, "positives_": StepPatch, "threshold_": Line2D},
        ReliabilityDisplay: {"line_": Line2D, "errorbar_": ErrorbarContainer, "ref_line_": Line2D},
    }
    options = {"threshold": 0.5} if kind is ScoreDistributionDisplay else {}
    display = kind.from_predictions(*scored, **options)
    for name, expected in kinds[kind].items():
        artist = getattr(display, name)
        assert isinstance(artist, expected)
        drawn = artist.lines[0] if isinstance(artist, ErrorbarContainer) else artist
        assert drawn in display.ax_.get_children()


def test_what_is_not_drawn_is_none(scored):
    assert RocBandDisplay.from_predictions(*scored, delta=None).band_ is None
    assert ScoreDistributionDisplay.from_predictions(*scored).threshold_ is None
    assert ReliabilityDisplay.from_predictions(*scored, ref_line=False).ref_line_ is None
    for kind in (RocBandDisplay, GainsDisplay, PrecisionBandDisplay):
        display = kind.from_predictions(*scored, plot_chance_level=False)
        assert display.chance_level_ is None
        assert not any("blindly" in text or "chance" in text for text in labels(display))


@of_scores
def test_subclasses_get_their_own_kind(kind, scored, table, ranker):
    class Mine(kind):
        pass

    assert type(Mine.from_predictions(*scored)) is Mine
    assert type(Mine.from_estimator(ranker, *table)) is Mine
    assert type(Mine.from_predictions(*scored).plot()) is Mine
    for method in ("from_predictions", "plot"):
        assert getattr(kind, method).__annotations__["return"] == "Self"


@of_scores
def test_drawing_two_on_the_same_axes_names_each_thing_once(kind, scored):
    y, s = scored
    first = kind.from_predictions(y, s, name="one")
    second = kind.from_predictions(y, 1 - s, name="two", ax=first.ax_)
    texts = legend(second)
    assert len(texts) == len(set(texts))
    assert any("one" in text for text in texts)
    assert any("two" in text for text in texts)


# -- positive label -------------------------------------------------------------------------------------------


@of_scores
def test_the_other_class_may_be_the_positive_one(kind, scored):
    y, s = scored
    display = kind.from_predictions(y, s, pos_label=0)
    swapped = numbers(kind.from_predictions(1 - y, s))
    for key, value in numbers(display).items():
        if key[0] != "pos_label":
            np.testing.assert_array_equal(value, swapped[key])
    assert display.pos_label == 0
    assert kind.from_predictions(y, s).pos_label == 1


@of_scores
def test_the_positive_label_is_shown(kind, scored):
    y, s = scored
    words = np.array(["ham", "spam"])[y]
    display = kind.from_predictions(words, s, pos_label="ham")
    texts = [display.ax_.get_ylabel(), *labels(display)]
    assert any("ham" in text for text in texts)
    assert not any("spam" in text for text in texts)
    assert kind.from_predictions(words, s).pos_label == "spam"


@of_scores
def test_a_label_that_is_not_there_is_an_error(kind, scored, table, ranker):
    with pytest.raises(ValueError, match=r"pos_label must be one of the labels \[0, 1\], got 2"):
        kind.from_predictions(*scored, pos_label=2)
    with pytest.raises(ValueError, match=r"pos_label must be one of the labels \[0, 1\], got 'yes'"):
        kind.from_estimator(ranker, *table, pos_label="yes")


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_scores_of_an_estimator_are_those_of_the_positive_label(method, table):
    X, y = table
    words = np.array(["no", "yes"])[y]
    fitted = LogisticRegression().fit(X, words)
    for label, column, sign in (("yes", 1, 1), ("no", 0, -1)):
        s = (
            fitted.predict_proba(X)[:, column]
            if method == "predict_proba"
            else sign * fitted.decision_function(X)
        )
        display = ScoreDistributionDisplay.from_estimator(
            fitted, X, words, response_method=method, pos_label=label
        )
        expected = ScoreDistributionDisplay.from_predictions(words, s, pos_label=label)
        assert display.pos_label == label
        np.testing.assert_array_equal(display.scores.edges, expected.scores.edges)
        np.testing.assert_array_equal(display.scores.plus, expected.scores.plus)
    bins = ReliabilityDisplay.from_estimator(fitted, X, words, pos_label="no").bins
    expected = ReliabilityDisplay.from_predictions(y == 0, fitted.predict_proba(X)[:, 0]).bins
    np.testing.assert_array_equal(bins.predicted, expected.predicted)
    np.testing.assert_array_equal(bins.seen, expected.seen)


def test_scores_are_preferred_to_probabilities(table):
    X, y = table
    fitted = LogisticRegression().fit(X, y)
    low = ScoreDistributionDisplay.from_estimator(fitted, X, y).scores.edges[0]
    assert low <= np.quantile(fitted.decision_function(X), 0.01) < 0


def test_a_pipeline_is_an_estimator(table):
    X, y = table
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = RocBandDisplay.from_estimator(fitted, X, y)
    assert display.name == "Pipeline"
    assert display.interval.auc == roc_auc(y, fitted.decision_function(X))


def test_estimators_that_cannot_score_are_errors(table):
    X, y = table
    with pytest.raises(NotFittedError):
        GainsDisplay.from_estimator(MBAClassifier(), X, y)
    with pytest.raises(
        ValueError, match=r"estimator LinearRegression has neither decision_function nor predict_proba"
    ):
        GainsDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    with pytest.raises(
        ValueError, match="response_method must be 'auto', 'decision_function' or 'predict_proba'"
    ):
        GainsDisplay.from_estimator(MBAClassifier().fit(X, y), X, y, response_method="predict")
    with pytest.raises(ValueError, match="estimator LogisticRegression has 3 classes"):
        GainsDisplay.from_estimator(LogisticRegression().fit(X, np.arange(len(y)) % 3), X, y)
    from sklearn.svm import LinearSVC

    fitted = LinearSVC().fit(X, y)
    assert RocBandDisplay.from_estimator(fitted, X, y).name == "LinearSVC"
    with pytest.raises(ValueError, match="estimator LinearSVC has no predict_proba"):
        ReliabilityDisplay.from_estimator(fitted, X, y)


# -- weights --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RocBandDisplay, GainsDisplay, PrecisionBandDisplay, ReliabilityDisplay])
def test_a_weight_stands_for_so_many_rows(kind, scored, rng):
    y, s = scored
    weight = rng.integers(0, 4, size=y.size)
    display = numbers(kind.from_predictions(y, s, sample_weight=weight))
    repeated = numbers(kind.from_predictions(np.repeat(y, weight), np.repeat(s, weight)))
    assert display.keys() == repeated.keys()
    for key, value in display.items():
        np.testing.assert_allclose(value, repeated[key], rtol=1e-9, err_msg=str(key))


def test_weights_of_a_score_distribution(scored, rng):
    y, s = scored
    weight = rng.random(y.size) + 0.5
    found = ScoreDistributionDisplay.from_predictions(y, s, sample_weight=weight).scores
    for shares, mask in ((found.plus, y == 1), (found.minus, y == 0)):
        expected = np.histogram(s[mask], found.edges, weights=weight[mask])[0] / weight[mask].sum()
        np.testing.assert_allclose(shares, expected, atol=1e-12)


@of_scores
def test_weights_are_checked(kind, scored, table, ranker):
    y, s = scored
    with pytest.raises(ValueError, match="sample_weight"):
        kind.from_predictions(y, s, sample_weight=np.full(1000, -1.0))
    with pytest.raises(ValueError, match="sample_weight is zero for all rows of a class"):
        kind.from_predictions(y, s, sample_weight=(y == 0).astype(float))
    X, t = table
    ones = kind.from_estimator(ranker, X, t, sample_weight=np.ones(t.size))
    plain = numbers(kind.from_estimator(ranker, X, t))
    for key, value in numbers(ones).items():
        np.testing.assert_allclose(value, plain[key], rtol=1e-9, err_msg=str(key))


# -- ROC ------------------------------------------------------------------------------------------------------


def test_the_roc_curve_is_that_of_scikit_learn(scored, rng):
    y, s = scored
    for weight in (None, rng.integers(1, 4, size=y.size).astype(float)):
        display = RocBandDisplay.from_predictions(y, s, sample_weight=weight)
        false_alarm, detection, _ = roc_curve(y, s, sample_weight=weight, drop_intermediate=False)
        x, found = display.line_.get_data()
        # scikit-learn's thresholds are alarms from a score on, ours above it: the same points
        assert {*zip(false_alarm.round(12), detection.round(12), strict=True)} == {
            *zip(x.round(12), found.round(12), strict=True)
        }
        assert np.trapezoid(found, x) == pytest.approx(roc_auc(y, s, sample_weight=weight), abs=1e-12)


def test_each_point_of_the_roc_band_is_an_exact_interval(scored):
    display = RocBandDisplay.from_predictions(*scored, confidence=0.8)
    for k in (0, 1, 50, 200, len(display.low) - 1):
        hits = round(display.detection[k] * 100)
        expected = binomtest(hits, 100).proportion_ci(confidence_level=0.8, method="exact")
        assert display.low[k] == pytest.approx(expected.low, rel=1e-5)
        assert display.high[k] == pytest.approx(expected.high, rel=1e-5)


def test_the_roc_band_is_that_of_the_report(scored, monkeypatch):
    y, s = scored
    table = threshold_table(RankedScores(y == 1, s, None))
    drawn = []
    monkeypatch.setattr(figures.Plot, "band", lambda self, x, low, high, kind: drawn.append((x, low, high)))
    figures.roc_plot(table, starting_point(table))
    figures.promise_plot(table, starting_point(table))
    display = RocBandDisplay.from_predictions(y, s)
    for (x, low, high), fill in zip(drawn, (display.fill_, display.band_), strict=True):
        x, low, high = map(six_digits, (x, low, high))
        expected = {*zip(x, low, strict=True)} | {*zip(x, high, strict=True)}
        assert expected <= {tuple(six_digits(corner)) for corner in corners(fill)}
    assert display.low[0] == 0
    assert display.high[0] == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-5)
    assert (0.0, display.high[0]) in corners(display.fill_)


@pytest.mark.parametrize("delta", [0.05, 0.2, 0.7])
def test_the_promise_is_the_neyman_pearson_band(rng, delta):
    y = np.repeat([0, 1], [400, 100])
    s = rng.standard_normal(500) + y
    band, expected = RocBandDisplay.from_predictions(y, s, delta=delta).band, np_roc_band(y, s, delta=delta)
    assert band.delta == delta
    place = np.searchsorted(band.threshold, expected.threshold)
    np.testing.assert_array_equal(band.threshold[place], expected.threshold)
    for end in ("false_alarm", "low", "high"):
        np.testing.assert_allclose(getattr(band, end)[place], getattr(expected, end), rtol=1e-5)


def test_labels_follow_the_confidence_and_the_promise(scored):
    display = RocBandDisplay.from_predictions(*scored, confidence=0.995, delta=0.1, name="s")
    interval = roc_auc_interval(*scored, confidence=0.995)
    assert display.interval == interval
    assert legend(display)[:3] == [
        f"s: AUC {interval.auc:.4f} (99.5% interval {interval.low:.4f} to {interval.high:.4f})",
        "99.5% interval of each point",
        "Neyman–Pearson band, 90% confidence",
    ]


@pytest.mark.parametrize("kind", WITH_CONFIDENCE)
def test_the_confidence_is_checked_and_shown(kind, scored):
    assert any("80% interval" in text for text in legend(kind.from_predictions(*scored, confidence=0.8)))
    assert any("95% interval" in text for text in legend(kind.from_predictions(*scored)))
    with pytest.raises(ValueError, match="confidence"):
        kind.from_predictions(*scored, confidence=95)


@pytest.mark.parametrize("weight", [None, np.full(60, 0.01)])
def test_too_few_rows_for_an_interval_of_the_auc(rng, weight):
    y, s = np.repeat([0, 1], [59, 1] if weight is None else [30, 30]), rng.standard_normal(60)
    display = RocBandDisplay.from_predictions(y, s, sample_weight=weight, name="few")
    assert display.interval is None
    assert display.roc_auc == pytest.approx(roc_auc(y, s))
    assert legend(display)[0] == f"few: AUC {roc_auc(y, s):.4f}"


def test_delta_is_checked(scored):
    with pytest.raises(ValueError, match="delta"):
        RocBandDisplay.from_predictions(*scored, delta=0.0)


def test_a_roc_band_may_be_made_of_numbers():
    line = {"false_alarm": [0, 0.5, 1], "detection": [0, 0.75, 1]}
    display = RocBandDisplay(**line).plot()
    assert display.line_.get_xydata().tolist() == [[0, 0], [0.5, 0.75], [1, 1]]
    assert display.fill_ is None
    assert display.band_ is None
    display = RocBandDisplay(**line, low=[0, 0.5, 0.9], high=[0.3, 1, 1], confidence=0.9, name="half").plot()
    assert legend(display)[:2] == ["half", "90% interval of each point"]
    with pytest.raises(ValueError, match="detection must have as many points as false_alarm"):
        RocBandDisplay(false_alarm=[0, 1], detection=[0, 1, 2])
    with pytest.raises(ValueError, match="low and high"):
        RocBandDisplay(**line, low=[0, 0, 0])


# -- precision ------------------------------------------------------------------------------------------------


def test_the_precision_curve_is_that_of_scikit_learn(scored, rng):
    y, s = scored
    for weight in (None, rng.integers(1, 4, size=y.size).astype(float)):
        display = PrecisionBandDisplay.from_predictions(y, s, sample_weight=weight)
        precision, recall, _ = precision_recall_curve(y, s, sample_weight=weight)
        np.testing.assert_allclose(display.recall, recall[-2::-1], atol=1e-12)
        np.testing.assert_allclose(display.precision, precision[-2::-1], atol=1e-12)
        average = average_precision_score(y, s, sample_weight=weight)
        assert display.average_precision == pytest.approx(average, abs=1e-12)
        # steps, so that the area below is the average precision
        x, height = display.line_.get_data()
        assert display.line_.get_drawstyle() == "steps-pre"
        assert x[0] == 0
        assert np.diff(x) @ height[1:] == pytest.approx(average, abs=1e-12)
        prevalence = np.average(y, weights=weight)
        assert display.prevalence == pytest.approx(prevalence)
        assert display.chance_level_.get_ydata() == pytest.approx([prevalence] * 2)


def test_the_precision_band_is_that_of_the_report(scored, monkeypatch):
    y, s = scored
    table = threshold_table(RankedScores(y == 1, s, None))
    drawn = []
    monkeypatch.setattr(figures.Plot, "band", lambda self, x, low, high, kind: drawn.append((x, low, high)))
    figures.precision_plot(table, starting_point(table))
    display = PrecisionBandDisplay.from_predictions(y, s)
    for value, expected in zip((display.recall, display.low, display.high), drawn[0], strict=True):
        np.testing.assert_array_equal(six_digits(value), six_digits(expected))
    assert {*zip(display.recall, display.low, strict=True)} <= corners(display.fill_)
    assert {*zip(display.recall, display.high, strict=True)} <= corners(display.fill_)
    # steps like those of the curve: on the left of a point the band is as at the point
    assert {*zip(display.recall[:-1], display.low[1:], strict=True)} <= corners(display.fill_)


def test_each_point_of_the_precision_band_is_an_exact_interval(scored):
    y, s = scored
    display = PrecisionBandDisplay.from_predictions(y, s, confidence=0.9)
    for k in (0, 7, 100, len(display.low) - 1):
        hits = round(display.recall[k] * 100)
        expected = binomtest(hits, round(hits / display.precision[k])).proportion_ci(0.9, "exact")
        assert (display.low[k], display.high[k]) == pytest.approx((expected.low, expected.high), rel=1e-5)


def test_the_average_precision_is_in_the_legend(scored):
    display = PrecisionBandDisplay.from_predictions(*scored, name="s")
    assert legend(display)[0] == f"s: average precision {average_precision_score(*scored):.4f}"


# -- calibration ----------------------------------------------------------------------------------------------


def test_reliability_by_definition(scored):
    y, p = scored
    display = ReliabilityDisplay.from_predictions(y, p)
    bins, (x, seen) = display.bins, display.line_.get_data()
    np.testing.assert_array_equal(x, bins.predicted)
    np.testing.assert_array_equal(seen, bins.seen)
    assert bins.error == pytest.approx(calibration_error(y, p, bins=15))
    # equal probabilities stay together, so that the sizes of the bins tell who is in them
    order = np.argsort(p, kind="stable")
    ends = np.cumsum(bins.size).astype(int)
    for k, rows in enumerate(np.split(order, ends[:-1])):
        assert bins.predicted[k] == pytest.approx(p[rows].mean())
        assert bins.seen[k] == pytest.approx(y[rows].mean())
    assert (p[order[ends[:-1]]] > p[order[ends[:-1] - 1]]).all()


def test_whiskers_are_exact_intervals(scored):
    display = ReliabilityDisplay.from_predictions(*scored, confidence=0.9)
    bins = display.bins
    (whiskers,) = display.errorbar_.lines[2]
    for k, (lower, upper) in enumerate(whiskers.get_segments()):
        expected = binomtest(round(bins.seen[k] * bins.size[k]), round(bins.size[k])).proportion_ci(
            0.9, "exact"
        )
        assert lower[0] == upper[0] == bins.predicted[k]
        assert upper[1] == pytest.approx(expected.high, rel=1e-5)
        assert lower[1] == pytest.approx(expected.low, rel=1e-5, abs=1e-9)


def test_reliability_of_bins_as_scikit_learn_has_them(rng):
    # five different probabilities: both packages put each in a bin of its own
    p = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 200)
    y = (rng.random(1000) < p).astype(int)
    ours, theirs = (
        ReliabilityDisplay.from_predictions(y, p),
        CalibrationDisplay.from_predictions(y, p, n_bins=5),
    )
    np.testing.assert_allclose(ours.bins.predicted, theirs.prob_pred)
    np.testing.assert_allclose(ours.bins.seen, theirs.prob_true)
    import matplotlib.pyplot

    matplotlib.pyplot.close(theirs.figure_)


def test_probabilities_lie_between_0_and_1(scored):
    y, p = scored
    p[3] = 1.5
    with pytest.raises(ValueError, match=r"y_prob has 1\.5 at row 3.*between 0 and 1.*predict_proba"):
        ReliabilityDisplay.from_predictions(y, p)


def test_rare_positives_are_drawn_on_logarithmic_axes(rng):
    p = expit(2 * rng.standard_normal(20_000) - 6)
    y = (rng.random(20_000) < p).astype(int)
    display = ReliabilityDisplay.from_predictions(y, p)
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    low, high = display.ax_.get_ylim()
    seen = display.line_.get_ydata()
    assert (seen >= low).all()
    assert (seen <= high).all()
    assert (display.bins.seen == 0).any()
    np.testing.assert_array_equal(seen, np.maximum(display.bins.seen, seen.min()))
    (whiskers,) = display.errorbar_.lines[2]
    for (lower, upper), bottom, end in zip(
        whiskers.get_segments(), display.bins.low, display.bins.high, strict=True
    ):
        assert upper[1] == pytest.approx(end)
        # an interval from zero leaves the plot at the bottom
        assert lower[1] == pytest.approx(bottom) if bottom else lower[1] < low / 100
    assert ReliabilityDisplay.from_predictions(1 - y, 1 - p).ax_.get_xscale() == "linear"


# -- gains and scores -----------------------------------------------------------------------------------------


def test_gains_count_the_positives_among_the_highest_scores(rng):
    y, s = rng.random(500) < 0.3, rng.permutation(500).astype(float)
    display = GainsDisplay.from_predictions(y, s)
    assert len(display.share) == 500
    for share, found in zip(display.share, display.found, strict=True):
        top = np.argsort(-s)[: round(share * 500)]
        assert found == pytest.approx(y[top].sum() / y.sum())
    assert display.lift[-1] == 1.0
    assert display.line_.get_xydata()[0].tolist() == [0, 0]
    assert display.ideal_.get_xydata() == pytest.approx(np.array([[0, 0], [y.mean(), 1], [1, 1]]))


def test_gains_are_those_of_the_report(scored, monkeypatch):
    y, s = scored
    table = threshold_table(RankedScores(y == 1, s, None))
    drawn = []
    monkeypatch.setattr(figures.Plot, "line", lambda self, x, height, kind: drawn.append((x, height)))
    figures.gains_plot(table)
    x, height = GainsDisplay.from_predictions(y, s).line_.get_data()
    assert {*zip(x, height, strict=True)} == {*zip(*drawn[-1], strict=True)}


def test_shares_of_the_score_distribution_add_up(scored):
    y, s = scored
    shown = ScoreDistributionDisplay.from_predictions(y, s, threshold=0.5)
    for artist, mask, shares in (
        (shown.positives_, y == 1, shown.scores.plus),
        (shown.negatives_, y == 0, shown.scores.minus),
    ):
        values, edges, _ = artist.get_data()
        np.testing.assert_array_equal(values, shares)
        np.testing.assert_allclose(values, np.histogram(s[mask], edges)[0] / mask.sum(), atol=1e-12)
    assert shown.threshold_.get_xdata() == [0.5, 0.5]


# -- weights and the path -------------------------------------------------------------------------------------


def test_weights_are_drawn_largest_first_under_their_names(table, ranker):
    names = [f"feature {k}" for k in range(ranker.n_features_in_)]
    display = WeightsDisplay.from_estimator(ranker, names, top=3)
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    largest = np.argsort(-np.abs(ranker.coef_[0]))[:3]
    assert shown[::-1] == [names[k] for k in largest]
    assert isinstance(display.bars_, BarContainer)
    assert [bar.get_width() for bar in display.bars_][::-1] == ranker.coef_[0][largest].tolist()
    with pytest.raises(ValueError, match="1 names and 2 weights"):
        WeightsDisplay(["a"], [1.0, 2.0])


def test_a_display_of_weights_keeps_to_scikit_learn(ranker):
    display = WeightsDisplay.from_estimator(ranker)
    assert display.name == "MBAClassifier"
    assert "MBAClassifier" in display.ax_.get_xlabel()
    assert display.plot(name="mine", color="red", height=0.25) is display
    assert "mine" in display.ax_.get_xlabel()
    assert {bar.get_height() for bar in display.bars_} == {0.25}
    assert {bar.get_facecolor() for bar in display.bars_} == {(1.0, 0.0, 0.0, 1.0)}
    assert display.zero_ in display.ax_.lines

    class Mine(WeightsDisplay):
        pass

    assert type(Mine.from_estimator(ranker)) is Mine
    with pytest.raises(ValueError, match="top must be a whole number"):
        WeightsDisplay.from_estimator(ranker, top=0)


def test_weights_of_what_has_none_are_an_error(table):
    with pytest.raises(NotFittedError):
        WeightsDisplay.from_estimator(MBAClassifier())
    with pytest.raises(ValueError, match=r"estimator Pipeline has no coef_.*pipeline\[-1\]"):
        WeightsDisplay.from_estimator(make_pipeline(StandardScaler(), LogisticRegression()).fit(*table))
    with pytest.raises(ValueError, match="estimator LogisticRegression has 3 classes"):
        WeightsDisplay.from_estimator(LogisticRegression().fit(table[0], np.arange(600) % 3))
    with pytest.raises(ValueError, match=r"weights.*NaN.*'b'"):
        WeightsDisplay(["a", "b"], [1.0, np.nan])


def test_weights_that_are_all_zero_are_drawn_as_none():
    display = WeightsDisplay(["a", "b"], [0.0, 0.0]).plot()
    assert len(display.bars_) == 0


def test_the_path_marks_the_chosen_penalty(table):
    ranker = MBAClassifierCV(random_state=0).fit(*table)
    display = PenaltyPathDisplay.from_estimator(ranker)
    assert display.chosen == ranker.l2_
    assert display.penalty_name == "l2"
    assert display.score.max() == ranker.best_score_
    assert display.ax_.get_xscale() == "log"
    results = ranker.cv_results_
    np.testing.assert_array_equal(display.line_.get_xdata(), np.sort(results["param_l2"]))
    order = np.argsort(results["param_l2"])
    np.testing.assert_array_equal(display.line_.get_ydata(), results["mean_test_score"][order])
    splits = np.array([results[f"split{k}_test_score"] for k in range(5)])[:, order]
    np.testing.assert_allclose(display.error, splits.std(axis=0, ddof=1) / math.sqrt(5))
    assert {
        (p, s + e) for p, s, e in zip(display.penalty, display.score, display.error, strict=True)
    } <= corners(display.fill_)
    assert display.chosen_.get_xdata() == [ranker.l2_, ranker.l2_]


def test_a_display_of_a_path_keeps_to_scikit_learn(table):
    ranker = MBAClassifierCV(random_state=0).fit(*table)
    display = PenaltyPathDisplay.from_estimator(ranker)
    assert display.name == "MBAClassifierCV"
    assert legend(display)[0] == "MBAClassifierCV"
    assert display.ax_.get_ylabel() == "held-out AUC"
    assert display.plot(name="mine", c="red", ls=":") is display
    assert display.line_.get_color() == "red"
    assert legend(display)[0] == "mine"

    class Mine(PenaltyPathDisplay):
        pass

    assert type(Mine.from_estimator(ranker)) is Mine


def test_a_path_over_both_penalties_shows_the_best_of_the_other(path_of_both):
    display = PenaltyPathDisplay.from_estimator(path_of_both)
    results = path_of_both.cv_results_
    for penalty, score in zip(display.penalty, display.score, strict=True):
        assert score == results["mean_test_score"][results["param_l2"] == penalty].max()
    assert "best l1 for each" in display.ax_.get_xlabel()


def test_a_penalty_of_zero_has_a_place(table):
    ranker = MBAClassifierCV(l2_grid=[0.0, 0.01, 0.1, 1.0], random_state=0).fit(*table)
    display = PenaltyPathDisplay.from_estimator(ranker)
    assert display.penalty[0] == 0
    assert display.ax_.get_xscale() == "symlog"


def test_a_path_that_is_not_there_is_a_clear_error(table, ranker):
    with pytest.raises(ValueError, match=r"estimator MBAClassifier has no cv_results_.*MBAClassifierCV"):
        PenaltyPathDisplay.from_estimator(ranker)
    with pytest.raises(ValueError, match=r"estimator MBAClassifier has no cv_results_.*MBAClassifierCV"):
        PenaltyPathDisplay.from_estimator(clone(ranker))
    with pytest.raises(NotFittedError, match="MBAClassifierCV"):
        PenaltyPathDisplay.from_estimator(MBAClassifierCV())
    search = GridSearchCV(MBAClassifier(), {"l2": [0.1, 1.0]}).fit(*table)
    with pytest.raises(ValueError, match=r"cv_results_ of estimator GridSearchCV.*MBAClassifierCV"):
        PenaltyPathDisplay.from_estimator(search)
    with pytest.raises(ValueError, match=r"one penalty only.*l2_grid"):
        PenaltyPathDisplay.from_estimator(MBAClassifierCV(l2_grid=[1.0], random_state=0).fit(*table))
