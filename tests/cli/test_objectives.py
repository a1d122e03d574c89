"""Losses, groups and parts of the ROC curve on the command line, from ``fit`` to the report."""

import json
import re

import numpy as np
import pytest

from mbauc import MBAClassifier, PairwiseAUCClassifier
from mbauc.cli.argument_types import LOSSES as NAMES
from mbauc.cli.main import main
from mbauc.losses import LOSSES, Region
from mbauc.metrics import (
    compare_grouped_roc_auc,
    compare_roc_auc,
    grouped_roc_auc_interval,
    partial_roc_auc,
    roc_auc_interval,
)
from mbauc.model import load_model

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")


def told(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr()


def answer(capsys, *words):
    return json.loads(told(capsys, *words, "--json").out)


def searches(path, seed=0, n=3000, queries=150):
    """Rows of queries whose clicks depend on two columns, and on how good the query is."""
    rng = np.random.default_rng(seed)
    query, level = rng.integers(queries, size=n), 2 * rng.standard_normal(queries)
    X = rng.standard_normal((n, 3))
    X[:, 2] += level[query]
    y = X[:, 0] - X[:, 1] + level[query] + 1.5 * rng.logistic(size=n) > 1
    lines = (f"{int(a)},q{g},{b:.4f},{c:.4f},{d:.4f}\n" for a, g, (b, c, d) in zip(y, query, X, strict=True))
    path.write_text("click,query,x0,x1,x2\n" + "".join(lines))
    return path


@pytest.fixture(scope="module")
def monday(tmp_path_factory):
    return searches(tmp_path_factory.mktemp("rows") / "monday.csv")


@pytest.fixture(scope="module")
def tuesday(tmp_path_factory):
    return searches(tmp_path_factory.mktemp("rows") / "tuesday.csv", seed=1)


def columns(path):
    """Labels, groups and the columns of numbers."""
    table = np.genfromtxt(path, delimiter=",", dtype=None, names=True, encoding=None)
    return table["click"], table["query"], np.column_stack([table[f"x{k}"] for k in range(3)])


PLAIN = ("--label", "click", "--scale", "none", "--hold-out", 0)


def test_the_names_of_losses_are_those_that_there_are():
    assert tuple(LOSSES) == NAMES


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("--loss", "squared_hinge"), {"loss": "squared_hinge"}),
        (("--loss", "logistic", "--l2", "0.1", "--l1", "0.01"), {"loss": "logistic", "l2": 0.1, "l1": 0.01}),
        (("--max-fpr", "0.2"), {"max_fpr": 0.2}),
        (("--min-tpr", "0.5", "--max-fpr", "0.5"), {"min_tpr": 0.5, "max_fpr": 0.5}),
    ],
)
def test_a_model_of_another_loss_is_that_of_the_estimator(monday, tmp_path, capsys, words, settings):
    out = tmp_path / "m.mbauc"
    printed = told(capsys, "fit", monday, *PLAIN, "--ignore", "query", *words, "-o", out).out
    y, _, X = columns(monday)
    model, ranker = load_model(out), PairwiseAUCClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(model.coef, ranker.coef_[0], rtol=1e-2, atol=1e-3)
    assert isinstance(model.estimator(), PairwiseAUCClassifier)
    assert model.estimator().get_params().items() >= settings.items()
    assert (model.l1, model.l2) == pytest.approx((ranker.l1_, ranker.l2_), rel=1e-2)
    assert model.describe_objective() in printed
    assert "updates     not possible: updates need --loss squared over the whole ROC curve" in printed
    assert model.describe_objective() in told(capsys, "inspect", out).out


