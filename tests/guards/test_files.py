"""Files of earlier versions are read with the same result, or refused in words."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from fits import sparse
from make_files import READERS, SETTINGS, interrupted_gram, libsvm_text, make_moments, resume, rows_of

from mbauc import MBAClassifier, PairMoments, errors
from mbauc.cli.main import main

FILES = Path(__file__).parent / "files"
NAMES = sorted(path.name for path in FILES.iterdir() if path.suffix in READERS)
SAID = np.load(FILES / "results")
#: Files of formats that were given up before the first release. All others must be read.
GIVEN_UP = {
    *("table.mbauc", "table-bare.mbauc", "table-armed.mbauc", "libsvm.mbauc", "libsvm-bare.mbauc"),
    *("exact.moments.npz", "sampled.moments.npz", "gram.checkpoint", "matrix-free.checkpoint"),
}
#: How a message says what to do.
REMEDY = re.compile(
    r"\b(delete (it|the folder|that file|the file)|choose another|"
    r"(write|train|fit|make|save) (it |the moments )?again|"
    r"(read|resume|go on with|open) (it with )?(the mbauc|a newer|version))\b",
    re.IGNORECASE,
)


def refusal(read, path, **options):
    """What is wrong with a file, None if it is read; any other error than those of the package is raised."""
    try:
        return None, read(path, **options)
    except (errors.ModelFileError, errors.MomentFileError, errors.CheckpointError) as error:
        return str(error), None


@pytest.fixture
def place(tmp_path):
    """A copy: a fit that goes on changes its folder."""
    return Path(shutil.copytree(FILES, tmp_path / "files"))


def test_there_is_a_file_of_each_kind():
    assert len(NAMES) == 9
    assert {name.split("/")[0] for name in SAID} == set(NAMES)
    assert SAID["table-armed.mbauc/threshold"] == -0.125
    assert SAID["table.mbauc/has_moments"]
    assert not SAID["libsvm-bare.mbauc/has_moments"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_or_refused(place, name):
    path = place / name
    wrong, found = refusal(READERS[path.suffix], path)
    assert (wrong is not None) == (name in GIVEN_UP)
    if wrong is not None:
        assert str(path) in wrong
        assert REMEDY.search(wrong)
        return
    for key, value in found.items():
        stored = SAID[f"{name}/{key}"]
        # what is computed now rounds as this machine does
        if key == "scores" or path.suffix == ".checkpoint":
            np.testing.assert_allclose(value, stored, rtol=0, atol=1e-9 * np.abs(stored).max())
        else:
            np.testing.assert_array_equal(value, stored)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".checkpoint")])
def test_a_checkpoint_of_other_rows_is_not_passed_over(place, name):
    # a fit that took no notice of the folder would give the right weights as well
    wrong, _ = refusal(resume, place / name, others=True)
    assert wrong is not None
    assert str(place / name) in wrong
    assert REMEDY.search(wrong)


def test_files_that_are_written_now_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.libsvm").write_text(libsvm_text())
    assert (
        main(["fit", "rows.libsvm", "--jobs", "1", "--hold-out", "0", "--l2", "0.5", "-o", "model.mbauc"]) == 0
    )
    make_moments(tmp_path)
    interrupted_gram(tmp_path / "gram.checkpoint")

    model = READERS[".mbauc"](tmp_path / "model.mbauc")
    assert model["has_moments"]
    assert len(model["scores"]) == 240
    X, y = sparse(n=200, d=16, seed=6)
    pairs = PairMoments.from_arrays(X, y, np.arange(1, 201) / 64)
    moments = READERS[".npz"](tmp_path / "exact.moments.npz")
    np.testing.assert_array_equal(moments["mu"], pairs.mean_difference)
    np.testing.assert_array_equal(moments["sigma"], pairs.second_moment)
    wrong, _ = refusal(resume, tmp_path / "gram.checkpoint", others=True)
    assert "has changed" in wrong
    X, y = rows_of("gram")
    whole = MBAClassifier(**SETTINGS["gram"]).fit(X, y).coef_
    np.testing.assert_allclose(resume(tmp_path / "gram.checkpoint")["coef"], whole, rtol=0, atol=1e-9)
