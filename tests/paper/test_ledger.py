import zlib

import pytest

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


def test_a_torn_line_is_dropped_and_written_over(path):
    whole = path.read_bytes()
    for cut in range(1, 20):
        path.write_bytes(whole[:-cut])
        ledger = Ledger(path, SETTINGS)
        assert len(ledger.records) == 2
        ledger.append({"set": 9})
        assert [record["set"] for record in Ledger(path, SETTINGS).records] == [0, 1, 9]


@pytest.mark.parametrize("content", [b"", b"my own notes", b"my own\nnotes", b"\n"])
def test_another_program_s_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="line 1: the checksum does not fit"):
        Ledger(path, SETTINGS)
    assert path.read_bytes() == content


def test_a_full_disk_leaves_no_half_line(path, monkeypatch):
    ledger, before = Ledger(path, SETTINGS), path.read_bytes()

    def full(_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            ledger.append({"set": 3})
    assert path.read_bytes() == before
    ledger.append({"set": 4})
    assert [record["set"] for record in Ledger(path, SETTINGS).records] == [0, 1, 2, 4]


def test_a_flipped_byte_is_an_error_with_its_line(path):
    content = bytearray(path.read_bytes())
    place = content.index(b'"set":1') + 6
    content[place : place + 1] = b"7"
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"run\.ledger, line 3: the checksum does not fit"):
        Ledger(path, SETTINGS)


def test_other_settings_are_refused_by_name(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"other settings \(seed was 0, now 1\).*another folder"):
        Ledger(path, {**SETTINGS, "seed": 1})
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Ledger(tmp_path / "nowhere" / "run.ledger", SETTINGS)


@pytest.mark.parametrize("text", [b"3", b"[1]", b"null", b"{", b"[" * 100_000, b"\xff"], ids=lambda t: t[:5])
def test_a_line_with_a_right_checksum_that_is_no_record_is_told(tmp_path, text):
    path = tmp_path / "run.ledger"
    Ledger(path, {"seed": 0})
    with open(path, "ab") as stream:
        stream.write(b"%08x %s\n" % (zlib.crc32(text), text))
    with pytest.raises(ValueError, match="line 2: expected a JSON object") as caught:
        Ledger(path, {"seed": 0})
    assert len(str(caught.value)) < 400
