import numpy as np
import pytest


@pytest.fixture(scope="session")
def dask_cluster():
    """Two worker processes of one thread each on this machine, for all files."""
    distributed = pytest.importorskip("distributed", reason="needs mbauc[dask]")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        memory_limit="2GiB",
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(dask_cluster):
    """What Dask computes with while a file's tests run."""
    distributed = pytest.importorskip("distributed", reason="needs mbauc[dask]")
    with distributed.Client(dask_cluster) as client:
        yield client


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
