import os

import numpy as np
import pytest
from trained_models import plain_model, table_model

from mbauc.model import LibsvmLayout, RankerModel
from mbauc.model.export import to_vw


def read(path):
    """Bits, and the lines behind the head as (name, index, weight)."""
    head, _, lines = path.read_text(encoding="utf-8").partition("\n:0\n")
    bits = int(next(line for line in head.split("\n") if line.startswith("bits:"))[5:])
    parts = [line.rsplit(":", 2) for line in lines.splitlines()]
    return bits, [(name, int(index), float(weight)) for name, index, weight in parts]


def model_of(coef, first=1, intercept=0.25):
    layout = LibsvmLayout(len(coef), zero_based=first == 0)
    return RankerModel(layout, (0, 1), np.asarray(coef), intercept, 1.0, 0.0, 1.0)


@pytest.mark.parametrize("first", [0, 1])
def test_weights_come_back_to_the_bit(tmp_path, first):
    coef = np.random.default_rng(0).normal(size=50)
    coef[7] = 0.0
    to_vw(model_of(coef, first), tmp_path / "a.txt")
    bits, lines = read(tmp_path / "a.txt")
    assert bits == 18
    assert lines[0] == ("Constant", 116060, 0.25)
    assert lines[1:] == [(str(k + first), k + first, coef[k]) for k in range(50) if k != 7]


def test_names_of_a_table_are_kept_apart_from_the_separators(tmp_path):
    (tmp_path / "t.csv").write_text('y,"a b:c|d%"\n0,"x: y"\n1,ü\n0,"x: y"\n')
    from mbauc import MBAClassifier
    from mbauc.data import TableSource
    from mbauc.model import TableLayout

    source = TableSource(tmp_path / "t.csv", label="y", encode="onehot")
    ranker = MBAClassifier(l2=1.0).fit_source(source)
    to_vw(RankerModel.of(ranker, TableLayout(source.encoding, "y"), (0, 1)), tmp_path / "a.txt")
    _, lines = read(tmp_path / "a.txt")
    assert [name for name, _, _ in lines] == [
        "Constant",
        "a%20b%3Ac%7Cd%25=x%3A%20y",
        "a%20b%3Ac%7Cd%25=ü",
    ]
    assert all(line.count(":") == 2 for line in (tmp_path / "a.txt").read_text().splitlines()[4:])


def test_scores_follow_from_the_lines(tmp_path):
    model = table_model(tmp_path, encode="hash", hash_dim=500)
    to_vw(model, tmp_path / "a.txt")
    _, lines = read(tmp_path / "a.txt")
    weights = {index: weight for _, index, weight in lines}
    (block,) = model.layout.source(tmp_path / "table.csv", model.classes)
    X = block.X[:40]
    s = [
        weights[116060]
        + sum(
            value * weights.get(int(column), 0.0) for column, value in zip(row.indices, row.data, strict=True)
        )
        for row in (X[[k]] for k in range(40))
    ]
    np.testing.assert_allclose(s, model.score(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("columns", "bits"),
    [(116_059, 18), (116_060, 21), (1_164_635, 21), (1_164_636, 22)],
)
def test_the_constant_has_a_place_of_its_own(tmp_path, columns, bits):
    to_vw(model_of(np.r_[np.zeros(columns - 1), 1.0]), tmp_path / "a.txt")
    found, lines = read(tmp_path / "a.txt")
    assert found == bits
    indices = [index for _, index, _ in lines]
    assert indices == [11_650_396 % 2**bits, columns]
    assert indices[0] > columns
    assert max(indices) < 2**bits


def test_too_many_columns_are_refused(tmp_path):
    model = model_of([1.0])
    object.__setattr__(model, "coef", np.broadcast_to(0.0, 11_650_396))
    with pytest.raises(ValueError, match="keeps its constant at"):
        to_vw(model, tmp_path / "a.txt")
    assert not (tmp_path / "a.txt").exists()


def test_the_same_model_gives_the_same_bytes_and_the_old_file_is_kept(tmp_path, monkeypatch):
    for name in ("a", "b"):
        to_vw(plain_model(), tmp_path / name)
    before = (tmp_path / "a").read_bytes()
    assert before == (tmp_path / "b").read_bytes()

    def broken(number):
        raise OSError("broken")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="broken"):
        to_vw(plain_model(seed=1), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == before


@pytest.mark.parametrize("first", [0, 1])
def test_vowpal_wabbit_gives_our_scores_with_these_weights(tmp_path, first):
    """It reads no text weights, so it learns each line as a row: one step of size ½ goes all the way."""
    wabbit = pytest.importorskip("vowpalwabbit", reason="vowpalwabbit is not installed")
    rng = np.random.default_rng(0)
    model = model_of(rng.normal(size=30), first, intercept=-0.75)
    to_vw(model, tmp_path / "a.txt")
    bits, lines = read(tmp_path / "a.txt")
    exact = f"--sgd -l 0.5 --power_t 0 --noconstant -b {bits}"
    teacher = wabbit.Workspace(f"{exact} --quiet -f {tmp_path}/model --invert_hash {tmp_path}/inverse")
    for _, index, weight in lines:
        teacher.learn(f"{weight!r} | {index}")
    for largest in (-1000, 1000):  # it predicts nothing beyond the labels that it has seen
        teacher.learn(f"{largest} | {2**bits - 1}")
    teacher.finish()
    theirs = (tmp_path / "inverse").read_text().splitlines()
    for name, index, weight in lines:
        line = next(line for line in theirs if line.startswith(f"{index}:{index}:"))
        assert float(line.split(":")[2].split()[0]) == pytest.approx(weight, rel=1e-5)
        assert name in ("Constant", str(index))
    scorer = wabbit.Workspace(f"--quiet -t -i {tmp_path}/model")
    X = rng.normal(size=(20, 30)) * (rng.random((20, 30)) < 0.4)
    constant = lines[0][1]
    for row, s in zip(X.tolist(), model.score(X), strict=True):
        entries = " ".join(f"{column + first}:{value!r}" for column, value in enumerate(row) if value)
        assert scorer.predict(f"| {constant}:1 {entries}") == pytest.approx(s, abs=1e-5)
    scorer.finish()


def test_vowpal_wabbit_keeps_its_constant_where_we_say(tmp_path):
    wabbit = pytest.importorskip("vowpalwabbit", reason="vowpalwabbit is not installed")
    for bits in (18, 19, 20, 24):
        learner = wabbit.Workspace(f"--quiet -b {bits} --invert_hash {tmp_path}/inverse")
        learner.learn("1 | 3:2")
        learner.finish()
        lines = (tmp_path / "inverse").read_text().splitlines()
        assert any(line.startswith(f"Constant:{11_650_396 % 2**bits}:") for line in lines)
        assert any(line.startswith("3:3:") for line in lines)
