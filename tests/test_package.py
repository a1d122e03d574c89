import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import mbauc


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_exist():
    assert all(hasattr(mbauc, name) for name in mbauc.__all__)
    assert mbauc.__version__


def test_the_version_is_that_of_the_project(request):
    project = tomllib.loads((request.config.rootpath / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert mbauc.__version__ == project["version"]


def test_versions_name_every_package_that_users_may_have(request, capsys):
    project = tomllib.loads((request.config.rootpath / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    mbauc.show_versions()
    shown = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines() if line)
    assert shown["mbauc"] == mbauc.__version__
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(one for name in ("plots", "dask", "spark", "boosting") for one in extras[name]),
    ]
    names = [re.match(r"[\w-]+", one)[0] for one in wanted]
    assert [name for name in names if name not in shown] == []
    assert shown["numpy"] == np.__version__
    assert "sphinx" not in shown
    assert any(line.startswith("blas:") for line in shown)


def test_versions_say_which_extra_is_missing(monkeypatch, capsys):
    def version(name):
        if name == "pyspark":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr("mbauc.runtime.versions.version", version)
    mbauc.show_versions()
    lines = capsys.readouterr().out.splitlines()
    assert "pyspark none" in lines
    assert "numpy 1.0" in lines


@pytest.mark.slow
def test_neither_importing_nor_a_dense_fit_loads_a_compiler_or_a_plot_library():
    loaded = run(
        "import sys, numpy as np, mbauc; "
        "X = np.arange(40.0).reshape(20, 2) % 7; y = np.arange(20) % 2; "
        "mbauc.MBAClassifier().fit(X, y).predict_proba(X); "
        "mbauc.MBAClassifierCV(cv=3, random_state=0).fit(X, y); "
        "print([m for m in ('numba', 'llvmlite', 'matplotlib', 'tqdm') if m in sys.modules])"
    )
    assert loaded.strip() == "[]"


@pytest.mark.slow
def test_importing_the_rivals_loads_no_compiler():
    assert run("import sys, mbauc.paper.rivals; print('numba' in sys.modules)").strip() == "False"


def test_threads_follow_the_limits_of_blas():
    from threadpoolctl import threadpool_limits

    from mbauc.runtime.threads import thread_count

    with threadpool_limits(1, user_api="blas"):
        assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) >= 1


def test_overlapping_limits_of_blas_are_put_back():
    from threadpoolctl import threadpool_limits

    from mbauc.runtime.threads import single_threaded_blas, thread_count

    with threadpool_limits(2, user_api="blas"):
        first, second = single_threaded_blas(), single_threaded_blas()
        first.__enter__()
        second.__enter__()
        assert thread_count(None) == 2
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert thread_count(None) == 2
