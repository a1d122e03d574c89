"""The public annotations are what a typed user expects, and they are true."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import user_program

PROGRAM = Path(user_program.__file__)


@pytest.mark.slow
def test_a_typed_program_passes_mypy_and_its_mistakes_do_not(request):
    pytest.importorskip("mypy")
    # the settings, the files and so the cache of plain 'mypy'
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--warn-unused-ignores", "src", str(PROGRAM)],
        capture_output=True,
        text=True,
        cwd=request.config.rootpath,
        env={**os.environ, "MYPYPATH": "src"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((2000, 2))
    return X, (X[:, 0] + rng.standard_normal(2000) > 0.5).astype(np.int8)


def test_what_the_program_assumes_of_arrays_is_so(rows):
    X, y = rows
    scores = user_program.fit_linear(X, y)
    assert scores.dtype == np.float64
    assert isinstance(user_program.cross_validate(X, y), float)
    assert isinstance(user_program.fit_curves(X, y), str)
    assert isinstance(user_program.raise_alarms(X, y), float)
    assert user_program.merge(X, y).n_features == 2
    low, high = user_program.measure(y, scores)
    assert isinstance(low, float)
    assert low < high


def test_what_the_program_assumes_of_metrics_losses_and_solvers_is_so(rows):
    X, y = rows
    scores = X[:, 0]
    assert user_program.measure_groups(y, scores, np.arange(2000) // 100).n_groups == 20
    assert user_program.compare_methods(scores[:9], X[:9, 1]).wins in (0, 1)
    assert user_program.make_features(X, y).gamma > 0
    assert all(value > 0 for value in user_program.lower_losses(y == 1, scores))
    light, extreme = user_program.boost(y, scores)
    assert callable(light)
    assert callable(extreme)
    assert user_program.solve(user_program.merge(X, y)).coef.shape == (2,)
    assert user_program.repeat_the_paper(X, y).false_alarm == pytest.approx(0.1)
    assert isinstance(user_program.advise(), str)
    assert len(user_program.silence()) > 5


def test_what_the_program_assumes_of_tables_and_files_is_so(rows, tmp_path):
    X, y = rows
    pytest.importorskip("pyarrow")
    assert isinstance(user_program.rank_table({"a": X[:, 0], "b": X[:, 1]}, y, tmp_path), str)
    csv, libsvm = tmp_path / "rows.csv", tmp_path / "rows.libsvm"
    np.savetxt(
        csv, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="", fmt=["%.17g", "%.17g", "%d"]
    )
    libsvm.write_text("".join(f"{label} 1:{a} 2:{b}\n" for label, (a, b) in zip(y, X.tolist(), strict=True)))
    assert user_program.read_files(csv, libsvm).n_features_in_ == 2
    assert user_program.keep_model(csv, tmp_path / "rows.mbauc").n_features == 2


def test_what_the_program_assumes_of_displays_is_so(rows):
    pytest.importorskip("matplotlib")
    X, y = rows
    assert user_program.show(y, X[:, 0]).startswith("<!")
    apart = (X[:, 0] * X[:, 1] > 0).astype(np.int8)
    user_program.draw(user_program.AdditiveAUCClassifier("interactions").fit(X, apart), X, apart)
