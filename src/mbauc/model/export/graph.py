"""An ONNX graph in the making."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

# Versions that runtimes from 2021 on support.
#: Version of the operators.
_OPSET = 13
#: Version of the machine-learning operators.
_ML_OPSET = 2
#: Version of the file format.
_IR = 8
#: Protobuf messages end there.
_MOST_BYTES = 2**31 - 1


def import_onnx() -> Any:
    """The package, or an error that says how to install it."""
    try:
        return import_module("onnx")
    except ImportError:
        raise ImportError(
            "ONNX files are written with the package onnx, which is not installed. Install it with: "
            "pip install 'mbauc[onnx]'"
        ) from None


class Graph:
    """Nodes of a graph in the making."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.types = onnx, onnx.TensorProto
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: list[Any] = []

    def input(self, name: str, kind: int, *shape: str | int) -> str:
        """What is fed in, under its name."""
        self._inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, kind: int) -> None:
        """One number, or label, for each row, under its name."""
        self._outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n"]))

    def constant(self, values: Any) -> str:
        """An array, under a name that is returned."""
        name = f"mbauc/constant {len(self._constants)}"
        array = np.asarray(values)
        if array.dtype.kind == "U":
            array = array.astype(object)
        self._constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, result: str | None = None, **settings: Any) -> str:
        """An operation on others, under a name that is returned."""
        result = result or f"mbauc/{kind} {len(self._nodes)}"
        self._nodes.append(self.onnx.helper.make_node(kind, list(inputs), [result], **settings))
        return result

    def bytes(self, about: str) -> bytes:
        """The file."""
        helper = self.onnx.helper
        if sum(constant.ByteSize() for constant in self._constants) > _MOST_BYTES - 2**20:
            raise ValueError(
                "the weights take 2 GiB or more, which ONNX files cannot hold; hash to fewer columns."
            )
        graph = helper.make_graph(self._nodes, "mbauc", self._inputs, self._outputs, self._constants)
        sets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        made = helper.make_model(
            graph,
            opset_imports=sets,
            ir_version=_IR,
            producer_name="mbauc",
            producer_version=version("mbauc"),
            doc_string=about,
        )
        self.onnx.checker.check_model(made)
        return bytes(made.SerializeToString(deterministic=True))
