import argparse

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc import MBAClassifier
from mbauc.cli.main import main
from mbauc.cli.memory_need import Room
from mbauc.cli.output import Usage
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.readers import LibsvmSource
from mbauc.runtime import memory
from mbauc.runtime.memory import available_memory, own_memory, parse_memory


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("2GB", 2_000_000_000),
        ("2gb", 2_000_000_000),
        (" 1.5 GiB ", 3 << 29),
        ("512MiB", 1 << 29),
        ("2000kB", 2_000_000),
        ("1TB", 10**12),
        ("2TiB", 2 << 40),
        ("3000000B", 3_000_000),
        ("2G", 2_000_000_000),
        ("1.5m", 1_500_000),
        ("5000 K", 5_000_000),
        (1 << 20, 1 << 20),
        (np.int64(5_000_000), 5_000_000),
    ],
)
def test_sizes(written, size):
    assert parse_memory(written) == size


@given(st.integers(1 << 20, 1 << 50))
def test_bytes_in_any_form(size):
    assert parse_memory(size) == parse_memory(f"{size}B") == size


@pytest.mark.parametrize(
    "wrong", ["", "GB", "2", "2Gi", "-1GB", "1e3GB", "2 GB free", 1.5, True, -5, [1], "nan B"]
)
def test_what_is_no_size_is_refused(wrong):
    with pytest.raises(ValueError, match=r"memory must be a size such as '2GB'.*got"):
        parse_memory(wrong)


@pytest.mark.parametrize("small", [0, 64, "64B", "1KB"])
def test_a_forgotten_unit_is_noticed(small):
    with pytest.raises(ValueError, match=r"max_memory=.* bytes; at least 1 MiB .*'64MB'"):
        parse_memory(small, "max_memory")


@pytest.mark.parametrize("small", ["1MB", "512K"])
def test_a_unit_that_was_written_is_not_asked_for(small):
    with pytest.raises(ValueError, match=r"at least 1 MiB \(1,048,576 bytes\) is needed") as caught:
        parse_memory(small)
    assert "Write the unit" not in str(caught.value)


def test_none_is_half_of_what_is_available(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000_000)
    assert parse_memory(None) == parse_memory() == 5_000_000
    monkeypatch.setattr(memory, "available_memory", lambda: 10)
    assert parse_memory() == 1 << 20
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert parse_memory() == 1 << 30


def test_this_machine_has_some():
    found = available_memory()
    assert found is None or found > 1 << 20


