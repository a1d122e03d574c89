"""Files of scores: what they are made of, which rows they number, and what they are without any."""

import gzip
import json

import numpy as np
import pytest
from trained_models import table_model, table_text

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")

import pyarrow as arrow
from pyarrow import csv, parquet

from mbauc import MBAClassifier
from mbauc.model import LibsvmLayout, RankerModel, TableLayout, Threshold, load_model, save_model
from mbauc.model.layout import layout_from_dict
from mbauc.model.scoring import score_files
from mbauc.readers import LibsvmSource, TableSource

NAMES = ("click", "site", "bid")


def body(seed=0, rows=200, between=","):
    rng = np.random.default_rng(seed)
    return "".join(
        between.join((str(rng.integers(2)), rng.choice(list("abc")), f"{rng.normal():.3f}")) + "\n"
        for _ in range(rows)
    )


def bare_model(path, **how):
    """A model of a file that is read as ``how`` says."""
    source = TableSource(path, label="click", encode="onehot", **how)
    ranker = MBAClassifier(l2=0.5, solver="gram").fit_source(source)
    layout = TableLayout(source.encoding, "click", **how)
    return RankerModel.of(ranker, layout, source.classes, settings={"l2": 0.5})


def libsvm_model(folder, text="+1 1:2 2:1\n-1 1:1 2:2\n-1 2:1\n", **options):
    path = folder / "train.libsvm"
    path.write_text(text)
    source = LibsvmSource(path, **options)
    ranker = MBAClassifier(l2=0.5).fit_source(source)
    return RankerModel.of(ranker, LibsvmLayout(source.n_features, source.zero_based), source.classes)


def scored(model, paths, out, **options):
    told = score_files(model, paths, out, **options)
    read = parquet.read_table if out.suffix == ".parquet" else csv.read_csv
    return told, read(out)


# -- files that need to be told how they are to be read ---------------------------------------------------


@pytest.mark.parametrize(
    "how", [{"names": NAMES}, {"names": NAMES, "delimiter": "~"}, {"delimiter": "~"}], ids=str
)
def test_a_model_remembers_how_its_files_are_read(how, tmp_path):
    between = how.get("delimiter", ",")
    head = "" if "names" in how else between.join(NAMES) + "\n"
    train, test, usual = tmp_path / "train.txt", tmp_path / "test.txt", tmp_path / "usual.csv"
    train.write_text(head + body(0, between=between))
    test.write_text(head + body(1, between=between))
    usual.write_text(",".join(NAMES) + "\n" + body(1))
    save_model(bare_model(train, **how), tmp_path / "m.mbauc")
    model = load_model(tmp_path / "m.mbauc")
    assert {key: model.layout.to_dict().get(key) for key in ("names", "delimiter")} == {
        "names": list(NAMES) if "names" in how else None,
        "delimiter": how.get("delimiter"),
    }
    told, scores = scored(model, test, tmp_path / "s.csv")
    plain = RankerModel(
        TableLayout(model.layout.encoding, "click"),
        model.classes,
        model.coef,
        model.intercept,
        model.slope,
        0.0,
        0.5,
    )
    _, expected = scored(plain, usual, tmp_path / "e.csv")
    assert told["rows"] == 200
    assert scores.equals(expected)
    labelled = np.concatenate([s for _, s, _ in model.score_blocks(model.layout.source(test, model.classes))])
    np.testing.assert_array_equal(labelled, scores["score"].to_numpy())


def test_layouts_without_names_and_delimiter_are_written_as_before(tmp_path):
    layout = table_model(tmp_path).layout
    assert layout.to_dict().keys() == {"kind", "encoding", "label", "positive", "weight"}
    again = layout_from_dict(json.loads(json.dumps(layout.to_dict())))
    assert again.to_dict() == layout.to_dict()
    assert (again.names, again.delimiter) == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"names": None},
        {"names": []},
        {"names": "abc"},
        {"names": ["a", 1]},
        {"names": ["a", "a"]},
        {"delimiter": None},
        {"delimiter": ""},
        {"delimiter": "~~"},
        {"delimiter": 7},
        {"delimiters": ","},
    ],
    ids=str,
)
def test_made_up_names_and_delimiters_are_refused(change, tmp_path):
    told = table_model(tmp_path).layout.to_dict()
    layout_from_dict(told | {"names": ["a", "b"], "delimiter": "~"})
    with pytest.raises(ValueError, match=next(iter(change))):
        layout_from_dict(told | change)


