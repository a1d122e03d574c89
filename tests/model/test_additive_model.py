"""Models of curves and interactions: their file, their scores, and what is told of their terms."""

import json

import numpy as np
import pandas as pd
import pytest
from trained_models import assert_same, table_source

import forged_files as forged
from mbauc import AdditiveAUCClassifier
from mbauc.errors import ModelFileError
from mbauc.model import RankerModel, load_model, save_model, score_files, update_model
from mbauc.model.export import to_onnx, to_sklearn
from mbauc.model.terms import ModelTerms
from mbauc.model.training import Training, train

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("additive")


@pytest.fixture(scope="module")
def source(folder):
    return table_source(folder, rows=800, encode="codes", ignore=["hour"])


@pytest.fixture(scope="module")
def model(source):
    names = source.layout.feature_names()
    crossed = [(names.index("site"), names.index("bid"))]
    settings = {"features": "interactions", "interactions": crossed, "random_state": 0}
    ranker = AdditiveAUCClassifier(**settings).fit_source(source)
    return RankerModel.of(ranker, source.layout, source.classes, settings=settings)


@pytest.fixture(scope="module")
def X(source):
    return np.concatenate([block.X for block in source])


def plain_scores(model, X):
    """The definition: for each row the weights of its bins, levels and cells, and of its numbers."""
    features, found = model.terms.features, []
    for row in X:
        codes = [int(column.codes(row[j : j + 1])[0]) for j, column in enumerate(features.columns)]
        total = model.intercept
        for term in features.terms():
            own = model.coef[term.start : term.stop]
            if term.kind == "number":
                number = features.numbers[term.start - int(features.starts[-1])]
                x = row[number.column]
                cut = min(max(x, number.low), number.high)
                total += 0.0 if np.isnan(x) else own[0] * (cut - number.center) / number.scale
            elif term.kind == "cells":
                a, b = term.columns
                grid = own.reshape(features.coarse_widths[a], features.coarse_widths[b])
                total += grid[features.coarse[a][codes[a]], features.coarse[b][codes[b]]]
            else:
                total += own[codes[term.columns[0]]]
        found.append(total)
    return np.array(found)


def test_scores_are_sums_of_what_bins_levels_and_cells_are_worth(model, source, X, folder):
    s = plain_scores(model, X)
    np.testing.assert_allclose(model.score(X), s, atol=1e-12)
    files = model.layout.source(folder / "table.csv", model.classes)
    np.testing.assert_array_equal(
        np.concatenate([block.scores for block in model.score_blocks(files)]), model.score(X)
    )
    score_files(model, folder / "table.csv", folder / "scores.csv", keep=["view"])
    written = pd.read_csv(folder / "scores.csv")
    np.testing.assert_allclose(written["score"], s, atol=1e-12)
    assert written["view"][3] == "v00003"
    with pytest.raises(ValueError, match="must have the model's"):
        model.score(X[:, 1:])


def test_what_was_saved_is_loaded_to_the_bit(model, X, tmp_path):
    save_model(model, tmp_path / "a.mbauc")
    loaded = load_model(tmp_path / "a.mbauc")
    assert loaded.settings["features"] == "interactions"
    assert loaded.terms.features.to_dict() == model.terms.features.to_dict()
    for name, values in model.terms.arrays().items():
        assert getattr(loaded.terms, name).tobytes() == values.tobytes(), name
    assert len(loaded.terms.arrays()) == 4
    np.testing.assert_array_equal(loaded.score(X), model.score(X))
    save_model(loaded, tmp_path / "b.mbauc")
    assert_same(load_model(tmp_path / "b.mbauc"), loaded)
    assert (tmp_path / "b.mbauc").read_bytes() == (tmp_path / "a.mbauc").read_bytes()


