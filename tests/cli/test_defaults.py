"""The same job has the same defaults on the command line and in Python."""

import inspect
import json

import pytest

from mbauc import AdditiveAUCClassifier, MBAClassifier, MBAClassifierCV, TableRanker, defaults
from mbauc.cli.main import main, whole_parser
from mbauc.metrics.neyman_pearson import false_alarm_threshold
from mbauc.model import load_model, score_files
from mbauc.model.hold_out import HoldOut
from mbauc.model.training import Training
from mbauc.readers import LibsvmSource, TableSource


def defaults_of(call):
    return {name: one.default for name, one in inspect.signature(call).parameters.items()}


def options_of(command, *words):
    return vars(whole_parser().parse_args([command, *words]))


FIT = options_of("fit", "rows.csv", "-o", "m.mbauc")


def test_what_is_not_said_about_columns_is_left_to_python():
    table = defaults_of(TableSource)
    named = {"label", "positive", "weight", "types", "ignore", "id", "encode", "hash_dim", "signed", "scale"}
    named |= {"missing", "delimiter", "names"}
    assert named <= table.keys()
    assert {name: FIT[name] for name in named} == dict.fromkeys(named)


@pytest.mark.parametrize("name", ["encode", "hash_dim", "missing", "scale"])
def test_help_names_the_default_of_python(name, capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    said = " ".join(capsys.readouterr().out.split()).split(f" --{name.replace('_', '-')} ")[-1]
    # hashed columns have a number of their own only where they are hashed
    wanted = defaults.HASH_DIM if name == "hash_dim" else defaults_of(TableSource)[name]
    shown = f"{wanted:,}" if isinstance(wanted, int) else wanted
    assert said.split("(default: ")[1].split(")")[0] == shown


@pytest.mark.parametrize("name", ["l1", "l2", "pairs", "solver"])
def test_settings_of_the_fit(name):
    assert FIT[name] == defaults_of(MBAClassifier)[name]


def test_settings_of_the_training():
    training = defaults_of(Training)
    assert FIT["jobs"] is defaults_of(MBAClassifier)["n_jobs"] is None
    assert FIT["cv"] == training["folds"]
    assert FIT["hold_out"] is FIT["time"] is FIT["cluster"] is None
    assert (HoldOut().share, HoldOut().seed) == (defaults.HOLD_OUT, FIT["seed"])
    assert (FIT["memory"], FIT["checkpoint"], FIT["decay"]) == (
        training["memory"],
        training["checkpoint"],
        None,
    )
    assert training["decay"] == defaults_of(MBAClassifier)["decay"]
    assert options_of("fit", "rows.csv", "-o", "m.mbauc", "--cv")["cv"] == defaults_of(MBAClassifierCV)["cv"]


def test_settings_of_curves():
    additive = defaults_of(AdditiveAUCClassifier)
    assert (additive["search_rows"], additive["bins"]) == (defaults.SEARCH_ROWS, defaults.BINS)
    assert FIT["features"] is FIT["cross"] is FIT["bins"] is None


def test_rows_that_cannot_be_read():
    for call in (TableSource, LibsvmSource, score_files):
        assert defaults_of(call)["on_error"] == FIT["on_error"]
    assert defaults_of(TableSource)["block_rows"] == defaults_of(LibsvmSource)["block_rows"]


def test_promises():
    from mbauc.cli.threshold import _CONFIDENCE, _FALSE_ALARM

    limit = defaults_of(false_alarm_threshold)
    assert (limit["alpha"], pytest.approx(limit["delta"])) == (_FALSE_ALARM, 1 - _CONFIDENCE)


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_the_same_file_gives_the_same_model(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    path, out = tmp_path / "rows.csv", tmp_path / "m.mbauc"
    rows = ((k * 7 % 11, k % 3, (k * 13 % 17) / 7) for k in range(400))
    path.write_text("y,site,bid\n" + "".join(f"{int(a > 6)},s{b},{a + c:.3f}\n" for a, b, c in rows))
    assert main(["fit", str(path), "--label", "y", "--hold-out", "0", "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 0
    model, ranker = load_model(out), TableRanker(hold_out=0).fit(path, label="y")
    assert model.layout.to_dict() == ranker.model_.layout.to_dict()
    assert model.coef.tobytes() == ranker.model_.coef.tobytes()
    # tested and refitted, too
    words = ["fit", str(path), "--label", "y", "-o", str(out), "--force"]
    assert main(words) == 0
    model, ranker = load_model(out), TableRanker().fit(path, label="y")
    assert model.coef.tobytes() == ranker.model_.coef.tobytes()
    assert model.trained_on["tested"]["auc"] == ranker.auc_.auc
    # straight lines of scaled and hashed columns where these are asked for
    assert main([*words, "--encode", "hash", "--hold-out", "0"]) == 0
    source = TableSource(path, label="y")
    assert load_model(out).layout.encoding.to_dict() == source.encoding.to_dict()
    lines = MBAClassifier().fit_source(source, keep_moments=True)
    assert load_model(out).coef.tobytes() == lines.coef_[0].tobytes()
