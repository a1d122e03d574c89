import numpy as np
import pytest

from mbauc.metrics import roc_auc_interval
from mbauc.metrics.neyman_pearson import detection_interval
from mbauc.paper.detection import GaussianMixture, Hypotheses

pytest.importorskip("matplotlib")

from mbauc import plots
from mbauc.paper.detection.plots import detection_snr_plot, frameworks_plot
from mbauc.plots import RocBandDisplay

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [3000, 300])
SCORES = {"sharp": RNG.standard_normal(3300) + 2 * Y, "blunt": RNG.standard_normal(3300) + Y}
KNOWN = Hypotheses(GaussianMixture([2.0, 0.0]), GaussianMixture([0.0, 0.0]))


def _labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# -- what a ROC curve with bands is asked for beside itself ---------------------------------------------------


def test_scorers_side_by_side_have_their_intervals_in_the_legend():
    ax = plots.new_figure().add_subplot()
    for name, s in SCORES.items():
        assert RocBandDisplay.from_predictions(Y, s, name=name, delta=None, ax=ax).ax_ is ax
    texts = _labels(ax)
    for name, s in SCORES.items():
        interval = roc_auc_interval(Y, s)
        assert f"{name}: AUC {interval}" in texts
    assert texts.count("chance") == texts.count("95% interval of each point") == 1


def test_a_logarithmic_axis_begins_in_the_decade_below_the_first_false_alarm():
    display = RocBandDisplay.from_predictions(Y, SCORES["sharp"], x_scale="log")
    ax = display.ax_
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == (1e-4, 1.0)
    x, detection = display.line_.get_data()
    assert x.min() == pytest.approx(1 / 3000)
    # all rows above the highest negative are found before the first false alarm
    highest, *_ = np.sort(SCORES["sharp"][Y == 0])[::-1]
    assert detection[0] == pytest.approx((SCORES["sharp"][Y == 1] > highest).mean(), abs=1 / 300)
    assert display.chance_level_.get_xdata()[0] == pytest.approx(1e-4)
    # another one on the same axes may reach further down, not less far
    rates = np.geomspace(1e-6, 1.0, 400)
    known = RocBandDisplay(
        false_alarm=rates, detection=KNOWN.curve().detection(rates), roc_auc=KNOWN.curve().auc, name="known"
    ).plot(ax, x_scale="log")
    assert ax.get_xlim()[0] == pytest.approx(1e-7)
    assert known.line_.get_ydata()[0] == pytest.approx(KNOWN.curve().detection(1e-6))
    assert f"known: AUC {KNOWN.curve().auc:.4f}" in _labels(ax)
    RocBandDisplay.from_predictions(Y, SCORES["blunt"], x_scale="log", ax=ax)
    assert ax.get_xlim()[0] == pytest.approx(1e-7)
    with pytest.raises(ValueError, match="x_scale must be 'linear' or 'log', got 'probit'"):
        display.plot(x_scale="probit")


def test_detection_at_fixed_rates_has_the_interval_that_was_computed():
    display = RocBandDisplay.from_predictions(Y, SCORES["sharp"], at=(0.1, 0.01), confidence=0.9)
    expected = [detection_interval(Y, SCORES["sharp"], rate, confidence=0.9) for rate in (0.1, 0.01)]
    assert display.detections == expected
    x, middle = display.detections_.lines[0].get_data()
    assert x.tolist() == [0.1, 0.01]
    assert middle == pytest.approx([one.detection for one in expected])
    (whiskers,) = display.detections_.lines[2]
    for (lower, upper), one in zip(whiskers.get_segments(), expected, strict=True):
        assert (lower[1], upper[1]) == pytest.approx((one.low, one.high))
    assert any("90% interval at a fixed" in text for text in _labels(display.ax_))
    assert RocBandDisplay.from_predictions(Y, SCORES["sharp"]).detections_ is None
    with pytest.raises(ValueError, match="at must be a finite number"):
        RocBandDisplay.from_predictions(Y, SCORES["sharp"], at=[5])
    with pytest.raises(ValueError, match="at needs unweighted rows"):
        RocBandDisplay.from_predictions(Y, SCORES["sharp"], sample_weight=np.ones(3300), at=[0.1])


def test_the_band_lies_to_the_right_of_the_curve():
    display = RocBandDisplay.from_predictions(Y, SCORES["sharp"], delta=0.1)
    assert any("90%" in label for label in _labels(display.ax_))
    band = display.band
    plain = np.interp(band.false_alarm, display.false_alarm, display.detection)
    inside = (band.false_alarm > 0.01) & (band.false_alarm < 0.9)
    # at the same abscissa the promise costs detections
    assert ((band.low + band.high)[inside] / 2 < plain[inside]).mean() > 0.95
    drawn = display.band_.get_paths()[0].vertices
    assert drawn[:, 0].max() <= 1.0
    assert {round(x, 9) for x in band.false_alarm} <= {round(x, 9) for x in drawn[:, 0]}


def test_few_rows_are_warned_of_at_the_line_that_draws():
    from mbauc.errors import FewRowsWarning

    with pytest.warns(FewRowsWarning, match="20 positive rows") as caught:
        RocBandDisplay.from_predictions(np.repeat([0, 1], [200, 20]), np.arange(220.0) % 50)
    assert caught[0].filename == __file__


# -- figures of the paper -------------------------------------------------------------------------------------


def test_detection_rises_with_the_signal():
    def family(snr_db):
        return Hypotheses(GaussianMixture([10 ** (snr_db / 20), 0.0]), GaussianMixture([0.0, 0.0]))

    ax = detection_snr_plot(family, [0, 6, 12], false_alarms=(1e-2, 1e-6))
    assert _labels(ax) == ["P_F = 0.01", "P_F = 1e-06", "linear score"]
    best, linear = ax.get_lines()[:2]
    assert (np.diff(best.get_ydata()) > 0).all()
    np.testing.assert_allclose(best.get_ydata(), linear.get_ydata(), rtol=1e-9)  # here the best is linear


def test_the_two_frameworks_are_drawn_side_by_side():
    figure = frameworks_plot(random_state=1)
    left, right = figure.axes
    assert "likelihood ratio" in left.get_title()
    assert "MBA" in right.get_title()
    best, learned = (float(ax.get_title().split("AUC")[1]) for ax in (left, right))
    assert 0.9 < learned < best
    with pytest.raises(ValueError, match="two dimensions to be drawn, got 3"):
        frameworks_plot(Hypotheses(GaussianMixture(np.ones(3)), GaussianMixture(np.zeros(3))))


# -- files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")])
def test_figures_are_written_whole_and_the_same_each_time(tmp_path, name, start):
    plots.save_figure(RocBandDisplay.from_predictions(Y, SCORES["sharp"]).ax_, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    plots.save_figure(RocBandDisplay.from_predictions(Y, SCORES["sharp"]).figure_, tmp_path / name)
    assert first.startswith(start)
    assert (tmp_path / name).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.png, \.svg, \.pdf"):
        plots.save_figure(plots.new_figure(), tmp_path / "a.bmp")
