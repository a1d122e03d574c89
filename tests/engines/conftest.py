from pathlib import Path

import numpy as np
import pytest

#: The cluster that is shared by all files of this folder, while there is one.
_clusters = []


@pytest.fixture(scope="module")
def client():
    """What Dask computes with while a file's tests run: two processes of one thread each on this machine."""
    distributed = pytest.importorskip("distributed", reason="needs mbauc[dask]")
    if not _clusters:
        settings = {"host": "127.0.0.1", "dashboard_address": ":0", "memory_limit": "2GiB"}
        _clusters.append(
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **settings)
        )
    with distributed.Client(_clusters[0]) as client:
        yield client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """After the last file of this folder the cluster ends: idle, it would take a twentieth of a core."""
    result = yield
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        while _clusters:
            _clusters.pop().close()
    return result


@pytest.fixture
def in_this_thread():
    """Dask without workers of any kind."""
    dask = pytest.importorskip("dask", reason="needs mbauc[dask]")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def frame(table):
    """The table with names, and with ids, weights and labels in words beside it."""
    pandas = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame["y"], frame["id"] = y, np.arange(600) * 3
    frame["weight"] = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 600)
    frame["text"] = np.where(y == 1, "yes", "no")
    return frame


@pytest.fixture
def lazy(frame):
    """The same as a Dask dataframe of four partitions."""
    dataframe = pytest.importorskip("dask.dataframe", reason="needs mbauc[dask]")
    return dataframe.from_pandas(frame, npartitions=4)


@pytest.fixture
def arrays(table):
    """The table as Dask arrays of four chunks."""
    array = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
    return array.from_array(table[0], chunks=(150, 6)), array.from_array(table[1], chunks=150)
