import threading

import pytest

from mbauc.runtime.ahead import compute_ahead, one_ahead


def test_the_next_item_is_made_while_one_is_used():
    made = [threading.Event() for _ in range(3)]

    def items():
        for number, event in enumerate(made):
            event.set()
            yield number

    ahead = one_ahead(items())
    assert next(ahead) == 0
    assert made[1].wait(timeout=60)
    assert not made[2].is_set()
    assert list(ahead) == [1, 2]


def test_an_error_comes_where_its_item_would():
    def items():
        yield None
        raise ValueError("row 7")

    ahead = one_ahead(items())
    assert next(ahead) is None
    with pytest.raises(ValueError, match="row 7"):
        next(ahead)


def test_who_stops_early_closes_the_items():
    closed = []

    def items():
        try:
            while True:
                yield threading.current_thread()
        finally:
            closed.append(True)

    ahead = one_ahead(items())
    thread = next(ahead)
    ahead.close()
    assert closed
    thread.join(10)  # it is not waited for, but ends by itself
    assert not thread.is_alive()


# -- results in order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order_and_few_ahead(n_threads):
    started = []
    results = compute_ahead(lambda k: started.append(k) or k * k, iter(range(50)), n_threads)
    for k, result in enumerate(results):
        assert result == k * k
        assert len(started) <= k + 1 + n_threads


def test_the_error_of_a_task_is_raised_in_its_place():
    def task(k):
        return 1 // (3 - k)

    results = compute_ahead(task, range(10), 2)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
