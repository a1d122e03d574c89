"""Made-up files with right checksums: accepted, or refused in words; mutate.py tries more of them."""

import warnings
from collections import Counter

import pytest
from mutate import tried

from readers import make_seeds

COUNT = 240
# what a made-up file is warned of does not matter here
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_seeds(tmp_path_factory.mktemp("seeds"))


def test_there_are_good_files_of_each_kind(seeds):
    assert {seed.kind for seed in seeds} == {"model", "moments", "state", "cache"}
    assert any(seed.name.endswith("solver.state") for seed in seeds)
    assert any(seed.name.endswith(".partial") for seed in seeds)


def test_made_up_files_are_accepted_or_refused_in_words(seeds, tmp_path):
    outcomes = [tried(seeds, number, 2026, tmp_path) for number in range(COUNT)]
    assert [told for told in outcomes if told["outcome"] == "raw"] == []
    counts = Counter(told["outcome"] for told in outcomes)
    assert counts["refused"] > COUNT / 3
    assert counts["accepted"] > COUNT / 20
    assert max(len(told["message"]) for told in outcomes) < 1000
