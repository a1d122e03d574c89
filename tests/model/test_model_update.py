from dataclasses import replace

import numpy as np
import pytest
from trained_models import plain_model, rows, table_model, table_source, threshold

from mbauc import MBAClassifier, PairMoments
from mbauc.model import (
    LibsvmLayout,
    RankerModel,
    TableLayout,
    load_model,
    merge_models,
    save_model,
    update_model,
)
from mbauc.model.hold_out import HoldOut
from mbauc.model.training import Training, train
from mbauc.readers import RawBlock, TableSource


class Rows(list):
    """Blocks with the names that a source has."""

    def __init__(self, *blocks, classes=(0, 1)):
        super().__init__(RawBlock(X, y, weight) for X, y, weight in blocks)
        self.n_features, self.classes = blocks[0][0].shape[1], classes


def fitted(X, y, weight=None, settings=None, classes=(0, 1), **rest):
    settings = {"l2": 0.5} if settings is None else settings
    ranker = MBAClassifier(**settings, solver="gram").fit(X, y, weight)
    return RankerModel.of(ranker, LibsvmLayout(X.shape[1], False), classes, settings=settings, **rest)


SETTINGS = [
    {"l2": 0.5},
    {"l2": "auto"},
    {"l1": 0.01, "l2": 0.1},
    {"l2": 0.3, "scale": True},
    {"negative_rate": 0.1},
]


def close(a, b):
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        [a.intercept, a.slope, a.l1, a.l2], [b.intercept, b.slope, b.l1, b.l2], rtol=1e-8
    )


# -- updates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_an_update_is_a_fit_to_all_rows_at_once(settings):
    X, y = rows(n=300)
    model = fitted(X[:200], y[:200], settings=settings)
    if "l2" not in settings:  # nothing says how it was chosen, so it stays
        settings = settings | {"l2": model.l2}
    new = update_model(model, Rows((X[200:250], y[200:250], None), (X[250:], y[250:], None)))
    close(new, fitted(X, y, settings=settings))
    assert new.moments.counts == (int(y.sum()), int((1 - y).sum()))


def test_weights_in_files_count_as_repeated_rows(tmp_path):
    X, y = rows(n=300)
    times = np.random.default_rng(1).integers(1, 5, 300)

    def file(part, name):
        lines = [f"{label},{k},{','.join(map(str, row))}" for row, label, k in zip(*part, strict=True)]
        (tmp_path / name).write_text("y,times,a,b,c,d\n" + "\n".join(lines))
        return TableSource(tmp_path / name, label="y", weight="times")

    source = file((X[:200], y[:200], times[:200]), "first.csv")
    layout = TableLayout(source.encoding, "y", (), "times")
    model, _ = train(source, layout, Training({"l2": "auto"}, hold_out=HoldOut(0.0)))
    model = update_model(
        model, layout.source(file((X[200:], y[200:], times[200:]), "more.csv").paths, model.classes)
    )
    repeated = file((np.repeat(X, times, axis=0), np.repeat(y, times), np.ones(times.sum())), "all.csv")
    again = MBAClassifier().fit_source(TableSource(repeated.paths, label="y", encoding=source.encoding))
    assert model.l2 == pytest.approx(again.l2_, rel=1e-6)
    assert model.moments.effective_sizes == pytest.approx(again.effective_sample_size_)
    np.testing.assert_allclose(model.estimator().coef_standard_errors(), again.coef_standard_errors())


def test_decay_makes_earlier_rows_count_for_less():
    X, y = rows(n=300)
    weight = np.r_[np.full(200, 0.25), np.ones(100)]
    new = update_model(fitted(X[:200], y[:200]), Rows((X[200:], y[200:], None)), decay=0.25)
    close(new, fitted(X, y, weight))
    for decay in (0.0, 1.5, -1.0, np.nan, True):
        with pytest.raises(ValueError, match="decay must be"):
            update_model(fitted(X, y), Rows((X, y, None)), decay=decay)


def test_rows_of_one_class_alone_can_be_added():
    X, y = rows(n=300)
    order = np.argsort(y[200:], kind="stable") + 200
    X, y = np.vstack([X[:200], X[order]]), np.r_[y[:200], y[order]]
    cut = int(np.flatnonzero(y[200:])[0]) + 200
    model = fitted(X[:200], y[:200])
    for part in (slice(200, cut), slice(cut, 300)):
        model = update_model(model, Rows((X[part], y[part], None)))
    close(model, fitted(X, y))


def test_l2_is_chosen_anew_where_it_was_chosen_and_kept_where_it_was_given():
    X, y = rows(n=2000, d=8)
    auto = fitted(X[:60], y[:60], settings={"l2": "auto"})
    more = Rows((X[60:], y[60:], None))
    assert update_model(auto, more).l2 != auto.l2
    assert update_model(auto, more).settings["l2"] == "auto"
    given = fitted(X[:60], y[:60], settings={"l2": 0.7})
    assert update_model(given, more).l2 == 0.7


