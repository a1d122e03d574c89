"""Training and what comes after it, where columns are in different units."""

import numpy as np
import pytest

from mbauc import MBAClassifier
from mbauc.metrics import roc_auc
from mbauc.model import LibsvmLayout, RankerModel, load_model, save_model
from mbauc.model.training import Training, train
from mbauc.model.update import updated
from mbauc.readers import LibsvmSource

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
    training = Training({"l1": 0.0, "l2": "auto", "scale": "auto", "solver": "gram"}, folds=3, hold_out=0.0)
    model, _ = train(file_of(tmp_path / "monday", 0), LibsvmLayout(4, False), training)
    later = updated(model, file_of(tmp_path / "tuesday", 1))
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
