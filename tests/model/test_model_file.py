import errno
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trained_models import assert_same, plain_model, table_model, threshold

import forged_files as forged
from mbauc import PairMoments
from mbauc.errors import DiskFullError, ModelFileError
from mbauc.model import LibsvmLayout, RankerModel, Threshold, load_model, save_model


def round_trip(model, path, **options):
    save_model(model, path, **options)
    return load_model(path)


# -- what was saved is loaded ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["exact", "matched", "complete", "closed", "none"])
def test_what_was_saved_is_loaded_to_the_bit(tmp_path, kind):
    model = plain_model(kind=kind, threshold=threshold(), trained_on={"files": ["ä.csv"], "rows": 3})
    loaded = round_trip(model, tmp_path / "a.mbauc")
    assert_same(model, loaded)
    assert (loaded.moments is None) == (kind == "none")
    if kind != "none":
        assert loaded.moments.is_closed == (kind in ("matched", "closed"))
        assert loaded.moments.is_sampled == (kind in ("matched", "complete"))


@pytest.mark.parametrize(
    "options",
    [
        {"encode": "onehot", "scale": "standard"},
        {"encode": "onehot", "missing": "mean", "max_categories": 2},
        {"encode": "hash", "hash_dim": 50, "signed": True},
        {"encode": "hash", "hash_dim": 50, "scale": "max-abs", "types": {"hour": "category"}},
    ],
    ids=str,
)
def test_raw_rows_have_the_same_scores_after_a_round_trip(tmp_path, options):
    model = table_model(tmp_path, **options)
    loaded = round_trip(model, tmp_path / "a.mbauc")
    assert_same(model, loaded)
    source = [m.layout.source(tmp_path / "table.csv", m.classes) for m in (model, loaded)]
    for (y, s, _), (y_loaded, s_loaded, _) in zip(
        model.score_blocks(source[0]), loaded.score_blocks(source[1]), strict=True
    ):
        assert s.tobytes() == s_loaded.tobytes()
        assert y.tobytes() == y_loaded.tobytes()


LABELS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.booleans()
)
SIDES = st.one_of(LABELS, st.lists(LABELS, min_size=1, max_size=4).map(tuple))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NOTES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), FINITE, st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


@given(
    classes=st.tuples(SIDES, SIDES),
    coef=st.lists(FINITE, min_size=1, max_size=6),
    numbers=st.tuples(FINITE, FINITE, st.floats(0, 1e300), st.floats(0, 1e300)),
    cut=st.none() | st.builds(Threshold, FINITE, st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**80)),
    notes=st.dictionaries(st.text(), NOTES, max_size=3),
    path=st.lists(
        st.fixed_dictionaries(
            {"l1": st.floats(0, 1e300), "l2": st.floats(0, 1e300), "score": st.none() | FINITE},
            optional={"stderr": FINITE},
        ),
        max_size=3,
    ),
)
def test_any_model_survives(tmp_path_factory, classes, coef, numbers, cut, notes, path):
    model = RankerModel(
        LibsvmLayout(len(coef), zero_based=False),
        classes,
        np.array(coef),
        *numbers,
        threshold=cut,
        settings=notes,
        trained_on=notes,
        path=path,
    )
    assert_same(model, round_trip(model, tmp_path_factory.mktemp("any") / "a.mbauc"))


def test_numpy_labels_and_settings_become_plain_ones(tmp_path):
    model = plain_model(
        classes=(np.str_("no"), (np.int64(3), np.bool_(True), np.float32(0.5))),
        settings={"l2": np.float64(0.5), "penalty_factors": np.ones(4)},
    )
    loaded = round_trip(model, tmp_path / "a.mbauc")
    assert repr(loaded.classes) == "('no', (3, True, 0.5))"
    assert loaded.settings == {"l2": 0.5, "penalty_factors": [1.0] * 4}


