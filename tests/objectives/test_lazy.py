import subprocess
import sys

import pytest


def test_no_library_is_loaded_for_the_objectives():
    code = "import sys, mbauc.objectives; print({'lightgbm', 'xgboost', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    for name in [one for one in sys.modules if one.startswith("mbauc.objectives.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'mbauc\[torch\]'"):
        import mbauc.objectives.torch  # noqa: F401
