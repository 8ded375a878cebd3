"""The sampler of integers: what is drawn is what is reported."""

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.columns.randomness import Bits, Seeded
from paper_repro.columns.sampler import IntegerSampler, MatrixSampler, SpreadSampler

COUNTS = np.array([[3, 1, 0], [1, 2, 1], [0, 2, 2]])


class Given(Bits):
    """Words that are given, one list after the other."""

    def __init__(self, *lists, bits):
        self.lists, self.shift = list(lists), np.uint64(64 - bits)

    def words(self, count, rows=None):
        return np.array(self.lists.pop(0), dtype=np.uint64) << self.shift


def test_every_word_of_a_matrix():
    sampler = MatrixSampler(COUNTS, range(3), bits=2)
    for letter, row in enumerate(COUNTS):
        published = sampler.sample(np.full(4, letter), Given(range(4), bits=2))
        assert np.bincount(published, minlength=3).tolist() == row.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_codes_keep_their_type_and_shape(dtype):
    sampler = IntegerSampler.of(pr.randomized_response(3, 1.0))
    codes = np.array([[0, 1], [2, 2]], dtype=dtype)
    published = sampler.sample(codes, Seeded(0))
    assert (published.dtype, published.shape) == (dtype, (2, 2))


@pytest.mark.parametrize("codes", [[0, 3], [-1], [0.5], ["a"]])
def test_other_codes_are_refused(codes):
    with pytest.raises(ValueError, match="codes must be integers from 0 to 2"):
        IntegerSampler.of(pr.randomized_response(3, 1.0)).sample(codes, Seeded(0))


def test_a_spread_of_a_million_letters(rng):
    changed = rng.random(10**6) * 0.5
    sampler = IntegerSampler.of(pr.Mechanism.from_distortions(changed))
    assert isinstance(sampler, SpreadSampler)
    codes = np.arange(10**6)
    assert (sampler.sample(codes, Seeded(0)) != codes).mean() == pytest.approx(changed.mean(), abs=0.003)
