"""What every program returns: a mechanism and a certificate that it is best, neither of them trusted yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paper_repro.types import FloatArray

__all__ = ["Proposal"]


@dataclass(frozen=True)
class Proposal:
    """A mechanism and a certificate that it is best, neither of them trusted yet.

    Attributes
    ----------
    mechanism : Mechanism or ndarray
        The channel, or its matrix, shape (M, M); of databases that are told apart by the number of records changed alone, the
        logarithm of its profile, shape (records + 1,).
    weights : ndarray, shape (V,)
        Of the vertices: their mixture, a member of the source set, is claimed to be the least favorable prior. All 0 if the
        program knows of none.
    certificate : tuple of ndarrays
        Dual variables for the program's lower bound, of the shapes that its docstring lists; empty if the prior is enough.
    """

    mechanism: Any
    weights: FloatArray
    certificate: tuple[FloatArray, ...] = ()
