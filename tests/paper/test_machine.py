import os

import pytest

from mbauc.paper import machine


def test_a_machine_is_described_by_processor_cores_and_memory(monkeypatch, tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("vendor_id\t: X\nmodel name\t: Abacus 7\nmodel name\t: Abacus 7\n")
    monkeypatch.setattr(machine, "_CPU_INFO", info)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(machine, "_memory", lambda: 25_000_000_000)
    assert machine.describe_machine() == "Abacus 7, 4 cores, 25 GB of memory"
    monkeypatch.setattr(machine, "_memory", lambda: None)
    monkeypatch.setattr(machine, "_CPU_INFO", tmp_path / "none")
    assert machine.describe_machine().endswith(", 4 cores")


def test_the_load_is_that_of_the_last_minute(monkeypatch):
    if not hasattr(os, "getloadavg"):
        pytest.skip("this system does not tell")
    monkeypatch.setattr(os, "getloadavg", lambda: (1.234, 9.0, 9.0))
    assert machine.measure_load() == 1.23
