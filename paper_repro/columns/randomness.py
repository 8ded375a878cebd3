"""Where random words come from: the operating system, a seed, or a person's ID and category."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.types import IntArray

__all__ = ["Bits", "Consistent", "OperatingSystem", "Seeded", "Words"]

Words = NDArray[np.uint64]


class Bits(ABC):
    """Independent words of 64 random bits, a new one whenever a row asks.

    Attributes
    ----------
    is_safe : bool
        Whether nobody can predict them.
    """

    is_safe = True

    @abstractmethod
    def words(self, count: int, rows: IntArray | None = None) -> Words:
        """As many words, shape (count,): one for each of these rows of the column, shape (count,), or for the first ``count``."""


class OperatingSystem(Bits):
    """The randomness of the operating system, for keys.

    >>> OperatingSystem().words(3).dtype
    dtype('uint64')
    """

    def words(self, count: int, rows: IntArray | None = None) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class Seeded(Bits):
    """The same words each time, others for each part of a table: for tests only, since the seed inverts the release.

    >>> Seeded(7).words(2) == Seeded(7).words(2)
    array([ True,  True])
    """

    is_safe = False

    def __init__(self, seed: int, part: int = 0) -> None:
        self.seed = seed
        self._generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part,) if part else ()))

    def words(self, count: int, rows: IntArray | None = None) -> Words:
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)


class Consistent:
    """Words that a secret key makes of a person's ID and category: the same ID and category are published alike, always.

    Without the key nobody can tell them from random ones (keyed BLAKE2b); anyone who has the key can invert the release.

    Parameters
    ----------
    key : bytes, of 16 to 64, optional
        By default a new one of the operating system.

    Raises
    ------
    ValueError
        If the key is shorter or longer.

    >>> bits = Consistent(bytes(32)).of(["ann", "bob", "ann"], ["yes", "yes", "yes"], "smokes")
    >>> first, second, third = bits.words(3).tolist()
    >>> first == third, first == second
    (True, False)
    """

    def __init__(self, key: bytes | None = None) -> None:
        self.key = os.urandom(32) if key is None else key
        if not isinstance(self.key, bytes) or not 16 <= len(self.key) <= 64:
            told = f"{len(key)} bytes" if isinstance(key, bytes) else f"a {type(key).__name__}"  # never the key
            raise ValueError(f"key must be 16 to 64 bytes; got {told}. Leave it out to have one made.")

    def of(self, ids: Sequence[Any] | NDArray[Any], values: Sequence[Any] | NDArray[Any], context: str) -> Bits:
        """The words for rows with these IDs and true values, both of shape (rows,).

        The context is to be another one for each column and each mechanism, such as the column's name and the sampler's digest:
        rows that share words through two mechanisms can give away what each of them keeps.
        """
        return _OfRows(self.key, ids, values, context)


class _OfRows(Bits):
    def __init__(self, key: bytes, ids: Any, values: Any, context: str) -> None:
        # Lengths keep what is joined apart.
        start = blake2b(key=key, digest_size=8)
        start.update(_framed(context))
        self._start, self._ids, self._values = start, ids, values
        self._asked = np.zeros(len(ids), dtype=np.uint32)

    def words(self, count: int, rows: IntArray | None = None) -> Words:
        places = np.arange(count) if rows is None else rows
        found = bytearray()
        for row, number in zip(places.tolist(), self._asked[places].tolist(), strict=True):
            digest = self._start.copy()
            digest.update(_framed(str(self._ids[row])) + _framed(str(self._values[row])) + number.to_bytes(4, "little"))
            found += digest.digest()
        self._asked[places] += 1
        return np.frombuffer(bytes(found), dtype="<u8").astype(np.uint64)


def _framed(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded
