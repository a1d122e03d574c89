"""What a column is where it becomes codes: fewer whole numbers need be categories, and words have columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.guess import Guess, guess, is_index_name, weigh_labels
from mbauc.readers.table.columns.label_evidence import Array
from mbauc.readers.table.columns.text_guess import are_free_texts
from mbauc.readers.table.columns.values import flatten, is_text, read_numbers
from mbauc.readers.table.columns.whole_numbers import EXACT, are_round, names_things

#: Distinct whole numbers up to which a curve over them has a level for each, so that categories add nothing.
_FEW = 32


def guess_code(name: str, column: Any, y: Array | None = None) -> Guess:
    """What a column is, as by :func:`~mbauc.readers.table.columns.guess.guess`, but for numbers and texts.

    Whole numbers that look like codes are numeric

    - if at most 32 are distinct: a curve gives each a level of its own and keeps their order;
    - if 90% of the distinct ones are multiples of ten: amounts that people round leave holes as codes do, and
      a curve bends where a line could not.

    Those beyond 2⁵³, those that name something (ids, cards, phones), and those that come with a dictionary stay
    categories: a new one among them is no neighbour of any other. Where labels ``y`` are given, more than 32
    values are a category if levels explain the labels better than a curve, and numeric if it is the other way
    round. Categories and ids of texts are free texts where
    :func:`~mbauc.readers.table.columns.text_guess.are_free_texts` says so.

    ``O(n log n)`` time.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mbauc.readers.table.columns.code_guess import guess_code
    >>> guess_code("month", pa.array([1, 3, 3, 12])).why
    '3 whole numbers, few enough for a level each'
    >>> guess_code("shop_id", pa.array([1, 3, 3, 12])).kind
    'category'
    """
    found = guess(name, column)
    if found.kind in ("category", "id") and found.spelling == "text" and not is_index_name(name):
        return _find_free_texts(column) or found
    if found.kind not in ("category", "numeric") or found.spelling != "whole":
        return found
    if pyarrow().types.is_dictionary(column.type):
        return found
    numbers, _ = read_numbers(column)
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if np.abs(distinct).max() > EXACT or names_things(name, distinct.astype(np.int64)):
        return found
    if distinct.size > _FEW and y is not None:
        found = weigh_labels(found, name, column, y, line=False)
    if found.kind == "numeric":
        return found
    if distinct.size <= _FEW:
        return Guess("numeric", f"{distinct.size} whole numbers, few enough for a level each", "whole")
    if are_round(distinct.astype(np.int64)):
        return Guess("numeric", f"round whole numbers ({distinct.size:,} distinct)", "whole")
    return found


def _find_free_texts(column: Any) -> Guess | None:
    """The guess that texts are free ones, if they are; a dictionary has levels, however long."""
    if pyarrow().types.is_dictionary(column.type):
        return None
    values = flatten(column)
    if not is_text(values.type):
        return None
    counted = [one.as_py() for one in values.value_counts()]
    known = [(one["values"], one["counts"]) for one in counted if one["values"]]
    if not are_free_texts([text for text, _ in known], [count for _, count in known]):
        return None
    return Guess("text", f"texts of several words, {len(known):,} distinct")


def guess_frame_code(name: str, column: Any, y: Array | None = None) -> Guess:
    """What a column of a data frame is, whose types say more than those of a file.

    As :func:`guess_code`, but floating-point numbers up to 2⁵³ are numeric, and texts of whole numbers are
    categories, since somebody has kept them as texts. Texts of numbers with a decimal point are numeric, as in
    files: a blank among numbers makes texts of a whole column when pandas reads it.

    ``O(n log n)`` time.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mbauc.readers.table.columns.code_guess import guess_frame_code
    >>> guess_frame_code("zip", pa.array(["10115", "80331"])).kind
    'category'
    >>> guess_frame_code("charges", pa.array(["29.85", " ", "1889.5"])).kind
    'numeric'
    """
    types = pyarrow().types
    found = guess_code(name, column, y)
    if found.kind == "ignore" or types.is_dictionary(column.type):
        return found
    if types.is_floating(column.type):
        beyond = found.kind != "numeric" and np.nanmax(np.abs(read_numbers(column)[0])) > EXACT
        return found if beyond else Guess("numeric", "floating-point numbers", found.spelling)
    if found.kind == "numeric" and found.spelling == "whole" and is_text(flatten(column).type):
        return Guess("category", "texts of whole numbers", "whole")
    return found
