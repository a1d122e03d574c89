import threading

import pytest

from mbauc.errors import CheckpointError, NotAvailableError
from mbauc.paper.study import Results, Study, describe_origin, load_available

DEPENDS_ON = {"seed": 0}


def study_in(folder):
    return Study(folder / "new", "numbers", ("dataset", "number"), DEPENDS_ON)


def run(study, perform, *stages, **more):
    return study.run(perform, *stages, **{"n_jobs": 1, "what": "numbers", "unit": "number", **more})


def test_records_have_their_key_and_come_back_in_the_order_asked_for(tmp_path):
    found = run(study_in(tmp_path), lambda name, number: {"square": number**2}, [("a", 3), ("a", 2)])
    assert [(key, record["square"]) for key, record in found.items()] == [(("a", 3), 9), (("a", 2), 4)]
    assert found["a", 3].keys() == {"dataset", "number", "seconds", "square"}
    assert study_in(tmp_path).records == found


def test_what_is_done_is_not_done_again_and_what_was_not_asked_for_is_not_returned(tmp_path):
    run(study_in(tmp_path), lambda name, number: {"square": number**2}, [("a", 1), ("a", 2)])
    calls = []

    def perform(name, number):
        calls.append((name, number))
        return {"square": number**2}

    found = run(study_in(tmp_path), perform, [("a", 2), ("a", 3)])
    assert calls == [("a", 3)]
    assert list(found) == [("a", 2), ("a", 3)]


def test_some_tasks_are_done_again_and_their_later_record_counts(tmp_path):
    run(study_in(tmp_path), lambda name, number: {"time": "first"}, [("a", 1), ("a", 2)])
    found = run(
        study_in(tmp_path),
        lambda name, number: {"time": "second"},
        [("a", 1), ("a", 2)],
        again=lambda _, n: n == 2,
    )
    assert [record["time"] for record in found.values()] == ["first", "second"]
    assert study_in(tmp_path).records == found


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_stage_is_finished_before_the_next_begins(tmp_path, n_jobs):
    study = study_in(tmp_path)

    def perform(name, number):
        return {"before": sorted(key[1] for key in study.records) if number >= 10 else []}

    found = run(study, perform, [("a", n) for n in range(5)], [("a", 10)], n_jobs=n_jobs)
    assert found["a", 10]["before"] == [0, 1, 2, 3, 4]


def test_a_task_that_fails_leaves_the_others_done(tmp_path):
    started = threading.Barrier(2, timeout=10)

    def perform(name, number):
        if number < 2:
            started.wait()
        if number == 1:
            raise RuntimeError("no such number")
        return {}

    with pytest.raises(RuntimeError, match="no such number"):
        run(study_in(tmp_path), perform, [("a", n) for n in range(50)], n_jobs=2)
    done = set(study_in(tmp_path).records)
    assert ("a", 1) not in done
    assert ("a", 0) in done
    assert len(done) < 49  # nothing new is started after an error


def test_other_settings_and_other_data_are_refused(tmp_path):
    study = study_in(tmp_path)
    run(study, lambda name, number: {"data": "crc"}, [("a", 1)])
    study.check_data("a", "crc")
    study.check_data("b", "anything")
    with pytest.raises(
        CheckpointError, match=r"numbers\.ledger has results of other files of The A\. Delete it"
    ):
        study.check_data("a", "other", "The A")
    with pytest.raises(CheckpointError, match=r"other settings \(seed was 0, now 1\)"):
        Study(tmp_path / "new", "numbers", ("dataset", "number"), {"seed": 1})


def test_the_bar_counts_sizes_and_those_of_what_was_done_before(tmp_path, monkeypatch):
    counted = []

    class Bar:
        def __enter__(self):
            return counted.append

        def __exit__(self, *_):
            pass

    totals = []
    monkeypatch.setattr("mbauc.paper.study.progress", lambda total, *_, **__: totals.append(total) or Bar())
    run(study_in(tmp_path), lambda *_: {}, [("a", 10)], size=lambda name, number: number)
    run(study_in(tmp_path), lambda *_: {}, [("a", 10), ("a", 7)], size=lambda name, number: number)
    assert totals == [10, 17]
    assert counted == [0, 10, 10, 7]


def test_what_is_not_there_is_named_and_nothing_at_all_is_an_error():
    def load(name):
        if name == "b":
            raise NotAvailableError("b is far away")
        if name == "c":
            raise ImportError("c needs more")
        return name.upper()

    assert load_available("abc", load) == ({"a": "A"}, {"b": "b is far away", "c": "c needs more"})
    with pytest.raises(NotAvailableError, match=r"^b is far away$"):
        load_available("b", load)
    with pytest.raises(NotAvailableError, match=r"none of b, c is available\. .*--data-dir"):
        load_available("bc", load)


def test_results_know_how_long_they_took():
    assert Results(None, {("a",): {"seconds": 2.0}, ("b",): {"seconds": 0.5}}).seconds == 2.5
    assert describe_origin(3, 600).startswith("Seed 3; python 3.")
    assert describe_origin(3, 600).endswith("; 10 minutes of computing, all threads together.")
    assert describe_origin(3, 90, elapsed=True).endswith("; 1.5 minutes by the clock.")
