import os

import numpy as np
import pytest

import forged_files as forged
from mbauc import PairMoments, sample_pairs
from mbauc.errors import MomentFileError


@pytest.mark.parametrize("closed", [False, True])
def test_what_was_saved_is_loaded(table, tmp_path, closed):
    moments = PairMoments.from_arrays(*table) if not closed else sample_pairs(*table, 50, random_state=0)
    path = tmp_path / "moments"
    moments.save(path)
    loaded = PairMoments.load(path)
    np.testing.assert_array_equal(loaded.second_moment, moments.second_moment)
    np.testing.assert_array_equal(loaded.mean_difference, moments.mean_difference)
    assert loaded.counts == moments.counts
    assert loaded.weights == moments.weights
    assert loaded.effective_sizes == moments.effective_sizes
    assert loaded.n_pairs == moments.n_pairs
    assert loaded.is_sampled == moments.is_sampled
    np.testing.assert_allclose((loaded + moments).second_moment, moments.second_moment)


def test_the_name_is_kept_and_nothing_else_is_left(table, tmp_path):
    path = tmp_path / "moments.data"
    PairMoments.from_arrays(*table).save(str(path))
    PairMoments.from_arrays(*table).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["moments.data"]


def test_a_failed_save_leaves_the_old_file(table, tmp_path, monkeypatch):
    path = tmp_path / "moments"
    moments = PairMoments.from_arrays(*table)
    moments.save(path)
    before = path.read_bytes()

    def broken(number):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        (moments + moments).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_folder_is_named(table, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        PairMoments.from_arrays(*table).save(tmp_path / "no" / "moments")


def test_a_damaged_or_cut_file_is_refused(table, tmp_path):
    path = tmp_path / "moments"
    PairMoments.from_arrays(*table).save(path)
    content = path.read_bytes()
    for spoilt, message in (
        (content[:-1], "was cut short"),
        (b"", "is empty"),
        (content[:-9] + b"!" + content[-8:], "does not match its checksum"),
    ):
        path.write_bytes(spoilt)
        with pytest.raises(MomentFileError, match=rf"moments .*{message}.*save the moments again"):
            PairMoments.load(path)


def test_other_files_are_refused(table, tmp_path):
    path = tmp_path / "other"
    for write in (
        lambda: path.write_text("x,y\n1,2\n"),
        lambda: np.savez(open(path, "wb"), a=np.ones(3)),  # noqa: SIM115
        lambda: np.save(open(path, "wb"), np.array([{}], dtype=object), allow_pickle=True),  # noqa: SIM115
        lambda: path.write_bytes(forged.seal(b"{}", version=3)),
        lambda: path.mkdir(),
    ):
        path.unlink(missing_ok=True)
        write()
        with pytest.raises(MomentFileError, match="other"):
            PairMoments.load(path)


def test_moments_of_a_version_before_the_first_release_say_what_to_do(tmp_path):
    with open(tmp_path / "old.npz", "wb") as stream:
        np.savez(stream, format=np.str_("mbauc pair moments"), version=np.int64(1))
    with pytest.raises(
        MomentFileError,
        match=r"as NumPy writes and PairMoments\.save did before 0\.1\.0\. .*save the moments again",
    ):
        PairMoments.load(tmp_path / "old.npz")


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        PairMoments.load(tmp_path / "nothing")


def test_counts_beyond_64_bits(table, tmp_path):
    moments = PairMoments.from_arrays(*table).closed()
    for _ in range(60):
        moments = moments + moments
    moments.save(tmp_path / "many")
    assert PairMoments.load(tmp_path / "many").n_pairs == moments.n_pairs > 2**64


@pytest.mark.parametrize(
    "fields",
    [
        {"positive_count": np.str_("-1")},
        {"positive_weight": np.float64("nan")},
        {"positive_weight": np.float64(1e200)},
        {"negative_mean": np.full(6, np.inf)},
        {"scatters": np.full((7, 6), np.nan)},
        {"scatters": np.zeros((6, 6))},
        {"scatters": np.zeros((7, 6), dtype=np.float32)},
        {"positive_mean": np.zeros(5)},
        {"more": np.zeros(5)},
        {"pairs_scatter": np.zeros((6, 6))},
    ],
    ids=str,
)
def test_impossible_contents_are_refused(table, tmp_path, fields):
    path = tmp_path / "moments"
    PairMoments.from_arrays(*table).save(path)
    text, arrays = forged.parse_body(path.read_bytes()[24:])
    path.write_bytes(forged.seal(forged.make_body(text, arrays)))
    PairMoments.load(path)
    path.write_bytes(forged.seal(forged.make_body(text, arrays | fields)))
    with pytest.raises(MomentFileError, match=r"that this mbauc understands: .*save the moments again"):
        PairMoments.load(path)


def test_links_and_permissions_are_kept(table, tmp_path):
    moments = PairMoments.from_arrays(*table)
    target, link = tmp_path / "real", tmp_path / "link"
    moments.save(target)
    target.chmod(0o640)
    link.symlink_to(target)
    (moments + moments).save(link)
    assert link.is_symlink()
    assert PairMoments.load(target).counts[0] == 2 * moments.counts[0]
    assert target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(OSError, match="not a regular file"):
        moments.save(tmp_path)
