"""Docstrings of public names state the parameters of the signature, in its order, with their defaults."""

import inspect
import re
from importlib import import_module

import pytest
from public_api import MODULES

pytest.importorskip("dask", reason="needs mbauc[dask]")
pytest.importorskip("pyspark", reason="needs mbauc[spark]")
pytest.importorskip("matplotlib", reason="needs mbauc[plots]")


def public_callables():
    """Functions, classes and their methods, each once."""
    found = {}
    for name in MODULES:
        module = import_module(name)
        for each in getattr(module, "__all__", ()):
            value = getattr(module, each)
            found[f"{name}.{each}"] = value
            if inspect.isclass(value):
                for key in vars(value):
                    if not key.startswith("_") and inspect.isroutine(getattr(value, key)):
                        found[f"{name}.{each}.{key}"] = getattr(value, key)
    return {path: value for path, value in found.items() if callable(value)}


def documented(doc):
    """Parameters of a docstring and what is said of their types; several of one entry have None."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n?\w[\w ]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    found = {}
    for line in (section[1] if section else "").splitlines():
        if entry := re.match(r"([\w*][\w*, ]*?)(?: : (.*))?$", line):
            names = [name.strip("* ") for name in entry[1].split(",")]
            found |= dict.fromkeys(names, entry[2] if len(names) == 1 else None)
    return found


def check(path, value):
    doc = inspect.getdoc(value) or ""
    told = documented(doc)
    try:
        parameters = inspect.signature(value).parameters
    except ValueError:
        return
    if not told:
        return
    known = [name for name in parameters if name != "self"]
    yield from (f"{path}: {name} is documented and not there" for name in told if name not in known)
    order = [name for name in known if name in told]
    if order != [name for name in told if name in known]:
        yield f"{path}: documented as {', '.join(told)}, taken as {', '.join(order)}"
    for name in order:
        default, kind = parameters[name].default, told[name]
        stated = kind and re.search(r", default=(.+)$", kind)
        if stated and default is inspect.Parameter.empty:
            yield f"{path}: {name} has no default"
        elif stated and stated[1] != repr(default).replace("'", '"'):
            yield f"{path}: {name} is {default!r} by default, not {stated[1]}"
        elif kind and not stated and isinstance(default, (str, int, float)) and "default" not in kind:
            yield f"{path}: the default of {name}, {default!r}, is not stated"


def test_documented_parameters_are_those_of_the_signature():
    callables = public_callables()
    assert len(callables) > 300
    faults = [fault for path, value in callables.items() for fault in check(path, value)]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def test_the_check_finds_what_is_wrong():
    def right(a, b=1):
        """Say.

        Parameters
        ----------
        a : int
        b : int, default=1
            More.

        Returns
        -------
        None
        """

    def wrong(b=1, a=2, c="x"):
        """Say.

        Parameters
        ----------
        a : int
        b : int, default=2
        d : int
        c : str
        """

    assert list(check("right", right)) == []
    assert [fault.split(": ")[1] for fault in check("wrong", wrong)] == [
        "d is documented and not there",
        "documented as a, b, d, c, taken as b, a, c",
        "b is 1 by default, not 2",
        "the default of a, 2, is not stated",
        "the default of c, 'x', is not stated",
    ]
