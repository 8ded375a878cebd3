"""What every program returns: a mechanism and why it should be best, neither of them trusted yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.types import FloatArray

__all__ = ["Proposal"]


@dataclass(frozen=True)
class Proposal:
    """A mechanism and a certificate that it is best, neither of them trusted yet.

    Attributes
    ----------
    mechanism : ndarray
        The channel, shape (M, M); of databases that are told apart by the number of records changed alone, the logarithm of
        its profile, shape (records + 1,).
    weights : ndarray, shape (V,)
        Of the vertices: their mixture, a member of the source set, is claimed to be the least favorable prior.
    certificate : tuple
        Dual variables for the program's lower bound, as its docstring lists them; empty if the prior is enough.
    """

    mechanism: FloatArray
    weights: FloatArray
    certificate: tuple[Any, ...] = ()

    def prior(self, vertices: FloatArray) -> FloatArray:
        """The prior claimed to be least favorable, shape (M,): a mixture of the vertices, whatever the weights were.

        >>> Proposal(np.eye(2), np.array([1.0, 3.0])).prior(np.array([[0.5, 0.5], [0.9, 0.1]]))
        array([0.8, 0.2])
        """
        weights = np.clip(self.weights, 0, None)
        return weights / weights.sum() @ vertices