def test_moments_can_be_left_out_of_the_file_or_in_it(tmp_path):
    model = plain_model(d=30)
    whole, small = tmp_path / "whole.mbauc", tmp_path / "small.mbauc"
    save_model(model, whole)
    save_model(model, small, moments=False)
    assert whole.stat().st_size - small.stat().st_size > 8 * 30 * 31
    assert load_model(small).moments is None
    assert load_model(whole, moments=False).moments is None
    assert_same(model, load_model(whole, moments=False), moments=False)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save_model(plain_model(threshold=threshold()), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


POINT = {"l1": 0.0, "l2": 1.0}


def test_notes_do_not_keep_a_model_from_being_saved(tmp_path):
    model = plain_model(
        trained_on={"auc": np.nan, "at": tmp_path, 3: [np.inf]}, path=[POINT | {"score": -np.inf}]
    )
    loaded = round_trip(model, tmp_path / "a.mbauc")
    assert loaded.trained_on == {"auc": None, "at": str(tmp_path), "3": [None]}
    assert loaded.path == [POINT | {"score": None}]


@pytest.mark.parametrize(
    ("what", "where"),
    [
        (
            {"settings": {"random_state": np.random.default_rng(0)}},
            r"settings\['random_state'\] is a Generator",
        ),
        ({"settings": {"tol": np.nan}}, r"settings\['tol'\] is nan"),
        ({"classes": (0, b"1")}, r"classes\[1\] is a bytes"),
        ({"classes": (0, (1, np.inf))}, r"classes\[1\]\[1\] is inf"),
        (
            {"trained_on": {"notes": 7}},
            r"model\['trained_on'\]\['notes'\] must be a list of items, each a text",
        ),
        ({"path": [{"l1": 1.0}]}, r"model\['path'\]\[0\] lacks 'l2'"),
        ({"settings": {"l2": "much"}}, r"\['l2'\] must be a number of at least 0 or 'auto', got 'much'"),
    ],
    ids=["generator", "nan", "bytes", "inf", "notes", "path", "l2"],
)
def test_what_a_file_cannot_hold_is_named_and_the_old_file_kept(tmp_path, what, where):
    path = tmp_path / "a.mbauc"
    save_model(plain_model(), path)
    before = path.read_bytes()
    parts = {name: getattr(plain_model(), name) for name in ("layout", "classes", "coef", "intercept", "slope")}
    model = RankerModel(**(parts | {"l1": 0.0, "l2": 1.0} | what))
    with pytest.raises(ValueError, match=where):
        save_model(model, path)
    assert path.read_bytes() == before


# -- writing -----------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_when_all_is_flushed(tmp_path, monkeypatch):
    path = tmp_path / "a.mbauc"
    save_model(plain_model(), path)
    before = path.read_bytes()

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        DiskFullError, match=r"No space left on device\): the file that was there is kept.*a\.mbauc"
    ):
        save_model(plain_model(seed=1), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.mbauc"]


def test_permissions_and_links_are_kept(tmp_path):
    target, link = tmp_path / "a.mbauc", tmp_path / "link.mbauc"
    mask = os.umask(0o027)
    try:
        save_model(plain_model(), target)
    finally:
        os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o640
    target.chmod(0o600)
    link.symlink_to(target)
    save_model(plain_model(seed=1), link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert_same(load_model(target), plain_model(seed=1))


def test_a_missing_folder_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_model(plain_model(), tmp_path / "nowhere" / "a.mbauc")
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_model(tmp_path / "nothing.mbauc")


def test_neither_saving_nor_loading_copies_the_moments(tmp_path):
    path, d = tmp_path / "a.mbauc", 700
    moments = PairMoments.from_arrays(np.random.default_rng(0).normal(size=(5, d)), [0, 1, 0, 1, 0])
    model = RankerModel(LibsvmLayout(d, False), (0, 1), np.ones(d), 0.0, 1.0, 0.0, 1.0, moments=moments)
    size = 8 * d * (d + 1)
    tracemalloc.start()
    save_model(model, path)
    assert tracemalloc.get_traced_memory()[1] < 0.2 * size
    tracemalloc.reset_peak()
    loaded = load_model(path)
    assert tracemalloc.get_traced_memory()[1] < 1.5 * size
    tracemalloc.stop()
    assert_same(model, loaded)


# -- the form ----------------------------------------------------------------------------------------------


def test_the_format_is_the_one_that_is_documented(tmp_path):
    model = plain_model()
    save_model(model, tmp_path / "a.mbauc")
    text, arrays = forged.parse_body((tmp_path / "a.mbauc").read_bytes()[24:])
    assert text["kind"] == "model"
    assert text["about"]["classes"] == [0, 1]
    assert arrays["coef"].tobytes() == model.coef.tobytes()
    assert arrays["moments.positive_mean"].tobytes() == model.moments.class_means[0].tobytes()


def test_a_model_of_a_version_before_the_first_release_says_what_to_do(tmp_path):
    path = tmp_path / "old.mbauc"
    path.write_bytes(forged.seal(forged.join_body({"about": {"format": "mbauc model"}}), version=1))
    with pytest.raises(
        ModelFileError, match=r"old\.mbauc .*written by a version before 0\.1\.0; .* train again"
    ):
        load_model(path)