def test_a_line_of_names_is_no_row_where_the_model_expects_none(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("".join(f"{k % 2},{'ab'[k % 3 % 2]}\n" for k in range(50)))
    test.write_text("click,site\n1,a\n0,b\n")
    model = bare_model(train, names=("click", "site"))
    with pytest.raises(ValueError, match=r"test\.csv, line 1: expected a row, got names of columns"):
        score_files(model, test, tmp_path / "s.csv")
    told, scores = scored(model, test, tmp_path / "s.csv", on_error="skip")
    assert scores["row"].to_pylist() == [1, 2]
    assert "1 row was left out" in told["left_out"]
    assert told["skipped"] == 1


# -- numbers of rows --------------------------------------------------------------------------------------


def test_numbers_of_rows_count_all_that_were_left_out(tmp_path):
    model = table_model(tmp_path)
    head, *lines = table_text(seed=3, rows=9).splitlines()
    parts = lines[2].split(",")
    parts[5] = "much"
    lines[2] = ",".join(parts)  # no number: row 2
    lines[0] += ",more"  # ragged: rows 0, 5 and 8
    lines[5] = "short"
    lines[8] += ",more"
    lines.insert(4, "")  # no row at all
    one, two, three = (tmp_path / name for name in ("one.csv", "two.csv", "three.parquet"))
    one.write_text("\n".join([head, *lines]) + "\n")
    two.write_text("\n".join([head, *lines[6:]]) + "\n")
    parquet.write_table(csv.read_csv(tmp_path / "table.csv").slice(0, 2), three)
    told, scores = scored(model, [one, two, three], tmp_path / "s.parquet", on_error="skip")
    assert scores["row"].to_pylist() == [1, 3, 4, 6, 7, 10, 11, 13, 14]
    assert told["rows"] == 9
    assert "6 rows were left out: 5 with wrong number of fields" in told["left_out"]


@pytest.mark.parametrize("block_rows", [1, 3, 1000])
def test_numbers_of_rows_do_not_depend_on_blocks(block_rows, tmp_path):
    rng = np.random.default_rng(0)
    model = table_model(tmp_path)
    head, *lines = table_text(rows=40).splitlines()
    ragged = rng.random(40) < 0.3
    text = "\n".join([head, *(line + ",x" if bad else line for line, bad in zip(lines, ragged, strict=True))])
    (tmp_path / "some.csv").write_text(text + "\n")
    rows = model.layout.unlabelled(tmp_path / "some.csv", on_error="skip", block_rows=block_rows)
    numbers = np.concatenate([block.numbers for block in rows.score_rows(model.coef)])
    np.testing.assert_array_equal(numbers, np.flatnonzero(~ragged))


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_of_libsvm_rows_count_lines_that_were_skipped(packed, tmp_path):
    model = libsvm_model(tmp_path)
    rng = np.random.default_rng(0)
    kinds = rng.choice(["good", "good", "bad", "nothing", "comment"], 3000)
    lines = {"good": "1 1:2", "bad": "1 1;2", "nothing": " \t", "comment": "  # 1 1:2"}
    text = "".join(lines[kind] + "\r\n" for kind in kinds)
    path = tmp_path / "test.libsvm"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    rows = kinds[(kinds == "good") | (kinds == "bad")]
    told, scores = scored(model, [path, path], tmp_path / "s.csv", on_error="skip")
    expected = np.flatnonzero(rows == "good")
    np.testing.assert_array_equal(scores["row"], np.concatenate([expected, rows.size + expected]))
    assert told["left_out"].startswith(f"{2 * (rows == 'bad').sum():,} lines were left out")


def test_numbers_of_libsvm_rows_do_not_depend_on_blocks(tmp_path):
    model = libsvm_model(tmp_path)
    path = tmp_path / "test.libsvm"
    path.write_text("x\n1 1:1\n\n2 1;1\n3 2:1\n4 9:\n# 5\n5\n")
    for size in (1, 2, 3, 100):
        rows = model.layout.unlabelled(path, model.classes, on_error="skip", block_rows=size)
        assert [n for block in rows.score_rows(model.coef) for n in block.numbers.tolist()] == [1, 3, 5]
        assert rows.skipped.count == 3


# -- labels that rows to score need not have --------------------------------------------------------------


def test_libsvm_rows_are_scored_whatever_their_labels(tmp_path):
    model = libsvm_model(tmp_path)
    path = tmp_path / "test.libsvm"
    path.write_text("0 1:1\n17.5 2:1 9:4\n-1 1:1\n")
    _, scores = scored(model, path, tmp_path / "s.parquet")
    expected = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]) @ model.coef + model.intercept
    np.testing.assert_allclose(scores["score"], expected, rtol=1e-15)
    path.write_text("0 1:1\n1:1\n")
    with pytest.raises(ValueError, match=r"line 2: expected a label .* any number will do, such as 0"):
        score_files(model, path, tmp_path / "t.csv")
    digits = libsvm_model(tmp_path, "3 1:2\n8 1:1 2:2\n1 2:1\n", positive=[3, 8])
    path.write_text("0 1:1\n2 2:1\n")
    assert scored(digits, path, tmp_path / "d.csv")[0]["rows"] == 2


