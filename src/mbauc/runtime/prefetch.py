"""Calling memory into cache ahead of its use, in compiled loops; importing this module imports numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def prefetch(context: Any, address: Any) -> Any:
    """Call the cache line at an address; a hint that can neither fail nor change a result."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        read, keep, data = integer(0), integer(3), integer(1)
        builder.call(call, [builder.inttoptr(arguments[0], byte), read, keep, data])
        return context.get_dummy_value()

    return types.void(types.uintp), generate