@pytest.mark.parametrize("words", [(), ("--equal-groups",), ("--loss", "squared_hinge")])
def test_pairs_within_groups_alone_count(monday, tmp_path, capsys, words):
    out = tmp_path / "m.mbauc"
    printed = told(capsys, "fit", monday, *PLAIN, "--l2", 0.1, "--group", "query", *words, "-o", out).out
    y, query, X = columns(monday)
    settings = {"l2": 0.1, "equal_groups": "--equal-groups" in words}
    kind = PairwiseAUCClassifier if "--loss" in words else MBAClassifier
    within = kind(**settings).fit(X, y, groups=query)
    model = load_model(out)
    assert model.group == "query"
    assert model.layout.feature_names() == ["x0", "x1", "x2"]
    np.testing.assert_allclose(model.coef, within.coef_[0], rtol=1e-2, atol=1e-3)
    over_all = kind(l2=0.1).fit(X, y)
    assert np.abs(model.coef - over_all.coef_[0]).max() > 0.02  # over all pairs, the level of the query counts
    assert "over the pairs within each 'query'" in printed
    assert "updates     not possible: " in printed


def test_whole_groups_are_held_out_and_tested_on(monday, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    words = ("--group", "query", "--keep-tested", "-o", out)
    printed = told(capsys, "fit", monday, "--label", "click", *words).out
    tested = load_model(out).trained_on["tested"]
    assert 15 < tested["groups"] < 50
    assert tested["within_groups_low"] < tested["within_groups"] < tested["within_groups_high"]
    assert f"{tested['within_groups']:.4f} (95% interval" in printed
    assert f"within {tested['groups']} groups" in printed
    # the rows held out are found again, by their groups
    again = told(capsys, "threshold", out, monday, "--held-out", "--false-alarm", 0.2, "--confidence", 0.8).out
    assert f"(from {tested['negatives']} negatives)" in again.replace(",", "")


def test_the_part_that_counts_is_tested(monday, tmp_path, capsys, tuesday):
    out = tmp_path / "m.mbauc"
    words = ("--max-fpr", 0.3, "--ignore", "query", "--test", tuesday)
    printed = told(capsys, "fit", monday, "--label", "click", *words, "-o", out).out
    model = load_model(out)
    y, *_ = columns(tuesday)
    scores = np.concatenate([b.scores for b in model.score_blocks(model.layout.source(tuesday, model.classes))])
    share = partial_roc_auc(y, scores, max_fpr=0.3)
    assert model.trained_on["tested"]["region"] == pytest.approx(share)
    assert f"{share:.4f} in the requested region" in printed


@pytest.mark.parametrize("words", [(), ("--equal-groups",)])
def test_the_part_that_counts_is_tested_within_groups(monday, tmp_path, capsys, tuesday, words):
    out = tmp_path / "m.mbauc"
    words = ("--max-fpr", 0.3, "--min-tpr", 0.1, "--group", "query", "--test", tuesday, *words)
    printed = told(capsys, "fit", monday, "--label", "click", *words, "-o", out).out
    y, query, _ = columns(tuesday)
    scores = scores_of(out, tuesday)
    parts, counts = [], []
    for own in (query == one for one in np.unique(query)):
        if 0 < y[own].sum() < own.sum():
            parts.append(partial_roc_auc(y[own], scores[own], max_fpr=0.3, min_tpr=0.1))
            counts.append(1 if "--equal-groups" in words else y[own].sum() * (1 - y[own]).sum())
    share = np.average(parts, weights=counts)
    assert load_model(out).trained_on["tested"]["region"] == pytest.approx(share)
    assert f"{share:.4f} in the requested region, within groups (standardised partial AUC)" in printed


def test_folds_keep_the_default_loss_of_a_region(monday, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    words = ("--max-fpr", 0.3, "--cv", 3, "--ignore", "query")
    printed = told(capsys, "fit", monday, "--label", "click", *words, "-o", out).out
    assert load_model(out).settings["loss"] == "squared_hinge"
    assert "squared_hinge" not in printed  # of the losses that were tried there is one
    told(
        capsys,
        "fit",
        monday,
        "--label",
        "click",
        *words,
        "--loss",
        "squared_hinge",
        "-o",
        out.with_name("n.mbauc"),
    )
    assert (load_model(out).coef == load_model(out.with_name("n.mbauc")).coef).all()


def test_losses_of_a_region_are_compared_by_its_own_measure(monday, tmp_path, capsys):
    words = ("--max-fpr", 0.3, "--loss", "auto", "--cv", 3, "--ignore", "query", "-o", tmp_path / "m.mbauc")
    printed = told(capsys, "fit", monday, "--label", "click", *words).out
    assert "(held-out standardised partial AUC up to 30% false alarms: " in printed
    assert "held-out AUC" not in printed


def test_what_was_asked_for_and_what_was_fitted_are_told_apart(tmp_path, capsys):
    """So few rows of a part that a larger one does better at it."""
    path, out, page = tmp_path / "rows.csv", tmp_path / "m.mbauc", tmp_path / "page.html"
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 6))
    y = X[:, 0] + X[:, 1] + rng.logistic(size=600) > 2
    lines = (",".join([str(int(a)), *(f"{one:.4f}" for one in x)]) + "\n" for a, x in zip(y, X, strict=True))
    path.write_text("click,a,b,c,d,e,f\n" + "".join(lines))
    words = ("--max-fpr", 0.01, "--cv", 3, "--test", path)
    printed = told(capsys, "fit", path, "--label", "click", *words, "-o", out).out
    model = load_model(out)
    assert model.region == Region(0.01)
    fitted = model.settings["max_fpr"]
    assert fitted > 0.01
    again = PairwiseAUCClassifier("squared_hinge", l2=model.l2, max_fpr=fitted)
    scales, _ = model.layout.scales()
    again.set_params(penalty_factors=model.settings.get("penalty_factors")).fit(X.round(4) / scales, y)
    np.testing.assert_allclose(model.coef, again.coef_[0], rtol=2e-2, atol=1e-3)
    assert model.estimator().max_fpr == fitted
    asked = "standardised partial AUC up to 1% false alarms"
    assert f"objective   {model.describe_objective()}\n" in printed
    assert f"requested   {asked}, " in printed
    told(capsys, "evaluate", out, path, "--report", page)
    for shown in (told(capsys, "inspect", out).out, page.read_text()):
        assert asked in shown
        assert model.describe_objective() in shown
        assert "max_fpr" not in shown
    share = partial_roc_auc(y, scores_of(out, path), max_fpr=0.01)
    assert model.trained_on["tested"]["region"] == pytest.approx(share)
    assert answer(capsys, "inspect", out)["asked"] == {"max_fpr": 0.01, "min_tpr": 0.0, "min_fpr": 0.0}


