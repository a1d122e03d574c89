"""What a model file tells, entry by entry; files are checked against it when read and when written."""

from __future__ import annotations

from mbauc.basis.schema import FEATURE_MAP
from mbauc.defaults import FEATURES, LOG_LOSS
from mbauc.losses import LOSSES
from mbauc.metrics.calibration import KINDS
from mbauc.model.hold_out import WAYS
from mbauc.model.layout import LAYOUT
from mbauc.model.terms import BY_FEATURE, BY_TERM
from mbauc.model.threshold import RULES
from mbauc.readers.table.encoding.schema import LABEL
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.file_schema import SCALAR, Choice, Either, Flag, Json, ListOf, Nullable, Number, Record, Text

_WHOLE = Number(0, whole=True)
#: JSON has no NaN: null stands for what could not be computed.
_MEASURED = Nullable(Number())
_POSITIVE = Number(1, whole=True)

#: Settings of the estimator; settings with other names are kept as they are.
_SETTINGS = Record(
    {},
    {
        "l1": Number(0),
        "l2": Either(Number(0), Choice("auto")),
        "loss": Nullable(Choice(*LOSSES, LOG_LOSS)),
        "max_fpr": Nullable(Number(0, 1)),
        "min_tpr": Nullable(Number(0, 1)),
        "min_fpr": Nullable(Number(0, 1)),
        "equal_groups": Flag(),
        "pairs": Either(_POSITIVE, Choice("all", "enough")),
        "pairing": Choice("matched", "complete"),
        "batch_size": _POSITIVE,
        "negative_rate": Number(0, 1),
        "decay": Number(0, 1),
        "within_block": Flag(),
        "scale": Either(Flag(), Choice("auto")),
        "weights": Choice("sampling", "frequency"),
        "penalty_factors": Nullable(ListOf(Number(0))),
        "solver": Choice("auto", "gram", "matrix-free"),
        "tol": Nullable(Number(0)),
        "max_iter": Number(1),
        "features": Nullable(Choice(*FEATURES)),
        "interactions": Nullable(Either(_WHOLE, ListOf(ListOf(SCALAR, 2, 2)))),
        "bins": Number(2, whole=True),
        "search_rows": _POSITIVE,
        "random_state": Nullable(Number(0, 2**128, whole=True)),
        "n_jobs": Nullable(Number(whole=True)),
    },
    others=Json(),
)
#: A file by its name, or with its name, size and what else is known of it.
_FILE = Either(Text(), Record({"name": Text()}, {"bytes": _WHOLE}, others=SCALAR))
_HASHED = Record({"column": _WHOLE, "values": ListOf(Text()), "others": _WHOLE})
#: What a model was trained on, for people. Entries that mbauc writes itself have a form, others are free.
_TRAINED_ON = Record(
    {},
    {
        "files": ListOf(_FILE),
        "threshold_files": ListOf(_FILE),
        "calibration_files": ListOf(_FILE),
        "held_out": Record(
            {"share": Number(0, 1), "seed": Number(0, whole=True)},
            {"by": Choice(*WAYS), "column": Nullable(Text())},
        ),
        "columns": _WHOLE,
        "mbauc": Text(),
        "finished": Text(),
        "solver": Text(),
        "positives": _MEASURED,
        "negatives": _MEASURED,
        "seconds": _MEASURED,
        "notes": ListOf(Text()),
        "losses": Record({}, others=_MEASURED),
        "choice": Text(),
        "kinds": Record({}, others=_MEASURED),
        "asked": Record({}, dict.fromkeys(("max_fpr", "min_tpr", "min_fpr"), Number(0, 1))),
        "hashed_columns": ListOf(_HASHED),
        "tested": Record({}, others=SCALAR),
        "baseline": Record({}, others=_MEASURED),
        "findings": ListOf(Record({"column": Text(), "finding": Text()}, others=SCALAR)),
        "updates": ListOf(Record({}, others=Json())),
        "merged": ListOf(Record({}, others=Json())),
    },
    others=Json(),
)
_POINT = Record({"l1": Number(0), "l2": Number(0), "score": _MEASURED}, others=_MEASURED)
#: A threshold set by hand promises nothing.
_SHARE = Nullable(Number(0, 1))
_THRESHOLD = Record(
    {"value": Number(), "false_alarm": _SHARE, "confidence": _SHARE, "negatives": _WHOLE},
    {"rule": Choice(*RULES), "number": Number(0)},
)
_CALIBRATION = Record(
    {
        "kind": Choice(*KINDS),
        "slope": Number(),
        "offset": Number(),
        "knots": ListOf(ListOf(Number(), 2, 2)),
        "share": _SHARE,
    }
)
_SIDE = Either(LABEL, ListOf(LABEL, least=1))

#: All of the description.
ABOUT = Record(
    {
        "layout": LAYOUT,
        "classes": ListOf(_SIDE, 2, 2),
        "intercept": Number(),
        "slope": Number(),
        "l1": Number(0),
        "l2": Number(0),
        "threshold": Nullable(_THRESHOLD),
        "settings": _SETTINGS,
        "trained_on": _TRAINED_ON,
        "path": ListOf(_POINT),
    },
    # of additive models, and of calibrated ones
    {"features": FEATURE_MAP, "calibration": _CALIBRATION},
)
#: The arrays besides the moments, which have a description of their own.
WEIGHTS = Arrays(
    {"coef": ArrayOf("<f8", ("columns",))},
    optional=dict.fromkeys(BY_FEATURE, ArrayOf("<f8", ("columns",)))
    | dict.fromkeys(BY_TERM, ArrayOf("<f8", ("terms",))),
)
