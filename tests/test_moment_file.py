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
    monkeypatch.setattr("mbauc.moment_file.VERSION", 99)
    PairMoments.from_arrays(*table).save(path)
    monkeypatch.undo()
    with pytest.raises(MomentFileError, match="format version 99, this mbauc reads version 1"):
        PairMoments.load(path)


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        PairMoments.load(tmp_path / "nothing.npz")
