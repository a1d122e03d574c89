"""Hashed columns with large weights say which values are behind them."""

import json

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import TableLayout, load_model
from mbauc.model.hashed_names import find_hashed_names, with_hashed_names
from mbauc.model.hold_out import HoldOut
from mbauc.model.training import Training, train
from mbauc.readers import TableSource

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    sites = rng.choice(["good", "bad", "dull"], 2000, p=[0.2, 0.2, 0.6])
    chance = np.select([sites == "good", sites == "bad"], [0.7, 0.05], 0.3)
    clicks = rng.random(2000) < chance
    path = tmp_path / "rows.csv"
    path.write_text("click,site\n" + "".join(f"{int(y)},{x}\n" for y, x in zip(clicks, sites, strict=True)))
    return path


def test_the_values_of_the_largest_weights_are_named(path, capsys):
    model = path.with_name("m.mbauc")
    assert main(["fit", str(path), "--label", "click", "--hash-dim", "100", "-o", str(model)]) == 0
    capsys.readouterr()
    assert main(["inspect", str(model), "--top", "2", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["weights"]
    signs = {weight["name"].split(" ")[0]: np.sign(weight["weight"]) for weight in (first, second)}
    assert signs == {"site=good": 1, "site=bad": -1}
    assert first["name"].endswith(")")
    assert "(hash#" in first["name"]


def test_names_are_those_of_the_slots_and_are_kept_by_updates(path, tmp_path):
    source = TableSource(path, label="click", hash_dim=2)
    layout = TableLayout(source.encoding, "click")
    model, _ = train(source, layout, Training({"l2": 0.1, "solver": "gram"}, hold_out=HoldOut(0.0)))
    told = {entry["column"]: entry for entry in model.trained_on["hashed_columns"]}
    for column, contents in source.slot_contents([0, 1]).items():
        values = [f"{name}={value}" for name, value, _ in contents]
        if values:
            assert told[column]["values"] == values[: len(told[column]["values"])]
            assert told[column]["others"] == len(values) - len(told[column]["values"])
    other = tmp_path / "other.csv"
    other.write_text("click,site\n0,dull\n1,new\n")
    from mbauc.model import merge_models, save_model, update_model

    newer = update_model(model, layout.source(other, model.classes))
    assert {entry["column"] for entry in newer.trained_on["hashed_columns"]} == {*told} | {
        entry["column"] for entry in find_hashed_names(layout.source(other, model.classes), newer.coef)
    }
    assert merge_models([model, newer]).trained_on["hashed_columns"]
    save_model(newer, tmp_path / "m.mbauc")
    assert load_model(tmp_path / "m.mbauc").feature_names() == newer.feature_names()


def test_a_value_with_most_rows_is_named_alone(tmp_path):
    path = tmp_path / "rows.csv"
    sites = ["a"] * 95 + ["b", "c", "d", "e", "f"]
    path.write_text("y,site\n" + "".join(f"{k % 2},{site}\n" for k, site in enumerate(sites)))
    source = TableSource(path, label="y", hash_dim=2)
    entries = {entry["column"]: entry for entry in find_hashed_names(source, np.array([1.0, -2.0]))}
    (column,) = (column for column, entry in entries.items() if "site=a" in entry["values"])
    assert entries[column]["values"] == ["site=a"]
    assert sum(entry["others"] + len(entry["values"]) for entry in entries.values()) == 6


@pytest.mark.parametrize(
    "odd",
    [
        "text",
        [1, None, {}, {"column": "0", "values": ["x"], "others": 0}],
        [{"column": 9, "values": ["x"], "others": 0}],
        [{"column": 0, "values": ["x"], "others": 0}],
        [{"column": 1, "values": [], "others": 0}],
        [{"column": -1, "values": ["x"], "others": 0}],
    ],
    ids=range(6),
)
def test_odd_records_are_left_alone(odd):
    assert with_hashed_names(["bid", "hash#0"], {"hashed_columns": odd}) == ["bid", "hash#0"]
