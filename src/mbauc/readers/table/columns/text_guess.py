"""Whether a column holds short free texts, by what its words look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mbauc.readers.table.columns.words import count_useful_words, split_words

#: Distinct texts that there must be; fewer are levels.
_LEVELS = 50
#: Share of the rows from which on texts are mostly distinct, and words for each distinct text that are few.
_DISTINCT, _FEW_WORDS = 0.5, 0.5
#: Numbers of words that must occur, each in this share of the texts: names and places have two or three.
_LENGTHS, _LENGTH_SHARE = 3, 0.05
#: Words that must be worth a column.
_USEFUL = 5
#: Share of texts that begin with a number, from which on they are addresses of houses.
_NUMBERED = 0.8


def are_free_texts(distinct: Sequence[str], counts: Sequence[int]) -> bool:
    """Whether texts are titles, messages or descriptions, whose words say something.

    - There are 50 distinct texts or more; these are half of the rows or more, or have far fewer words among
      them.
    - Half of them have two words of letters or more, and their numbers of words differ: of three numbers each
      occurs in 5% of the texts. First and last names, and towns with their states, are too regular for that.
    - Most do not begin with a number, as addresses of houses do.
    - Five words or more are in ten rows and in at most 90% of the rows.

    Words are apart by white space here, so that mail addresses, links and codes are one word.

    ``O(letters)`` time.

    Parameters
    ----------
    distinct : sequence of str
        The texts, each once, without empty ones.
    counts : sequence of int
        In how many rows each is.

    Examples
    --------
    >>> from mbauc.readers.table.columns.text_guess import are_free_texts
    >>> texts = [f"please send my {what} back{' today' * (k % 3)}" for k in range(9)
    ...          for what in ("money", "old phone", "lamp", "two shoes", "book", "very nice hat")]
    >>> are_free_texts(sorted(set(texts)), [30] * len(set(texts)))
    False
    >>> texts = [f"{text} {k}" for k, text in enumerate(texts * 5)]
    >>> are_free_texts(texts, [1] * len(texts))
    True
    """
    if len(distinct) < _LEVELS:
        return False
    pieces = [text.split() for text in distinct]
    lettered = [sum(_is_lettered(piece) for piece in own) for own in pieces]
    if np.median(lettered) < 2:
        return False
    lengths = Counter(map(len, pieces)).values()
    if sum(count >= _LENGTH_SHARE * len(distinct) for count in lengths) < _LENGTHS:
        return False
    if sum(own[:1] != [] and own[0][0].isdigit() for own in pieces) >= _NUMBERED * len(distinct):
        return False
    if len(distinct) < _DISTINCT * sum(counts):
        words = {word for text in distinct for word in split_words(text)}
        if len(words) > _FEW_WORDS * len(distinct):
            return False
    return len(count_useful_words(zip(distinct, counts, strict=True))) >= _USEFUL


def _is_lettered(piece: str) -> bool:
    """Whether a piece between spaces is a word of two letters or more, perhaps with signs around it."""
    bare = piece.strip(".,;:!?\"'()[]{}*#-–—/&«»„“”‚‘’…")
    return len(bare) >= 2 and bare.replace("-", "").replace("'", "").replace("’", "").isalpha()
