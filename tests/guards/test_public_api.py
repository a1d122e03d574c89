"""The public names and signatures are those of the snapshot."""

import difflib

import pytest
from public_api import SNAPSHOT, snapshot

pytest.importorskip("dask", reason="needs mbauc[dask]")
pytest.importorskip("pyspark", reason="needs mbauc[spark]")
pytest.importorskip("matplotlib", reason="needs mbauc[plots]")


def test_public_names_and_signatures_are_those_of_the_snapshot():
    before, now = SNAPSHOT.read_text(encoding="utf-8").splitlines(), snapshot().splitlines()
    changes = list(difflib.unified_diff(before, now, "snapshot", "now", lineterm="", n=1))
    if changes:
        head = "the public names have changed. If this is meant, run: python tests/guards/public_api.py"
        pytest.fail("\n".join([head, *changes]), pytrace=False)
