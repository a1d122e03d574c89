"""Real data sets for tests: in the folder that MBAUC_DATA names, or in ``shared/data`` beside the checkout."""

import os
from pathlib import Path

import pytest

FOLDERS = [
    Path(folder)
    for folder in (os.environ.get("MBAUC_DATA"), Path(__file__).parents[2] / "shared" / "data")
    if folder and Path(folder).is_dir()
]


@pytest.fixture
def shared_folder(request):
    """Gives the first folder for which ``holds(folder)`` is true; skips the test where there is none."""

    def find(holds, what):
        assert request.node.get_closest_marker("data"), "mark a test of real data with pytest.mark.data"
        for folder in FOLDERS:
            if holds(folder):
                return folder
        return pytest.skip(f"{what} is not here: set MBAUC_DATA to its folder")

    return find


@pytest.fixture
def shared_file(shared_folder):
    """Gives a file of a real data set by its name; skips the test where it is missing."""
    return lambda name: shared_folder(lambda folder: (folder / name).exists(), name) / name