def group(folder, limit, used, cached, names=("memory.max", "memory.current"), cache="inactive_file"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{cache} {cached}\nactive_file 7\n")


def test_limits_of_containers(tmp_path, monkeypatch):
    root, own = tmp_path / "cgroup", tmp_path / "own"
    assert memory._control_groups(root, own) == []
    own.write_text("0::/a/b\n")
    assert memory._control_groups(root, own) == []
    group(root / "a" / "b", "max", 50, 0)
    group(root / "a", 1000, 700, 100)
    assert memory._control_groups(root, own) == [400]
    group(root / "a" / "b", 500, 600, 50)
    assert memory._control_groups(root, own) == [0, 400]


def test_limits_of_older_containers(tmp_path):
    own = tmp_path / "own"
    own.write_text("5:cpu:/x\n4:memory:/x\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    group(tmp_path / "memory" / "x", 900, 300, 20, names, "total_inactive_file")
    group(tmp_path / "memory", 2000, 300, 0, names, "total_inactive_file")
    assert memory._control_groups(tmp_path, own) == [620, 1700]


def test_the_smallest_limit_counts(monkeypatch):
    monkeypatch.setattr(memory, "_machine", lambda: 1000)
    monkeypatch.setattr(memory, "_control_groups", lambda: [700, 900])
    assert available_memory() == 700


@pytest.mark.skipif(not own_memory(), reason="the system does not tell what memory a process holds")
def test_own_memory_counts_arrays_and_no_mapped_files(tmp_path):
    before = own_memory()
    held = np.ones(1 << 27, dtype=np.int8)
    grown = own_memory() - before
    assert 0.9 * held.nbytes < grown < 1.5 * held.nbytes
    held.tofile(tmp_path / "mapped")
    del held
    before = own_memory()
    mapped = np.memmap(tmp_path / "mapped", mode="r")
    assert mapped.sum(dtype=np.int64) == 1 << 27
    assert own_memory() - before < mapped.nbytes // 4


def test_where_the_system_does_not_tell_nothing_is_held(monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda *_, **__: "?")
    assert own_memory() == 0


# -- the least that a fit takes ------------------------------------------------------------------------------


@pytest.fixture
def clicks(tmp_path):
    path = tmp_path / "clicks.libsvm"
    path.write_text("1 1:1\n0 2:1\n" * 50)
    return path


def fit(capsys, path, *words):
    """Exit code and what was said of a fit with a limit."""
    code = main(["fit", str(path), *words, "-o", str(path.with_name("model.mbauc")), "--force"])
    return code, capsys.readouterr().err


def test_too_little_memory_is_refused_with_what_is_needed(clicks, capsys):
    code, said = fit(capsys, clicks, "--memory", "50MB")
    assert code == 2
    assert "--memory 50MB is not enough for this fit: at least 450MB is needed to read LIBSVM text." in said
    table = clicks.with_name("rows.csv")
    table.write_text("y,a\n1,2\n0,1\n" * 50)
    code, said = fit(capsys, table, "--label", "y", "--memory", "600MB")
    assert code == 2
    assert "--memory 600MB is not enough for this fit: at least 750MB is needed to read tables." in said
    assert not clicks.with_name("model.mbauc").exists()


def test_sigma_that_does_not_fit_is_refused(clicks, capsys):
    clicks.write_text("1 1:1 10000:1\n0 2:1\n" * 50)
    code, said = fit(capsys, clicks, "--memory", "1GB", "--solver", "gram")
    assert code == 2
    assert "at least 2850MB is needed with --solver gram and 10,000 columns." in said
    source = LibsvmSource(clicks)
    with pytest.raises(ValueError, match=r"solver='gram' needs Σ of 10,000 columns, which takes 2\.4 GB"):
        MBAClassifier(solver="gram").fit_source(source, memory="1GB")


def test_numbers_of_rows_that_do_not_fit_are_refused(clicks, monkeypatch):
    """Other losses keep some numbers of each row, and leave less for the rows themselves."""
    monkeypatch.setattr("mbauc.runtime.memory.own_memory", lambda: 200_000_000)
    options, source = argparse.Namespace(format="libsvm"), LibsvmSource(clicks)
    room, plain = (Room(1_000_000_000, [str(clicks)], options) for _ in range(2))
    plain.require_for(source, gram=False, test_rows=0)
    room.require_for(source, gram=False, test_rows=0, swept_rows=1_100_000)
    assert plain.for_rows() - room.for_rows() == pytest.approx(120_000_000, abs=20_000_000)
    with pytest.raises(Usage, match="at least 1650MB is needed for numbers of 10,100,000 rows"):
        room.require_for(source, gram=False, test_rows=0, swept_rows=10_100_000)


def test_a_small_file_with_a_huge_index_is_refused(clicks, capsys):
    clicks.write_text("1 1:1 2147483647:1\n0 2:1\n" * 20)
    code, said = fit(capsys, clicks, "--memory", "500MB")
    assert code == 2
    assert "at least 280GB is needed with 2,147,483,647 columns." in said
    source = LibsvmSource(clicks)
    with pytest.raises(
        ValueError, match=r"2,147,483,647 columns takes at least 171\.8 GB; 1\.0 GB are allowed"
    ):
        MBAClassifier().fit_source(source, memory="1GB")
    with pytest.raises(ValueError, match=r"2,147,483,647 columns takes at least 171\.8 GB"):
        build_source_operator(source, n_threads=1, memory=1 << 30)


def test_enough_memory_is_enough(clicks, capsys):
    assert fit(capsys, clicks, "--memory", "450MB", "--hold-out", "0")[0] == 0
