"""What all public names share: names and order of arguments, defaults, errors, scikit-learn's habits."""

import ast
import inspect
import pickle
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from public_api import MODULES
from sklearn.base import BaseEstimator, clone
from sklearn.utils import estimator_html_repr

import mbauc
from mbauc import features, objectives
from mbauc.paper import rivals
from mbauc.paper.theory import plan_pairs
from mbauc.readers import learn_table_codes

pytest.importorskip("dask", reason="needs mbauc[dask]")
pytest.importorskip("pyspark", reason="needs mbauc[spark]")
pytest.importorskip("matplotlib", reason="needs mbauc[plots]")

PROGRAM = Path(__file__).parents[1] / "typing" / "user_program.py"


def public_values():
    """Public classes and functions by their full names."""
    return {
        f"{name}.{each}": getattr(import_module(name), each)
        for name in MODULES
        for each in import_module(name).__all__
    }


def parameters_of(value):
    try:
        found = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return {}
    return {name: one for name, one in found.items() if name != "self"}


def signatures():
    """Parameters of public functions, classes and methods."""
    for path, value in public_values().items():
        if callable(value):
            yield path, parameters_of(value)
        if inspect.isclass(value) and value.__module__.startswith("mbauc"):
            for key in vars(value):
                if not re.match(r"_|set_\w+_request", key) and inspect.isroutine(getattr(value, key)):
                    yield f"{path}.{key}", parameters_of(getattr(value, key))


# -- names and order ------------------------------------------------------------------------------------------

#: What may stand without its name in a call of a function of labels and scores.
IN_PLACE = {"y_true", "y_score", "y_prob", "scores", "groups", "false_alarm"}
#: Other spellings of what has a name, and where another library or a file has its own.
OTHER_NAMES = {
    "n_bins": "bins",
    "level": "confidence",
    "seed": "random_state",
    "weights_": "sample_weight",
    "s": "y_score",
    "p_score": "y_prob",
    "n_threads": "n_jobs",
    "lambda1": "l1",
    "l1_values": "l1",
    "l2_values": "l2",
}
EXCEPTIONS = {
    ("mbauc.paper.clicks.ClickLog", "seed"),  # the log is a function of it, in any block
    ("mbauc.spark.ml.MBARanker", "seed"),  # Spark's name
}


def test_functions_of_labels_and_scores_are_called_as_in_scikit_learn():
    found = {path: list(parameters.values()) for path, parameters in signatures() if "y_true" in parameters}
    assert len(found) > 20
    for path, (first, second, *rest) in found.items():
        if "objectives" in path:
            continue  # boosting libraries call them
        assert first.name == "y_true", path
        assert second.name in ("y_score", "y_prob", "scores"), path
        loose = {one.name for one in rest if one.kind is one.POSITIONAL_OR_KEYWORD}
        assert loose <= IN_PLACE, f"{path}: {sorted(loose - IN_PLACE)} must be given by name"


def test_one_thing_has_one_name():
    strange = [
        f"{path}: {name} is {OTHER_NAMES[name]} elsewhere"
        for path, parameters in signatures()
        for name in parameters
        if name in OTHER_NAMES and (path, name) not in EXCEPTIONS
    ]
    assert strange == []


#: Defaults that are the same wherever the parameter is.
DEFAULTS = {
    "l1": {0.0, None},
    "l2": {"auto", 0.0, None},
    "n_jobs": {None},
    "verbose": {False},
    "confidence": {0.95},
    "alpha": {0.05},
    "delta": {0.05},
    "sample_weight": {None},
    "scale": {"auto", "logit", "standard"},
    "tol": {None, 1e-6, 1e-4},
    "max_iter": {1000},
    "batch_size": {1024},
    "pairing": {"matched"},
    "penalty_factors": {None},
    "negative_rate": {1.0},
    "max_fpr": {1.0},
    "min_tpr": {0.0},
    "equal_groups": {False},
    "search_rows": {50_000},
    "max_categories": {1000},
    "random_state": {None, 0},
}


def test_one_parameter_has_one_default():
    strange = []
    for path, parameters in signatures():
        if ".paper." in path or path == "mbauc.model.Threshold":
            continue
        for name, one in parameters.items():
            if name in DEFAULTS and one.default is not one.empty and one.default not in DEFAULTS[name]:
                strange.append(f"{path}: {name}={one.default!r}")
    assert strange == []


def test_a_typed_program_calls_every_public_class():
    nodes = list(ast.walk(ast.parse(PROGRAM.read_text(encoding="utf-8"))))
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named |= set(re.findall(r"\w+", " ".join(texts)))  # annotations in quotes
    missing = [
        path
        for path, value in public_values().items()
        if inspect.isclass(value) and path.rpartition(".")[2] not in named
    ]
    assert missing == []


