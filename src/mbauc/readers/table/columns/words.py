"""Words of short free texts."""

from __future__ import annotations

import re

#: Letters and digits of any script; an underscore is neither.
_WORD = re.compile(r"[^\W_]+")

#: Rows that a word must be in to be worth a column, and the share of rows it may be in at most.
LEAST_ROWS, MOST_SHARE = 10, 0.9


def split_words(text: str) -> list[str]:
    """The words of a text, in lower case and in their order: runs of letters and digits.

    Examples
    --------
    >>> from mbauc.readers.table.columns.words import split_words
    >>> split_words("Re: REFUND of order_12, s'il vous plaît!")
    ['re', 'refund', 'of', 'order', '12', 's', 'il', 'vous', 'plaît']
    """
    return _WORD.findall(text.lower())