def test_libsvm_rows_of_a_model_with_words_for_labels(tmp_path):
    model = libsvm_model(tmp_path, "yes 1:2 2:1\nno 1:1 2:2\n", classes=("no", "yes"))
    path = tmp_path / "test.libsvm"
    path.write_text("no 1:1\nyes 2:1\n")
    assert scored(model, path, tmp_path / "s.csv")[0]["rows"] == 2


# -- what is written --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("of", ["csv", "parquet"])
def test_no_rows_make_a_table_without_rows(ending, of, tmp_path):
    model = table_model(tmp_path).with_threshold(Threshold(0.1, 0.05, 0.95, 100))
    some = csv.read_csv(tmp_path / "table.csv")
    path = tmp_path / f"none.{of}"
    (csv.write_csv if of == "csv" else parquet.write_table)(some.slice(0, 0), path)
    for keep, names in ((["view", "age"], ["view", "age"]), ([], ["row"])):
        out = tmp_path / f"{len(names)}.{ending}"
        told, scores = scored(model, path, out, keep=keep)
        assert told["rows"] == scores.num_rows == 0
        assert scores.column_names == [*names, "score", "probability", "alarm"]
        if ending == "parquet":
            kept = [arrow.string(), arrow.string()] if of == "csv" else [arrow.string(), arrow.int64()]
            assert scores.schema.types[: len(names)] == (kept if keep else [arrow.int64()])
            assert scores.schema.types[len(names) :] == [arrow.float64(), arrow.float64(), arrow.bool_()]


def test_gz_is_compressed_and_the_same_each_time(tmp_path):
    model = table_model(tmp_path)
    packed = tmp_path / "s.csv.gz"
    score_files(model, tmp_path / "table.csv", packed, keep=["view"])
    score_files(model, tmp_path / "table.csv", tmp_path / "s.csv", keep=["view"])
    first = packed.read_bytes()
    assert gzip.decompress(first) == (tmp_path / "s.csv").read_bytes()
    score_files(model, tmp_path / "table.csv", packed, keep=["view"])
    assert packed.read_bytes() == first


@pytest.mark.parametrize("name", ["s.csv.bz2", "s.csv.XZ", "s.zip", "s.csv.zst", "s.parquet.gz"])
def test_other_compressions_are_refused(name, tmp_path):
    model = table_model(tmp_path)
    with pytest.raises(ValueError, match=r"expected .*\.csv\.gz"):
        score_files(model, tmp_path / "table.csv", tmp_path / name)
    assert not (tmp_path / name).exists()


def test_files_of_several_types_make_one_table(tmp_path):
    model = table_model(tmp_path)
    parquet.write_table(csv.read_csv(tmp_path / "table.csv").slice(0, 2), tmp_path / "some.parquet")
    for out in (tmp_path / "s.csv", tmp_path / "s.parquet"):
        paths = [tmp_path / "table.csv", tmp_path / "some.parquet"]
        told, scores = scored(model, paths, out, keep=["age"])
        assert told["rows"] == scores.num_rows == 302


def test_a_folder_of_libsvm_files(tmp_path):
    model = libsvm_model(tmp_path)
    folder = tmp_path / "days"
    (folder / "b").mkdir(parents=True)
    (folder / "a.svm").write_text("1 1:1\n")
    (folder / "b" / "c.LIBSVM.gz").write_bytes(gzip.compress(b"-1 2:1\n"))
    for name in (".hidden.svm", "_SUCCESS.svm", "readme.txt"):
        (folder / name).write_text("nothing for us\n")
    _, scores = scored(model, folder, tmp_path / "s.csv")
    np.testing.assert_allclose(scores["score"], model.coef + model.intercept)
    assert [block.y.tolist() for block in model.layout.source(folder, model.classes)] == [[1], [0]]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"empty has no LIBSVM files \(\.libsvm"):
        model.layout.source(tmp_path / "empty", model.classes)
