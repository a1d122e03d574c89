"""The public names with their signatures; ``python tests/guards/public_api.py`` writes public_api.txt."""

import inspect
import re
from importlib import import_module
from pathlib import Path

SNAPSHOT = Path(__file__).parent / "public_api.txt"
#: The documented modules. A module that is moved, added or removed is so in this list, too.
MODULES = (
    "mbauc",
    "mbauc.dask",
    "mbauc.errors",
    "mbauc.estimators",
    "mbauc.features",
    "mbauc.losses",
    "mbauc.metrics",
    "mbauc.metrics.neyman_pearson",
    "mbauc.model",
    "mbauc.model.export",
    "mbauc.objectives",
    "mbauc.paper.clicks",
    "mbauc.paper.datasets",
    "mbauc.paper.detection",
    "mbauc.paper.rivals",
    "mbauc.paper.theory",
    "mbauc.plots",
    "mbauc.readers",
    "mbauc.report",
    "mbauc.solvers",
    "mbauc.spark",
    "mbauc.spark.ml",
)


def snapshot():
    """One line for each name and each member of a class, in order."""
    return "".join(f"{line}\n" for module in MODULES for line in _module(module))


def _module(name):
    module = import_module(name)
    names = getattr(module, "__all__", None)
    if names is None:
        names = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == name]
    for each in sorted(names):
        yield from _name(f"{name}.{each}", getattr(module, each))


def _name(path, value):
    if inspect.isclass(value):
        bases = [base.__qualname__ for base in value.__mro__[1:-1] if not _is_own(base)]
        yield f"class {path}{_signature(value)}" + (f"  # {', '.join(bases)}" if bases else "")
        # what comes from the bases of other packages is theirs, and so is what scikit-learn adds to ours
        own = {key for base in value.__mro__ if _is_own(base) for key in vars(base)}
        for key in sorted(own):
            if key.startswith("_") or re.fullmatch(r"set_\w+_request", key):
                continue
            yield "    " + _member(f"{path}.{key}", inspect.getattr_static(value, key), getattr(value, key))
    elif callable(value):
        yield f"def {path}{_signature(value)}"
    else:
        yield f"{path}: {type(value).__name__}"


def _is_own(base):
    return base.__module__.split(".")[0] == "mbauc"


def _member(path, static, bound):
    if inspect.isdatadescriptor(static):
        return f"{path}: property"
    if callable(bound):
        kind = {classmethod: "classmethod ", staticmethod: "staticmethod "}.get(type(static), "")
        return f"{kind}{path}{_signature(bound)}"
    return f"{path}: {type(bound).__name__}"


class _Annotation:
    """An annotation that is shown without quotes."""

    def __init__(self, text):
        self.text = text if isinstance(text, str) else inspect.formatannotation(text)

    def __repr__(self):
        return re.sub(r"ForwardRef\('(.*?)'\)", r"\1", self.text)


def _signature(value):
    """Parameters and result; one line for each if there are many."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    plain = [
        one.replace(annotation=_Annotation(one.annotation)) if one.annotation is not one.empty else one
        for one in found.parameters.values()
    ]
    result = found.return_annotation
    result = result if result is found.empty else _Annotation(result)
    text = str(found.replace(parameters=plain, return_annotation=result))
    text = re.sub(r"<(function|class) '?([\w.]+)'?( at 0x\w+)?>", r"\2", text)
    if len(text) < 100:
        return text
    return re.sub(r", (?=\*?\w+(:|=|,|\)| )|\*, )", ",\n        ", text)


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
