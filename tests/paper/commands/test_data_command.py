import bz2
import json
import shutil

import pytest

from mbauc.cli.main import main
from mbauc.errors import DownloadError
from mbauc.paper.datasets import names
from mbauc.paper.datasets.registry import find


@pytest.fixture(autouse=True)
def no_folders_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("MBAUC_DATA", raising=False)
    monkeypatch.setattr("mbauc.paper.datasets.files.cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def run(capsys, tmp_path):
    """Exit code and output of ``mbauc data`` on a folder of its own."""

    def run(*arguments):
        code = main(["data", arguments[0], "--data-dir", str(tmp_path), *arguments[1:]])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def german(tmp_path, plus=300, minus=700):
    text = "1 1:1 24:1\n" * plus + "-1 1:2\n" * minus
    (tmp_path / "german.numer.bz2").write_bytes(bz2.compress(text.encode()))


def test_list_says_what_is_here(run, tmp_path):
    german(tmp_path)
    code, out, _ = run("list")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert out.splitlines()[0].split() == ["name", "rows", "columns", "ratio", "test", "rows", "here"]
    assert list(lines)[1:] == [find(name).word for name in names()]
    assert lines["german"].split() == ["german", "500", "/", "500", "24", "2.33", "halves", str(tmp_path)]
    assert lines["criteo"].split()[-3:] == ["last", "rows", "no"]
    assert lines["svmguide3.author"].split()[5] == "–"


def test_list_as_json(run, tmp_path):
    german(tmp_path)
    code, out, _ = run("list", "--json")
    assert code == 0
    sets = {each["name"]: each for each in json.loads(out)["sets"]}
    assert tuple(sets) == names()
    assert sets["german"]["here"] is True
    assert sets["german"]["files"] == {"german.numer": str(tmp_path / "german.numer.bz2")}
    assert sets["bank"]["here"] is False
    assert (sets["bank"]["columns"], sets["bank"]["table1"]["columns"]) == (63, 100)
    assert sets["svmguide3.author"]["table1"] is None
    assert sets["a1a"]["urls"][1].endswith("/a1a.t")


def test_check_finds_a_set_as_on_record(run, tmp_path):
    german(tmp_path)
    code, out, err = run("check", "german")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "german: ok",
        f"  {tmp_path / 'german.numer.bz2'}: official checksum not on record",
        "  500 / 500 rows, 24 columns, 2.33 negatives for each positive",
    ]


def test_check_says_what_differs(run, tmp_path):
    german(tmp_path, plus=200)
    code, out, _ = run("check", "german.numer")
    assert code == 1
    assert out.startswith("german: differs\n")
    assert "  differs: 450 training rows instead of 500\n" in out
    assert "  differs: 200 positive rows instead of 300\n" in out
    assert "  3.5 negatives for each positive, 2.33 in Table I\n" in out


def test_check_finds_changed_and_damaged_files(run, tmp_path):
    for name in ("a1a", "a1a.t"):
        (tmp_path / name).write_text("+1 1:1\n-1 2:1\n")
    code, out, _ = run("check", "a1a", "--json")
    assert code == 1
    (report,) = json.loads(out)["sets"]
    assert [file["content"] for file in report["files"]] == ["changed", "changed"]
    assert f"{tmp_path / 'a1a'} is changed" in report["differs"]
    assert (report["rows"], report["columns"], report["ratio"]) == (2, 123, 1.0)

    german(tmp_path)
    path = tmp_path / "german.numer.bz2"
    path.write_bytes(path.read_bytes()[:-10])
    code, out, _ = run("check", "german")
    assert code == 1
    assert "damaged: cannot be read to its end" in out
    assert "rows," not in out


def test_check_of_a_set_without_positives(run, tmp_path):
    for name in ("w7a", "w7a.t"):
        (tmp_path / name).write_text("-1 1:1\n")
    code, out, _ = run("check", "w7a", "--json")
    assert code == 1
    assert json.loads(out)["sets"][0]["ratio"] is None
    code, out, _ = run("check", "w7a")
    assert "  1 / 1 rows, 300 columns\n" in out


def test_check_of_all_names_what_is_missing(run, tmp_path):
    german(tmp_path)
    code, out, _ = run("check")
    assert code == 1
    assert "german: ok\n" in out
    assert out.count(": missing ('mbauc data check ") == len(names()) - 1
    code, out, _ = run("check", "avazu-app")
    assert code == 1
    assert "avazu-app: missing\n  avazu app is not available: looked for avazu-app.tr" in out
    code, out, _ = run("check", "--json")
    assert {each["status"] for each in json.loads(out)["sets"]} == {"ok", "missing"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "required: ACTION"),
        (["fetch"], "invalid choice"),
        (["download"], "required: NAME"),
        (["check", "mnits"], "Did you mean 'mnist'"),
    ],
)
def test_usage_errors(arguments, says, capsys):
    with pytest.raises(SystemExit) as done:
        main(["data", *arguments])
    assert done.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("action", [[], ["list"], ["check"], ["download"]])
def test_help_has_an_example(action, capsys):
    with pytest.raises(SystemExit) as done:
        main(["data", *action, "--help"])
    assert done.value.code == 0
    assert f"mbauc data {' '.join(action) or 'list'}" in " ".join(capsys.readouterr().out.split())


def test_download_names_the_files_and_goes_on_after_a_failure(run, tmp_path, monkeypatch):
    calls = []

    def download(entry, data_dir, *, force):
        calls.append((entry.name, data_dir, force))
        if entry.name == "mnist":
            raise DownloadError("mnist.bz2: the server has no such file (404 Not Found).")
        return {file.name: tmp_path / file.name for file in entry.files}

    monkeypatch.setattr("mbauc.paper.datasets.download.download", download)
    code, out, err = run("download", "a1a")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"a1a: {tmp_path / 'a1a'}", f"a1a: {tmp_path / 'a1a.t'}"]
    code, out, err = run("download", "mnist", "german", "--force")
    assert code == 1
    assert err == "mbauc: mnist.bz2: the server has no such file (404 Not Found).\n"
    assert out == f"german: {tmp_path / 'german.numer'}\n"
    assert calls == [("a1a", tmp_path, False), ("mnist", tmp_path, True), ("german", tmp_path, True)]
    code, out, _ = run("download", "amazon")
    assert "RAR" in out.splitlines()[-1]


def test_a_set_that_nobody_offers_cannot_be_downloaded(run):
    code, out, err = run("download", "svmguide3.author")
    assert (code, out) == (1, "")
    assert "svmguide3.author is not offered for download" in err


def test_the_variable_names_the_folder(tmp_path, monkeypatch, capsys):
    german(tmp_path)
    monkeypatch.setenv("MBAUC_DATA", str(tmp_path))
    assert main(["data", "check", "german"]) == 0
    assert str(tmp_path) in capsys.readouterr().out


@pytest.mark.data
def test_known_copies_and_table_1_on_real_files(run, tmp_path, shared_file):
    shutil.copy(shared_file("bank-additional.zip"), tmp_path)
    code, out, _ = run("check", "bank")
    assert code == 0
    assert "bank-additional.zip: the official content" in out
    assert "  63 columns, 100 in Table I\n  note: The paper has 100 columns" in out
