"""Words of short free texts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

#: Letters and digits of any script; an underscore is neither.
_WORD = re.compile(r"[^\W_]+")

#: Rows that a word must be in to be worth a column, and the share of rows it may be in at most.
LEAST_ROWS, MOST_SHARE = 10, 0.9


def split_words(text: str) -> list[str]:
    """The words of a text, in lower case and in their order: runs of letters and digits.

    A letter and its accent are one character, however the text spells them (NFC).

    Examples
    --------
    >>> from mbauc.readers.table.columns.words import split_words
    >>> split_words("Re: REFUND of order_12, s'il vous plaît!")
    ['re', 'refund', 'of', 'order', '12', 's', 'il', 'vous', 'plaît']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def count_useful_words(texts: Iterable[tuple[str, int]]) -> Counter[str]:
    """Rows of each word that is worth a column, given texts and the rows of each; empty texts do not count.

    Examples
    --------
    >>> from mbauc.readers.table.columns.words import count_useful_words
    >>> count_useful_words([("to pay", 10), ("to go", 20), ("now", 5)])
    Counter({'to': 30, 'go': 20, 'pay': 10})
    """
    rows: Counter[str] = Counter()
    present = 0
    for text, count in texts:
        present += count if text else 0
        for word in set(split_words(text)):
            rows[word] += count
    return Counter({word: count for word, count in rows.items() if LEAST_ROWS <= count <= MOST_SHARE * present})