# -- estimators -----------------------------------------------------------------------------------------------

#: Each with little to do.
ESTIMATORS = {
    "MBAClassifier": mbauc.MBAClassifier(n_jobs=1),
    "MBAClassifierCV": mbauc.MBAClassifierCV(cv=2, n_jobs=1),
    "PairwiseAUCClassifier": mbauc.PairwiseAUCClassifier(n_jobs=1),
    "PairwiseAUCClassifierCV": mbauc.PairwiseAUCClassifierCV("squared_hinge", cv=2, n_jobs=1),
    "AdditiveAUCClassifier": mbauc.AdditiveAUCClassifier("curves", n_jobs=1),
    "NeymanPearsonClassifier": mbauc.NeymanPearsonClassifier(
        mbauc.MBAClassifier(n_jobs=1), alpha=0.2, delta=0.2
    ),
    "TableRanker": mbauc.TableRanker("linear", loss="squared", hold_out=0.2, n_jobs=1),
    "CurveFeatures": features.CurveFeatures(8, n_jobs=1),
    "FourierFeatures": features.FourierFeatures(8, gamma="median"),
    "TableEncoder": features.TableEncoder(),
} | {name: getattr(rivals, name)() for name in rivals.__all__}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + rng.standard_normal(300) > 0.5).to_numpy().astype(int)


@pytest.fixture(scope="module")
def fitted(rows):
    return {name: clone(one).fit(*rows) for name, one in ESTIMATORS.items()}


each = pytest.mark.parametrize("name", ESTIMATORS)


def test_all_estimators_are_here():
    known = {type(one) for one in ESTIMATORS.values()}
    public = {
        value
        for path, value in public_values().items()
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    clusters = {one for one in public if one.__module__.startswith(("mbauc.dask", "mbauc.spark"))}
    assert public - clusters == known


def attributes_of(kind):
    """Documented attributes and what is said of them, those of a class that is referred to included."""
    section = re.search(r"^Attributes\n-+\n(.*?)(?:\n\n?\w[\w ]*\n-+\n|\Z)", inspect.getdoc(kind), re.M | re.S)[
        1
    ]
    found, optional = {}, 0
    for entry in re.split(r"\n(?=\w)", section):
        head, _, text = entry.partition("\n")
        if other := re.match(r"All other attributes are as in :class:`(\w+)`", entry):
            found |= attributes_of(getattr(mbauc, other[1]))
        if re.match(r"[\w, ]+_\b", head):
            # "the next three" are there only where this one is
            optional = 4 if "as the next three" in text else optional - 1
            words = "If X had" if optional > 0 else entry
            found |= {name.strip(): words for name in head.partition(" : ")[0].split(",")}
    return found


@each
def test_documented_attributes_are_there_after_fit_and_none_before(name, fitted):
    kind, found = type(ESTIMATORS[name]), attributes_of(type(ESTIMATORS[name]))
    assert len(found) >= 4
    for one, text in found.items():
        assert hasattr(kind, one) or not hasattr(clone(ESTIMATORS[name]), one), f"{one} before fit"
        if not re.search(r"[Oo]nly |not available|\b[Ii]f ", text):
            assert hasattr(fitted[name], one), f"{one} after fit"


@each
def test_attributes_of_a_fit_are_documented(name, fitted):
    there = {one for one in vars(fitted[name]) if one.endswith("_") and not one.startswith("_")}
    assert sorted(there - attributes_of(type(ESTIMATORS[name])).keys()) == []


@each
def test_scikit_learn_can_copy_show_and_route(name, rows, fitted):
    X, _ = rows
    one, known = ESTIMATORS[name], fitted[name]
    assert clone(one).get_params(deep=False).keys() == one.get_params(deep=False).keys()
    again = pickle.loads(pickle.dumps(known))
    act = "decision_function" if hasattr(known, "decision_function") else "transform"
    before, after = (getattr(each, act)(X) for each in (known, again))
    assert (abs(before - after) > 0).sum() == 0
    assert repr(one).startswith(f"{name}(")
    assert name in estimator_html_repr(one)
    assert one.get_metadata_routing() is not None
    assert known.n_features_in_ == 3
    assert list(known.feature_names_in_) == ["a", "b", "c"]
    if act == "transform":
        width = before.shape[1]
        assert len(known.get_feature_names_out()) == width
    else:
        assert known.classes_.tolist() == [0, 1]
        has = {way for way in ("predict_proba", "predict_log_proba") if hasattr(known, way)}
        assert len(has) in (0, 2), f"only {has}"
        if has:
            np.testing.assert_allclose(np.exp(known.predict_log_proba(X)), known.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("value", "words"), [("high", "X has 'high'"), (np.inf, "X contains inf")])
@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - {"TableRanker", "TableEncoder"}))
def test_rows_that_hold_no_numbers_are_named_with_their_column(name, value, words, rows, fitted):
    X = rows[0].astype(object)
    X.iloc[7, 1] = value
    act = (
        fitted[name].decision_function if hasattr(fitted[name], "decision_function") else fitted[name].transform
    )
    with pytest.raises(ValueError, match=rf"^{words} at row 7, column 1 \('b'\)"):
        act(X if isinstance(value, str) else X.astype(float))