def test_the_threshold_goes_and_the_record_says_so():
    X, y = rows()
    record = {"files": [{"name": "a"}], "tested": {"auc": 0.9}, "seconds": 3.0, "notes": ["kept"], "mine": 7}
    model = fitted(X, y, threshold=threshold(), trained_on=record)
    new = model
    for k in range(3):
        new = update_model(
            new, Rows((X, y, None)), decay=0.99, about={"files": [{"name": f"day {k}"}], "by": "cron"}
        )
    assert new.threshold is None
    told = new.trained_on
    dropped = "an earlier threshold was dropped, since its promise was for other weights"
    assert told["notes"] == ["kept", dropped, "weights solved anew after 3 updates"]
    assert dropped not in update_model(fitted(X, y), Rows((X, y, None))).trained_on["notes"]
    assert dropped in merge_models([fitted(X, y), model]).trained_on["notes"]
    assert [file["name"] for file in told["files"]] == ["a", "day 0", "day 1", "day 2"]
    assert "tested" not in told
    assert "seconds" not in told
    assert told["mine"] == 7
    assert told["updates"][-1] == {
        "positives": float(y.sum()),
        "negatives": float((1 - y).sum()),
        "decay": 0.99,
        "by": "cron",
    }
    assert model.threshold == threshold()
    assert model.trained_on is record
    assert record["tested"] == {"auc": 0.9}


@pytest.mark.parametrize("kind", ["matched", "closed"])
def test_closed_sets_of_pairs_are_joined_without_pairs_across(kind):
    model = plain_model(kind=kind)
    X, y = rows(seed=5)
    new = update_model(model, Rows((X, y, None)))
    whole = model.moments + PairMoments.from_arrays(X, y).closed()
    np.testing.assert_allclose(new.coef, MBAClassifier(l2=0.5).fit_moments(whole).coef_[0], rtol=1e-9)


def test_the_model_that_was_updated_stays_as_it_was():
    model = plain_model()
    before = model.moments.second_moment
    update_model(model, Rows((*rows(seed=3), None)), decay=0.5)
    np.testing.assert_array_equal(model.moments.second_moment, before)


def test_a_table_is_updated_from_files(tmp_path):
    model = table_model(tmp_path, settings={"l2": 0.5})
    save_model(model, tmp_path / "a.mbauc")
    (tmp_path / "more").mkdir()
    table_source(tmp_path / "more", seed=1)
    loaded = load_model(tmp_path / "a.mbauc")
    more = loaded.layout.source(tmp_path / "more" / "table.csv", loaded.classes)
    new = update_model(loaded, more)
    both = loaded.layout.source([tmp_path / "table.csv", tmp_path / "more" / "table.csv"], loaded.classes)
    np.testing.assert_allclose(
        new.coef, MBAClassifier(l2=0.5, solver="gram").fit_source(both).coef_[0], rtol=1e-7, atol=1e-10
    )


def test_updates_that_cannot_be_made_say_why():
    X, y = rows()
    with pytest.raises(ValueError, match="the model cannot be updated or merged: it has no moments"):
        update_model(plain_model(kind="none"), Rows((X, y, None)))
    with pytest.raises(ValueError, match="new rows have 5 columns, the model has 4"):
        update_model(plain_model(), Rows((np.ones((2, 5)), np.array([0, 1]), None)))
    with pytest.raises(ValueError, match="ranks 1 above 0, the new rows 0 above 1"):
        update_model(plain_model(), Rows((X, y, None), classes=(1, 0)))
    with pytest.raises(ValueError, match="ranks 1 above 0, the new rows 2 above 0"):
        update_model(plain_model(), Rows((X, y, None), classes=(0, 2)))


# -- merges ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_merge_is_a_fit_to_all_rows_at_once(settings, tmp_path):
    X, y = rows(n=300)
    settings = {"l2": 0.5} | settings
    parts = [
        fitted(X[part], y[part], settings=settings) for part in (slice(100), slice(100, 150), slice(150, 300))
    ]
    for number, part in enumerate(parts):
        save_model(part, tmp_path / str(number))
    joined = merge_models(load_model(tmp_path / str(number)) for number in range(3))
    close(joined, fitted(X, y, settings=settings))
    assert joined.threshold is None


def test_the_order_of_a_merge_does_not_matter():
    models = [plain_model(seed) for seed in range(3)]
    close(merge_models(models), merge_models(models[::-1]))
    close(merge_models(models), merge_models([merge_models(models[:2]), models[2]]))


