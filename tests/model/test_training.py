"""Training and what comes after it, where columns are in different units."""

import numpy as np
import pytest

from mbauc import MBAClassifier
from mbauc.metrics import roc_auc
from mbauc.model import LibsvmLayout, RankerModel, load_model, save_model
from mbauc.model.hold_out import HoldOut
from mbauc.model.training import Training, train
from mbauc.model.update import update_model
from mbauc.readers import LibsvmSource, TableSource
from mbauc.readers.table.reading import TableReader

UNITS = np.array([1e7, 1.0, 1e-2, 1.0])


def rows(seed, n=600):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    return (rng.standard_normal((n, 4)) + [0.0, 0.5, 1.5, 0.0] * y[:, None]) * UNITS, y


def file_of(path, seed):
    X, y = rows(seed)
    lines = (
        f"{int(label)} " + " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(row.tolist()))
        for row, label in zip(X, y, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")
    return LibsvmSource(path)


def test_penalties_that_were_chosen_for_scaled_columns_go_on_to_mean_these(tmp_path):
    settings = {"l1": 0.0, "l2": "auto", "scale": "auto", "solver": "gram"}
    training = Training(settings, folds=3, hold_out=HoldOut(0.0))
    model, _ = train(file_of(tmp_path / "monday", 0), LibsvmLayout(4, False), training)
    later = update_model(model, file_of(tmp_path / "tuesday", 1))
    X_test, y_test = rows(2, 2000)
    aucs = [roc_auc(y_test, one.score(X_test)) for one in (model, later)]
    assert aucs[0] > 0.85
    assert aucs[1] > aucs[0] - 0.01
    np.testing.assert_allclose((model.coef / later.coef)[1:3], 1.0, atol=0.5)
    save_model(model, tmp_path / "m.mbauc")
    again = load_model(tmp_path / "m.mbauc").estimator()
    np.testing.assert_allclose(again.fit_moments(model.moments).coef_[0], model.coef, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"weights": "frequency"}])
def test_all_settings_of_an_estimator_can_be_saved(tmp_path, settings):
    X, y = rows(0)
    ranker = MBAClassifier(**settings).fit(X / UNITS, y)
    model = RankerModel.of(ranker, LibsvmLayout(4, False), (0, 1), settings=ranker.get_params())
    save_model(model, tmp_path / "m.mbauc")
    assert load_model(tmp_path / "m.mbauc").settings["scale"] == ranker.scale


# -- passes over the files -----------------------------------------------------------------------------------


@pytest.fixture
def passes(monkeypatch):
    """A list with an entry for each pass over a table that came to its end."""
    pytest.importorskip("pyarrow")
    found, read = [], TableReader.read

    def counted(self, *rest):
        yield from read(self, *rest)
        found.append(self.where)

    monkeypatch.setattr(TableReader, "read", counted)
    return found


def table_of(path, numbers, **settings):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    site = rng.integers(0, 30, y.size) + 5 * y
    bid = rng.standard_normal(y.size) + y
    lines = (f"{int(a)},s{b}" + f",{c:.4f}" * numbers + "\n" for a, b, c in zip(y, site, bid, strict=True))
    path.write_text("click,site" + ",bid" * numbers + "\n" + "".join(lines))
    return TableSource(path, label="click", hash_dim=50, block_rows=700, **settings)


@pytest.mark.parametrize(
    ("numbers", "scale", "wanted"), [(True, "standard", 2), (True, None, 1), (False, "standard", 1)]
)
def test_files_are_read_once_to_learn_and_once_to_fit(tmp_path, numbers, scale, wanted, passes):
    source = table_of(tmp_path / "rows.csv", numbers, scale=scale)
    model, tested = train(source, source.layout, Training({"l2": 0.1}))
    assert len(passes) == wanted
    assert model.trained_on["hashed_columns"]
    assert tested is not None
    assert model.trained_on["held_out"] == {"share": 0.2, "seed": 0}


def test_rows_of_numbers_are_not_read_to_train_on_all_of_them(tmp_path, passes):
    """Once to learn, which gives the moments of all rows, and once for those that are not held out."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 3)), rng.random(3000) < 0.3
    source = TableSource(
        {"y": y.astype(int), **{f"x{j}": X[:, j] + 0.3 * j * y for j in range(3)}}, label="y", block_rows=700
    )
    model, tested = train(source, source.layout, Training({"l2": 0.1}, refit=True))
    assert len(passes) == 2
    assert tested is not None
    assert model.moments.counts == (y.sum(), (~y).sum())


@pytest.mark.parametrize("settings", [{"solver": "gram"}, {"solver": "matrix-free"}, {"pairs": 200}])
def test_rows_that_were_kept_have_the_scores_that_another_pass_gives(tmp_path, settings, passes, monkeypatch):
    source = table_of(tmp_path / "rows.csv", True)
    layout = source.layout
    training = Training({"l2": 0.1, "random_state": 0, **settings})
    kept, _ = trained = train(source, layout, training)
    before = len(passes)
    monkeypatch.setattr("mbauc.model.training._FOR_HELD_OUT", 10**18)
    read, _ = again = train(source, layout, training)
    assert len(passes) - before == (3 if "pairs" in settings else 2)
    np.testing.assert_array_equal(kept.coef, read.coef)
    np.testing.assert_array_equal(trained[1].y, again[1].y)
    # from a matrix, and from codes of the values: sums in another order
    np.testing.assert_allclose(trained[1].s, again[1].s, rtol=1e-12, atol=1e-14)
    assert kept.trained_on["tested"]["auc"] == pytest.approx(read.trained_on["tested"]["auc"], abs=1e-12)


def test_decay_is_that_of_a_stream(tmp_path):
    source = file_of(tmp_path / "rows", 0)
    blocks = LibsvmSource(tmp_path / "rows", block_rows=150)
    training = Training({"l2": 0.1}, hold_out=HoldOut(0.0), decay=0.5)
    model, _ = train(blocks, LibsvmLayout(source.n_features, False), training)
    stream = MBAClassifier(l2=0.1, decay=0.5)
    for block in blocks:
        stream.partial_fit(block.X, block.y, classes=[0, 1])
    assert len(list(blocks)) > 2
    np.testing.assert_allclose(model.coef, stream.coef_[0], rtol=1e-9)


def test_moments_are_kept_where_they_are_small(tmp_path):
    source = file_of(tmp_path / "rows", 0)
    for solver, wanted in (("auto", True), ("matrix-free", False)):
        training = Training({"l2": 0.1, "solver": solver}, hold_out=HoldOut(0.0))
        model, _ = train(source, LibsvmLayout(4, False), training)
        assert (model.moments is not None) == wanted


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (Training({"pairs": 10}, folds=3), "pairs=10: cross-validation of a source uses all pairs"),
        (Training({"l2": 0.1}, folds=3), "l2=0.1 is chosen by cv"),
        (Training({}, folds=3, memory="2GB"), "memory cannot be combined with cv"),
        (Training({}, decay=0.5, checkpoint="folder"), "checkpoint cannot be combined with decay"),
        (
            Training({"solver": "matrix-free"}, decay=0.5),
            "solver='matrix-free' keeps no moments, which decay needs",
        ),
    ],
)
def test_what_cannot_be_combined_is_refused_before_anything_is_read(training, message):
    with pytest.raises(ValueError, match=message):
        train(None, None, training)
