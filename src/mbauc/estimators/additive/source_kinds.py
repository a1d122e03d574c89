"""What the columns of a source are, for curves of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mbauc.basis.design import ColumnKind
from mbauc.errors import Advice
from mbauc.features.row_codes import check_width, encoding_kinds, list_categories, mark_categories
from mbauc.readers.table.encoding import TableEncoding


def source_kinds(source: Any, categories: Sequence[Any] | None) -> list[ColumnKind]:
    """What the columns of the blocks of a source are."""
    encoding = getattr(source, "encoding", None)
    if isinstance(encoding, TableEncoding):
        if not encoding.code_columns:
            raise ValueError(
                "curves need the original columns, but those of this table have been "
                + ("hashed. " if encoding.hash_dim is not None else "scaled and one-hot encoded. ")
                + Advice("Read it with {encode}.", encode="codes")
            )
        check_width(source.n_features, "the source")
        chosen = list_categories(categories)
        if chosen:
            named = {name: "category" for name in chosen if isinstance(name, str)} or {"zip": "category"}
            raise ValueError(
                "categories cannot change what the columns of a table source are. Leave it out, and pass "
                f"TableSource(…, types={named}) instead."
            )
        return encoding_kinds(encoding)
    check_width(source.n_features, "the source")
    return mark_categories([ColumnKind(f"x{j}") for j in range(source.n_features)], categories)
