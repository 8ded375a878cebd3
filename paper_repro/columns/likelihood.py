r"""The likeliest true frequencies, where the unbiased estimate has negative ones.

The mean log-likelihood of published frequencies q is ``sum_j q_j log (p Q)_j``, concave in p. Its maximum over distributions is
that of ``sum_j q_j log (x Q)_j - sum x + 1`` over all ``x >= 0``, since the best multiple of any x sums to 1: only signs are
constrained, and an interior point takes some 20 steps (Koenker and Mizera 2014). What it finds needs no trust: with the slopes
``g = Q (q / p Q)`` no other distribution p' gains more than ``p' . g - 1``, so the likelihood is at most ``max g - 1`` below its
maximum.
"""

from __future__ import annotations

import numpy as np

from paper_repro.columns.inverses import Inverse
from paper_repro.errors import CertificateError
from paper_repro.types import FloatArray

__all__ = ["likeliest"]

_STEPS, _CENTERING, _ACCEPTED = 200, 0.1, 1e4


def likeliest(published: FloatArray, channel: Inverse, tolerance: float = 1e-12) -> tuple[FloatArray, float]:
    """The distribution of greatest likelihood, shape (M,), and by how much a record's mean log-likelihood may fall short.

    Parameters
    ----------
    published : ndarray, shape (M,)
        Frequencies of what was published: probabilities.
    channel : Inverse
    tolerance : float, in nats a record
        Sought; ten thousand times it is accepted.

    Returns
    -------
    frequencies : ndarray, shape (M,)
    gap : float, in nats a record
        At most so much below the maximum, evaluated from the frequencies alone.

    Raises
    ------
    CertificateError
        If the gap stays above what is accepted.

    Examples
    --------
    >>> from paper_repro import Mechanism
    >>> from paper_repro.columns.inverses import inverse_of
    >>> channel = inverse_of(Mechanism([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]))
    >>> channel.estimated(np.array([0.5, 0.4, 0.1])).round(3)
    array([ 0.75,  0.5 , -0.25])
    >>> frequencies, gap = likeliest(np.array([0.5, 0.4, 0.1]), channel)
    >>> frequencies.round(3), bool(gap < 1e-12)
    (array([0.611, 0.389, 0.   ]), True)
    """
    unbiased = channel.estimated(published)
    if unbiased.min() >= 0:
        return unbiased, 0.0
    size, where = len(published), published > 0
    found = np.maximum(unbiased, 0)
    found = 0.9 * found / found.sum() + 0.1 / size
    slack = 0.1 / (size * found)
    best, least = found, np.inf
    for _ in range(_STEPS):
        seen = channel.published(found)
        odds = np.divide(published, seen, out=np.zeros(size), where=where)
        slopes = channel.averaged(odds)
        if (gap := float(slopes.max()) * found.sum() - 1) < least:
            best, least = found / found.sum(), gap
        if gap <= tolerance:
            break
        ties = found @ slack / size
        curvatures = np.divide(odds, seen, out=np.zeros(size), where=where)
        aim = _CENTERING * ties / found
        step = channel.curved(curvatures, slack / found, slopes - 1 + aim)
        change = aim - slack - slack / found * step
        found = found + _within(found, step) * step
        slack = slack + _within(slack, change) * change
    held = np.where(best < slack, 0.0, best)
    odds = np.divide(published, channel.published(held), out=np.zeros(size), where=where)
    if (gap := float(channel.averaged(odds).max()) * held.sum() - 1) <= max(least, 10 * tolerance):
        best, least = held / held.sum(), gap
    if not least <= _ACCEPTED * tolerance:
        raise CertificateError(
            f"the gap of the likelihood must be at most {_ACCEPTED * tolerance:.2g} nats for each record; got {least:.2g}. Take "
            "method='unbiased'."
        )
    return best, max(least, 0.0)


def _within(values: FloatArray, step: FloatArray) -> float:
    """How much of the step leaves all values positive, at most all of it."""
    return min(1.0, 0.995 / max(float((-step / values).max()), 1e-300))
