"""Memory for numbers of the rows: what a fit holds for each row beside the rows themselves."""

from __future__ import annotations

from mbauc.errors import Advice

#: Bytes for each row where pairs are within groups: its group, its place among the pairs, and vectors.
_GROUP_BYTES = 90
#: The same for losses other than the squared one: the order of the scores at two points, and vectors.
_LOSS_BYTES = 140


def row_bytes(*, grouped: bool, other_loss: bool) -> int:
    """Bytes for each row, wherever the rows themselves are."""
    return _GROUP_BYTES * grouped + _LOSS_BYTES * other_loss


def require_row_room(n_rows: int, memory: int, *, grouped: bool, other_loss: bool) -> None:
    """Raise if numbers of the rows take more than is allowed, where the rows themselves are elsewhere."""
    need = row_bytes(grouped=grouped, other_loss=other_loss) * n_rows
    if need <= memory:
        return
    if grouped:
        what = "pairs within groups of"
        advice = Advice("Allow more {memory}, or give blocks of whole groups to partial_fit.")
    else:
        what = "losses other than the squared one over the pairs of"
        advice = Advice("Allow more {memory}, or take {loss}.", loss="squared")
    raise ValueError(
        f"{what} {n_rows:,} rows need {need / 1e9:,.1f} GB for values of the rows; {memory / 1e9:,.1f} GB are "
        "allowed. " + advice
    )
