import os
import signal

# Idle threads of BLAS sleep at once instead of waiting busily: the workers share the cores.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import numpy as np
import pytest
from hypothesis import settings

from shared_data import shared_file, shared_folder  # noqa: F401  fixtures

# The same examples on every run, so that a failure is a change; EXPLORE=1 tries new ones, EXAMPLES=n so many.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=int(os.environ.get("EXAMPLES", "60")),
    derandomize="EXPLORE" not in os.environ,
)
settings.load_profile("default")


def pytest_xdist_auto_num_workers():
    """For ``-n auto`` one process more than cores: many tests wait for processes, sockets and disks."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def table(rng):
    """600 rows, 6 correlated columns with an offset, 20% positive."""
    X = rng.standard_normal((600, 6)) @ rng.standard_normal((6, 6)) + 3.0
    y = (X[:, 0] - X[:, 1] + 4 * rng.standard_normal(600)) > np.quantile(X[:, 0] - X[:, 1], 0.85)
    return X, y.astype(int)


@pytest.fixture(autouse=True)
def plain_ctrl_c():
    """Ctrl-C as Python has it: a Spark session of an earlier test takes it over for the whole process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
