"""However reading ends, no thread reads on: one that outlives the interpreter aborts the process."""

import gc
import gzip
import threading
import weakref
from contextlib import suppress

import numpy as np
import pytest

from mbauc.runtime.ahead import one_ahead


def check_let_go(folder, held):
    """Read a file and leave its reader, which waits until nothing is held."""
    from mbauc.readers.table.faults import stop
    from mbauc.readers.table.files.csv_table import CsvTable
    from mbauc.readers.table.files.paths import TableFile

    path = folder / "rows.csv"
    path.write_text('x,y\n"1",2\n3,4\n')  # quotes: lines that are not plain
    pieces = CsvTable(TableFile(path)).pieces(["x", "y"], stop)
    assert next(pieces).table.num_rows == 2
    assert held
    pieces.close()
    assert not held


def test_a_reader_is_left_only_when_its_threads_have_let_go(tmp_path, monkeypatch):
    csv = pytest.importorskip("pyarrow.csv", reason="tables are read with pyarrow")

    held = []
    opened = csv.open_csv

    def held_for_a_while(stream, **options):
        held.append(stream)
        threading.Timer(0.3, held.clear).start()
        return opened(stream, **options)

    monkeypatch.setattr(csv, "open_csv", held_for_a_while)
    check_let_go(tmp_path, held)


@pytest.mark.parametrize("what", ["bytes", "function"])
def test_bytes_and_functions_are_waited_for_as_well(tmp_path, monkeypatch, what):
    csv = pytest.importorskip("pyarrow.csv", reason="tables are read with pyarrow")
    from mbauc.readers.table.files import stream_loan

    held, opened, read = [], csv.open_csv, stream_loan.LentStream.read

    def hold(thing):
        held.append(thing)
        threading.Timer(0.3, held.clear).start()
        return thing

    if what == "bytes":
        monkeypatch.setattr(stream_loan.LentStream, "read", lambda self, size=-1: hold(read(self, size)))
    else:
        monkeypatch.setattr(
            csv,
            "open_csv",
            lambda stream, **options: (
                hold(options["parse_options"].invalid_row_handler) and opened(stream, **options)
            ),
        )
    check_let_go(tmp_path, held)


def test_an_error_ahead_keeps_nothing_open():
    class Open:
        pass

    def items():
        opened.append(weakref.ref(held := Open()))
        yield 1
        raise ValueError(id(held))

    opened = []
    gc.collect()
    gc.disable()
    try:
        with suppress(ValueError):
            list(one_ahead(items()))
        assert opened[0]() is None
    finally:
        gc.enable()


def test_a_damaged_file_is_let_go_of_at_once(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow.csv", reason="tables are read with pyarrow")
    from mbauc.readers import TableSource
    from mbauc.readers.table.files import stream_loan

    waited = []
    wait = stream_loan.Loans.wait
    monkeypatch.setattr(stream_loan, "_PATIENCE", 5.0)
    monkeypatch.setattr(
        stream_loan.Loans, "wait", lambda own: (wait(own), waited.extend(one() for one in own._lent))
    )
    path = tmp_path / "rows.csv.gz"
    values = np.random.default_rng(0).random(300_000)
    packed = gzip.compress(("y,x\n" + "".join(f'{k % 2},"{x}"\n' for k, x in enumerate(values))).encode(), 1)
    path.write_bytes(packed[: -len(packed) // 8])
    for on_error in ("stop", "skip"):
        with pytest.raises(ValueError, match="cut short or damaged"):
            TableSource(path, label="y", on_error=on_error)
    assert waited
    assert waited == [None] * len(waited)
