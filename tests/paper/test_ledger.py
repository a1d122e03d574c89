import pytest

import forged_files as forged
from mbauc.errors import CheckpointError, DiskFullError
from mbauc.paper.ledger import Ledger

SETTINGS = {"seed": 0, "grid": (1.0, 2.0)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.ledger"
    ledger = Ledger(path, SETTINGS)
    for number in range(3):
        ledger.append({"set": number, "auc": 0.1 + 0.2 * number})
    return path


def test_records_come_back_to_the_last_bit(path):
    assert Ledger(path, SETTINGS).records == [{"set": n, "auc": 0.1 + 0.2 * n} for n in range(3)]


def test_two_runs_of_one_ledger_keep_each_other_s_records(path):
    one, two = Ledger(path, SETTINGS), Ledger(path, SETTINGS)
    one.append({"set": 3})
    two.append({"set": 4})
    one.append({"set": 5})
    assert [record["set"] for record in Ledger(path, SETTINGS).records] == [0, 1, 2, 3, 4, 5]


def test_results_that_could_not_be_computed_come_back(tmp_path):
    Ledger(tmp_path / "run", {}).append({"auc": float("nan"), "gap": float("inf")})
    assert repr(Ledger(tmp_path / "run", {}).records) == "[{'auc': nan, 'gap': inf}]"


def test_a_torn_record_is_dropped_and_written_over(path):
    whole = path.read_bytes()
    for cut in range(1, 20):
        path.write_bytes(whole[:-cut])
        ledger = Ledger(path, SETTINGS)
        assert len(ledger.records) == 2
        ledger.append({"set": 9})
        assert [record["set"] for record in Ledger(path, SETTINGS).records] == [0, 1, 9]


@pytest.mark.parametrize("content", [b"", b"my own notes", b"my own\nnotes", b"\n", b"\x89MBAUC\r\n", bytes(9)])
def test_another_program_s_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"run\.ledger is .*Delete it to start again"):
        Ledger(path, SETTINGS)
    assert path.read_bytes() == content


def test_a_full_disk_leaves_no_half_record(path, monkeypatch):
    ledger, before = Ledger(path, SETTINGS), path.read_bytes()

    def full(_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(DiskFullError, match=r"No space.*tasks before are kept.*resumes from there"):
            ledger.append({"set": 3})
    assert path.read_bytes() == before
    ledger.append({"set": 4})
    assert [record["set"] for record in Ledger(path, SETTINGS).records] == [0, 1, 2, 4]


def test_a_flipped_byte_anywhere_is_an_error_with_its_record(path):
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        content = bytearray(whole)
        content[place] ^= 0x10
        path.write_bytes(bytes(content))
        with pytest.raises(CheckpointError, match=r"run\.ledger .*Delete it to start again"):
            Ledger(path, SETTINGS)
    content = bytearray(whole)
    content[whole.index(rb"\"set\":1") + 8] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CheckpointError, match=r"run\.ledger is damaged: record 2 does not match its checksum"):
        Ledger(path, SETTINGS)


def test_other_settings_are_refused_by_name(path):
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"other settings \(seed was 0, now 1\).*another folder"):
        Ledger(path, {**SETTINGS, "seed": 1})
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Ledger(tmp_path / "nowhere" / "run.ledger", SETTINGS)


@pytest.mark.parametrize("result", [3, None, "{", "[" * 100_000, ""], ids=lambda r: str(r)[:5])
def test_a_record_with_a_right_checksum_that_is_no_result_is_told(path, result):
    head, bodies = forged.split_journal(path.read_bytes())
    bodies.append(forged.make_body({"kind": "task", "about": {"result": result}}, {}, start=forged.RECORD))
    path.write_bytes(forged.join_journal(head, bodies))
    with pytest.raises(CheckpointError, match=r"no ledger that this mbauc understands.*start again") as caught:
        Ledger(path, SETTINGS)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_a_ledger_of_a_version_before_the_first_release_says_what_to_do(path):
    path.write_bytes(b'2c0b4a60 {"seed":0}\n')
    with pytest.raises(CheckpointError, match=r"of a version before 0\.1\.0\. Delete it to start again"):
        Ledger(path, SETTINGS)
