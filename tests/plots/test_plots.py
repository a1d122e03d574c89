import numpy as np
import pytest

from mbauc.metrics import d_prime, roc_auc
from mbauc.metrics.neyman_pearson import detection_interval, np_roc_band
from mbauc.paper.detection import GaussianMixture, Hypotheses

pytest.importorskip("matplotlib")

from mbauc import plots
from mbauc.paper.detection.plots import detection_snr_plot, frameworks_plot
from mbauc.plots.roc import empirical_curve

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [3000, 300])
SCORES = {"sharp": RNG.standard_normal(3300) + 2 * Y, "blunt": RNG.standard_normal(3300) + Y}
KNOWN = Hypotheses(GaussianMixture([2.0, 0.0]), GaussianMixture([0.0, 0.0]))


def _labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_roc_plot_names_scorers_with_their_intervals():
    ax = plots.roc_plot(Y, SCORES, title="here")
    assert ax.get_title() == "here"
    assert [label.split()[0] for label in _labels(ax)] == ["chance", "sharp", "blunt"]
    for line in ax.get_lines()[1:]:
        x, t = line.get_data()
        assert (x[0], t[0], x[-1], t[-1]) == (0, 0, 1, 1)
        assert (np.diff(x) >= 0).all()
        assert (np.diff(t) >= 0).all()


def test_plots_draw_where_they_are_told():
    figure = plots.new_figure()
    left, right = figure.subplots(1, 2)
    assert plots.roc_plot(Y, SCORES, ax=left) is left
    assert plots.np_band_plot(Y, SCORES["sharp"], ax=right) is right


def test_the_logarithmic_axis_reaches_its_floor_only_where_something_is_known():
    ax = plots.log_roc_plot({"known": KNOWN.curve(), "rows": (Y, SCORES["sharp"])}, floor=1e-6)
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == (1e-6, 1.0)
    known, rows, dot = ax.get_lines()
    assert known.get_xdata()[0] == pytest.approx(1e-6)
    assert known.get_ydata()[0] == pytest.approx(KNOWN.curve().detection(1e-6))
    assert rows.get_xdata().min() == pytest.approx(1 / 3000)
    assert dot.get_xdata()[0] == pytest.approx(1 / 3000)


def test_normal_scores_are_a_line_on_normal_deviate_axes():
    ax = plots.deviate_plot(Y, {"sharp": SCORES["sharp"]})
    assert _labels(ax) == [f"sharp, d′ = {d_prime(Y, SCORES['sharp']):.2f}"]
    x, t = ax.get_lines()[-1].get_data()
    middle = np.abs(x) < 1.5
    slope, height = np.polyfit(x[middle], t[middle], 1)
    assert slope == pytest.approx(1.0, abs=0.15)
    assert height == pytest.approx(2.0, abs=0.25)


def test_the_band_lies_to_the_right_of_the_curve():
    ax = plots.np_band_plot(Y, SCORES["sharp"], delta=0.1, alpha=0.05)
    assert any("90%" in label for label in _labels(ax))
    assert any("limit 0.05" in label for label in _labels(ax))
    band = np_roc_band(Y, SCORES["sharp"], 0.1)
    plain = np.interp(band.false_alarm, *empirical_curve(Y, SCORES["sharp"]))
    inside = (band.false_alarm > 0.01) & (band.false_alarm < 0.9)
    # at the same abscissa the promise costs detections
    assert ((band.low + band.high)[inside] / 2 < plain[inside]).mean() > 0.95
    drawn = ax.collections[0].get_paths()[0].vertices
    assert drawn[:, 0].max() <= 1.0
    assert {round(x, 9) for x in band.false_alarm} <= {round(x, 9) for x in drawn[:, 0]}


def test_detection_intervals_are_those_computed():
    ax = plots.detection_interval_plot(Y, SCORES, false_alarms=(0.1, 0.01))
    assert _labels(ax) == ["sharp", "blunt"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.01", "0.1"]
    drawn = ax.containers[0].lines[0].get_ydata()
    assert drawn == pytest.approx([detection_interval(Y, SCORES["sharp"], a).detection for a in (0.01, 0.1)])


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


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")])
def test_figures_are_written_whole_and_the_same_each_time(tmp_path, name, start):
    plots.save_figure(plots.roc_plot(Y, SCORES), tmp_path / name)
    first = (tmp_path / name).read_bytes()
    plots.save_figure(plots.roc_plot(Y, SCORES).figure, tmp_path / name)
    assert first.startswith(start)
    assert (tmp_path / name).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.png, \.svg, \.pdf"):
        plots.save_figure(plots.new_figure(), tmp_path / "a.bmp")


def test_infinite_and_tied_scores_are_drawn_as_they_are():
    perfect = np.where(Y == 1, np.inf, -np.inf)
    for s, auc in ((perfect, 1.0), (-perfect, 0.0), (np.zeros(3300), 0.5), (np.round(SCORES["sharp"]), None)):
        false_alarm, detection = empirical_curve(Y, s)
        area = np.sum(np.diff(false_alarm) * (detection[1:] + detection[:-1]) / 2)
        assert area == pytest.approx(roc_auc(Y, s) if auc is None else auc, abs=1e-9)
    plots.detection_interval_plot(Y, {"tied": np.round(SCORES["sharp"]), "constant": np.zeros(3300)})


@pytest.mark.parametrize("bad", [{}, [1, 2], SCORES["sharp"], None])
def test_scorers_come_with_names(bad):
    for plot in (plots.roc_plot, plots.deviate_plot, plots.detection_interval_plot):
        with pytest.raises(ValueError, match="scores must map names"):
            plot(Y, bad)
    with pytest.raises(ValueError, match="curves must map names"):
        plots.log_roc_plot(bad)


def test_bad_limits_are_refused():
    with pytest.raises(ValueError, match="floor must be"):
        plots.log_roc_plot({"known": KNOWN.curve()}, floor=2.0)
    with pytest.raises(ValueError, match="alpha must be"):
        plots.np_band_plot(Y, SCORES["sharp"], alpha=5)
    assert plots.log_roc_plot({"rows": [Y, SCORES["sharp"]]}).get_lines()


def test_nan_scores_and_one_class_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        plots.roc_plot(Y, {"bad": np.where(Y, np.nan, 0.0)})
    with pytest.raises(ValueError, match="one class"):
        plots.np_band_plot(np.zeros(10), np.arange(10.0))
