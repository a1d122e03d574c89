import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mbauc import MBAClassifier, PairMoments
from mbauc.metrics import roc_auc
from mbauc.paper.clicks import ClickLog, world
from mbauc.paper.clicks.shapes import SHAPES, Field
from mbauc.readers.hashing import hash_features, hash_slots

NAMES = tuple(SHAPES)
BITS = 2**64 - 1
ROW, FIELD, VALUE = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7


def same(block, other):
    assert (block.X != other.X).nnz == 0
    assert block.X.shape == other.X.shape
    np.testing.assert_array_equal(block.y, other.y)


def joined(blocks):
    blocks = list(blocks)
    indices = np.concatenate([block.X.indices for block in blocks])
    sizes = np.concatenate([np.diff(block.X.indptr) for block in blocks])
    return indices, sizes, np.concatenate([block.y for block in blocks])


# -- a twin in plain Python ---------------------------------------------------------------------------------


def mixed(x):
    x &= BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def nearly_normal(counter):
    x = mixed(counter)
    return (sum((x >> shift) & 0xFFFF for shift in (0, 16, 32, 48)) - 131070) * (1 / 37837.2)


def twin(name, seed, row):
    """Values by name, log-odds and label of one row, as the documentation says."""
    shape, t = SHAPES[name], world.tables(name, seed)
    key = mixed(int(t.start) + row * ROW)
    values = {}
    for f, field in enumerate(shape.fields):
        x = mixed(key + (f + 1) * FIELD)
        if field.parent:
            choice = mixed(x + ROW)
            if choice % 256 < round(256 * field.share):
                favourite = (choice >> 8) % field.favourites
                x = mixed(int(t.key[f]) + values[field.parent] * VALUE + favourite * FIELD)
        cell = x >> 54
        limit, other = divmod(int(t.alias[f, cell]), 1024)
        if (x >> 32) % 2**20 >= limit:
            cell = other
        if cell > int(t.head[f]):
            place = cell - int(t.head[f]) - 1
            cell = int(t.low[f, place]) + ((x % 2**32) * int(t.width[f, place]) >> 32)
        values[field.name] = 0 if field.parent and values[field.parent] == 0 else cell
    effects = {
        field.name: field.weight * nearly_normal(int(t.effect[f]) + values[field.name] * VALUE)
        for f, field in enumerate(shape.fields)
        if not field.hidden
    }
    user, page = (
        sum(effects[field.name] for field in shape.columns if field.side == side) for side in ("user", "page")
    )
    together = shape.product * user * page
    for p, (first, second, weight) in enumerate(shape.pairs):
        together += weight * nearly_normal(int(t.pair[p]) + values[first] * VALUE + values[second] * FIELD)
    intercept, a, b = world.truth(name, seed, 1)
    log_odds = intercept + a * sum(effects.values()) + b * together
    label = (mixed(key) >> 11) * 2.0**-53 < 1 / (1 + np.exp(-log_odds))
    return values, log_odds, label


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_log_odds_against_the_twin(name):
    log = ClickLog(200, shape=name, seed=7, start=10**12)
    table, log_odds, y = log.table(), log.log_odds(), log.rows().y
    shape = SHAPES[name]
    for i in range(200):
        values, expected, label = twin(name, 7, 10**12 + i)
        assert log_odds[i] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert bool(y[i]) == label == bool(table[shape.label][i].as_py())
        for field in shape.columns:
            text = table[field.name][i].as_py()
            assert (text is None) == (values[field.name] == 0)
            if field.texts and text is not None:
                assert text == field.texts[values[field.name] - 1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [2, 64, 10_000, 2**24])
def test_hashed_columns_are_those_of_hash_features(name, width):
    log = ClickLog(300, shape=name, seed=1, hash_dim=width)
    table, X = log.table(), log.rows().X
    slots = np.stack(
        [
            hash_slots(hash_features(field.name, [text or "" for text in table[field.name].to_pylist()]), width)
            for field in SHAPES[name].columns
        ],
        axis=1,
    )
    for i in range(300):
        np.testing.assert_array_equal(X.indices[X.indptr[i] : X.indptr[i + 1]], np.unique(slots[i]))