@pytest.mark.parametrize(
    ("words", "said", "measure"),
    [
        (("--max-fpr", 0.3), "because of --max-fpr.", "'mbauc evaluate --max-fpr 0.3'."),
        (("--min-tpr", 0.5), "because of --min-tpr.", "'mbauc compare'."),
        (("--max-fpr", 0.5, "--min-tpr", 0.3), "because of --max-fpr and --min-tpr.", "--max-fpr 0.5'."),
    ],
)
def test_a_fit_to_a_part_of_the_curve_says_that_it_is_linear(monday, tmp_path, capsys, words, said, measure):
    words = (
        "fit",
        monday,
        "--label",
        "click",
        "--ignore",
        "query",
        *words,
        "--force",
        "-o",
        tmp_path / "m.mbauc",
    )
    printed = " ".join(told(capsys, *words).out.split())
    [note] = (one for one in answer(capsys, *words)["notes"] if "linear" in one)
    assert f"note {note}" in printed
    assert note.startswith(f"the model is linear, {said}")
    assert note.endswith(measure)


@pytest.mark.parametrize("words", [(), ("--encode", "hash"), ("--loss", "squared_hinge")])
def test_other_fits_say_nothing_of_parts_of_the_curve(monday, tmp_path, capsys, words):
    words = ("fit", monday, "--label", "click", "--ignore", "query", *words, "-o", tmp_path / "m.mbauc")
    assert not any("linear" in one for one in answer(capsys, *words)["notes"])