# -- what is refused, and how ---------------------------------------------------------------------------------

NAN = float("nan")
#: Values that nothing could make sense of, by parameter: whoever has it refuses them in the same words.
BAD = {
    "l1": [-1.0, NAN, "x", None, True],
    "l2": [-1.0, NAN, "x", None, True],
    "tol": [-1.0, NAN, "x", True],
    "max_iter": [0, 1.5, "x", None, True],
    "batch_size": [0, 1.5, "x", None, True],
    "pairing": ["x", None, 1],
    "decay": [0.0, 1.5, NAN, "x", None],
    "scale": ["x", 2],
    "negative_rate": [0.0, 1.5, NAN, "x", None],
    "weights": ["x", None, 1],
    "solver": ["x", None, 1],
    "n_jobs": [0, 1.5, "x"],
    "random_state": [-1, 1.5, "x"],
    "max_fpr": [0.0, 1.5, NAN, "x", None],
    "min_tpr": [-0.1, 1.5, NAN, "x", None],
    "min_fpr": [-0.1, 1.5, NAN, "x", None],
    "equal_groups": ["x", None],
    "within_block": ["x", None],
    "within_groups": ["x", None],
    "one_standard_error": ["x", None],
    "repeats": [0, 1.5, "x", None],
    "bins": [1, 1.5, "x", None],
    "search_rows": [0, 1.5, "x", None],
    "features": ["x", None, 1],
    "loss": ["x", None, 1],
    "confidence": [0.0, 1.0, 95, NAN, "x", None],
    "alpha": [0.0, 1.0, NAN, "x", None],
    "delta": [0.0, 1.0, NAN, "x", None],
    "false_alarm": [0.0, 1.0, NAN, "x"],
    "calibration_size": [0.0, 1.0, NAN, "x", None],
    "hold_out": [-1.0, 1.0, NAN, "x", None],
    "refit": ["x", None],
    "on_error": ["x", None],
    "types": ["x", 1],
    "ignore": ["x", 1],
    "interactions": [-1, 1.5, "x"],
    "penalty_factors": ["x", [1.0], [-1.0, 1.0, 1.0], [NAN, 1.0, 1.0]],
    "l1_grid": [[-1.0], [NAN], "x", [], 0, 1.5],
    "l2_grid": [[-1.0], [NAN], "x", [], 1.5],
    "cv": [1, 1.5, "x"],
    "pairs": [0, 1.5, "x", None],
    "n_components": [0, 1.5, "x", None],
    "gamma": [0.0, NAN, "x", None],
    "min_rows": [0, 1.5, "x", None],
    "max_levels": [0, 1.5, "x", None],
    "coarse_bins": [1, 1.5, "x", None],
    "sample_rows": [0, 1.5, "x", None],
    "numbers": ["x", None],
    "sparse_output": ["x", None],
    "max_categories": [0, 1.5, "x", None],
    "hash_dim": [0, 1.5, "x"],
    "encode": ["x", None],
    "missing": ["x", None],
}
#: Of other libraries, or with another meaning: a step of a rival, a factor of FTRL.
OTHER_MEANING = {
    ("FTRLProximal", "alpha"),
    ("AdaOAM", "delta"),
    ("MiniBatchPairwise", "loss"),
    ("CurveFeatures", "bins"),
}


def refusals():
    for name, one in ESTIMATORS.items():
        for key in one.get_params(deep=False):
            if key in BAD and (name, key) not in OTHER_MEANING:
                yield pytest.param(name, key, id=f"{name}-{key}")


@pytest.mark.parametrize(("name", "key"), [*refusals()])
def test_impossible_settings_are_refused_by_name(name, key, rows):
    faults = []
    for bad in BAD[key]:
        try:
            clone(ESTIMATORS[name]).set_params(**{key: bad}).fit(*rows)
        except ValueError as error:
            if not re.match(rf"(each value of )?{key}\b", str(error)):
                faults.append(f"{key}={bad!r}: {error}")
        except Exception as error:
            faults.append(f"{key}={bad!r}: {type(error).__name__}: {error}")
        else:
            faults.append(f"{key}={bad!r} is taken")
    assert faults == []


