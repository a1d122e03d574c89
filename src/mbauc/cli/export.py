"""``mbauc export``: a model for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.cli.options import add_command, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage

_DESCRIPTION = """\
Writes a model for other programs: .onnx for onnxruntime and other ONNX runtimes, or .joblib for a fitted
scikit-learn pipeline that takes raw tables.
"""
_EXAMPLES = """\
examples:
  mbauc export model.mbauc -o model.onnx
  mbauc export model.mbauc -o model.joblib
"""
_FORMATS = {".onnx": "onnx", ".joblib": "sklearn"}


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "export", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    parser.add_argument(
        "--to", choices=("onnx", "sklearn"), help="format to write (default: by the ending of FILE)"
    )
    parser.add_argument(
        "--inputs",
        choices=("columns", "entries", "table"),
        default="columns",
        help="inputs of an ONNX model: a matrix of the model's columns, its nonzero entries (for wide "
        "models), or the raw columns of a table (for models without hashing) (default: %(default)s)",
    )
    parser.add_argument(
        "--moments", action="store_true", help="include the moments in a scikit-learn model, for partial_fit"
    )
    add_out(parser, "file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert and write."""
    kind = options.to or _FORMATS.get(options.out.suffix.lower())
    if kind is None:
        raise Usage(f"-o {options.out}: name the format with --to, or by the ending .onnx or .joblib.")
    if options.inputs != "columns" and kind != "onnx":
        raise Usage(f"--inputs {options.inputs} is for ONNX, not for {kind}.")
    if options.moments and kind != "sklearn":
        raise Usage(f"--moments is for scikit-learn, not for {kind}.")
    check_writable(options.out, options.force)
    from mbauc.model import export as exports
    from mbauc.model import load_model

    model, output = load_model(options.model, moments=options.moments), Output(options.json)
    if kind == "sklearn":
        import joblib

        from mbauc.store.atomic import atomic_write

        with atomic_write(options.out) as stream:
            joblib.dump(exports.to_sklearn(model), stream)
    else:
        exports.to_onnx(model, options.out, inputs=options.inputs)
    output.say(f"wrote {options.out}")
    return output.finish({"out": options.out, "format": kind})
