"""What the command line says: in its own words, and with options that the command at hand has."""

import argparse
import csv
import json
import re

import numpy as np
import pytest

from mbauc.cli import COMMANDS
from mbauc.cli.advice import OWNERS, in_options, option
from mbauc.cli.argument_types import rate
from mbauc.cli.main import main, whole_parser
from mbauc.errors import Advice
from mbauc.model import load_model

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


def told(capsys, *words, code=0):
    assert main([*map(str, words)]) == code
    return capsys.readouterr()


def table(path, negative="0", positive="1", seed=0, rows=2000, share=0.25, name="depth"):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    y = rng.random(rows) < share
    x += y
    lines = (f"{positive if a else negative},{b:.4f}\n" for a, b in zip(y, x, strict=True))
    path.write_text(f"y,{name}\n" + "".join(lines))
    return path


@pytest.fixture
def rows(tmp_path):
    return table(tmp_path / "rows.csv")


@pytest.fixture
def model(rows, tmp_path, capsys):
    told(capsys, "fit", rows, "--label", "y", "-o", tmp_path / "model.mbauc")
    return tmp_path / "model.mbauc"


# -- advice ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("positive", 2, "--positive 2"),
        ("positive", "b", "--positive b"),
        ("names", [...], "--names A,B,…"),
        ("types", {"depth": ...}, "--types depth=…"),
        ("types", {"a": "id", "b": "time"}, "--types a=id,b=time"),
        ("types", {"it's": "id"}, """--types 'it'"'"'s=id'"""),
        ("ignore", ["a", "b c"], "--ignore 'a,b c'"),
        ("l2", ..., "--l2 …"),
        ("hash_dim", 10, "--hash-dim 10"),
        ("signed", True, "--signed"),
    ],
)  # fmt: skip
def test_python_arguments_become_options(name, value, wanted):
    assert option(name, value) == wanted
    assert in_options(ValueError("so. " + Advice(f"{{{name}}}!", **{name: value}))) == f"so. {wanted}!"


def test_arguments_without_a_value_become_options():
    said = Advice("Check {names}, or pass {delimiter} ") + "(now ',')."
    assert said == "Check names, or pass delimiter (now ',')."
    assert in_options(said) == "Check --names, or pass --delimiter (now ',')."


def test_what_is_no_advice_stays_as_it_is():
    for said in ("there is no file label=1/x.csv", "Pass types={'a': 'id'}, {it says}."):
        assert in_options(ValueError(said)) == said
        assert in_options(said + Advice(" Check {label}.")) == f"{said} Check --label."


def test_other_words_for_a_command():
    said = "cut off. " + Advice("Make the source again.", command="Run it again with {memory}.", memory="4GB")
    assert in_options(said) == "cut off. Run it again with --memory 4GB."
    assert in_options("it failed. " + Advice("Call it again.", command="")) == "it failed."
    # no command has this argument
    assert in_options("it failed. " + Advice("Pass {max_iter}, or {l2}.", max_iter=9, l2=1)) == "it failed."


def test_options_that_the_command_lacks_are_those_of_another():
    said = Advice("Pass {types}.", types={"a": "category"})
    assert in_options(said, {"on_error"}) == "Pass --types a=category (of 'mbauc fit')."
    said = Advice("Use {inputs}.", inputs="entries")
    assert in_options(said, {"on_error"}) == "Use --inputs entries (of 'mbauc export')."


def test_commands_have_the_options_that_are_advised():
    commands = whole_parser()._subparsers._group_actions[0].choices
    for name, command in OWNERS.items():
        assert f"--{name.replace('_', '-')}" in commands[command]._option_string_actions, name


def test_a_third_label_is_told_with_the_option(tmp_path, capsys):
    path = tmp_path / "three.csv"
    path.write_text("y,x\n" + "0,1.5\n1,2.5\n2,3.5\n" * 5)
    said = told(capsys, "fit", path, "--label", "y", "-o", tmp_path / "m.mbauc", code=1).err
    assert "as in --positive 2;" in said
    text = tmp_path / "three.libsvm"
    text.write_text("0 1:1\n1 2:1\n2 1:1\n")
    said = told(capsys, "fit", text, "-o", tmp_path / "m.mbauc", code=1).err
    assert "--positive 2;" in said


