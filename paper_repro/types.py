"""Array types used in signatures."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "FloatArray", "HasMatrix", "IntArray"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.intp]


class HasMatrix(Protocol):
    """A mechanism, as far as its channel matrix goes."""

    @property
    def matrix(self) -> FloatArray:
        """Channel, shape (M, M): row = input, column = output."""
