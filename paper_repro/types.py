"""Types used in signatures, and those of notebook parameters."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["PARAMETER_TYPES", "BoolArray", "FloatArray", "HasMatrix", "IntArray"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.intp]

PARAMETER_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "float": (float, int),
    "int": (int,),
    "list": (list,),
    "str": (str,),
}
"""Types that a notebook's parameters may be declared with, and the values that each takes."""


class HasMatrix(Protocol):
    """A mechanism, as far as its channel matrix goes."""

    @property
    def matrix(self) -> FloatArray:
        """Channel, shape (M, M): row = input, column = output."""
