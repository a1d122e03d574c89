"""Thresholds by alarms and costs, probabilities by new rows, and updates that are tested first."""

import json

import numpy as np
import pytest

from mbauc import MBAClassifier
from mbauc.cli.main import main
from mbauc.metrics import Calibration, roc_auc
from mbauc.model import RankerModel, load_model, save_model
from mbauc.readers import LibsvmSource


def told(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr()


def answer(capsys, *words):
    return json.loads(told(capsys, *words, "--json").out)


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A model of one column whose slope is far off, and rows it has not seen."""
    folder, rng = tmp_path_factory.mktemp("cuts"), np.random.default_rng(0)
    for name, rows in (("train", 400), ("new", 2000)):
        x = rng.standard_normal(rows)
        y = rng.random(rows) < 1 / (1 + np.exp(2 - 1.5 * x))
        (folder / f"{name}.libsvm").write_text("".join(f"{a:d} 1:{b:.6f}\n" for a, b in zip(y, x, strict=True)))
    source = LibsvmSource(folder / "train.libsvm")
    ranker = MBAClassifier(l2=0.1, solver="gram").fit_source(source)
    model = RankerModel.of(ranker, source.layout, source.classes, settings={"l2": 0.1})
    save_model(model, folder / "model.mbauc")
    blocks = list(model.score_blocks(model.layout.source(folder / "new.libsvm", model.classes)))
    return folder, np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


@pytest.mark.parametrize("share", [None, 0.02])
@pytest.mark.parametrize(("option", "number"), [("--top", 100), ("--alarms-per-10000", 37.5), ("--cost", 4)])
def test_the_cut_is_the_best_of_all_scores(story, tmp_path, capsys, option, number, share):
    folder, y, s = story
    more = [] if share is None else ["--share", share]
    out = tmp_path / "armed.mbauc"
    found = answer(
        capsys, "threshold", folder / "model.mbauc", folder / "new.libsvm", option, number, *more, "-o", out
    )
    p = y.mean() if share is None else share
    cuts = np.append(np.unique(s), -np.inf)
    tpr, fpr = np.array([[(s[y == label] > cut).mean() for label in (1, 0)] for cut in cuts]).T
    alarms, cost = p * tpr + (1 - p) * fpr, number * p * (1 - tpr) + (1 - p) * fpr
    mine = p * found["detection_rate"] + (1 - p) * found["false_alarm_rate"]
    assert (s > found["threshold"]).sum() == found["detected"] + found["false_alarms"]
    assert found["alarms_per_10000"] == pytest.approx(1e4 * mine)
    assert found["alarms_per_10000_low"] < found["alarms_per_10000"] < found["alarms_per_10000_high"]
    assert found["precision_low"] < found["precision"] <= found["precision_high"]
    if option == "--cost":
        assert found["cost_per_10000"] == pytest.approx(1e4 * cost.min())
    else:
        limit = number / (y.size if option == "--top" else 1e4)
        assert mine == pytest.approx(alarms[alarms <= limit * (1 + 1e-12)].max())
    kept = load_model(out).threshold
    assert (kept.rule, kept.number) == (option[2:].replace("-", "_"), number)
    assert f"{number:g}" in told(capsys, "inspect", out).out.split("threshold", 1)[1].splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--top", "5", "--cost", "2"], "--top and --cost"),
        (["--top", "5", "--confidence", "0.9"], "--confidence"),
        (["--at=1", "--top", "5"], "--top"),
    ],
)
def test_two_rules_are_refused(story, capsys, words, message):
    folder = story[0]
    assert (
        message in told(capsys, "threshold", folder / "model.mbauc", folder / "new.libsvm", *words, code=2).err
    )


def test_probabilities_fit_new_rows_and_go_with_the_model(story, tmp_path, capsys):
    folder, y, s = story
    wrong = load_model(folder / "model.mbauc").with_calibration(Calibration("logistic", 30.0, 2.0, share=0.2))
    save_model(wrong, tmp_path / "wrong.mbauc")
    found = answer(
        capsys, "calibrate", tmp_path / "wrong.mbauc", folder / "new.libsvm", "-o", tmp_path / "right.mbauc"
    )
    assert found["map"] == "logistic"
    assert found["calibration_error"]["after"] < 0.03 < found["calibration_error"]["before"]
    assert found["normalized_entropy"]["after"] < 1
    model = load_model(tmp_path / "right.mbauc")
    assert model.probability(s).mean() == pytest.approx(y.mean(), abs=0.005)
    assert roc_auc(y, model.probability(s)) == roc_auc(y, s)
    told(
        capsys,
        "score",
        tmp_path / "right.mbauc",
        folder / "new.libsvm",
        "--share",
        0.001,
        "-o",
        tmp_path / "s.csv",
    )
    p = np.loadtxt(tmp_path / "s.csv", delimiter=",", skiprows=1)[:, 2]
    np.testing.assert_allclose(p, model.with_share(0.001).probability(s), rtol=1e-12)
    odds = p / (1 - p) * 999
    before = model.probability(s)
    np.testing.assert_allclose(odds, before / (1 - before) * (1 - y.mean()) / y.mean(), rtol=1e-9)
    ranker = model.estimator()
    X = np.array([[0.3], [-2.0]])
    np.testing.assert_allclose(ranker.predict_proba(X)[:, 1], model.probability(model.score(X)))


def test_new_rows_are_tested_before_they_are_learned(story, tmp_path, capsys):
    folder, y, s = story
    found = answer(
        capsys, "update", folder / "model.mbauc", folder / "new.libsvm", "-o", tmp_path / "new.mbauc"
    )
    assert found["auc_before"]["auc"] == pytest.approx(roc_auc(y, s))
    assert found["auc_before"]["low"] < found["auc_before"]["auc"] < found["auc_before"]["high"]
    shown = told(
        capsys,
        "update",
        tmp_path / "new.mbauc",
        folder / "new.libsvm",
        "--again",
        "-o",
        tmp_path / "again.mbauc",
    ).out
    assert "some of which are training rows (new.libsvm)" in shown