def test_a_table_without_features_is_told_with_the_options(tmp_path, capsys):
    path = tmp_path / "ids.csv"
    path.write_text("key,y\n" + "".join(f"k{i},{i % 2}\n" for i in range(300)))
    said = told(capsys, "fit", path, "--label", "y", "-o", tmp_path / "m.mbauc", code=1).err
    assert "has no column that could be a feature" in said
    assert "--types key=category" in said
    assert "types=" not in said
    assert "label=" not in said


@pytest.mark.parametrize("missing", ["", "NA"])
@pytest.mark.parametrize("words", [[], ["--positive", "1"]])
def test_a_column_without_any_label_is_told(tmp_path, capsys, missing, words):
    path = tmp_path / "none.csv"
    path.write_text("x,y\n" + f"1.5,{missing}\n2.5,{missing}\n" * 9)
    said = told(capsys, "fit", path, "--label", "y", *words, "-o", tmp_path / "m.mbauc", code=1).err
    assert "none.csv: column 'y' holds no label in any row; AUC needs rows of both classes." in said


def test_libsvm_text_without_an_entry_is_told_without_python(tmp_path, capsys):
    path = tmp_path / "none.libsvm"
    path.write_text("1\n-1\n" * 9)
    said = told(capsys, "fit", path, "-o", tmp_path / "m.mbauc", code=1).err
    assert "no row has an entry 'index:value'" in said
    assert "n_features" not in said


