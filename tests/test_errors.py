"""Advice stays data: through sums, errors, warnings and pickle."""

import pickle
import warnings

import pytest

from mbauc.errors import Advice, CheckpointError, DataWarning


def as_option(name, *value):
    if name == "tol":
        raise LookupError(name)
    return " ".join([f"--{name}", *map(str, value)])


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"l2": ...}, "l2=…"),
        ({"names": [...]}, "names=[…]"),
        ({"types": {"depth": ..., "Ellipsis": "id"}}, "types={'depth': …, 'Ellipsis': 'id'}"),
        ({"positive": "it's"}, 'positive="it\'s"'),
        ({"signed": True}, "signed=True"),
    ],
)
def test_python_reads_arguments(arguments, wanted):
    (name,) = arguments
    assert Advice(f"Pass {{{name}}}.", **arguments) == f"Pass {wanted}."
    assert Advice(f"Check {{{name}}}.") == f"Check {name}."


def test_texts_before_and_behind():
    said = "{a} fact. " + Advice("Pass {l2}", l2=1) + ", {b}. " + Advice("Or {l1}.", l1=2)
    assert said == "{a} fact. Pass l2=1, {b}. Or l1=2."
    assert said.for_command(as_option) == "{a} fact. Pass --l2 1, {b}. Or --l1 2."
    assert said.fact == "{a} fact. , {b}."
    assert Advice("Pass {tol}.", tol=1).for_command(as_option) == ""


@pytest.mark.parametrize("kind", [ValueError, CheckpointError, KeyboardInterrupt, DataWarning])
def test_errors_keep_it(kind):
    error = kind("it failed. " + Advice("Pass {l2}.", l2=1))
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one) == "it failed. Pass l2=1."
        assert str(one).for_command(as_option) == "it failed. Pass --l2 1."
        assert ("in a block: " + str(one)).for_command(as_option) == "in a block: it failed. Pass --l2 1."


def test_warnings_keep_it():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn("odd. " + Advice("Pass {l2}.", l2=1), DataWarning, stacklevel=1)
    assert str(told[0].message).for_command(as_option) == "odd. Pass --l2 1."
