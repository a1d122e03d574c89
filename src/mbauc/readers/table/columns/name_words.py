"""What the name of a column says about its numbers: that they name something, are codes, or measure."""

from __future__ import annotations

import re

#: Words of numbers that name something, such as a person, an account or a page.
_ID_WORDS = {
    "account", "acct", "barcode", "card", "checksum", "cookie", "digest", "ean", "fax", "guid", "hash",
    "iban", "id", "imei", "imsi", "ip", "isbn", "key", "md", "mobile", "msisdn", "passport", "phone", "serial",
    "sha", "sku", "ssn", "tel", "telephone", "token", "uid", "upc", "uuid", "vin",
}  # fmt: skip
#: Words of codes, of which there are few or which are in no order.
_CODE_WORDS = {
    "category", "class", "code", "fips", "hour", "icd", "kind", "mcc", "month", "naics", "plz", "postal",
    "postcode", "sic", "status", "type", "weekday", "zip", "zipcode",
}  # fmt: skip
#: Words of counts, amounts and measures.
_QUANTITY_WORDS = {
    "age", "amount", "amt", "average", "avg", "bal", "balance", "budget", "cnt", "cost", "costs", "count",
    "counts", "days", "distance", "duration", "fee", "fees", "hours", "income", "length", "limit", "mean",
    "median", "minutes", "months", "payment", "payments", "pct", "percent", "percentage", "price", "profit",
    "qty", "quantity", "rate", "ratio", "revenue", "salary", "sales", "score", "seconds", "spend", "sum",
    "total", "wage", "weeks", "year", "years",
}  # fmt: skip
#: Words that make a count or an amount of what follows: n_cards, max_hour.
_COUNTING_WORDS = {"avg", "max", "mean", "min", "n", "nb", "no", "nr", "num", "number", "sum", "total"}


def read_name(name: str) -> str | None:
    """What a name says that numbers are: ``"id"``, ``"code"`` or ``"quantity"``; None if it says nothing.

    The last word counts most (``account_balance`` is a balance, ``price_code`` a code), then a first word that
    counts (``num_cards``), then any other.

    Examples
    --------
    >>> from mbauc.readers.table.columns.name_words import read_name
    >>> [read_name(name) for name in ("siteId", "phone_number", "num_cards", "BILL_AMT1", "zip", "video")]
    ['id', 'id', 'quantity', 'quantity', 'code', None]
    """
    if re.search(r"day_?of_?week", name.lower()):
        return "code"
    # apart at case changes, digits and signs: siteId and site_id are site and id
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    if not words:
        return None
    kinds = {"id": _ID_WORDS, "code": _CODE_WORDS, "quantity": _QUANTITY_WORDS}
    last = next((kind for kind, known in kinds.items() if words[-1] in known), None)
    if last is None and len(words) > 1 and words[0] in _COUNTING_WORDS:
        return "quantity"
    return last or next((kind for kind, known in kinds.items() if known & set(words)), None)