def test_the_size_of_a_small_model_is_not_0(rows, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    shown = told(capsys, "fit", rows, "--label", "y", "--hash-dim", 20, "-o", out).out
    assert out.stat().st_size < 50_000
    assert f"({-(-out.stat().st_size // 1000)} kB)" in shown


def test_what_only_python_has_is_left_out(tmp_path, capsys):
    text = tmp_path / "one.libsvm"
    text.write_text("1 1:1\n1 2:1\n")
    said = told(capsys, "fit", text, "-o", tmp_path / "m.mbauc", code=1).err
    assert said == "mbauc: all rows have the label 1; two labels are needed.\n"


def test_score_advises_what_it_has(model, tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("depth,x\n1.5,1\ndeep,1\n")
    said = told(capsys, "score", model, bad, "-o", tmp_path / "s.csv", code=1).err
    assert "--types depth=category (of 'mbauc fit')" in said
    assert "--on-error skip" in said
    assert "=[" not in said
    assert "={" not in said


@pytest.fixture
def no_plan(monkeypatch):
    """Plans are not made: that takes its time for a thousand columns."""

    def refuse(*_, **__):
        raise ValueError("no plan today")

    monkeypatch.setattr("mbauc.paper.theory.plan_pairs", refuse)


def test_the_advice_of_plan_works(tmp_path, capsys, monkeypatch, no_plan):
    path = tmp_path / "wide.csv"
    path.write_text("y,user,bid\n" + "".join(f"{k % 2},u{k % 1200},{k / 7:.3f}\n" for k in range(3000)))
    monkeypatch.setattr("mbauc.paper.commands.plan._WIDE", 1001)
    words = ["plan", path, "--label", "y", "--rows", 300]
    said = told(capsys, *words, "--encode", "onehot", code=1).err
    advice = re.search(r"(--encode hash --hash-dim \d+) takes", said)[1]
    assert told(capsys, *words, *advice.split(), code=1).err == "mbauc: no plan today\n"


def test_plan_advises_no_hashing_for_libsvm_text(tmp_path, capsys, monkeypatch, no_plan):
    monkeypatch.setattr("mbauc.paper.commands.plan._WIDE", 3)
    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{k % 2} {k % 5 + 1}:1 {k % 7 + 6}:1\n" for k in range(40)))
    said = told(capsys, "plan", path, code=1).err
    assert "takes minutes" in said
    assert "--hash-dim" not in said


# -- labels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rare", "usual"), [("fraud", "legit"), ("bad", "good"), ("attack", "normal")])
def test_ordinary_rows_that_are_taken_as_positive_are_told(rare, usual, tmp_path, capsys):
    path, out = table(tmp_path / "rows.csv", usual, rare, share=0.05), tmp_path / "m.mbauc"
    words = ["fit", path, "--label", "y", "--hold-out", 0, "-o", out]
    shown = told(capsys, *words).out
    assert f"{usual!r} is the positive label because it sorts after {rare!r}" in shown
    assert f"--positive {rare}" in shown
    assert re.search(rf"9\d\.\d% of the rows are {usual!r}", " ".join(shown.split()))
    shown = told(capsys, *words, "--positive", rare, "--force").out
    assert "is the positive label" not in shown


def test_the_rare_word_as_positive_needs_no_word(tmp_path, capsys):
    for share in (0.1, 0.9):
        path = table(tmp_path / "rows.csv", "no", "yes", share=share)
        words = ["fit", path, "--label", "y", "--hold-out", 0, "-o", tmp_path / "m.mbauc", "--force"]
        assert "is the positive label" not in told(capsys, *words).out


def test_too_few_negatives_have_a_hint_at_swapped_labels(tmp_path, capsys):
    train = table(tmp_path / "a.csv", "legit", "fraud", share=0.06)
    new = table(tmp_path / "b.csv", "legit", "fraud", share=0.06, seed=1)
    told(capsys, "fit", train, "--label", "y", "--hold-out", 0, "-o", tmp_path / "m.mbauc")
    said = told(capsys, "threshold", tmp_path / "m.mbauc", new, "--false-alarm", 0.01, code=1).err
    assert "negative rows, got" in said
    assert "--positive fraud" in said


# -- failures ----------------------------------------------------------------------------------------------


def test_failures_are_json_too(model, tmp_path, capsys):
    shown = told(capsys, "evaluate", model, tmp_path / "none.csv", "--json", code=1)
    found = json.loads(shown.out)
    assert found["exit_code"] == 1
    assert found["error"] in shown.err
    assert "none.csv" in found["error"]
    found = json.loads(told(capsys, "fit", tmp_path / "none.csv", "-o", model, "--json", code=2).out)
    assert found["exit_code"] == 2
    with pytest.raises(SystemExit) as stopped:
        main(["fit", "--json", "--hash-dim", "x"])
    assert stopped.value.code == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["exit_code"] == 2
    assert shown.err.startswith("usage: mbauc fit")
    assert "error: argument --hash-dim" in shown.err


@pytest.mark.parametrize(
    ("words", "usage", "said"),
    [
        (("fit", "a.csv", "--lable", "y", "-o", "m"), "mbauc fit", "--lable y. Did you mean --label?"),
        (("fit", "a.csv", "--lable=y", "-o", "m"), "mbauc fit", "--lable=y. Did you mean --label?"),
        (("data", "clicks", "-o", "c", "--sed", "1"), "mbauc data clicks", "--sed 1. Did you mean --seed?"),
        (("inspect", "m.mbauc", "--qqq"), "mbauc inspect", "--qqq"),
    ],
)
def test_an_option_that_a_command_does_not_have(capsys, words, usage, said):
    with pytest.raises(SystemExit) as stopped:
        main([*words])
    assert stopped.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"usage: {usage} ")
    assert shown.endswith(f"{usage}: error: unrecognized arguments: {said}\n")


def test_rows_that_all_fail_are_a_failure(model, tmp_path, capsys):
    bad, out = tmp_path / "bad.csv", tmp_path / "s.csv"
    bad.write_text("depth,x\n" + "deep,1\n" * 9)
    said = told(capsys, "score", model, bad, "--on-error", "skip", "-o", out, code=1).err
    assert "no row could be scored" in said
    assert not out.exists()
    bad.write_text("depth,x\n1.5,1\n" + "deep,1\n" * 9)
    said = told(capsys, "score", model, bad, "--on-error", "skip", "-o", out).err
    assert "9 rows were left out: 9 with" in said


def test_ids_that_a_spreadsheet_would_run_are_counted(model, tmp_path, capsys):
    rows, out = tmp_path / "ids.csv", tmp_path / "s.csv"
    ids = ['=HYPERLINK("x")', "@SUM(A1)", "+cmd|calc", "-5", "+49 30 123", "a=b", ""]
    rows.write_text("id,depth\n" + "".join('"' + name.replace('"', '""') + '",1.5\n' for name in ids))
    said = told(capsys, "score", model, rows, "--id", "id", "-o", out).err
    assert "3 values of --id begin like a formula" in said
    with open(out, newline="") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == ids
    assert "formula" not in told(capsys, "score", model, rows, "--id", "id", "-o", tmp_path / "s.parquet").err
    assert "formula" not in told(capsys, "score", model, rows, "-o", tmp_path / "t.csv").err


def test_a_model_and_itself(model, rows, capsys):
    said = told(capsys, "compare", model, model, rows, code=2).err
    assert "is given twice" in said
    assert "roc_auc" not in said
    copy = model.with_name("copy.mbauc")
    copy.write_bytes(model.read_bytes())
    shown = " ".join(told(capsys, "compare", model, copy, rows).out.split())
    assert f"{model.stem} and copy give every row the same score" in shown


# -- numbers -----------------------------------------------------------------------------------------------


def test_thresholds_are_short_and_raise_the_same_alarms(model, tmp_path, capsys):
    new = table(tmp_path / "new.csv", seed=1)
    shown = told(capsys, "threshold", model, new).out
    short = re.search(r"threshold +(-?[\d.]+):", shown)[1]
    assert len(short) < 10
    found = json.loads(told(capsys, "threshold", model, new, "--json").out)
    told(capsys, "score", model, new, "-o", tmp_path / "s.csv")
    scores = np.loadtxt(tmp_path / "s.csv", delimiter=",", skiprows=1, usecols=1)
    np.testing.assert_array_equal(scores > float(short), scores > found["threshold"])
    line = re.search(r"detections +([\d,]+) of ([\d,]+) positives, ([\d.]+)% \(95% interval", shown)
    detected, positives, share = (float(text.replace(",", "")) for text in line.groups())
    assert share == pytest.approx(100 * detected / positives, abs=0.05)


# -- help --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_descriptions_are_no_wider_than_the_terminal(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    shown = capsys.readouterr().out.split("positional arguments:")[0].split("options:")[0]
    description = shown.split("\n\n", 1)[1].splitlines()
    assert max(map(len, description)) <= 80


# -- fit's lines -------------------------------------------------------------------------------------------


def test_the_columns_fit_the_screen(tmp_path, capsys, monkeypatch):
    path = tmp_path / "long.csv"
    names = ["y", "a_column_with_quite_a_long_name", "another_column_whose_name_is_even_longer_than_that"]
    rng = np.random.default_rng(0)
    lines = (f"{k % 2},{rng.integers(50)},{rng.standard_normal():.3f}\n" for k in range(500))
    path.write_text(",".join(names) + "\n" + "".join(lines))
    for width in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = told(
            capsys, "fit", path, "--label", "y", "--hold-out", 0, "-o", tmp_path / "m.mbauc", "--force"
        ).out
        columns = shown.split("\n\n")[0].splitlines()
        assert max(map(len, columns)) <= max(width, 76)
    assert "--types another_column_whose_name_is_even_longer_than_that=category" in columns[3]


def test_fit_speaks_of_no_solver(rows, tmp_path, capsys):
    for hash_dim in (200, 10_000):  # with a Gram matrix and without
        words = ["fit", rows, "--label", "y", "--types", "depth=category", "--hash-dim", hash_dim]
        shown = told(capsys, *words, "-o", tmp_path / "m.mbauc", "--force").out
        for word in ("Σ", "gram:", "matrix-free", "moments"):
            assert word not in shown
    assert "Σ" not in told(capsys, "inspect", tmp_path / "m.mbauc").out
    inspected = json.loads(told(capsys, "inspect", tmp_path / "m.mbauc", "--json").out)
    assert "matrix-free" in inspected["trained_on"]["solver"]


def test_checkpoints_are_gone_on_from_and_left_with_a_word(rows, tmp_path, capsys):
    out, folder = tmp_path / "m.mbauc", tmp_path / "ck3"
    words = ["fit", rows, "--label", "y", "--checkpoint", folder, "-o", out]
    shown = told(capsys, *words).out
    assert "resuming from" not in shown
    assert re.search(rf"checkpoint +{folder} holds \d+ kB and is no longer needed", shown)
    assert "nothing is left to do" in told(capsys, *words, code=2).err
    assert f"resuming from {folder}" in told(capsys, *words, "--force").out
    said = told(capsys, *words, "--force", "--bins", 10, code=1).err
    assert "bins was" in said


def test_waves_of_no_numbers_are_refused_in_options(tmp_path, capsys):
    path = tmp_path / "texts.csv"
    path.write_text("y,site\n" + "".join(f"{k % 2},{'abc'[k % 3]}\n" for k in range(90)))
    said = told(
        capsys, "fit", path, "--label", "y", "--features", "fourier", "-o", tmp_path / "m.mbauc", code=1
    ).err
    assert "--features fourier needs numeric columns; there are none. Use --features auto." in said


def test_rows_that_all_fail_say_so_in_a_test_too(model, tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("y,depth,x\n" + "1,deep,1\n" * 9)
    label = load_model(model).layout.label
    bad.write_text(bad.read_text().replace("y,", f"{label},", 1))
    said = told(capsys, "evaluate", model, bad, "--on-error", "skip", code=1).err
    assert "there are no rows to test on. 9 rows were left out: 9 with" in said


def test_files_without_rows_or_with_one_class_are_told(model, tmp_path, capsys):
    empty = tmp_path / "empty.csv"
    for text in ("y,depth\n", "y,depth", "\ufeffy,depth", '"y","depth"', "y,depth\r\n\r\n"):
        empty.write_text(text, encoding="utf-8")
        assert told(capsys, "evaluate", model, empty, code=1).err.endswith("empty.csv: there are no rows.\n")
    header, *lines = table(tmp_path / "new.csv", seed=1).read_text().splitlines(keepends=True)
    one = tmp_path / "one.csv"
    one.write_text(header + "".join(line for line in lines if line[0] == lines[0][0]))
    said = told(capsys, "calibrate", model, one, "-o", tmp_path / "c.mbauc", code=1).err
    assert "calibration needs rows of both classes" in said
    shown = told(capsys, "threshold", model, tmp_path / "new.csv", "--top", "0").out
    assert "precision     no alarms" in shown


def test_nobody_who_tests_on_the_last_rows_is_told_to(tmp_path, capsys):
    path = table(tmp_path / "rows.csv")
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header + ",rate", *(f"{line},{k // 10}.5" for k, line in enumerate(lines))]))
    advice = "test on the last"
    fit = ("fit", path, "--label", "y", "-o", tmp_path / "m.mbauc", "--force")
    shown = " ".join(told(capsys, *fit, "--hold-out", "0.2").out.split())
    assert "'rate' drifts: its values differ in the last fifth" in shown
    assert advice in shown
    shown = " ".join(told(capsys, *fit, "--hold-out", "last").out.split())
    assert "'rate' drifts: its values differ in the last fifth" in shown
    assert advice not in shown


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("explain", "columns that identify a row, such as a user or a time: shown beside the rows (default"),
        ("score", "columns that identify a row, such as a user or a time: written beside the scores (default"),
        ("fit", "a user or a time: never features, and 'mbauc score' writes them beside the scores"),
    ],
)
def test_each_command_says_what_it_does_with_ids(capsys, command, said):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert said in " ".join(capsys.readouterr().out.split())