def _set(*keys):
    *way, last, value = keys

    def change(text):
        inner = text
        for key in way:
            inner = inner[key]
        inner[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text["about"].pop("features"),
        _set("about", "features", "pairs", [[0, 0]]),
        _set("about", "features", "pairs", [[0, 99]]),
        _set("about", "features", "columns", []),
        _set("about", "features", "columns", 0, "name", 3),
        _set("about", "features", "coarse", []),
        _set("about", "features", "version", 99),
        _set("about", "features", None),
        _set("about", "settings", "features", "magic"),
        _set("arrays", 1, "name", "shares"),
        _set("arrays", 1, "shape", [2]),
    ],
)
def test_forged_features_are_refused(model, tmp_path, change):
    save_model(model, tmp_path / "a.mbauc")
    content = (tmp_path / "a.mbauc").read_bytes()
    (tmp_path / "a.mbauc").write_bytes(forged.change_container(content, change))
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "a.mbauc")


def test_a_summary_says_what_terms_do(model, X):
    added = model.terms.features.contributions(X, model.coef) * model.slope
    found = model.terms.summarise(model.coef, model.slope)
    assert [one.deviation for one in found] == sorted((one.deviation for one in found), reverse=True)
    by_name = {one.name: one for one in found}
    terms = list(model.terms.features.terms())
    assert by_name.keys() == {model.terms.features.term_name(term) for term in terms}
    for name, one in by_name.items():
        own = [k for k, term in enumerate(terms) if model.terms.features.term_name(term) == name]
        total = added[:, own].sum(axis=1)
        # within a bin a number still varies, which shares of bins tell approximately
        assert one.deviation == pytest.approx(total.std(), rel=0.1, abs=0.02), name
        assert one.low <= 0 <= one.high
    site = by_name["site"]
    assert site.kind == "levels"
    assert site.highest == "b"


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_summary_tells_waves_apart(n_columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, n_columns))
    ranker = AdditiveAUCClassifier("fourier", random_state=0).fit(X, (X**2).sum(axis=1) > n_columns)
    names = [f"x{j}" for j in range(n_columns)]
    found = ModelTerms.of(ranker, names).summarise(ranker.coef_[0], ranker.slope_)
    assert sorted(one.name for one in found) == ["waves of all columns", *names]
    added = ranker.slope_ * ranker.scorer().contributions(X)
    waves = found[0]
    assert waves == ("waves of all columns", "waves", pytest.approx(added[:, -1].std()), *[None] * 4)
    terms = list(ranker.feature_map_.terms())
    for one in found[1:]:
        own = [k for k, term in enumerate(terms) if term.kind != "waves" and names[term.columns[0]] == one.name]
        assert one.kind == "line"
        assert one.deviation == pytest.approx(added[:, own].sum(axis=1).std(), abs=0.02)


def test_a_summary_needs_no_shares(model):
    bare = ModelTerms(model.terms.features)
    found = {one.name: one.kind for one in bare.summarise(model.coef, model.slope)}
    assert found == {one.name: one.kind for one in model.terms.summarise(model.coef, model.slope)}


def test_training_needs_all_rows_again_and_says_so(model, source):
    with pytest.raises(ValueError, match=r"cannot be updated or merged: its bins, .*\. Retrain on all rows"):
        update_model(model, source)


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_a_training_keeps_its_choice_and_tests_on_rows_held_out(source):
    settings = {"features": "curves", "random_state": 0, "bins": 8}
    found, tested = train(source, source.layout, Training(settings))
    assert found.trained_on["choice"].startswith("curves, as requested")
    assert found.trained_on["tested"]["auc"] == tested.interval().auc > 0.6
    assert found.settings["loss"] in found.trained_on["choice"].rpartition("Loss:")[2]
    assert max(column.width for column in found.terms.features.columns) <= 10
    json.dumps(found.trained_on)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"settings": {"l2": 1.0}}, "l2 cannot be combined with features"),
        ({"settings": {"interactions": [[0, 1]]}}, "interactions asks for interactions, features='curves' for"),
        ({"settings": {"max_fpr": 0.1}}, "max_fpr cannot be combined with features"),
        ({"folds": 5}, "cv cannot be combined with features"),
        ({"decay": 0.9}, "decay cannot be combined with features"),
        ({"settings": {"equal_groups": True}}, "equal_groups cannot be combined with features"),
    ],
)
def test_settings_that_mean_nothing_with_curves_are_refused(more, said):
    settings = {"features": "curves", **more.pop("settings", {})}
    with pytest.raises(ValueError, match=said):
        Training(settings, **more).check()