def test_records_of_merges_stay_flat():
    model = plain_model(trained_on={"files": ["first"], "rows": 1})
    for day in range(5):
        model = merge_models([model, plain_model(seed=day, trained_on={"files": [f"day {day}"]})])
    assert [entry["files"] for entry in model.trained_on["merged"]] == [
        ["first"],
        *([f"day {k}"] for k in range(5)),
    ]
    assert model.trained_on["files"] == ["first", *(f"day {k}" for k in range(5))]
    again = update_model(model, Rows((*rows(), None)), about={"files": ["new"]})
    last = merge_models([again, plain_model()]).trained_on
    assert "updates" in last["merged"][6]
    assert last["notes"] == ["weights solved anew after a merge of 2 models"]


def test_settings_that_only_say_how_to_run_may_differ():
    one = plain_model(settings={"l2": 0.5, "random_state": 1, "n_jobs": 1})
    two = plain_model(settings={"l2": 0.5, "random_state": 2, "n_jobs": 2})
    close(merge_models([one, two]), merge_models([plain_model(), plain_model()]))


def test_models_that_do_not_fit_together_say_what_differs(tmp_path):
    good = plain_model()
    cases = [
        ([good], "two models or more, got 1"),
        ([good, plain_model(kind="none")], "model 2 cannot be updated or merged: it has no moments"),
        ([good, good, plain_model(d=5)], "model 1 and model 3 have different columns.*n_features is 4 and 5"),
        ([good, plain_model(zero_based=True)], "zero_based is False and True"),
        ([good, plain_model(classes=(0, 2))], "ranks 1 above 0, model 2 2 above 0"),
        ([good, plain_model(classes=(False, True))], "model 2 True above False"),
        (
            [good, plain_model(settings={"l2": 0.5, "scale": True})],
            "different settings: scale is None and True",
        ),
        (
            [good, plain_model(settings={"l2": 0.4})],
            r"l2 is 0.5 in model 1 and 0.4 in model 2; say which .*\(l2=…\)",
        ),
        ([good, plain_model(settings={"l2": "auto"})], "l2 is 0.5 in model 1 and auto in model 2"),
        ([good, plain_model(settings={"l1": 0.01, "l2": 0.5})], "l1 is 0.0 in model 1 and 0.01"),
        ([good, plain_model(kind="closed")], "moments of all pairs and moments of a set"),
    ]
    for models, message in cases:
        with pytest.raises(ValueError, match=message):
            merge_models(models)


def test_penalties_may_be_said_where_they_differ():
    one, two = plain_model(settings={"l2": 0.4}), plain_model(seed=1, settings={"l2": 0.5})
    assert merge_models([one, two], l2=0.45).l2 == 0.45
    assert merge_models([one, two], l2="auto").settings["l2"] == "auto"
    assert merge_models([one, two], l1=0.05, l2=0.0).l1 == 0.05


def test_columns_of_tables_that_differ_are_named(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    one = table_model(folders[0], scale="standard")
    with pytest.raises(ValueError, match=r"in the column 'bid', center is .* and .*encoding=first"):
        merge_models([one, table_model(folders[1], scale="standard", seed=1)])
    with pytest.raises(ValueError, match=r"in the encoding, .*hash_dim is None and 20"):
        merge_models([one, table_model(folders[2], encode="hash", hash_dim=20)])
    with pytest.raises(ValueError, match="kind is 'table' and 'libsvm'"):
        merge_models([one, plain_model(settings={"l2": 0.5})])


def test_hashed_tables_from_different_machines_merge(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    parts = [
        table_model(folder, encode="hash", hash_dim=30, scale=None, seed=seed, settings={"l2": 0.5})
        for seed, folder in enumerate(folders)
    ]
    both = parts[0].layout.source([folder / "table.csv" for folder in folders], (0, 1))
    whole = MBAClassifier(l2=0.5, solver="gram").fit_source(both)
    np.testing.assert_allclose(merge_models(parts).coef, whole.coef_[0], rtol=1e-7, atol=1e-10)


def test_labels_against_named_ones_are_joined():
    one = plain_model(classes=((0, 2), (1, 7)))
    two = plain_model(seed=1, classes=((2, 3), (7, 1)))
    assert merge_models([one, two]).classes == ((0, 2, 3), (1, 7))
    assert merge_models([plain_model(), plain_model(classes=(np.int64(0), np.int64(1)))]).classes == (0, 1)
    with pytest.raises(ValueError, match="the same labels, in the same roles"):
        merge_models([one, plain_model(classes=((2, 3), (7, 0)))])


def test_models_of_files_with_and_without_a_header_are_merged(tmp_path):
    one = table_model(tmp_path)
    other = replace(one, layout=replace(one.layout, names=("x", "y"), delimiter="~"))
    assert merge_models([other, one]).layout.names == ("x", "y")