#: Calls with one argument, by its name: beside a fit, they refuse it as estimators do.
CALLS = {
    "batch_size": lambda rows, bad: mbauc.sample_pairs(*rows, 5, batch_size=bad),
    "pairs": lambda rows, bad: mbauc.sample_pairs(*rows, bad),
    "pairing": lambda rows, bad: mbauc.sample_pairs(*rows, 5, pairing=bad),
    "random_state": lambda rows, bad: mbauc.sample_pairs(*rows, 5, random_state=bad),
    "n_jobs": lambda rows, bad: mbauc.PairMoments.from_arrays(*rows, n_jobs=bad),
    "decay": lambda rows, bad: mbauc.PairMoments.from_arrays(*rows).decayed(bad),
    "max_fpr": lambda rows, bad: objectives.lightgbm(max_fpr=bad),
    "loss": lambda rows, bad: objectives.xgboost(bad),
    "l1": lambda rows, bad: plan_pairs(*rows, l1=bad, delta=0.1),
    "l2": lambda rows, bad: plan_pairs(*rows, l2=bad, delta=0.1),
    "types": lambda rows, bad: learn_table_codes(rows[0], types=bad),
    "ignore": lambda rows, bad: learn_table_codes(rows[0], ignore=bad),
    "max_categories": lambda rows, bad: learn_table_codes(rows[0], max_categories=bad),
}


@pytest.mark.parametrize("key", CALLS)
def test_functions_refuse_what_estimators_refuse(key, rows):
    X, y = rows
    name = "factor" if key == "decay" else key
    for bad in BAD[key]:
        with pytest.raises(ValueError, match=rf"^{name} must\b"):
            CALLS[key]((X, y), bad)


@pytest.mark.parametrize("bad", [0, 1.5, "x", None])
def test_moments_have_a_whole_number_of_columns(bad):
    with pytest.raises(ValueError, match=r"^n_features must be a whole number"):
        mbauc.PairMoments(bad)


@each
def test_any_seed_of_scikit_learn_will_do(name, rows):
    if "random_state" not in ESTIMATORS[name].get_params():
        pytest.skip("draws nothing")
    for seed in (None, 3, np.int64(3), np.random.default_rng(3), np.random.RandomState(3)):
        clone(ESTIMATORS[name]).set_params(random_state=seed).fit(*rows)


@each
def test_any_number_of_jobs_of_scikit_learn_will_do(name, rows):
    if "n_jobs" not in ESTIMATORS[name].get_params(deep=False):
        pytest.skip("has no threads")
    for n_jobs in (None, -1, 1, np.int64(2)):
        clone(ESTIMATORS[name]).set_params(n_jobs=n_jobs).fit(*rows)


def functions_of_scores():
    for path, value in public_values().items():
        if (
            inspect.isfunction(value)
            and ".dask" not in path
            and {"y_true", "y_score"} <= parameters_of(value).keys()
        ):
            yield pytest.param(value, id=path)


@pytest.mark.parametrize("function", [*functions_of_scores()])
def test_labels_and_scores_are_refused_by_name(function):
    y, s = np.arange(12) % 2, np.arange(12.0)
    known = {"groups": np.arange(12) // 6, "false_alarm": 0.1}
    others = {
        name: value
        for name, value in known.items()
        if name in parameters_of(function) and parameters_of(function)[name].default is inspect.Parameter.empty
    }
    for bad, name in (
        ((y * 0, s), "y_true"),
        ((np.arange(12), s), "y_true"),
        ((y[:5], s), "y_true"),
        ((y[:, None].repeat(2, 1), s), "y_true"),
        (([], []), "y_true"),
        ((None, s), "y_true"),
        ((y, s[:, None]), "y_score"),
        ((y, s * np.nan), "y_score"),
        ((y, ["a"] * 12), "y_score"),
        ((y, None), "y_score"),
    ):
        if (
            function.__name__ == "report_html"
            and name == "y_true"
            and bad[0] is not None
            and np.ptp(bad[0] if len(bad[0]) else [0]) == 0
        ):
            continue  # a report of one class says so
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            function(*bad, **others)


def functions_with(*names):
    for path, value in public_values().items():
        if inspect.isfunction(value) and ".spark" not in path and ".paper" not in path:
            for name in sorted(parameters_of(value).keys() & set(names)):
                yield pytest.param(value, name, id=f"{path}-{name}")


@pytest.mark.parametrize(("function", "name"), [*functions_with("confidence", "alpha", "delta", "false_alarm")])
def test_shares_are_refused_in_the_same_words(function, name):
    """Settings are checked before the data, of which there are none here."""
    known = {"alpha": 0.1, "delta": 0.1, "false_alarm": 0.1, "n": 1000}
    parameters = parameters_of(function).values()
    required = {one.name: known.get(one.name) for one in parameters if one.default is one.empty}
    for bad in (0.0, 1.0, 95, NAN, "x", None):
        message = rf"^{name} must be a finite number greater than 0 and less than 1, got {bad!r}\."
        with pytest.raises(ValueError, match=message):
            function(**required | {name: bad})
