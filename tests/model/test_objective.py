"""Models of other losses, of groups and of a part of the ROC curve: what they are called, kept and refused."""

from dataclasses import replace

import numpy as np
import pytest
from trained_models import plain_model, rows

from mbauc import MBAClassifier, PairwiseAUCClassifier
from mbauc.losses import Region
from mbauc.metrics.grouped import GroupedAuc
from mbauc.model import LibsvmLayout, RankerModel, load_model, merge_models, save_model, testing, update_model
from mbauc.model.layout import layout_from_dict
from mbauc.model.objective import describe_measure, describe_objective
from mbauc.model.training import Training
from mbauc.readers import TableSource


@pytest.mark.parametrize(
    ("settings", "group", "words"),
    [
        ({}, None, "squared loss over all pairs"),
        ({"max_fpr": 1.0, "loss": None}, None, "squared loss over all pairs"),
        ({"max_fpr": 0.1}, None, "squared hinge loss over all pairs up to 10% false alarms"),
        ({"loss": "squared", "min_tpr": 0.9}, None, "squared loss over all pairs from 90% detections on"),
        (
            {"loss": "hinge", "min_tpr": 0.5, "max_fpr": 0.02, "min_fpr": 0.01},
            None,
            "hinge loss over all pairs from 1% to 2% false alarms and from 50% detections on",
        ),
        (
            {"equal_groups": True},
            "day",
            "squared loss over the pairs within each 'day', each counting alike",
        ),
        (
            {"equal_groups": True, "max_fpr": 0.5},
            "day",
            "squared hinge loss over the pairs within each 'day', each counting alike, up to 50% false alarms",
        ),
        ({"equal_groups": True}, None, "squared loss over all pairs"),
    ],
)
def test_what_is_lowered_is_said(settings, group, words):
    assert describe_objective(settings, group) == words


@pytest.mark.parametrize(
    ("region", "group", "words"),
    [
        (Region(), None, "AUC"),
        (Region(), "day", "AUC within each 'day'"),
        (Region(0.02), None, "standardised partial AUC up to 2% false alarms"),
        (Region(min_tpr=0.9), "day", "standardised partial AUC within each 'day' from 90% detections on"),
    ],
)
def test_what_it_is_judged_by_is_said(region, group, words):
    assert describe_measure(region, group) == words


def hinge_model():
    X, y = rows()
    settings = {"loss": "squared_hinge", "l2": 0.1, "max_fpr": 0.5}
    ranker = PairwiseAUCClassifier(**settings).fit(X, y)
    return ranker, RankerModel.of(ranker, LibsvmLayout(4, zero_based=False), (0, 1), settings=settings)


def test_a_model_of_another_loss_comes_back_as_it_was(tmp_path):
    ranker, model = hinge_model()
    save_model(model, tmp_path / "m.mbauc")
    again = load_model(tmp_path / "m.mbauc")
    assert again.describe_objective() == model.describe_objective()
    assert not again.is_quadratic
    X, _ = rows(seed=1)
    estimator = again.estimator()
    assert isinstance(estimator, PairwiseAUCClassifier)
    assert (estimator.decision_function(X) == ranker.decision_function(X)).all()
    assert estimator.get_params().items() >= model.settings.items()


@pytest.mark.parametrize("settings", [{"loss": "cubic"}, {"max_fpr": 2.0}, {"equal_groups": "yes"}])
def test_settings_that_no_training_has_are_not_read(tmp_path, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        save_model(replace(plain_model(), settings=settings), tmp_path / "m.mbauc")


def test_groups_of_a_layout_are_kept(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("click,user,bid\n" + "".join(f"{k % 2},u{k % 5},{k * k % 7}\n" for k in range(60)))
    source = TableSource(path, label="click", group="user")
    model = RankerModel.of(MBAClassifier(l2=0.1).fit_source(source), source.layout, source.classes)
    assert model.group == "user"
    save_model(model, tmp_path / "m.mbauc")
    again = load_model(tmp_path / "m.mbauc")
    assert again.layout.to_dict() == model.layout.to_dict()
    assert again.layout.source(path, again.classes).has_groups
    assert not again.layout.source(path, again.classes, group=None).has_groups
    with pytest.raises(ValueError, match="within each 'user' and cannot be updated or merged"):
        update_model(again, source)


def test_a_forged_group_is_refused(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("click,user,bid\n" + "".join(f"{k % 2},u{k % 5},{k * k % 7}\n" for k in range(60)))
    source = TableSource(path, label="click", group="user")
    about = source.layout.to_dict()
    assert layout_from_dict(about).to_dict() == about
    with pytest.raises(ValueError, match="group"):
        layout_from_dict(about | {"group": 7})


def test_models_of_other_losses_are_neither_updated_nor_merged():
    _, model = hinge_model()
    for call in (lambda: update_model(model, None), lambda: merge_models([model, model])):
        with pytest.raises(
            ValueError, match="squared hinge loss over all pairs up to 50% false alarms and cannot be updated"
        ):
            call()


# -- training -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("training", "way"),
    [
        (Training({}), "source"),
        (Training({"loss": "hinge"}), "source"),
        (Training({"loss": "auto"}), "source folds"),
        (Training({}, folds=3), "source folds"),
    ],
)
def test_a_loss_is_chosen_by_folds(training, way):
    assert training.way == way
    training.check()


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (Training({"loss": "hinge", "pairs": 100}), "^pairs=100: pairs are drawn for the squared loss"),
        (Training({"max_fpr": 0.1, "solver": "gram"}), "^solver='gram' is for the squared loss"),
        (Training({"loss": "hinge"}, decay=0.5), "^loss='hinge' cannot be combined with decay"),
        (Training({"loss": "auto", "l1": 0.5}), "^l1=0.5 is chosen by cv or loss='auto'"),
        (Training({"pairs": 100}, grouped=True), "^groups: within groups all pairs are used"),
        (Training({"max_fpr": 0.0}), "^max_fpr must be"),
        (Training({"min_tpr": 1.0}), "^min_tpr must be .* less than 1, got 1.0"),
    ],
)
def test_contradictions_are_refused_before_anything_is_read(training, message):
    with pytest.raises(ValueError, match=message):
        training.check()


