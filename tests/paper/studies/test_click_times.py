import pytest

from mbauc.paper.studies.clicks import figure5, times
from mbauc.paper.studies.clicks.times import METHODS, Settings, Times, run

pytest.importorskip("matplotlib")


def test_times_are_kept_and_scaled_up_where_rows_are_few(tmp_path, monkeypatch):
    settings = Settings(rows=4000, parts=(2, 1), repeats=2)
    found = run(settings, tmp_path, shapes=("criteo",), n_jobs=1)
    assert found.sizes("criteo") == [2000, 4000]
    assert found.threads == [1]
    assert len(found.records) == 4
    seconds = found.seconds_of("criteo", 4000, "mba")
    assert seconds > 0
    assert found.estimate("criteo", "mba") == (pytest.approx(seconds * 45_800_000 / 4000), False)
    page = figure5.page(found)
    assert "| Criteo | 45,800,000 |" in page
    assert "| estimate | under 3,600 s |" in page
    assert "median of 2 runs" in page

    journal = tmp_path / "click_times.ledger"
    journal.write_bytes(journal.read_bytes()[:-20])
    fits = []
    monkeypatch.setattr(
        times,
        "time_methods",
        lambda one, *_: fits.append(one.n_fit) or dict.fromkeys([*METHODS, "data"], 7.0),
    )
    again = run(settings, tmp_path, shapes=("criteo",), n_jobs=1)
    assert fits == [1800, 4000]  # to warm up, and the one that was lost
    assert again.seconds_of("criteo", 2000, "exact") == found.seconds_of("criteo", 2000, "exact")


def test_as_many_rows_as_the_paper_has_are_measured():
    settings = Settings(rows=10**8, parts=(1,))
    assert settings.sizes("avazu-app") == [12_600_000]
    record = {
        "seconds": 250.0,
        "threads": 2,
        "load": 0.5,
        "machine": "Abacus, 2 cores",
        "by_method": dict.fromkeys([*METHODS, "data"], 50.0),
    }

    def with_load(load):
        return Times(settings, {("avazu-app", 12_600_000, 0): record | {"load": load}})

    assert with_load(0.5).estimate("avazu-app", "exact") == (50.0, True)
    page = figure5.page(with_load(0.5))
    assert "| measured | not stated |" in page
    assert "Run on Abacus, 2 cores. Load of the machine: 0.5 to 0.5" in page
    assert "figure5 --full" in page
    assert "(one run with the paper's number of rows)" in page
    assert "estimate" not in page
    assert "It was busy" not in page
    assert "It was busy with other things" in figure5.page(with_load(1000.0))
    assert "is not known" in figure5.page(with_load(None))


def test_the_papers_sizes_are_timed_once_in_the_same_journal(tmp_path, monkeypatch):
    settings = Settings(rows=2000, parts=(1,), repeats=2)
    run(settings, tmp_path, shapes=("avazu-app",), n_jobs=1)
    fits = []

    def timed(clicks, *_):
        fits.append(clicks.n_fit)
        return dict.fromkeys([*METHODS, "data"], 7.0)

    monkeypatch.setattr(times, "time_methods", timed)
    found = run(settings, tmp_path, shapes=("avazu-app",), n_jobs=1, full=True)
    assert fits == [1800, 12_600_000]  # to warm up, and the paper's
    assert found.sizes("avazu-app") == [2000, 12_600_000]
    assert found.is_full("avazu-app")
    assert len(found.records) == 3
    run(settings, tmp_path, shapes=("avazu-app",), n_jobs=1, full=True)
    assert len(fits) == 2
    paths = figure5.render(found, tmp_path)
    assert all(path.stat().st_size for path in paths)
    assert not run(settings, tmp_path, shapes=("avazu-app",), n_jobs=1).is_full("avazu-app")
