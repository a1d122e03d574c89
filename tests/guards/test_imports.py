"""Imports run one way, and private names stay in their modules; known exceptions are listed exactly."""

import ast

import pytest
from imports import EXCEPTIONS, LAYERS, ON_TOP, cycles, home, modules, private_uses, violations


def test_the_exceptions_are_exact():
    listed = EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    found = violations()
    new = [line for line in found if line not in listed]
    gone = [line for line in listed if line not in found]
    if new or gone or listed != sorted(set(listed)):
        lines = [
            "violations that are not listed:",
            *new,
            "listed ones that no longer occur; delete them:",
            *gone,
        ]
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_module_has_a_layer():
    found = modules()
    known = {name for layer in LAYERS for name in layer} | {ON_TOP, ""}
    assert sorted(name for name in found if home(name) not in known) == []


def test_private_names_of_others_are_seen_and_own_ones_are_not():
    tree = ast.parse("def f(x):\n    x._theirs\n    x._own\n    x._replace(a=1)\nclass A:\n    _own = 1")
    assert list(private_uses(tree)) == ["x._theirs"]


def test_cycles_are_seen_through_functions():
    found = {
        "mbauc.rows.a": ast.parse("def f():\n    from mbauc.rows import b"),
        "mbauc.rows.b": ast.parse("if TYPE_CHECKING:\n    from mbauc.rows.a import A"),
        "mbauc.rows": ast.parse(""),
    }
    assert list(cycles(found, set())) == ["mbauc.rows.a -> mbauc.rows.b -> mbauc.rows.a"]
