"""Which words of a free text have columns, learned from a sample of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.values import Texts
from mbauc.readers.table.columns.words import count_useful_words
from mbauc.rows.hashing.texts import hash_columns

#: Words that have columns, at most.
MOST_WORDS = 100
#: Rows of the sample, and bytes of their texts, at most.
_ROWS, _BYTES = 50_000, 1 << 26


class WordLearner:
    """Chooses words of one column of free texts; how rows are cut into blocks changes nothing.

    A hash of a row's number says whether it is in the sample: all rows where these are at most 50,000, with
    64 MB of texts, otherwise a half, a quarter, … of them. ``O(sample)`` memory.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from mbauc.readers.table.columns.values import Texts
    >>> from mbauc.readers.table.encoding.word_learner import WordLearner
    >>> learner = WordLearner()
    >>> learner.update(Texts(np.arange(30, dtype=np.int32) % 3, pa.array(["To pay", "to go", "TO pay: a"])))
    >>> learner.words()
    ['pay', 'a', 'go']
    """

    def __init__(self) -> None:
        self._rows = 0
        self._halvings = 0
        self._keys: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._texts: Any = pyarrow().array([], pyarrow().string())

    def update(self, texts: Texts) -> None:
        """Take in the texts of the next rows."""
        codes, values = texts
        keys = hash_columns(np.arange(self._rows, self._rows + codes.size, dtype=np.uint64))
        self._rows += codes.size
        own = np.flatnonzero((codes >= 0) & self._drawn(keys))
        taken = values.take(pyarrow().array(codes[own]))
        self._keys = np.concatenate([self._keys, keys[own]])
        self._texts = pyarrow().concat_arrays([self._texts, taken])
        while self._keys.size > _ROWS or self._letters() > _BYTES:
            self._halvings += 1
            kept = self._drawn(self._keys)
            self._keys = self._keys[kept]
            self._texts = self._texts.filter(pyarrow().array(kept))

    def _letters(self) -> int:
        return pyarrow("compute").sum(pyarrow("compute").binary_length(self._texts)).as_py() or 0

    def _drawn(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(keys >> np.uint64(64 - self._halvings) == 0) if self._halvings else keys == keys

    def words(self) -> list[str]:
        """The most frequent words, at most 100, in at least 10 rows and at most 90% of those with a text.

        Of words that are equally frequent the first in order comes first.
        """
        counted = self._texts.value_counts()
        rows = count_useful_words((one["values"].as_py() or "", one["counts"].as_py()) for one in counted)
        return sorted(rows, key=lambda word: (-rows[word], word))[:MOST_WORDS]
