"""A model as readable text weights in the manner of Vowpal Wabbit's ``--invert_hash``."""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from urllib.parse import quote

import numpy as np

from mbauc.model.layout import LibsvmLayout
from mbauc.model.model import RankerModel
from mbauc.model.whole_file import whole_file

#: Where Vowpal Wabbit keeps the weight of its constant, before it is cut to the number of bits.
_CONSTANT = 11_650_396
#: What names in Vowpal Wabbit's text cannot have: it parts fields.
_PARTS = re.compile(r"[\s:|%\x00-\x1f\x7f]")
#: Bits of the table of weights, at least and at most.
_FEWEST, _MOST = 18, 31


def to_vw(model: RankerModel, path: str | os.PathLike[str]) -> None:
    """Write weights as text: a head up to ``:0``, then ``name:index:weight`` for each that is not zero.

    These are the lines of ``vw --invert_hash``, with all digits. ``index`` is the place of the weight in Vowpal
    Wabbit's table of 2ᵇ weights (``bits:b`` in the head) for features that are named by the number of the
    model's column, in no namespace: ``| 17:0.5``. For LIBSVM text these are the numbers in the files, for
    tables they count from 0. The constant comes first. Spaces, ``:``, ``|`` and ``%`` in names become ``%20``
    and the like.

    Vowpal Wabbit itself reads no text weights, and keeps weights as 32-bit numbers.

    Parameters
    ----------
    model : RankerModel
        With fewer than 11,650,396 columns, where the constant has its place.
    path : path
        Replaced whole or not at all. The same model gives the same bytes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc.model import LibsvmLayout, RankerModel
    >>> from mbauc.model.export import to_vw
    >>> model = RankerModel(LibsvmLayout(3, zero_based=False), (0, 1), [0.5, 0.0, -2.0], 0.1, 1.0, 0.0, 1.0)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.txt")
    >>> to_vw(model, path)
    >>> print(path.read_text())
    Version mbauc ...
    bits:18
    options: --bit_precision 18
    :0
    Constant:116060:0.1
    1:1:0.5
    3:3:-2.0
    """
    layout = model.layout
    first = 1 if isinstance(layout, LibsvmLayout) and not layout.zero_based else 0
    bits = _bits(first + model.n_features)
    with whole_file(path) as stream:
        head = f"Version mbauc {version('mbauc')}\nbits:{bits}\noptions: --bit_precision {bits}\n:0\n"
        stream.write(head.encode())
        stream.write(f"Constant:{_CONSTANT % 2**bits}:{model.intercept!r}\n".encode())
        names = layout.feature_names()
        for column in np.flatnonzero(model.coef).tolist():
            name = _PARTS.sub(lambda found: quote(found[0], safe=""), names[column])
            stream.write(f"{name}:{first + column}:{float(model.coef[column])!r}\n".encode())


def _bits(end: int) -> int:
    """Bits of a table in which columns up to ``end`` and the constant have places of their own."""
    for bits in range(_FEWEST, _MOST + 1):
        if end <= 2**bits and end <= _CONSTANT % 2**bits:
            return bits
    raise ValueError(
        f"the model has {end:,} columns; Vowpal Wabbit keeps its constant at {_CONSTANT:,}, so that only fewer "
        "columns can be numbered. Hash to fewer columns, or export to ONNX."
    )
