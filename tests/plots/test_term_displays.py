"""Pictures of curves, heat maps, importance and contributions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mbauc import AdditiveAUCClassifier, MBAClassifier, TableRanker, auc_without, explain, load

pytest.importorskip("matplotlib", reason="displays are drawn with matplotlib")

from matplotlib.figure import Figure

from mbauc.estimators.additive.terms import AdditiveTerms
from mbauc.plots import (
    ContributionDisplay,
    CurveDisplay,
    ImportanceDisplay,
    InteractionDisplay,
    curves_figure,
    save_figure,
)


@pytest.fixture(scope="module")
def rows():
    """Numbers with missing and huge values, few values, and a category with a name that is a formula."""
    rng = np.random.default_rng(0)
    n = 900
    frame = pd.DataFrame(
        {
            "x": rng.standard_normal(n),
            "money $": np.exp(3 * rng.standard_normal(n)),
            "few": rng.integers(0, 4, n).astype(float),
            "kind": rng.choice(["a", "$b^2$", "c " * 40], n),
        }
    )
    y = frame["x"] * (frame["few"] - 1.5) + (frame["kind"] == "a") + 0.3 * rng.standard_normal(n) > 0.5
    frame.loc[:60, "x"] = np.nan
    return frame, y.to_numpy()


@pytest.fixture(scope="module")
def ranker(rows):
    return AdditiveAUCClassifier("interactions", interactions=[("x", "few")], random_state=0).fit(*rows)


def texts(labels):
    return [one.get_text() for one in labels]


def test_displays_keep_to_scikit_learn(ranker, rows):
    X, y = rows
    made = [
        CurveDisplay.from_estimator(ranker, "x"),
        CurveDisplay.from_estimator(ranker, 3),
        InteractionDisplay.from_estimator(ranker),
        ImportanceDisplay.from_estimator(ranker, X, y),
        ContributionDisplay.from_estimator(ranker, X, 5),
    ]
    for display in made:
        assert display.figure_ is display.ax_.figure
        ax = Figure().add_subplot()
        assert display.plot(ax) is display
        assert display.plot(ax=ax).ax_ is ax


def test_waves_are_a_bar_of_importance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    ranker = AdditiveAUCClassifier("fourier", random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    for by in ("column", "term"):
        display = ImportanceDisplay.from_estimator(ranker, X, X[:, 0] * X[:, 1] > 0, by=by)
        assert texts(display.ax_.get_yticklabels())[-1] == "waves of all columns"
        assert display.bars_[-1].get_width() == pytest.approx(ranker.terms().waves)
    assert curves_figure(ranker).figure.axes


def test_ticks_of_close_values_are_told_apart():
    rng = np.random.default_rng(0)
    X = 1e8 + 100 * rng.random((300, 1))
    ranker = AdditiveAUCClassifier("curves", random_state=0).fit(
        X, X[:, 0] > 1e8 + 50 + 20 * rng.normal(size=300)
    )
    display = CurveDisplay.from_estimator(ranker, 0)
    display.figure_.canvas.draw()
    ticks = texts(display.ax_.get_xticklabels())
    assert len(ticks) == len(set(ticks)) > 2


def test_a_curve_is_drawn_where_its_numbers_say(ranker):
    curve = ranker.terms().curve("x")
    display = CurveDisplay.from_estimator(ranker, "x", color="red")
    assert display.line_.get_xdata() == pytest.approx(curve.centers)
    assert display.line_.get_ydata() == pytest.approx(curve.values)
    assert display.line_.get_color() == "red"
    assert display.missing_.get_ydata() == pytest.approx([curve.missing.value])
    (path,) = display.band_.get_paths()
    low, high = curve.values - 1.959964 * curve.errors, curve.values + 1.959964 * curve.errors
    assert path.vertices[:, 1].min() == pytest.approx(low.min())
    assert path.vertices[:, 1].max() == pytest.approx(high.max())
    narrow = display.plot(confidence=0.5).band_.get_paths()[0].vertices[:, 1]
    assert np.ptp(narrow) < np.ptp(path.vertices[:, 1])
    with pytest.raises(ValueError, match="confidence"):
        display.plot(confidence=1.0)


def test_few_values_have_a_tick_each_and_huge_ones_a_squeezed_axis(ranker):
    few = CurveDisplay.from_estimator(ranker, "few")
    assert texts(few.ax_.get_xticklabels()) == ["0", "1", "2", "3"]
    assert few.band_ is None
    money = CurveDisplay.from_estimator(ranker, "money $")
    assert money.ax_.get_xscale() == "asinh"
    assert money.ax_.get_xlabel() == r"money \$"


def test_levels_are_bars_sorted_by_what_they_add(ranker):
    display = CurveDisplay.from_estimator(ranker, "kind")
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(widths)
    curve = ranker.terms().curve("kind")
    assert widths == pytest.approx(sorted(curve.values))
    assert texts(display.ax_.get_yticklabels())[-1] == "a"
    assert max(map(len, texts(display.ax_.get_yticklabels()))) < 40
    one = display.plot(top=1)
    assert len(one.bars_) == 1
    assert "2 smaller levels not shown" in one.ax_.get_ylabel()


def test_a_heat_map_is_centred_at_zero(ranker):
    found = ranker.terms().heat_map("few", "x")
    display = InteractionDisplay.from_estimator(ranker, ("few", "x"))
    low, high = display.im_.get_clim()
    assert low == -high
    assert high == pytest.approx(np.abs(found.values[found.shares > 0]).max())
    drawn = np.ma.filled(display.im_.get_array(), np.nan)
    expected = found.values.T if found.values.shape[0] > found.values.shape[1] else found.values
    assert np.nanmax(drawn) == pytest.approx(expected.max())
    assert drawn.shape == expected.shape
    assert InteractionDisplay(found).plot(colorbar=False).colorbar_ is None


def test_importance_says_what_is_lost(ranker, rows):
    display = ImportanceDisplay.from_estimator(ranker, *rows)
    lost = auc_without(ranker, *rows, by="column")
    shown = [text for text in texts(display.ax_.texts) if text[0] in "+−"]
    by_name = dict(zip(lost.names, lost.without - lost.auc, strict=True))
    order = list(ranker.terms().column_importance())
    assert [float(text.replace("−", "-")) for text in shown] == pytest.approx(
        [by_name[name] for name in order[::-1]], abs=6e-5
    )
    terms = ImportanceDisplay.from_estimator(ranker, by="term")
    assert "x × few" in terms.names
    assert terms.lost is None


def test_a_waterfall_ends_at_the_row(ranker, rows):
    X, _ = rows
    [found] = explain(ranker, X.iloc[4:5], 2)
    display = ContributionDisplay.from_estimator(ranker, X, 4, n=2, name="row 4")
    last = display.bars_[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.log_odds)
    assert display.bars_[0].get_x() == pytest.approx(found.base)
    assert len(display.bars_) == 3
    assert display.ax_.get_title() == f"row 4: probability {found.probability:.2%}"
    assert texts(display.ax_.get_yticklabels())[0] == "start"


def test_small_pictures_on_one_page(ranker, tmp_path):
    figure = curves_figure(ranker, n=4)
    assert len([ax for ax in figure.axes if ax.get_title(loc="left")]) == 4
    save_figure(figure, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 10_000
    assert len(curves_figure(ranker.terms(), n=9, interactions=False).axes) == 4


def test_wrong_arguments_are_named(ranker, rows):
    X, y = rows
    with pytest.raises(ValueError, match="no column 'z'"):
        CurveDisplay.from_estimator(ranker, "z")
    with pytest.raises(ValueError, match="there is no column 9; columns are 'x', 'money"):
        CurveDisplay.from_estimator(ranker, 9)
    with pytest.raises(ValueError, match="column must be from 0 to 3, got 9"):
        CurveDisplay.from_estimator(ranker.terms(), 9)
    with pytest.raises(ValueError, match="columns must be from 0 to 0, or two columns, got 1"):
        InteractionDisplay.from_estimator(ranker, 1)
    for wrong in ("x", ("x",), None):
        with pytest.raises(
            ValueError, match=r"columns must be two columns, such as \('age', 'sex'\), or a place"
        ):
            InteractionDisplay.from_estimator(ranker, wrong)
    without = AdditiveTerms(ranker.terms().curves)
    with pytest.raises(ValueError, match="the ranker has no interactions to draw; CurveDisplay"):
        InteractionDisplay.from_estimator(without)
    with pytest.raises(ValueError, match="X without y"):
        ImportanceDisplay.from_estimator(ranker, X)
    with pytest.raises(ValueError, match="row must be below 900"):
        ContributionDisplay.from_estimator(ranker, X, 900)
    linear = MBAClassifier().fit(X[["few"]].to_numpy(), y)
    with pytest.raises(ValueError, match="MBAClassifier has no curves"):
        curves_figure(linear)
    with pytest.raises(ValueError, match="one number for each"):
        ImportanceDisplay(["a"], [1.0, 2.0])


def test_a_table_ranker_is_drawn_by_itself_also_from_its_file(rows, tmp_path):
    X, y = rows
    ranker = TableRanker("interactions", interactions=[("x", "few")], hold_out=0, random_state=0).fit(X, y)
    ranker.save(tmp_path / "m.mbauc")
    for one in (ranker, load(tmp_path / "m.mbauc")):
        assert CurveDisplay.from_estimator(one, "x").curve.name == "x"
        assert InteractionDisplay.from_estimator(one, ("x", "few")).heat_map.name == "x × few"
        assert len(ImportanceDisplay.from_estimator(one).names) == len(X.columns)
        assert ContributionDisplay.from_estimator(one, X, 5).explanation == ranker.explain(X.iloc[5:6], 10)[0]
        with pytest.raises(ValueError, match="column must be a name, as terms"):
            CurveDisplay.from_estimator(one, 0)


def test_a_table_ranker_without_curves_says_so():
    X = np.random.default_rng(0).standard_normal((300, 2))
    ranker = TableRanker("linear", hold_out=0).fit(X, X[:, 0] > 0)
    ranker.model_ = replace(ranker.model_, terms=None, coef=ranker.model_.coef[:2])
    with pytest.raises(ValueError, match="has no curves"):
        ranker.terms()


def test_notebooks_show_a_display_once(ranker):
    from matplotlib import pyplot as plt

    alone = CurveDisplay.from_estimator(ranker, "x")
    assert alone._repr_png_().startswith(b"\x89PNG")
    assert CurveDisplay(alone.curve)._repr_png_() is None  # not drawn yet
    figure, ax = plt.subplots()
    assert CurveDisplay.from_estimator(ranker, "x", ax=ax)._repr_png_() is None  # pyplot shows it
    plt.close(figure)