def test_any_model_is_measured_at_the_top_of_the_list(monday, tuesday, tmp_path, capsys):
    out, page = tmp_path / "m.mbauc", tmp_path / "page.html"
    told(capsys, "fit", monday, "--label", "click", "--ignore", "query", "-o", out)
    y, *_ = columns(tuesday)
    share = partial_roc_auc(y, scores_of(out, tuesday), max_fpr=0.055)
    shown = told(capsys, "evaluate", out, tuesday, "--max-fpr", 0.055, "--report", page).out
    assert f"{share:.4f} up to 5.5% false alarms (standardised partial AUC)\n" in shown
    assert f"{share:.4f}" in page.read_text()
    assert answer(capsys, "evaluate", out, tuesday, "--max-fpr", 0.055)["partial_auc"]["0.055"] == share
    assert set(answer(capsys, "evaluate", out, tuesday)["partial_auc"]) == {"0.1", "0.01"}


def test_a_loss_is_chosen_by_cross_validation(monday, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    words = ("--loss", "auto", "--cv", 3, "--ignore", "query")
    found = answer(capsys, "fit", monday, "--label", "click", *words, "-o", out)
    model = load_model(out)
    assert model.settings["loss"] in LOSSES
    assert model.settings["loss"] in model.trained_on["losses"]
    assert len(model.trained_on["losses"]) > 1
    assert model.l2 in [point["l2"] for point in model.path]
    assert len({point["l2"] for point in model.path}) == len(model.path) > 5  # those of one loss
    assert found["losses"] == model.trained_on["losses"]
    assert "held-out" not in told(capsys, "inspect", out).err


def test_squared_said_aloud_is_the_default(monday, tmp_path, capsys):
    first, second = tmp_path / "a.mbauc", tmp_path / "b.mbauc"
    for out, words in ((first, ()), (second, ("--loss", "squared"))):
        lines = ("--ignore", "query", "--encode", "hash")
        told(capsys, "fit", monday, "--label", "click", *lines, *words, "-o", out)
    assert (load_model(first).coef == load_model(second).coef).all()
    assert load_model(second).moments is not None


# -- models that exist ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(monday, tmp_path_factory):
    """A model within groups, one over all pairs, and one of another loss."""
    folder = tmp_path_factory.mktemp("models")
    for name, words in {
        "within": ("--group", "query", "--encode", "hash"),
        "all": ("--ignore", "query"),
        "hinge": ("--ignore", "query", "--encode", "hash", "--loss", "squared_hinge"),
    }.items():
        assert main(["fit", str(monday), "--label", "click", *words, "-o", str(folder / f"{name}.mbauc")]) == 0
    return folder


def test_scoring_does_not_need_the_groups(models, tuesday, tmp_path, capsys):
    lines = [line.split(",") for line in tuesday.read_text().splitlines()]
    bare = tmp_path / "bare.csv"
    bare.write_text("".join(",".join(line[2:]) + "\n" for line in lines))
    labelled = tmp_path / "labelled.csv"
    labelled.write_text("".join(",".join([line[0], *line[2:]]) + "\n" for line in lines))
    model = models / "within.mbauc"
    assert "scored 3,000 rows" in told(capsys, "score", model, bare, "-o", tmp_path / "scores.csv").out
    assert "within groups" not in told(capsys, "evaluate", model, labelled).out
    told(capsys, "threshold", model, labelled)
    assert "there is no column" in told(capsys, "evaluate", model, labelled, "--group", "query", code=1).err


def scores_of(path, rows):
    model = load_model(path)
    return np.concatenate([b.scores for b in model.score_blocks(model.layout.source(rows, model.classes))])


def test_evaluate_measures_within_groups(models, tuesday, tmp_path, capsys):
    y, query, _ = columns(tuesday)
    page = tmp_path / "report.html"
    for name, words in {"within": (), "all": ("--group", "query")}.items():
        model = models / f"{name}.mbauc"
        s = scores_of(model, tuesday)
        printed = told(capsys, "evaluate", model, tuesday, *words, "--report", page, "--force").out
        found = answer(capsys, "evaluate", model, tuesday, *words)
        assert f"AUC           {roc_auc_interval(y, s)}" in printed
        for equal, key in ((False, "pairs"), (True, "alike")):
            interval = grouped_roc_auc_interval(y, s, query, equal_groups=equal)
            assert f"{interval} within groups" in printed
            assert found["groups"]["auc"][key]["auc"] == pytest.approx(interval.auc)
        worst = found["groups"]["worst"]
        assert len(worst) == 50
        assert f"{worst[0]['group']} " in printed
        mine = query == worst[0]["group"]
        assert (worst[0]["rows"], worst[0]["positives"]) == (mine.sum(), y[mine].sum())
        assert worst[0]["group"] in page.read_text()
        assert "By group" in page.read_text()


def test_groups_need_values_and_a_table(models, tuesday, tmp_path, capsys):
    torn = tmp_path / "torn.csv"
    torn.write_text(tuesday.read_text().replace(",q7,", ",,"))
    told(capsys, "evaluate", models / "all.mbauc", torn)
    assert "column 'query' has no value in row" in told(
        capsys, "evaluate", models / "all.mbauc", torn, "--group", "query", code=1
    ).err  # fmt: skip


def queries(path, seed=0, n=1200):
    """LIBSVM text with query numbers."""
    rng = np.random.default_rng(seed)
    query, X = 100 + rng.integers(60, size=n), rng.standard_normal((n, 2))
    y = X[:, 0] + rng.logistic(size=n) > 0
    rows = zip(y, query, X.tolist(), strict=True)
    path.write_text("".join(f"{int(a)} qid:{g} 1:{b!r} 2:{c!r}\n" for a, g, (b, c) in rows))
    return y, query, X


def test_query_numbers_of_libsvm_text_are_groups(tmp_path, capsys):
    text, out = tmp_path / "a.libsvm", tmp_path / "m.mbauc"
    y, query, X = queries(text)
    told(capsys, "fit", text, "--group", "qid", "--l2", 0.1, "--hold-out", 0, "-o", out)
    model = load_model(out)
    assert model.describe_objective() == "squared loss over the pairs within each 'qid'"
    within = MBAClassifier(l2=0.1).fit(X, y, groups=query)
    np.testing.assert_allclose(model.coef, within.coef_[0], rtol=1e-2, atol=1e-3)
    found = answer(capsys, "evaluate", out, text, "--group", "qid")["groups"]
    assert found["auc"]["pairs"]["auc"] == pytest.approx(grouped_roc_auc_interval(y, X @ model.coef, query).auc)
    worst = found["worst"][0]
    assert worst["rows"] == (query == int(worst["group"])).sum()
    # they are the model's own, and need not be asked for again
    caught = told(capsys, "evaluate", out, text)
    assert "within groups" in caught.out
    assert "--group" not in caught.err
    assert answer(capsys, "evaluate", out, text)["groups"] == found
    other = tmp_path / "o.mbauc"
    told(capsys, "fit", text, "--group", "qid", "--l2", 1.0, "--hold-out", 0, "-o", other)
    assert "AUC within each 'qid'" in told(capsys, "compare", out, other, text).out
    # files without query numbers are scored and measured as well
    bare = tmp_path / "bare.libsvm"
    bare.write_text(re.sub(r"qid:\d+ ", "", text.read_text()))
    assert "within groups" not in told(capsys, "evaluate", out, bare).out
    error = told(capsys, "evaluate", out, bare, "--group", "qid", code=1).err
    assert "expected a query number such as 'qid:7' after the label, got none" in error
    for words in (("fit", text), ("evaluate", out, text)):
        more = ("-o", tmp_path / "x.mbauc") if words[0] == "fit" else ()
        error = told(capsys, *words, "--group", "query", *more, code=2).err
        assert "--group query: the only groups in LIBSVM text are query numbers" in error


def check_comparison(found, expected):
    """That scripts are told all that a comparison finds."""
    fields = ("auc", "difference", "low", "high", "p_value", "holm_p_value", "p_value_all", "confidence")
    for field in fields:
        said = np.array(found[field], dtype=float)
        np.testing.assert_allclose(said, getattr(expected, field), rtol=1e-9, atol=1e-12)


def test_three_models_are_compared_in_pairs_within_groups(models, tuesday, capsys):
    y, query, _ = columns(tuesday)
    paths = [models / f"{name}.mbauc" for name in ("all", "within", "hinge")]
    scores = {path.stem: scores_of(path, tuesday) for path in paths}
    found = answer(capsys, "compare", *paths, tuesday, "--group", "query", "--confidence", 0.8)
    check_comparison(found, compare_grouped_roc_auc(y, scores, query, confidence=0.8))
    assert (found["rows"], found["models"]) == (3000, [str(path) for path in paths])


def test_weights_of_rows_count_in_a_comparison(tmp_path, capsys):
    rng = np.random.default_rng(3)
    X, weight = rng.standard_normal((400, 3)).round(4), rng.integers(1, 5, 400)
    y = X @ [1.0, 0.8, 0.3] + rng.standard_normal(400) > 0.5
    rows = tmp_path / "rows.csv"
    lines = (f"{int(a)},{b},{c},{d},{w}\n" for a, (b, c, d), w in zip(y, X, weight, strict=True))
    rows.write_text("y,x0,x1,x2,w\n" + "".join(lines))
    paths = [tmp_path / f"without-{name}.mbauc" for name in ("x0", "x1", "x2")]
    for path in paths:
        words = ("--label", "y", "--weight", "w", "--ignore", path.stem[-2:], "--hold-out", 0)
        told(capsys, "fit", rows, *words, "-o", path)
    scores = {path.stem: scores_of(path, rows) for path in paths}
    expected = compare_roc_auc(y, scores, sample_weight=weight, weights="frequency")
    check_comparison(answer(capsys, "compare", *paths, rows), expected)
    assert (expected.holm_p_value > expected.p_value).any()


@pytest.mark.parametrize("words", [(), ("--equal-groups",)])
def test_models_are_compared_within_groups(models, tuesday, capsys, words):
    y, query, _ = columns(tuesday)
    paths = [models / f"{name}.mbauc" for name in ("all", "within")]
    scores = {path.stem: scores_of(path, tuesday) for path in paths}
    expected = compare_grouped_roc_auc(y, scores, query, equal_groups=bool(words))
    said = ("compare", *paths, tuesday, "--group", "query", *words)
    assert str(expected) in told(capsys, *said).out
    found = answer(capsys, *said)
    assert found["p_value"] == pytest.approx(expected.p_value)
    assert found["group"] == "query"
    assert expected.difference[1, 0] > 0  # who is trained within groups ranks better there


@pytest.mark.parametrize("name", ["hinge", "within"])
def test_what_keeps_no_moments_is_not_updated(models, tuesday, tmp_path, capsys, name):
    model, out = models / f"{name}.mbauc", tmp_path / "x.mbauc"
    for words in (("update", model, tuesday), ("merge", model, model)):
        error = told(capsys, *words, "-o", out, code=1).err
        assert (
            f"was trained with the {load_model(model).describe_objective()} and cannot be updated or merged"
            in error
        )
        assert "--loss squared (of 'mbauc fit') over all pairs" in error
    assert not out.exists()
    assert "updates             not possible for this loss or these pairs" in told(capsys, "inspect", model).out


def test_the_columns_of_a_grouped_model_have_its_groups(models, tuesday, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    told(capsys, "fit", tuesday, "--like", models / "within.mbauc", "--equal-groups", "-o", out)
    assert load_model(out).describe_objective().endswith("within each 'query', each counting alike")
    assert "--equal-groups needs --group" in told(
        capsys, "fit", tuesday, "--like", models / "all.mbauc", "--equal-groups", "-o", out, "--force", code=2
    ).err  # fmt: skip


def test_other_programs_score_the_same(models, tuesday, tmp_path, capsys):
    joblib, pd = pytest.importorskip("joblib"), pytest.importorskip("pandas")
    for name in ("hinge", "within"):
        told(capsys, "export", models / f"{name}.mbauc", "-o", tmp_path / f"{name}.joblib")
        pipeline = joblib.load(tmp_path / f"{name}.joblib")
        np.testing.assert_allclose(
            pipeline.decision_function(pd.read_csv(tuesday)), scores_of(models / f"{name}.mbauc", tuesday)
        )


# -- what makes no sense --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--loss", "hinge", "--decay", "0.9"), "--loss hinge cannot be combined with --decay"),
        (("--loss", "hinge", "--pairs", "100"), "--pairs 100: pairs are drawn for the squared loss"),
        (("--max-fpr", "0.1", "--solver", "gram"), "--solver gram is for the squared loss"),
        (("--loss", "auto", "--l2", "0.1"), "--l2 0.1 is chosen by --cv or --loss auto"),
        (
            ("--loss", "auto", "--encode", "hash", "--checkpoint", "x"),
            "--checkpoint cannot be combined with --cv or --loss auto",
        ),
        (("--group", "query", "--pairs", "100"), "--group: within groups all pairs are used"),
        (("--group", "query", "--decay", "0.9"), "--group cannot be combined with --decay"),
        (("--equal-groups",), "--equal-groups needs --group"),
    ],
)
def test_contradictions_are_usage(monday, tmp_path, capsys, words, message):
    out = tmp_path / "x.mbauc"
    assert message in told(capsys, "fit", monday, "--label", "click", *words, "-o", out, code=2).err
    assert not out.exists()


