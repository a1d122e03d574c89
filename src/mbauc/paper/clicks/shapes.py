"""What the columns of a synthetic click log are, and what makes people click: the shapes of Criteo and Avazu.

Sizes, skews and shares of missing values follow the public logs roughly; everything else is made up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Counts are rounded down to two binary digits, so that this many values reach 2²⁰.
_COUNTS = 41


@dataclass(frozen=True)
class Field:
    """One column of the log, or a hidden trait of its rows.

    Its values are numbered 1, 2, …; 0 is a missing value.
    """

    #: Name of the column; hidden traits have none.
    name: str
    #: Number of values.
    size: int
    #: Value r has a weight of ``(r + offset)^-skew``.
    skew: float = 1.1
    #: As above; the larger, the more values are about as frequent as the first.
    offset: float = 0.0
    #: For counts, instead of a skew: value r has a weight of ``exp(-((r - 1 - peak) / spread)² / 2)``, which
    #: makes counts log-normal.
    peak: float = 0.0
    spread: float = 0.0
    #: Share of missing values, but for those that are missing together with the parent's.
    missing: float = 0.0
    #: Field that this one depends on.
    parent: str = ""
    #: Share of the rows in which it does.
    share: float = 0.0
    #: How many values go with each value of the parent, a power of 2: 1 for a field that follows from it.
    favourites: int = 1
    #: Size of the effects of its values.
    weight: float = 0.0
    #: "user" or "page" for fields whose effects are multiplied with those of the other side as well.
    side: str = ""
    #: Its values; none for numbers of eight hexadecimal digits.
    texts: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        """Whether it is a trait of the rows that the log does not show."""
        return self.name in HIDDEN

    def weights(self, first: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of all values from ``first`` to ``last`` together, up to a factor."""
        if self.spread:
            return np.exp(-0.5 * ((first - 1.0 - self.peak) / self.spread) ** 2)
        low, high = first - 0.5 + self.offset, last + 0.5 + self.offset
        power = 1.0 - self.skew
        return np.log(high / low) if power == 0.0 else (high**power - low**power) / power


@dataclass(frozen=True)
class Shape:
    """A kind of log."""

    #: What it is called.
    name: str
    #: Name of the label column.
    label: str
    #: Negatives for each positive.
    ratio: float
    #: The columns, after the hidden traits.
    fields: tuple[Field, ...]
    #: Fields whose values have effects of their own together, and the size of these effects.
    pairs: tuple[tuple[str, str, float], ...]
    #: Size of the product of the two sides.
    product: float
    #: Standard deviations of the log-odds: of what single fields say, and of pairs and product.
    spread: tuple[float, float]

    @property
    def positives(self) -> float:
        """Share of positive rows."""
        return 1.0 / (1.0 + self.ratio)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The fields that the log shows."""
        return tuple(field for field in self.fields if not field.hidden)


#: Names of the traits that the log does not show.
HIDDEN = ("(user)", "(page)")


def count_texts(number: int) -> tuple[str, ...]:
    """The first counts that have at most two binary digits, but for zeros at the end.

    Examples
    --------
    >>> from mbauc.paper.clicks.shapes import count_texts
    >>> count_texts(9)
    ('0', '1', '2', '3', '4', '6', '8', '12', '16')
    """
    larger = (((2 + k % 2) << (k // 2 - 1)) for k in range(2, number))
    return ("0", "1", *(str(count) for count in larger))


def _count(k: int, peak: float, spread: float, missing: float, weight: float, **more: str | float) -> Field:
    """One of Criteo's counts."""
    settings = {
        "peak": peak,
        "spread": spread,
        "missing": missing,
        "weight": weight,
        "texts": count_texts(_COUNTS),
    }
    return Field(f"I{k}", _COUNTS, **(settings | more))  # type: ignore[arg-type]


_TRAITS = (Field("(user)", 512, skew=0.9, offset=2.0), Field("(page)", 2048, skew=1.0, offset=2.0))

