"""The sampler of integers: what is drawn is what is reported."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

import paper_repro as pr
from paper_repro.columns.randomness import Bits, Consistent, Seeded
from paper_repro.columns.sampler import IntegerSampler, MatrixSampler, SpreadSampler
from tests.columns.test_exactly import some_mechanisms, written_out

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


@pytest.mark.parametrize("size", [2, 3, 6])
def test_every_word_of_a_mechanism(size, rng):
    """All 256 words of 8 bits for each letter: as many give an answer as the reported rational says."""
    for mechanism in some_mechanisms(rng, size):
        sampler = IntegerSampler.of(mechanism, bits=8)
        for letter, row in enumerate(written_out(sampler)):
            published = sampler.sample(np.full(256, letter), Given(range(256), bits=8))
            assert [Fraction(int(n), 256) for n in np.bincount(published, minlength=size)] == row


@pytest.mark.parametrize("size", [2, 3, 6])
def test_every_pair_of_words_of_a_spread(size, rng):
    """Each first word that changes a letter with each second one; those that are rejected ask again, for all words alike."""
    for mechanism in some_mechanisms(rng, size):
        if (spread := mechanism._spread) is None:
            continue
        sampler = SpreadSampler.of_spread(spread, mechanism.labels, 8)
        channel = written_out(sampler)
        for letter in range(size):
            kept = int(sampler.kept[letter])
            published = sampler.sample(np.full(kept, letter), Given(range(kept), bits=8))
            assert (published == letter).all()
            if kept == 256:
                continue
            # Of a second word, as many leading bits count as the others' weights need.
            length = max(1, (int(sampler.others[letter]) - 1).bit_length())
            words = np.arange(2**length)
            accepted = words[words < sampler.others[letter]]
            changed = Given(np.full(len(accepted), 255), accepted << (8 - length), bits=8)
            if length <= 8:
                counts = np.bincount(sampler.sample(np.full(len(accepted), letter), changed), minlength=size)
                share = Fraction(256 - kept, 256)
                others = [share * Fraction(int(n), len(accepted)) for n in counts]
                others[letter] += Fraction(kept, 256)
                assert others == channel[letter]


def test_a_second_word_that_is_too_large_asks_again():
    sampler = SpreadSampler(np.array([0, 0, 0]), np.array([1, 1, 1]), range(3), bits=8)
    weights = SpreadSampler(np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), range(4), bits=8)
    assert sampler.sample([0, 0], Given([255, 255], [0, 128], bits=8)).tolist() == [1, 2]
    # 3 others need 2 bits: 11 is too large.
    again = Given([255, 255], [192, 64], [128], bits=8)
    assert weights.sample([0, 0], again).tolist() == [3, 2] and not again.lists


@pytest.mark.parametrize("form", ["matrix", "spread"])
def test_a_million_draws(form, rng):
    mechanism = pr.Mechanism.from_distortions([0.1, 0.5, 0.3, 0.9, 0.2])
    sampler = (
        IntegerSampler.of(mechanism)
        if form == "matrix"
        else SpreadSampler.of_spread(mechanism._spread, mechanism.labels)
    )
    codes = rng.integers(0, 5, 10**6).astype(np.int8)
    published = sampler.sample(codes, Seeded(3))
    seen = np.bincount(codes * 5 + published, minlength=25).reshape(5, 5)
    expected = seen.sum(axis=1, keepdims=True) * mechanism.matrix
    assert chisquare(seen.ravel(), expected.ravel(), ddof=4).pvalue > 1e-4


def test_the_two_forms_are_one_channel(rng):
    """A spread is the matrix of its rationals, where these have the matrix's unit."""
    sampler = SpreadSampler(np.array([16, 16, 0]), np.array([8, 8, 0]), range(3), bits=5)
    matrix = MatrixSampler(np.array([[16, 16, 0], [16, 16, 0], [16, 16, 0]]), range(3), bits=5)
    assert written_out(sampler) == written_out(matrix)
    source = pr.SourceSet(rng.dirichlet(np.ones(3)))
    for notion in (pr.DifferentialPrivacy(), pr.MaximalLeakage(), pr.MaximalInformation(), pr.ApproximateDP(0.1)):
        assert sampler.leakage(notion, source) == matrix.leakage(notion, source)
    assert sampler.distortion(source) == matrix.distortion(source)