@pytest.mark.parametrize("words", [("--max-fpr", "1.5"), ("--min-tpr", "0"), ("--loss", "cubic")])
def test_values_out_of_range_are_usage(monday, tmp_path, capsys, words):
    with pytest.raises(SystemExit, match="2"):
        main(["fit", str(monday), "--label", "click", *words, "-o", str(tmp_path / "x.mbauc")])
    assert f"argument {words[0]}: " in capsys.readouterr().err


def test_groups_that_are_not_there_are_named(monday, models, tuesday, tmp_path, capsys):
    out = tmp_path / "x.mbauc"
    assert "--group 'querry'" in told(
        capsys, "fit", monday, "--label", "click", "--group", "querry", "-o", out, code=1
    ).err  # fmt: skip
    paths = (models / "all.mbauc", models / "hinge.mbauc", tuesday)
    assert "--equal-groups needs --group" in told(capsys, "compare", *paths, "--equal-groups", code=2).err


def test_few_groups_are_trained_on_even_if_none_is_held_out(tmp_path, capsys):
    rows, out = searches(tmp_path / "few.csv", n=200, queries=1), tmp_path / "m.mbauc"
    words = ("fit", rows, "--label", "click", "--group", "query", "--l2", 0.1, "-o", out)
    said = " ".join(told(capsys, *words, "--hold-out", 1e-9).out.split())
    assert "not tested: too few groups to hold any out" in said
    assert load_model(out).group == "query"