# -- rows to test on ------------------------------------------------------------------------------------------


def test_a_column_becomes_groups(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("click,user,day,bid\n0,ann,1,0.5\n1,bob,1,2.0\n1,ann,2,1.0\n")
    source = TableSource(path, label="click", types={"user": "group", "day": "group"})
    user, day = (testing.GroupColumn.read(source, name) for name in ("user", "day"))
    assert user.names[user.codes].tolist() == ["ann", "bob", "ann"]
    assert day.names[day.codes].tolist() == ["1", "1", "2"]
    with pytest.raises(ValueError, match="'usre'"):
        testing.GroupColumn.read(source, "usre")


@pytest.mark.parametrize("column", ["user", "day"])
def test_a_row_without_a_group_is_named(tmp_path, column):
    path = tmp_path / "clicks.csv"
    path.write_text("click,user,day,bid\n0,ann,1,0.5\n1,,,2.0\n1,ann,2,1.0\n")
    source = TableSource(path, label="click", types={"user": "group", "day": "group"})
    with pytest.raises(ValueError, match=f"column '{column}' has no value in row 1"):
        testing.GroupColumn.read(source, column)


@pytest.mark.parametrize(
    "values",
    [
        ["u1", "u1 ", " u2", "u2", "u1", "u2"],
        ["7", "7 ", "8", "8", "7", "8"],
        ["NA", "7", "NA", "7", "7", "NA"],
        ["1.10", "1.1", "1.1", "1.10", "1.1", "1.10"],
        ["01", "1", "1", "01", "1", "01"],
    ],
)
def test_groups_to_test_on_are_those_of_the_training(tmp_path, values):
    path = tmp_path / "clicks.csv"
    path.write_text("click,user,bid\n" + "".join(f"{k % 2},{one},0.{k}\n" for k, one in enumerate(values)))
    same_groups_read_twice(path)


@pytest.mark.parametrize(
    "values", [[1.0, 2.5, 1.0, 2.5], [1, 2, 2, 1], ["a", "b", "b", "a "], [True, False] * 2]
)
def test_groups_of_typed_columns_are_those_of_the_training(tmp_path, values):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "clicks.parquet"
    pq.write_table(pa.table({"click": [0, 1, 0, 1], "user": values, "bid": [0.5, 1.0, 2.0, 4.0]}), path)
    same_groups_read_twice(path)


def same_groups_read_twice(path):
    keys = np.concatenate([block.groups for block in TableSource(path, label="click", group="user")])
    column = testing.GroupColumn.read(TableSource(path, label="click", types={"user": "group"}), "user")
    assert len(set(zip(keys.tolist(), column.codes.tolist(), strict=True))) == len(set(keys.tolist()))
    assert len(set(column.names)) == column.names.size == len(set(keys.tolist()))


@pytest.mark.parametrize("values", [[1.0, np.nan, 2.0], ["a", " ", "b"], ["a", "", "b"], ["a", None, "b"]])
def test_a_row_without_a_group_is_one_in_training_and_test(tmp_path, values):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "clicks.parquet"
    pq.write_table(pa.table({"click": [0, 1, 0], "user": values, "bid": [0.5, 1.0, 2.0]}), path)
    with pytest.raises(ValueError, match="expected a group in column 'user', got none"):
        list(TableSource(path, label="click", group="user"))
    with pytest.raises(ValueError, match="column 'user' has no value in row 1"):
        testing.GroupColumn.read(TableSource(path, label="click", types={"user": "group"}), "user")


def test_tested_rows_know_their_groups():
    y, s = np.array([0, 1, 0, 1]), np.array([0.0, 1.0, 3.0, 2.0])
    tested = testing.Tested(y, s, None, np.array([5, 5, 7, 7], dtype=np.uint64))
    found = tested.grouped()
    assert isinstance(found, GroupedAuc)
    assert found.auc == 0.5
    assert testing.Tested(y, s, None).grouped() is None
    assert testing.Tested(y, s, None, np.arange(4)).grouped() is None
    assert testing.Tested(np.ones(4, dtype=np.int8), s, None, np.arange(4)).grouped() is None


def test_groups_of_other_rows_are_not_taken_for_rows_without_pairs():
    y, s = np.array([0, 1, 0, 1]), np.array([0.0, 1.0, 3.0, 2.0])
    with pytest.raises(ValueError, match="a value for each of the 4 rows"):
        testing.Tested(y, s, None, np.zeros(5, dtype=np.uint64)).grouped()