# -- columns that options name -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--cluster", "nope"), "there is no column for --cluster 'nope'"),
        (("--time", "nope"), "there is no column for --time 'nope'"),
        (("--cluster", "y"), "column 'y' is both --label and --cluster; choose one of the two"),
        (("--cluster", "depth", "--types", "depth=numeric"), "column 'depth' is both --cluster and --types"),
    ],
)
def test_an_option_of_fit_that_names_no_column(rows, tmp_path, capsys, words, wanted):
    said = told(capsys, "fit", rows, "--label", "y", *words, "-o", tmp_path / "m.mbauc", code=1).err
    assert wanted in said


def test_a_column_of_two_kinds_is_refused(rows, tmp_path, capsys):
    words = ("fit", rows, "--label", "y", "--types", "depth=text,depth=category", "-o", tmp_path / "m.mbauc")
    with pytest.raises(SystemExit):
        main([*map(str, words)])
    assert "expected one kind for depth, got text and category" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["group", "segment", "time"])
def test_an_option_that_names_no_column_of_rows_to_measure(model, rows, capsys, monkeypatch, name):
    def refuse(*given, **settings):
        raise RuntimeError("rows were scored")

    monkeypatch.setattr("mbauc.model.testing.score_source", refuse)
    wanted = f"there is no column for --{name} 'nope'"
    assert wanted in told(capsys, "evaluate", model, rows, f"--{name}", "nope", code=1).err
    words = ("report", rows, "--label", "y", "--score", "depth", f"--{name}", "nope")
    assert wanted in told(capsys, *words, code=1).err