def test_blocks_do_not_show():
    """More rows than are drawn at once, with words that belong to rows."""
    size = (1 << 18) + 1000
    sampler, ids = IntegerSampler.of(pr.randomized_response(3, 1.0)), np.arange(size) % 5
    published = sampler.sample(np.zeros(size, dtype=int), Consistent(bytes(32)).of(ids, np.zeros(size), "x"))
    assert all(len(set(published[ids == person])) == 1 for person in range(5))


def test_a_spread_of_a_million_letters(rng):
    changed = rng.random(10**6) * 0.5
    sampler = IntegerSampler.of(pr.Mechanism.from_distortions(changed))
    assert isinstance(sampler, SpreadSampler)
    codes = np.arange(10**6)
    assert (sampler.sample(codes, Seeded(0)) != codes).mean() == pytest.approx(changed.mean(), abs=0.003)


@pytest.mark.parametrize("leakage", [0.1, 1.0, 5.0])
def test_randomized_response_is_that_of_opendp(leakage):
    """Their map says what their probability of the truth costs; ours is read off the integers."""
    dp = pytest.importorskip("opendp.prelude", exc_type=ImportError)
    dp.enable_features("contrib")
    sampler = IntegerSampler.of(pr.randomized_response(4, leakage))
    truth = float(sampler.kept[0] / 2**62)
    measurement = dp.m.make_randomized_response(categories=list("abcd"), prob=truth)
    assert measurement.map(1) == pytest.approx(sampler.leakage(pr.DifferentialPrivacy()), abs=1e-12)


@pytest.mark.parametrize(
    "notion", [pr.DifferentialPrivacy(), pr.RenyiDP(2), pr.MaximalLeakage(), pr.MutualInformation()]
)
@pytest.mark.parametrize("releases", [2, 3])
def test_repeats_add_up_to_no_more_than_is_said(notion, releases, rng):
    """The product channel written out: the same value, released again and again."""
    source = pr.SourceSet([0.6, 0.4])
    sampler = IntegerSampler.of(pr.Mechanism.from_distortions([0.2, 0.3]))
    matrix = sampler.mechanism.matrix
    product = matrix
    for _ in range(releases - 1):
        product = (product[:, :, np.newaxis] * matrix[:, np.newaxis, :]).reshape(2, -1)
    together, said = notion.leakage(product, source), sampler.leakage_of_repeats(notion, releases, source)
    assert together <= said + 1e-12
    if not isinstance(notion, pr.MaximalLeakage | pr.MutualInformation):
        assert said == pytest.approx(together, abs=1e-11)


@pytest.mark.parametrize("standard", [False, True])
def test_repeats_of_approximate_privacy(standard):
    sampler = IntegerSampler.of(pr.Mechanism.from_distortions([0.2, 0.3]))
    matrix, notion = sampler.mechanism.matrix, pr.ApproximateDP(0.1, standard=standard)
    product = (matrix[:, :, np.newaxis] * matrix[:, np.newaxis, :]).reshape(2, -1)
    assert notion.leakage(product) <= sampler.leakage_of_repeats(notion, 2)


def test_consistent_words():
    people, answers = ["ann", "bob", "ann", "ann"], ["yes", "yes", "no", "yes"]
    one, again = (Consistent(bytes(32)).of(people, answers, "smokes") for _ in range(2))
    words = one.words(4)
    assert (words == again.words(4)).all() and words[0] == words[3] and len(set(words.tolist())) == 3
    more = one.words(1, np.array([3]))
    assert more != words[3] and more == again.words(1, np.array([0]))  # by counter, not by row
    others = [
        Consistent(bytes(31) + b"x").of(people, answers, "smokes"),
        Consistent(bytes(32)).of(people, answers, "eats"),
    ]
    assert not any(set(other.words(4).tolist()) & set(words.tolist()) for other in others)
    joined = [Consistent(bytes(32)).of([person], [answer], "") for person, answer in (("ab", "c"), ("a", "bc"))]
    assert joined[0].words(1) != joined[1].words(1)
    with pytest.raises(ValueError, match="key must be 16 to 64 bytes; got 3 bytes"):
        Consistent(b"abc")
