"""Real data sets for tests: in the folder that MBAUC_DATA names, or in ``shared/data`` beside the checkout."""

import os
from pathlib import Path

import pytest

FOLDERS = [
    Path(folder)
    for folder in (os.environ.get("MBAUC_DATA"), Path(__file__).parents[2] / "shared" / "data")
    if folder and Path(folder).is_dir()
]


def shared_folder(holding=""):
    """The first folder that holds a file; skips the test where there is none."""
    for folder in FOLDERS:
        if (folder / holding).exists():
            return folder
    return pytest.skip(f"{holding or 'real data'} is not here: set MBAUC_DATA to its folder")


def shared_file(name):
    """A file of a real data set; skips the test where it is missing."""
    return shared_folder(name) / name
