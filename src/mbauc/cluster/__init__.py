"""The same fit on many machines: what engines share. Users import :mod:`mbauc.dask` or :mod:`mbauc.spark`."""