def test_scikit_learn_takes_the_raw_table(model, X, folder):
    pipeline = to_sklearn(model)
    table = pd.read_csv(folder / "table.csv")
    np.testing.assert_allclose(pipeline.decision_function(table), model.score(X), atol=1e-12)
    assert pipeline["ranker"].coef_error_.shape == model.coef.shape


@pytest.mark.parametrize("inputs", ["columns", "table"])
def test_onnx_gives_our_scores(model, X, folder, tmp_path, inputs):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    to_onnx(model, tmp_path / "a.onnx", inputs=inputs)
    s, feeds = model.score(X), {"X": X}
    if inputs == "table":
        table = pd.read_csv(folder / "table.csv")
        feeds = {
            one.name: table[one.name].to_numpy(float)
            if one.is_numeric
            else table[one.name].fillna("").astype(str).to_numpy(object)
            for one in model.layout.encoding.code_columns
        }
    else:
        # edges themselves, levels never seen, and values beyond all others
        edges = model.terms.features.columns[-1].edges
        odd = np.tile(X[:1], (edges.size + 3, 1))
        odd[:, -1] = [*edges, np.inf, -np.inf, np.nan]
        odd[-3:, 0] = [99.0, -1.0, 0.5]
        feeds, s = {"X": np.concatenate([X, odd])}, np.append(s, model.score(odd))
    session = runtime.InferenceSession(str(tmp_path / "a.onnx"), providers=["CPUExecutionProvider"])
    score, probability, label = session.run(None, feeds)
    np.testing.assert_allclose(score, s, atol=1e-12)
    np.testing.assert_allclose(probability, model.probability(s), atol=1e-12)
    assert label.tolist() == model.label(score).tolist()


def test_onnx_has_no_entries_of_curves(model, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(ValueError, match="this model has curves"):
        to_onnx(model, tmp_path / "a.onnx", inputs="entries")


def test_waves_have_a_file_and_an_onnx_graph(source, X, tmp_path):
    settings = {"features": "fourier", "random_state": 0}
    ranker = AdditiveAUCClassifier(**settings).fit_source(source)
    save_model(
        RankerModel.of(ranker, source.layout, source.classes, settings=settings), tmp_path / "waves.mbauc"
    )
    model = load_model(tmp_path / "waves.mbauc")
    np.testing.assert_allclose(model.score(X), ranker.scorer().scores(X), atol=1e-12)
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    to_onnx(model, tmp_path / "waves.onnx", inputs="columns")
    odd = np.concatenate([X, np.tile(X[:1], (3, 1))])
    odd[-3:, -1] = [1e9, -1e9, np.nan]
    session = runtime.InferenceSession(str(tmp_path / "waves.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": odd})[0], model.score(odd), atol=1e-9)


def test_a_model_of_the_log_loss_is_saved_and_says_so(source, tmp_path):
    settings = {"features": "curves", "random_state": 0, "bins": 8, "loss": "log_loss"}
    found, _ = train(source, source.layout, Training(settings))
    save_model(found, tmp_path / "model.mbauc")
    again = load_model(tmp_path / "model.mbauc")
    assert again.settings["loss"] == "log_loss"
    assert again.describe_objective() == "log-loss of the rows"
    assert not again.is_quadratic
    X = np.random.default_rng(0).normal(size=(5, again.layout.n_features))
    np.testing.assert_array_equal(again.score(X), found.score(X))
