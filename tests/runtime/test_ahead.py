import threading

import pytest

from mbauc.runtime.ahead import map_ahead, one_ahead


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


# -- tasks over a generator --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_mapped_results_come_in_order_and_few_ahead(n_threads):
    pulled = []

    def items():
        for k in range(50):
            pulled.append(k)
            yield k

    for k, result in enumerate(map_ahead(lambda k: k * k, items(), n_threads)):
        assert result == k * k
        assert len(pulled) <= k + n_threads


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_error_of_a_task_is_raised_in_its_place(n_threads):
    results = map_ahead(lambda k: 1 // (3 - k), (k for k in range(10)), n_threads)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_errors_of_the_generator_come_after_the_results_before_it(n_threads):
    def items():
        yield 1
        yield 2
        raise ValueError("row 7")

    results = map_ahead(lambda k: -k, items(), n_threads)
    assert [next(results), next(results)] == [-1, -2]
    with pytest.raises(ValueError, match="row 7"):
        next(results)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_error_of_an_earlier_task_comes_before_that_of_the_generator(n_threads):
    def items():
        yield 0
        raise ValueError("row 7")

    with pytest.raises(ZeroDivisionError):
        next(map_ahead(lambda k: 1 // k, items(), n_threads))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_who_stops_a_map_early_closes_its_items(n_threads):
    closed = []

    def items():
        try:
            while True:
                yield None
        finally:
            closed.append(True)

    results = map_ahead(lambda _: threading.current_thread(), items(), n_threads)
    thread = next(results)
    results.close()
    assert closed
    if n_threads > 1:
        thread.join(10)
        assert not thread.is_alive()
