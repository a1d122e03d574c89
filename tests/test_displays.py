import numpy as np
import pytest

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.metrics import roc_auc

pytest.importorskip("matplotlib", reason="displays are drawn with matplotlib")

from mbauc.plots import (
    GainsDisplay,
    PenaltyPathDisplay,
    RocBandDisplay,
    ScoreDistributionDisplay,
    WeightsDisplay,
)


@pytest.fixture
def scored(rng):
    y = np.repeat([0, 1], [900, 100])
    return y, np.round(rng.standard_normal(1000) + y, 2)


@pytest.mark.parametrize("kind", [RocBandDisplay, ScoreDistributionDisplay, GainsDisplay])
def test_displays_of_scores_keep_to_scikit_learn(kind, scored, table):
    y, s = scored
    display = kind.from_predictions(y, s)
    assert display.figure_ is display.ax_.figure
    again = display.plot(display.ax_)
    assert again.ax_ is display.ax_
    X, labels = table
    ranker = MBAClassifier().fit(X, labels)
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert kind.from_estimator(ranker, X, labels, ax=ax).ax_ is ax
    with pytest.raises(ValueError, match="labels"):
        kind.from_predictions(y, s[:-1])


def test_the_area_under_the_drawn_roc_curve_is_the_auc(scored):
    y, s = scored
    line = RocBandDisplay.from_predictions(y, s).ax_.lines[0]
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(roc_auc(y, s), abs=1e-12)


def test_gains_count_the_positives_among_the_highest_scores(rng):
    y, s = rng.random(500) < 0.3, rng.permutation(500).astype(float)
    display = GainsDisplay.from_predictions(y, s)
    for share, found in zip(display.share, display.found, strict=True):
        count = share * 500
        if abs(count - round(count)) < 1e-9:
            top = np.argsort(-s)[: round(count)]
            assert found == pytest.approx(y[top].sum() / y.sum())
    assert display.lift[-1] == 1.0


def test_shares_of_the_score_distribution_add_up(scored):
    shown = ScoreDistributionDisplay.from_predictions(*scored, threshold=0.5)
    assert shown.scores.plus.sum() == pytest.approx(1, abs=0.02)
    assert len(shown.ax_.lines) == 1


def test_weights_are_drawn_largest_first_under_their_names(table):
    X, y = table
    ranker = MBAClassifier().fit(X, y)
    names = [f"feature {k}" for k in range(X.shape[1])]
    display = WeightsDisplay.from_estimator(ranker, names, top=3)
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    expected = [names[k] for k in np.argsort(-np.abs(ranker.coef_[0]))[:3]]
    assert shown[::-1] == expected
    with pytest.raises(ValueError, match="names"):
        WeightsDisplay(["a"], [1.0, 2.0])


def test_the_path_marks_the_chosen_penalty(table):
    ranker = MBAClassifierCV(random_state=0).fit(*table)
    display = PenaltyPathDisplay.from_estimator(ranker)
    assert display.chosen == ranker.l2_
    assert display.score.max() == ranker.best_score_
    assert display.ax_.get_xscale() == "log"