_CRITEO = Shape(
    "criteo",
    "label",
    2.92,
    (
        *_TRAITS,
        _count(1, 0.0, 4.0, 0.45, 0.5, side="user"),
        _count(2, 2.0, 7.0, 0.0, 0.4),
        _count(3, 5.0, 4.0, 0.2, 0.3),
        _count(4, 4.0, 3.0, 0.2, 0.3),
        _count(5, 22.0, 6.0, 0.05, 0.5, parent="(user)", share=0.5, favourites=4, side="user"),
        _count(6, 10.0, 4.0, 0.25, 0.5, parent="(user)", share=0.5, favourites=4, side="user"),
        _count(7, 2.0, 5.0, 0.05, 0.5, side="user"),
        _count(8, 5.0, 3.5, 0.0, 0.2),
        _count(9, 10.0, 4.5, 0.05, 0.3),
        _count(10, 0.0, 1.0, 0.0, 0.5, parent="I1", side="user"),
        _count(11, 0.0, 2.5, 0.05, 0.6, parent="(user)", share=0.5, favourites=2, side="user"),
        _count(12, 0.0, 2.0, 0.78, 0.2),
        _count(13, 4.0, 3.5, 0.0, 0.3, parent="I4", share=0.5, favourites=2),
        Field("C1", 1_460, 1.7, weight=0.3),
        Field("C2", 583, 1.0, weight=0.5, parent="(page)", share=0.8, favourites=2, side="page"),
        Field("C3", 10_000_000, 1.05, 1.0, missing=0.03, weight=0.1, parent="(page)", share=0.5, favourites=64),
        Field("C4", 2_200_000, 1.05, 1.0, weight=0.1, parent="C3", share=1.0),
        Field("C5", 305, 2.2, weight=0.2),
        Field("C6", 24, 1.4, missing=0.13, weight=0.4, parent="(user)", share=0.6, favourites=2, side="user"),
        Field("C7", 12_500, 0.8, 5.0, weight=0.3, parent="(page)", share=0.7, favourites=8, side="page"),
        Field("C8", 633, 1.9, weight=0.2),
        Field("C9", 3, 3.0, weight=0.2, side="user"),
        Field("C10", 93_000, 1.1, weight=0.15, parent="(user)", share=0.4, favourites=32),
        Field("C11", 5_700, 0.9, 10.0, weight=0.3, parent="C7", share=1.0, side="page"),
        Field("C12", 8_400_000, 1.05, 1.0, weight=0.05, parent="C3", share=1.0),
        Field("C13", 3_200, 0.9, 10.0, weight=0.3, parent="C11", share=1.0),
        Field("C14", 27, 1.3, weight=0.5, parent="(page)", share=0.7, favourites=1, side="page"),
        Field("C15", 15_000, 0.9, 15.0, weight=0.3, parent="(page)", share=0.6, favourites=8),
        Field("C16", 5_500_000, 1.05, 1.0, weight=0.05, parent="C3", share=0.9),
        Field("C17", 10, 1.0, weight=0.6, parent="(page)", share=0.6, favourites=1, side="page"),
        Field("C18", 5_700, 1.0, 2.0, weight=0.4, parent="(page)", share=0.7, favourites=4, side="page"),
        Field("C19", 2_200, 1.3, missing=0.45, weight=0.3),
        Field("C20", 4, 0.2, weight=0.3, parent="C19"),
        Field("C21", 7_000_000, 1.05, 1.0, weight=0.05, parent="C3", share=0.95),
        Field("C22", 18, 2.0, missing=0.8, weight=0.4),
        Field("C23", 15, 1.2, weight=0.4, parent="(user)", share=0.6, favourites=1, side="user"),
        Field("C24", 290_000, 1.1, 4.0, missing=0.03, weight=0.1, parent="C18", share=0.6, favourites=16),
        Field("C25", 105, 1.2, weight=0.3, parent="C19"),
        Field("C26", 143_000, 1.1, 4.0, weight=0.1, parent="C19", share=0.6, favourites=16),
    ),
    (("C17", "C23", 1.0), ("C6", "C14", 1.0), ("I11", "C17", 1.0), ("C2", "C9", 0.7), ("C20", "C23", 0.7)),
    0.8,
    (1.25, 0.48),
)