@pytest.mark.parametrize("name", ["segment", "time"])
def test_libsvm_text_has_no_columns_to_measure_by(tmp_path, capsys, name):
    path, model = tmp_path / "rows.libsvm", tmp_path / "m.mbauc"
    path.write_text("".join(f"{k % 2} 1:{k % 7 + k % 2} 2:1\n" for k in range(60)))
    told(capsys, "fit", path, "-o", model)
    said = told(capsys, "evaluate", model, path, f"--{name}", "site", code=2).err
    assert f"--{name} site: LIBSVM text has no named columns" in said


def test_an_id_that_is_no_column_is_named(model, rows, tmp_path, capsys):
    said = told(capsys, "score", model, rows, "--id", "nope", "-o", tmp_path / "s.csv", code=1).err
    assert "there is no column for --id 'nope'" in said


@pytest.mark.parametrize("words", [("--l2", 1), ()])
def test_a_column_of_weights_that_leaves_no_row_is_named(tmp_path, capsys, words):
    path, y = tmp_path / "rows.csv", [0, 1] * 200
    for share, wanted in ((0, "for all rows; at least"), (1, "for all rows of class 1")):
        path.write_text("y,x,w\n" + "".join(f"{a},{k / 7:.3f},{share * (1 - a)}\n" for k, a in enumerate(y)))
        said = told(capsys, "fit", path, "--label", "y", "--weight", "w", *words, "-o", tmp_path / "m", code=1)
        assert f"the column of --weight w is zero {wanted}" in said.err
    path.write_text("y,x,w\n" + "".join(f"{a},{k / 7:.3f},0\n" for k, a in enumerate(y)))
    said = told(capsys, "report", path, "--label", "y", "--score", "x", "--weight", "w", code=1).err
    assert "the column of --weight w is zero for all rows" in said


def test_shares_may_be_percents():
    for text, value in (("5%", 0.05), ("0.1 %", 0.001), ("0.05", 0.05), ("99.9%", 0.999)):
        assert rate(text) == value
    for text in ("0%", "100%", "%", "5%%", "5", "x%", "nan%", "-5%"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"such as 0\.05 or 5%, got"):
            rate(text)
    parse = whole_parser().parse_args
    assert parse(["fit", "a.csv", "-o", "m", "--hold-out", "20%"]).hold_out == 0.2
    assert parse(["threshold", "m", "a.csv", "-o", "n", "--false-alarm", "1%"]).false_alarm == 0.01


@pytest.mark.parametrize("words", ["evaluate m.mbauc t.csv --report", "report t.csv --label y --score s -o"])
def test_a_report_under_the_name_of_another_format_is_refused(words, tmp_path, capsys):
    said = told(capsys, *words.split(), tmp_path / "r.pdf", code=2).err
    assert f"{words.split()[-1]} {tmp_path}/r.pdf: the report is an HTML page; name it r.html." in said