def test_a_model_that_was_not_tested_cannot_be_kept(tmp_path, capsys):
    rows = searches(tmp_path / "few.csv", n=200)
    words = ("fit", rows, "--label", "click", "--keep-tested", "--hold-out", 0, "-o", tmp_path / "m.mbauc")
    assert "--hold-out 0 tests no model" in told(capsys, *words, code=2).err
    assert not (tmp_path / "m.mbauc").exists()


def test_groups_that_are_all_held_out_are_said(tmp_path, capsys):
    rows = searches(tmp_path / "few.csv", n=200, queries=1)
    words = ("fit", rows, "--label", "click", "--group", "query", "--l2", 0.1, "-o", tmp_path / "m.mbauc")
    words = (*words, "--hold-out", 0.999999)
    shown = " ".join(told(capsys, *words).out.split())
    assert "not tested: all 200 rows of so few groups were drawn to be held out" in shown
    said = told(capsys, *words, "--keep-tested", "--force", code=1).err
    assert "all 200 rows of so few groups were drawn to be held out" in said
    assert "Use another --seed or --hold-out 0." in said


def test_the_log_loss_is_refused_where_straight_lines_are_asked_for(monday, tmp_path, capsys):
    words = ("--label", "click", "--loss", "log_loss", "--l2", "1", "-o", tmp_path / "m.mbauc")
    said = told(capsys, "fit", monday, *words, code=2).err
    assert "--loss log_loss is for curves, but other settings select a linear model" in said
    assert not (tmp_path / "m.mbauc").exists()
