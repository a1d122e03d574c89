"""Free texts as columns of codes: one of 0 and 1 for each word, and the number of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.columns.values import Texts
from mbauc.readers.table.columns.words import split_words
from mbauc.readers.table.encoding.code_columns import CodeColumn


def make_word_columns(name: str, words: Sequence[str]) -> list[CodeColumn]:
    """The columns of codes of a free text: its words, in this order, and at last how many it has.

    Examples
    --------
    >>> from mbauc.readers.table.encoding.word_codes import make_word_columns
    >>> [column.name for column in make_word_columns("title", ["refund"])]
    ['title has "refund"', 'title word count']
    """
    found = [CodeColumn(f'{name} has "{word}"', source=name, word=word) for word in words]
    return [*found, CodeColumn(f"{name} word count", source=name, word="")]


def write_words(columns: Sequence[CodeColumn], texts: Texts, out: NDArray[np.float64]) -> None:
    """Write the columns of a free text, as :func:`make_word_columns` orders them; NaN where it is missing.

    Words without a column count in the number of words only. ``O(letters)`` time for the distinct texts, and a
    byte for each of them and each column.
    """
    places = {column.word: place for place, column in enumerate(columns) if column.word}
    codes, values = texts.drop_unused()
    present = np.zeros((len(places), len(values) + 1), dtype=np.uint8)
    counts = np.zeros(len(values) + 1)
    for k, text in enumerate(values.to_pylist()):
        words = split_words(text)
        counts[k] = len(words)
        for word in words:
            place = places.get(word)
            if place is not None:
                present[place, k] = 1
    # the code -1 of a missing text is the last place
    for place in places.values():
        out[:, place] = present[place][codes]
    out[:, -1] = counts[codes]
    out[codes < 0] = np.nan
