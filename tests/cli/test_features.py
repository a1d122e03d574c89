"""Curves and interactions on the command line: ``fit --features`` and what follows it."""

import json

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import load_model

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")


def told(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr()


def answer(capsys, *words):
    return json.loads(told(capsys, *words, "--json").out)


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """A bend, an interaction and a category; some values are missing."""
    rng = np.random.default_rng(0)
    n = 2500
    X, town = rng.standard_normal((n, 3)).round(3), rng.choice(["x", "y", "z"], n)
    y = 1.5 * X[:, 0] ** 2 + 2 * X[:, 1] * X[:, 2] + (town == "y") + rng.logistic(size=n) > 2
    rows = "".join(
        f"{int(y[k])},{1 + k % 2},{'' if k % 31 == 0 else X[k, 0]},{X[k, 1]},{X[k, 2]},{town[k]}\n"
        for k in range(n)
    )
    path = tmp_path_factory.mktemp("rows") / "loans.csv"
    path.write_text("bad,times,age,income,debt,town\n" + rows)
    return path


@pytest.fixture(scope="module")
def crossed(loans):
    out = loans.with_name("crossed.mbauc")
    words = ["--ignore", "times", "--cross", "income,debt", "--keep-tested", "-o", str(out)]
    assert main(["fit", str(loans), "--label", "bad", *words]) == 0
    return out


def test_fit_says_what_it_chose_and_keeps_it(loans, crossed, tmp_path, capsys):
    found = answer(
        capsys, "fit", loans, "--label", "bad", "--weight", "times", "--features", "curves", "--bins", 16,
        "--loss", "squared_hinge", "-o", tmp_path / "a.mbauc",
    )  # fmt: skip
    assert found["choice"].startswith("curves, as requested")
    model = load_model(tmp_path / "a.mbauc")
    assert model.describe_objective() == "squared hinge loss over all pairs"
    assert model.layout.weight == "times"
    assert model.trained_on["choice"] == found["choice"]
    assert load_model(crossed).terms.features.pairs == ((1, 2),)


def test_the_other_commands_take_the_model(loans, crossed, tmp_path, capsys):
    model = load_model(crossed)
    tested = model.trained_on["tested"]["auc"]
    assert answer(capsys, "evaluate", crossed, loans)["auc"] > tested > 0.8
    told(capsys, "score", crossed, loans, "-o", tmp_path / "s.csv")
    X = np.concatenate([block.X for block in model.layout.source(loans, model.classes)])
    scores = np.genfromtxt(tmp_path / "s.csv", delimiter=",", names=True)["score"]
    np.testing.assert_allclose(scores, model.score(X), atol=1e-12)
    told(capsys, "threshold", crossed, loans, "--held-out", "--false-alarm", "0.1", "-o", tmp_path / "t.mbauc")
    assert load_model(tmp_path / "t.mbauc").terms is not None
    told(capsys, "compare", crossed, tmp_path / "t.mbauc", loans)
    shown = told(capsys, "inspect", crossed).out
    assert "income × debt  interaction" in shown
    terms = answer(capsys, "inspect", crossed)["terms"]
    assert {one["name"]: one["kind"] for one in terms} == {
        "age": "curve", "income": "curve", "debt": "curve", "town": "levels", "income × debt": "interaction",
    }  # fmt: skip
    assert terms[0]["name"] in ("age", "income × debt")
    for words in (["update", crossed, loans, "--again"], ["merge", crossed, crossed]):
        assert "with --encode onehot" in told(capsys, *words, "-o", tmp_path / "u", code=1).err


def test_waves_are_shown_as_one_term(loans, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures are drawn with matplotlib")
    out = tmp_path / "waves.mbauc"
    told(capsys, "fit", loans, "--label", "bad", "--ignore", "times", "--features", "fourier", "-o", out)
    shown = told(capsys, "inspect", out).out
    assert "waves of all columns  waves" in shown
    found = answer(capsys, "inspect", out, "--plots", tmp_path / "pictures")
    assert {one["name"]: one["kind"] for one in found["terms"]} == {
        "age": "line", "income": "line", "debt": "line", "town": "levels", "waves of all columns": "waves",
    }  # fmt: skip
    assert found["terms"][0]["name"] == "waves of all columns"
    assert found["terms"][0]["lowest"] is None
    assert "importance.png" in found["plots"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bins", "8", "--encode", "hash"], "--bins applies to curves only"),
        (
            ["--bins", "8", "--features", "linear"],
            "--bins applies to curves only, but --features linear has none",
        ),
        (["--bins", "8", "--features", "fourier"], "--features fourier has none"),
        (
            ["--features", "curves", "--cross", "age,debt"],
            "--cross needs interactions, but --features curves has none",
        ),
        (["--cross", "age,height"], "no feature column 'height'"),
        (["--features", "auto", "--encode", "hash"], "--encode applies to linear models only"),
        (["--features", "auto", "--cv"], "--cv cannot be combined with --features"),
        (["--features", "auto", "--l2", "1"], "--l2 cannot be combined with --features"),
        (
            ["--features", "auto", "--group", "town", "--equal-groups"],
            "--equal-groups cannot be combined with --features",
        ),
        (["--features", "auto", "--max-fpr", "0.1"], "--max-fpr cannot be combined with --features"),
    ],
)
def test_what_does_not_go_together_is_refused(loans, tmp_path, capsys, words, said):
    assert said in told(capsys, "fit", loans, "--label", "bad", *words, "-o", tmp_path / "x", code=2).err


def test_columns_of_another_model(loans, crossed, tmp_path, capsys):
    said = told(capsys, "fit", loans, "--like", crossed, "-o", tmp_path / "x", code=1).err
    assert "Pass --features curves" in said
    told(capsys, "fit", loans, "--label", "bad", "--hash-dim", 50, "-o", tmp_path / "line.mbauc")
    said = told(
        capsys,
        "fit",
        loans,
        "--like",
        tmp_path / "line.mbauc",
        "--features",
        "curves",
        "-o",
        tmp_path / "x",
        code=1,
    ).err
    assert "Leave out --like" in said


def test_a_finished_checkpoint_gives_the_same_bits(loans, tmp_path, capsys):
    words = [
        "fit",
        loans,
        "--label",
        "bad",
        "--features",
        "linear",
        "--checkpoint",
        tmp_path / "run",
        "--force",
    ]
    found = []
    for _ in range(2):
        told(capsys, *words, "--memory", "2GB", "-o", tmp_path / "a.mbauc")
        found.append(load_model(tmp_path / "a.mbauc").coef.tobytes())
    assert found[0] == found[1]


def test_libsvm_text_has_numbered_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 3)).round(3)
    y = X[:, 0] * X[:, 1] + 0.5 * rng.logistic(size=1500) > 0.5
    lines = (
        f"{int(a)} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, start=1))
        for a, row in zip(y, X, strict=True)
    )
    (tmp_path / "rows.libsvm").write_text("\n".join(lines) + "\n")
    told(capsys, "fit", tmp_path / "rows.libsvm", "--cross", "1,2", "-o", tmp_path / "a.mbauc")
    model = load_model(tmp_path / "a.mbauc")
    assert model.terms.features.names == ("1", "2", "3")
    assert model.terms.summarise(model.coef)[0].name == "1 × 2"
    told(capsys, "score", tmp_path / "a.mbauc", tmp_path / "rows.libsvm", "-o", tmp_path / "s.csv")
    scores = np.genfromtxt(tmp_path / "s.csv", delimiter=",", names=True)["score"]
    np.testing.assert_allclose(scores, model.score(X), atol=1e-12)


@pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")
def test_curves_of_the_pairs_within_groups(tmp_path, capsys):
    rng = np.random.default_rng(0)
    query = rng.integers(100, size=2000)
    level, x, z = 2 * rng.standard_normal(100)[query], rng.standard_normal(2000), rng.standard_normal(2000)
    y = 2 * np.abs(z) - 2 * x + 3 * level + rng.standard_normal(2000) > 1
    rows = zip(y.astype(int), query, x + 2 * level, z, strict=True)
    table, out = tmp_path / "clicks.csv", tmp_path / "clicks.mbauc"
    table.write_text("click,query,x,z\n" + "".join(f"{a},q{b},{c:.4f},{d:.4f}\n" for a, b, c, d in rows))
    words = ("--label", "click", "--group", "query", "-o", out)
    printed = told(capsys, "fit", table, *words).out
    model = load_model(out)
    assert model.terms.features.names == ("x", "z")
    assert model.group == "query"
    assert "curves: held-out AUC" in model.trained_on["choice"]
    tested = model.trained_on["tested"]
    assert f"test AUC    {tested['within_groups']:.4f} (95% interval" in printed
    assert f"within {tested['groups']} groups, on" in printed
    assert "over all pairs" in printed
    assert tested["within_groups"] > 0.75 > tested["auc"]
    assert "logistic regression" not in printed
    told(capsys, "fit", table, *words, "--equal-groups", "--force")
    assert load_model(out).terms is None  # straight lines
    assert load_model(out).settings["equal_groups"]