def _numbers(first: int, step: int, number: int) -> tuple[str, ...]:
    """Codes with holes between them, as Avazu's are."""
    return tuple(str(first + step * k + k * k % step) for k in range(number))


_HOURS = tuple(f"1410{21 + hour // 24}{hour % 24:02d}" for hour in range(240))


def _avazu(name: str, ratio: float, app: bool, spread: tuple[float, float]) -> Shape:
    """Avazu's columns: with all sites alike (``app``), or all apps."""
    site, other = (1, 8_500) if app else (4_700, 1)
    page = {"parent": "(page)", "share": 0.8, "favourites": 4, "side": "page"}
    user = {"parent": "(user)", "share": 0.6, "favourites": 4, "side": "user"}
    fields = (
        *_TRAITS,
        Field("hour", 240, 0.3, weight=0.15, texts=_HOURS),
        Field("C1", 7, 3.0, weight=0.2, texts=("1005", "1002", "1010", "1012", "1007", "1001", "1008")),
        Field("banner_pos", 7, 2.2, weight=0.3, side="page", texts=("0", "1", "7", "2", "4", "5", "3")),
        Field("site_id", site, 1.2, 0.5, weight=0.7, **page),  # type: ignore[arg-type]
        Field("site_domain", min(site, 7_700), 1.2, 0.5, weight=0.4, parent="site_id", share=1.0, side="page"),
        Field("site_category", min(site, 26), 1.0, weight=0.5, parent="site_domain", share=1.0, side="page"),
        Field("app_id", other, 1.2, 0.5, weight=0.7, **page),  # type: ignore[arg-type]
        Field("app_domain", min(other, 560), 1.2, weight=0.5, parent="app_id", share=1.0, side="page"),
        Field("app_category", min(other, 36), 1.0, weight=0.5, parent="app_domain", share=1.0, side="page"),
        Field("device_id", 2_700_000, 1.6 if app else 2.0, weight=0.2),
        Field("device_ip", 6_700_000, 0.9, 20.0, weight=0.1, parent="(user)", share=0.3, favourites=256),
        Field("device_model", 8_200, 1.0, 2.0, weight=0.4, **user),  # type: ignore[arg-type]
        Field("device_type", 5, 3.0, weight=0.2, side="user", texts=("1", "0", "4", "5", "2")),
        Field("device_conn_type", 4, 2.5, weight=0.3, side="user", texts=("0", "2", "3", "5")),
        Field("C14", 2_600, 0.9, 5.0, weight=0.5, texts=_numbers(15_700, 3, 2_600), **page),  # type: ignore[arg-type]
        Field("C15", 8, 3.5, weight=0.2, texts=("320", "300", "216", "728", "120", "1024", "480", "768")),
        Field(
            "C16",
            9,
            3.5,
            weight=0.2,
            parent="C15",
            share=1.0,
            texts=("50", "250", "36", "480", "90", "20", "768", "320", "1024"),
        ),
        Field("C17", 435, 1.1, weight=0.6, parent="C14", share=1.0, texts=_numbers(112, 6, 435), side="page"),
        Field("C18", 4, 1.2, weight=0.4, parent="C17", share=1.0, texts=("0", "3", "2", "1")),
        Field("C19", 68, 1.4, weight=0.4, parent="C17", share=0.9, texts=_numbers(33, 28, 68)),
        Field("C20", 172, 1.6, weight=0.4, texts=("-1", *_numbers(100_000, 1, 171))),
        Field("C21", 60, 1.2, weight=0.7, parent="C17", share=0.9, texts=_numbers(1, 4, 60), side="page"),
    )
    place = "app_category" if app else "site_category"
    pairs = (
        (place, "device_conn_type", 1.0),
        (place, "C18", 1.0),
        ("C21", "banner_pos", 1.0),
        ("C18", "(user)", 0.5),
    )
    return Shape(name, "click", ratio, fields, pairs, 0.8, spread)


SHAPES = {
    shape.name: shape
    for shape in (
        _CRITEO,
        _avazu("avazu-app", 8.33, True, (1.15, 0.5)),
        _avazu("avazu-site", 4.06, False, (1.22, 0.55)),
    )
}