def test_rare_values_go_the_way_that_has_no_table():
    from mbauc.paper.clicks.slot_kernels import KNOWN

    values = [twin("criteo", 1, row)[0]["C3"] for row in range(100)]
    assert max(values) > 100 * KNOWN
    assert min(values) < KNOWN


def test_values_of_a_field_have_different_names():
    from mbauc.paper.clicks.slot_kernels import hex_texts

    key = world.tables("criteo", 0).name[-1]
    text = np.empty(8 * 200_000, dtype=np.uint8)
    hex_texts(np.arange(200_000, dtype=np.uint32), key, text)
    names = text.view("S8")
    assert np.unique(names).size == 200_000
    assert set(text.tobytes()) == set(b"0123456789abcdef")


# -- the same rows, however they are made ------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("block_rows", "n_jobs"), [(999, 1), (256, 3), (10_000, 2)])
def test_blocks_and_threads_do_not_change_rows(name, block_rows, n_jobs):
    whole = ClickLog(3000, shape=name).rows()
    log = ClickLog(3000, shape=name, block_rows=block_rows, n_jobs=n_jobs)
    blocks = list(log)
    assert [len(block.y) for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
    for found, expected in zip(joined(blocks), joined([whole]), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert all(block.weight is None for block in blocks)
    np.testing.assert_array_equal(joined(log)[0], joined([whole])[0])  # again


@settings(max_examples=25)
@given(
    st.integers(0, 2000), st.integers(0, 700), st.integers(0, 2**61), st.sampled_from(NAMES), st.integers(0, 3)
)
def test_any_range_is_a_part_of_the_whole(first, count, start, name, seed):
    log = ClickLog(10**9, shape=name, seed=seed, start=start, hash_dim=500)
    part = log.rows(first, first + count)
    assert len(part.y) == count
    same(part, ClickLog(count, shape=name, seed=seed, start=start + first, hash_dim=500).rows())
    same(part, log[first : first + count].rows())
    if count > 20:
        same(log.rows(first + 10, first + 20), type(part)(part.X[10:20], part.y[10:20]))
        np.testing.assert_array_equal(
            log.log_odds(first, first + count)[10:20], log.log_odds(first + 10, first + 20)
        )
        assert (
            log.table(first, first + count)[10:20].to_pylist() == log.table(first + 10, first + 20).to_pylist()
        )


def test_many_rows_at_once_are_those_of_the_blocks():
    log = ClickLog(150_000, shape="avazu-app", hash_dim=1000)
    X, y, _ = log.rows()
    for found, expected in zip(joined(log), (X.indices, np.diff(X.indptr), y), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert X.data.min() == X.data.max() == 1.0


def test_seeds_and_shapes_are_worlds_of_their_own():
    app, site, other = (
        ClickLog(2000, shape=shape, seed=seed).log_odds()
        for shape, seed in (("avazu-app", 0), ("avazu-site", 0), ("avazu-app", 1))
    )
    assert abs(np.corrcoef(app, site)[0, 1]) < 0.1
    assert abs(np.corrcoef(app, other)[0, 1]) < 0.1


def test_slices():
    log = ClickLog(1000, start=50, seed=3, hash_dim=77, block_rows=10, shape="avazu-site", n_jobs=1)
    part = log[-200:-100]
    assert (part.n_rows, part.start, part.seed, part.n_features) == (100, 850, 3, 77)
    assert (part.block_rows, part.shape, part.n_jobs) == (10, "avazu-site", 1)
    assert log[900:100].n_rows == 0
    assert log[500:][100:200].start == 650
    assert "1,000 rows from row 50 on, shape='avazu-site'" in repr(log)
    for bad in (slice(0, 10, 2), 3):
        with pytest.raises(TypeError, match=r"slices without a step, as in log\[:1000\]"):
            log[bad]


def test_matrices_are_canonical():
    log = ClickLog(500, hash_dim=200)  # where values of a row meet
    assert (log.n_features, log.classes, log.label) == (200, (0, 1), "label")
    (block,) = log
    X = block.X
    assert (X.dtype, X.indices.dtype, block.y.dtype) == (np.float64, np.int32, np.int8)
    assert X.indptr[-1] == X.nnz == X.data.size == X.indices.size
    for i in range(500):
        row = X.indices[X.indptr[i] : X.indptr[i + 1]]
        assert (np.diff(row) > 0).all()
        assert 25 < row.size <= 39
    assert np.diff(X.indptr).min() < 39


def test_a_block_belongs_to_the_caller():
    log = ClickLog(2000, block_rows=1000, hash_dim=50)
    before = [block.X.copy() for block in log]
    for block in log:
        block.X.data *= 3.0
    assert all((old != block.X).nnz == 0 for block, old in zip(log, before, strict=True))


# -- what they are like -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_share_of_positives_and_entries(name):
    log, shape = ClickLog(1_000_000, shape=name, seed=11), SHAPES[name]
    positives, entries = np.sum([[block.y.sum(), block.X.nnz] for block in log], axis=0)
    assert positives / 1e6 == pytest.approx(1 / (1 + shape.ratio), rel=0.01)
    assert len(shape.columns) - 0.2 < entries / 1e6 <= len(shape.columns)


def test_ratios_are_those_of_the_originals():
    assert {name: shape.ratio for name, shape in SHAPES.items()} == {
        "criteo": 2.92,
        "avazu-app": 8.33,
        "avazu-site": 4.06,
    }
    criteo = [field.name for field in SHAPES["criteo"].columns]
    assert criteo == [f"I{k}" for k in range(1, 14)] + [f"C{k}" for k in range(1, 27)]
    assert len(SHAPES["avazu-app"].columns) == len(SHAPES["avazu-site"].columns) == 22


@pytest.mark.parametrize("name", NAMES)
def test_calibration_is_right_for_any_seed(name):
    for seed in (0, 1, 2**63 - 1):
        probability = 1 / (1 + np.exp(-ClickLog(100_000, shape=name, seed=seed, start=10**9).log_odds()))
        error = 4 * probability.std() * np.sqrt(1 / 1e5 + 1 / 2**18)
        assert abs(probability.mean() - SHAPES[name].positives) < error


def test_frequencies_follow_the_weights():
    n = 200_000
    table = ClickLog(n, seed=2).table()
    for name in ("C1", "C8", "C22", "I2", "I4", "I12"):
        field = next(each for each in SHAPES["criteo"].fields if each.name == name)
        assert not field.parent
        ranks = np.arange(1.0, field.size + 1)
        shares = field.weights(ranks, ranks)
        shares *= (1 - field.missing) / shares.sum()
        values = table[name].combine_chunks().dictionary_decode()
        assert values.null_count / n == pytest.approx(field.missing, abs=5e-3)
        counts = np.sort([each["counts"] for each in values.drop_null().value_counts().to_pylist()])[::-1]
        expected = np.sort(shares)[::-1] * n
        frequent = expected > 2000
        np.testing.assert_allclose(counts[: frequent.sum()], expected[frequent], rtol=0.1)


def test_rare_values_are_many():
    table = ClickLog(100_000).table()
    distinct = {name: len(table[name].combine_chunks().dictionary) for name in ("C3", "C9", "C12", "C21")}
    assert distinct["C9"] == 3
    assert min(distinct["C3"], distinct["C12"], distinct["C21"]) > 10_000


@pytest.mark.parametrize(
    ("name", "parent", "child"),
    [("criteo", "C3", "C4"), ("criteo", "C11", "C13"), ("avazu-site", "site_id", "site_domain")],
)
def test_columns_that_follow_from_others(name, parent, child):
    rows = ClickLog(20_000, shape=name).table().select([parent, child]).to_pylist()
    pairs = {tuple(row.values()) for row in rows}
    assert len(pairs) == len({first for first, _ in pairs}) > 100


def test_values_are_missing_together():
    table = ClickLog(5000).table()
    missing = np.array([table[name].is_null().to_numpy() for name in ("C19", "C20", "C25", "C26")])
    assert (missing == missing[0]).all()
    assert 0.4 < missing[0].mean() < 0.5


def test_hidden_traits_tie_columns_together():
    table = ClickLog(50_000).table()
    first, second = (
        table[name].combine_chunks().indices.to_numpy(zero_copy_only=False) for name in ("C14", "C17")
    )
    together = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(together, (first, second), 1 / first.size)
    apart = np.outer(together.sum(1), together.sum(0))
    present = together > 0
    information = (together[present] * np.log(together[present] / apart[present])).sum()
    chance = (together.shape[0] - 1) * (together.shape[1] - 1) / (2 * first.size)
    assert information > 10 * chance


@pytest.mark.parametrize("name", NAMES)
def test_labels_follow_the_log_odds(name):
    log = ClickLog(200_000, shape=name, start=10**7)
    log_odds, y = log.log_odds(), log.rows().y
    probability = 1 / (1 + np.exp(-log_odds))
    for part in np.array_split(np.argsort(log_odds), 10):
        error = 4.5 * np.sqrt((probability[part] * (1 - probability[part])).sum()) / part.size
        assert abs(y[part].mean() - probability[part].mean()) < error


@pytest.mark.parametrize("name", NAMES)
def test_a_linear_ranker_finds_most_but_not_all(name):
    log = ClickLog(100_000, shape=name, hash_dim=1000)
    ranker = MBAClassifier().fit_moments(PairMoments.from_blocks(log[:80_000]))
    X, y, _ = log.rows(80_000, 100_000)
    linear, truth = roc_auc(y, ranker.decision_function(X)), roc_auc(y, log.log_odds(80_000, 100_000))
    assert truth > linear + 0.015
    assert linear > 0.7


# -- settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_rows": -1}, "n_rows must be a whole number of at least 0, got -1"),
        ({"n_rows": 1e6}, "n_rows must be a whole number"),
        ({"shape": "avazu"}, "shape must be 'criteo', 'avazu-app' or 'avazu-site', got 'avazu'"),
        ({"hash_dim": 1}, "hash_dim must be a whole number of at least 2"),
        ({"hash_dim": 2**24 + 1}, "hash_dim must be at most 16,777,216, got 16,777,217"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 2**63}, "seed must be less than 2"),
        ({"block_rows": 0}, "block_rows must be a whole number of at least 1"),
        ({"start": -5}, "start must be a whole number of at least 0"),
        ({"start": 2**62}, r"rows are numbered up to 2\^62"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_settings(given, message):
    with pytest.raises(ValueError, match=message):
        ClickLog(**({"n_rows": 10} | given))


@pytest.mark.parametrize("make", [ClickLog.rows, ClickLog.table, ClickLog.log_odds])
def test_rows_that_are_not_there(make):
    log = ClickLog(10)
    for first, last in ((5, 11), (6, 5)):
        with pytest.raises(ValueError, match="expected 0 <= start <= stop <= 10"):
            make(log, first, last)
    with pytest.raises(ValueError, match="start must be a whole number of at least 0, got -1"):
        make(log, -1, 5)


def test_no_rows():
    log = ClickLog(0)
    assert list(log) == []
    assert log.rows().X.shape == (0, 10_000)
    assert log.log_odds().shape == (0,)
    assert log.table().num_rows == 0


def test_a_log_that_is_not_read_loads_no_compiler():
    code = (
        "import sys; from mbauc.paper.clicks import ClickLog; ClickLog(10)[:5]; print('numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_fields_name_fields_before_them():
    for shape in SHAPES.values():
        names = [field.name for field in shape.fields]
        assert len(set(names)) == len(names)
        for place, field in enumerate(shape.fields):
            assert not field.parent or field.parent in names[:place]
            assert field.favourites & (field.favourites - 1) == 0
            assert not field.texts or len(set(field.texts)) == field.size <= 4095
        assert {name for first, second, _ in shape.pairs for name in (first, second)} <= set(names)
    assert Field("x", 3).texts == ()


# -- threads ------------------------------------------------------------------------------------------------


def test_stopping_early_leaves_no_threads():
    before = threading.active_count()
    for _ in ClickLog(100_000, block_rows=1000, n_jobs=3, hash_dim=10):
        break
    # idle threads end by themselves
    latest = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < latest:
        time.sleep(0.01)
    assert threading.active_count() == before
