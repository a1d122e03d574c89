import copy
import tracemalloc
import zipfile

import numpy as np
import pytest

from mbauc import PairMoments, sample_pairs
from mbauc.errors import MomentFileError


@pytest.mark.parametrize("closed", [False, True])
def test_what_was_saved_is_loaded(table, tmp_path, closed):
    moments = PairMoments.from_arrays(*table) if not closed else sample_pairs(*table, 50, random_state=0)
    path = tmp_path / "moments.npz"
    moments.save(path)
    loaded = PairMoments.load(path)
    np.testing.assert_array_equal(loaded.second_moment, moments.second_moment)
    np.testing.assert_array_equal(loaded.mean_difference, moments.mean_difference)
    assert loaded.counts == moments.counts
    assert loaded.weights == moments.weights
    assert loaded.effective_sizes == moments.effective_sizes
    assert loaded.n_pairs == moments.n_pairs
    np.testing.assert_allclose((loaded + moments).second_moment, moments.second_moment)


def test_the_name_is_kept_and_nothing_else_is_left(table, tmp_path):
    path = tmp_path / "moments.data"
    PairMoments.from_arrays(*table).save(str(path))
    PairMoments.from_arrays(*table).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["moments.data"]


def test_a_failed_save_leaves_the_old_file(table, tmp_path, monkeypatch):
    path = tmp_path / "moments.npz"
    moments = PairMoments.from_arrays(*table)
    moments.save(path)
    before = path.read_bytes()

    def broken(*args, **kwargs):
        args[0].write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", broken)
    with pytest.raises(OSError, match="disk full"):
        (moments + moments).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_folder_is_named(table, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        PairMoments.from_arrays(*table).save(tmp_path / "no" / "moments.npz")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(table, tmp_path, share):
    path = tmp_path / "moments.npz"
    PairMoments.from_arrays(*table).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(MomentFileError, match="does not hold pair moments, or was cut short"):
        PairMoments.load(path)


def test_a_flipped_byte_is_noticed(table, tmp_path):
    path = tmp_path / "moments.npz"
    PairMoments.from_arrays(*table).save(path)
    content = bytearray(path.read_bytes())
    place = content.find(b"scatters.npy") + 300
    content[place] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(MomentFileError):
        PairMoments.load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    for write in (
        lambda: path.write_text("x,y\n1,2\n"),
        lambda: np.savez(open(path, "wb"), a=np.ones(3)),  # noqa: SIM115
        lambda: np.save(open(path, "wb"), np.ones(3)),  # noqa: SIM115
        lambda: np.save(open(path, "wb"), np.array([{}], dtype=object), allow_pickle=True),  # noqa: SIM115
    ):
        write()
        with pytest.raises(MomentFileError, match="other"):
            PairMoments.load(path)


def test_an_unknown_version_is_refused(table, tmp_path, monkeypatch):
    path = tmp_path / "moments.npz"
    monkeypatch.setattr("mbauc.pairs.moment_file.VERSION", 99)
    PairMoments.from_arrays(*table).save(path)
    monkeypatch.undo()
    with pytest.raises(MomentFileError, match="format version 99, this mbauc reads version 1"):
        PairMoments.load(path)


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        PairMoments.load(tmp_path / "nothing.npz")


def test_counts_beyond_64_bits(table, tmp_path):
    moments = PairMoments.from_arrays(*table).closed()
    for _ in range(60):
        moments = moments + moments
    moments.save(tmp_path / "many.npz")
    assert PairMoments.load(tmp_path / "many.npz").n_pairs == moments.n_pairs > 2**64


@pytest.mark.parametrize(
    "fields",
    [
        {"positive_count": np.str_("-1")},
        {"positive_weight": np.float64("nan")},
        {"positive_weight": np.float64(1e200)},
        {"negative_mean": np.full(6, np.inf)},
        {"scatters": np.full((7, 6), np.nan)},
        {"scatters": np.zeros((6, 6))},
        {"version": np.array([1, 2])},
    ],
    ids=str,
)
def test_impossible_contents_are_refused(table, tmp_path, fields):
    path = tmp_path / "moments.npz"
    PairMoments.from_arrays(*table).save(path)
    with np.load(path) as arrays:
        content = dict(arrays)
    np.savez(path, **(content | fields))
    with pytest.raises(MomentFileError):
        PairMoments.load(path)


def test_links_and_permissions_are_kept(table, tmp_path):
    moments = PairMoments.from_arrays(*table)
    target, link = tmp_path / "real.npz", tmp_path / "link.npz"
    moments.save(target)
    target.chmod(0o640)
    link.symlink_to(target)
    (moments + moments).save(link)
    assert link.is_symlink()
    assert PairMoments.load(target).counts[0] == 2 * moments.counts[0]
    assert target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(OSError, match="not a regular file"):
        moments.save(tmp_path)


# -- files that ask for more than they hold -------------------------------------------------------------------


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_and_takes_no_memory(table, tmp_path):
    path = tmp_path / "bomb.npz"
    PairMoments.from_arrays(*table).save(path)
    with np.load(path) as arrays:
        content = dict(arrays)
    d = 3000
    means = {name: np.zeros(d) for name in ("positive_mean", "negative_mean")}
    np.savez_compressed(path, **(content | means | {"scatters": np.zeros((d + 1, d))}))
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    with pytest.raises(MomentFileError, match=r"bomb\.npz does not hold .* is compressed"):
        PairMoments.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def rewritten(path, change):
    """The same archive with the bytes of its members changed; checksums fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, change(name, content))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("scatters", b"(7, 6)", b"(9999999, 9999999)", "bytes for the shape"),
        ("scatters", b"(7, 6)", b"(6, 7)", r"must have the shape \(6, 5\), got \(6, 7\)"),
        ("scatters", b"(7, 6)", b"(42,)", "must have the shape"),
        ("scatters", b"'<f8'", b"'|O'", "no array of numbers or text"),
        ("scatters", b"'<f8'", b"'<i8'", "'scatters' must be of type <f8, got '<i8'"),
        ("scatters", b"{'descr'", b"[" * 90 + b"{'descr'", "no array of numbers or text"),
        ("positive_mean", b"NUMPY\x01", b"NUMPY\x03", "no array of numbers or text"),
        ("positive_mean", b"(6,)", b"(3,)", "bytes for the shape"),
    ],
)
def test_arrays_are_held_against_the_file_before_they_are_read(table, tmp_path, name, old, new, message):
    path = tmp_path / "moments.npz"
    PairMoments.from_arrays(*table).save(path)

    def change(member, content):
        if member != f"{name}.npy":
            return content
        assert old in content
        end = 10 + int.from_bytes(content[8:10], "little")
        head = content[:end].replace(old, new).rstrip(b" \n")[: end - 1]
        return head.ljust(end - 1) + b"\n" + content[end:]

    rewritten(path, change)
    with pytest.raises(MomentFileError, match=message):
        PairMoments.load(path)


def test_members_that_share_their_bytes_or_their_names_are_refused(table, tmp_path):
    path = tmp_path / "moments.npz"
    PairMoments.from_arrays(*table).save(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("scatters.npy", b"")
    with pytest.raises(MomentFileError, match="two arrays of one name"):
        PairMoments.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("format.npy", b"x" * 1000)
        first = archive.infolist()[0]
        for number in range(100):
            other = copy.copy(first)
            other.filename = f"a{number}.npy"
            archive.filelist.append(other)
        archive._didModify = True
    with pytest.raises(MomentFileError, match=r"overlaps|Overlapped"):
        PairMoments.load(path)
