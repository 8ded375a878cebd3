"""What Kalantari, Sankar and Sarwate state of mutual information (Sections III-A, IV and VI).

Mutual information is in nats, and its worst case over a source set is meant. In the preprint of 2017 the lemmas of Section III-A
have the numbers 3 and 4.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import as_floats, channel, information, prior, worst_distortion
from paper_repro.claims.kalantari_tools import eps, last_budget, symmetric
from paper_repro.curves import distortion_curve, leakage_curve
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import MutualInformation
from paper_repro.papers import kalantari2016, kalantari2018
from paper_repro.papers.coloring import largest_ratio
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism

# Mutual information is certified to 1e-6 nats.
CERTIFIED = 2e-6


def _mi(source: SourceSet, distortion: float) -> float:
    return float(leakage_curve(source, distortion, notion=MutualInformation()))


# Section III-A


@claim()
def information_hull() -> Finding:
    ends = np.eye(2)
    return above(
        "{(1, 0), (0, 1)}, D = 1/20: information for the two points, by the identity, which is valid; and for their hull",
        claimed=max(information(end, ends) for end in ends),
        actual=_mi(SourceSet(ends), 0.05),
    )


def _valid_mixtures(rng: np.random.Generator) -> float:
    source = random_set(rng, "III")
    size = source.alphabet_size
    one, two = random_channel(rng, size), random_channel(rng, size)
    allowed = max(source.worst_case_distortion(one), source.worst_case_distortion(two))
    share, weights = float(rng.random()), rng.dirichlet(np.ones(source.vertex_count))
    mixed = share * one + (1 - share) * two
    return float(weights @ source.vertices @ (1 - np.diagonal(mixed))) - allowed


@claim(instance=_valid_mixtures, tolerance=1e-12)
def valid_mechanisms(sample: Sample) -> Finding:
    halves = (np.eye(2) + np.ones((2, 2))) / 3
    gap = SourceSet([0.5, 0.5]).worst_case_distortion(halves / halves.sum(axis=1, keepdims=True)) - 0.5
    return holds(
        sample, named={"identity and a coin, uniform prior": gap}, tolerance=1e-12, of="mixtures of priors and channels"
    )


def _concave(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    matrix, one, two = random_channel(rng, size), rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
    share = float(rng.random())
    mean = share * information(one, matrix) + (1 - share) * information(two, matrix)
    return mean - information(share * one + (1 - share) * two, matrix)


@claim(instance=_concave, tolerance=1e-12)
def convex_in_source(sample: Sample) -> Finding:
    ends = [information(end, np.eye(2)) for end in np.eye(2)]
    middle = information(np.array([0.5, 0.5]), np.eye(2))
    name = "identity, (1, 0) and (0, 1): excess of the middle over the mean"
    return corrected(
        {name: (0.0, max(0.0, middle - sum(ends) / 2))},
        {"the same: excess of the mean over the middle": (0.0, max(0.0, sum(ends) / 2 - middle))},
        sample,
    )


def _convex(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    one, two, source = random_channel(rng, size), random_channel(rng, size), rng.dirichlet(np.ones(size))
    share = float(rng.random())
    mean = share * information(source, one) + (1 - share) * information(source, two)
    return information(source, share * one + (1 - share) * two) - mean


@claim(instance=_convex, tolerance=1e-12)
def convex_in_channel(sample: Sample) -> Finding:
    coin = np.full(2, 0.5)
    change = information(coin, (np.eye(2) + np.eye(2)[::-1]) / 2) - math.log(2)
    return holds(sample, named={"identity and exchange": change}, tolerance=1e-12, of="mixtures of two channels")


def _minimax(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])), letters=(2, 4))
    return optimal_mechanism(source, distortion=float(rng.uniform(0.05, 0.6)), notion=MutualInformation()).gap


@claim(instance=_minimax, tolerance=CERTIFIED, share=0.1)
def equation_26(sample: Sample) -> Finding:
    named = {}
    for name, source, distortion in (
        ("Table II, D = 0.3", load_source_set("P_II_10"), 0.3),
        ("simplex, M = 3, D = 0.2", SourceSet(np.eye(3)), 0.2),
    ):
        named[name] = optimal_mechanism(source, distortion=distortion, notion=MutualInformation()).gap
    return holds(sample, named=named, tolerance=CERTIFIED, of="sets, duality gap at the least favorable prior")


def _below(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    matrix, source = random_channel(rng, size), rng.dirichlet(np.ones(size))
    return information(source, matrix) - math.log(largest_ratio(matrix)) * (1 - 1e-3)


@claim(instance=_below, tolerance=0.0)
def upper_bound(sample: Sample) -> Finding:
    """Strictly below: by more than a thousandth of the leakage in all instances."""
    coin, constant = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    near = np.array([[0.501, 0.499], [0.499, 0.501]])
    named = {
        "a constant answer: both 0": information(coin, constant) - math.log(largest_ratio(constant)),
        "ratio 501/499, uniform prior": information(coin, near) - math.log(largest_ratio(near)),
    }
    return holds(sample, named=named, tolerance=0.0, of="priors and channels, strictly below")


def _lemma_5(rng: np.random.Generator) -> float:
    source = random_set(rng, "I", letters=(2, 4))
    size = source.alphabet_size
    distortion = float(rng.uniform(0.02, 1.0))
    return abs(_mi(source, distortion) - kalantari2018.lemma_3(size, distortion))


@claim(instance=_lemma_5, tolerance=CERTIFIED, share=0.15)
def lemma_5(sample: Sample) -> Finding:
    named = {}
    for size, distortion in ((2, 0.11), (3, 2 / 3), (10, 0.3), (10, 0.95)):
        found = _mi(SourceSet(np.full(size, 1 / size)), distortion)
        named[f"uniform, M = {size}, D = {distortion:.4g}"] = abs(found - kalantari2018.lemma_3(size, distortion))
    named["simplex, M = 3, D = 0.25"] = abs(_mi(SourceSet(np.eye(3)), 0.25) - kalantari2018.lemma_3(3, 0.25))
    return holds(sample, named=named, tolerance=CERTIFIED, of="convex Class I sets at any D")


@claim()
def lemma_5_points() -> Finding:
    ends = np.eye(2)
    return above(
        "the two points (1, 0), (0, 1), D = 1/20: worst information of the identity, and the formula",
        claimed=max(information(end, np.eye(2)) for end in ends),
        actual=kalantari2018.lemma_3(2, 0.05),
    )


@claim()
def lemma_5_first_letter() -> Finding:
    priors, first, even = [prior("1/2 1/2"), prior("1/4 3/4")], channel("1 0; 1 0"), channel("1/2 1/2; 1/2 1/2")
    return above(
        "hull of (1/2, 1/2) and (1/4, 3/4): distortion of mapping both letters to the first",
        claimed=0.5,
        actual=float(worst_distortion(priors, first)),
        uniform_answer=float(worst_distortion(priors, even)),
    )


@claim()
def lemma_5_worst_source() -> Finding:
    matrix = np.array([[1, 0], [0.5, 0.5]])
    return above(
        "Q with rows (1, 0), (1/2, 1/2): information at the uniform distribution, and at (3/5, 2/5), where it is log 5/4",
        claimed=information(np.array([0.5, 0.5]), matrix),
        actual=information(np.array([0.6, 0.4]), matrix),
        log_of_5_4=math.log(1.25),
    )


def _fano(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 7))
    uniform, matrix = np.full(size, 1 / size), random_channel(rng, size)
    distortion = float(1 - np.trace(matrix) / size)
    if distortion >= (size - 1) / size:
        return math.nan
    return kalantari2018.lemma_3(size, distortion) - information(uniform, matrix)


@claim(instance=_fano, tolerance=1e-12)
def equation_28(sample: Sample) -> Finding:
    matrix = np.array([[1.0, 0.0], [0.5, 0.5]])
    gap = kalantari2018.lemma_3(2, 0.25) - information(np.full(2, 0.5), matrix)
    return holds(sample, named={"rows (1, 0), (1/2, 1/2), D = 1/4": gap}, tolerance=1e-12, of="channels")


def _attains_fano(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 12))
    distortion = float(rng.uniform(0.0, 1.0)) * (size - 1) / size
    found = information(np.full(size, 1 / size), kalantari2016.equation_5(size, distortion))
    return abs(found - kalantari2018.lemma_3(size, distortion))


@claim(instance=_attains_fano, tolerance=1e-12)
def equation_29(sample: Sample) -> Finding:
    named = {}
    for size, distortion in ((2, 0.0), (10, 0.3), (3, 2 / 3)):
        found = information(np.full(size, 1 / size), kalantari2016.equation_5(size, distortion))
        named[f"M = {size}, D = {distortion:.4g}"] = abs(found - kalantari2018.lemma_3(size, distortion))
    return holds(sample, named=named, tolerance=1e-12, of="M and D")


def _averaged(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 5))
    matrix, uniform = random_channel(rng, size), np.full(size, 1 / size)
    orders = [list(order) for order in itertools.permutations(range(size))]
    mean = np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)
    spread = max(np.ptp(np.diagonal(mean)), np.ptp(mean[~np.eye(size, dtype=bool)]))
    return max(information(uniform, mean) - information(uniform, matrix), float(spread))


@claim(instance=_averaged, tolerance=1e-12, share=0.5)
def lemma_3_symmetry(sample: Sample) -> Finding:
    matrix, uniform = np.array([[1.0, 0.0], [0.5, 0.5]]), np.full(2, 0.5)
    change = information(uniform, (matrix + matrix[::-1, ::-1]) / 2) - information(uniform, matrix)
    return holds(sample, named={"rows (1, 0), (1/2, 1/2)": change}, tolerance=1e-12, of="channels, all permutations")


def _lemma_6(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    first = float(distortion_curve(source, 0.0, notion=MutualInformation()))
    return abs(first - kalantari2018.lemma_4(source))


def _constant_answer(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    first = np.eye(source.alphabet_size)[:1].repeat(source.alphabet_size, axis=0)
    return abs(source.worst_case_distortion(first) - kalantari2018.lemma_4(source))


@claim(instance=_constant_answer, tolerance=1e-12)
def lemma_6_if(sample: Sample) -> Finding:
    named = {
        name: _mi(source, kalantari2018.lemma_4(source))
        for name, source in (
            ("Table II", load_source_set("P_II_10")),
            ("(1/2, 1/2, 0)", SourceSet([0.5, 0.5, 0])),
            ("(1, 0)", SourceSet([1, 0])),
        )
    }
    return holds(
        sample, named={f"{name} at D^(M-1)": v for name, v in named.items()}, tolerance=CERTIFIED, of="Class II sets"
    )


@claim(instance=_lemma_6, tolerance=1e-9, share=0.5)
def lemma_6_only_if(sample: Sample) -> Finding:
    source = load_source_set("P_II_10")
    end = kalantari2018.lemma_4(source)
    below = _mi(source, end - 0.02)
    named = {
        "Table II, least distortion without information": abs(
            float(distortion_curve(source, 0.0, notion=MutualInformation())) - end
        ),
        f"Table II, D^(M-1) - 0.02: {below:.2g} nats are needed": float(below < 1e-4),
    }
    return holds(sample, named=named, tolerance=1e-9, of="Class II sets, best constant answer")


# Sections IV and VI


@claim()
def figure_6() -> Finding:
    named = {}
    for distortion in (0.05, 0.3, 0.6, 0.85):
        one, two = kalantari2018.lemma_3(10, distortion), kalantari2018.theorem_1(10, distortion)
        named[f"D = {distortion}: {one:.4f} < {two:.4f}"] = one - two + 1e-6
    exact = SourceSet(np.full(10, 0.1))
    named["D = 0.9: both 0"] = max(eps(exact, 0.9), _mi(exact, 0.9))
    named["D = 0.3, both from the optimizers"] = max(
        abs(eps(exact, 0.3) - kalantari2018.theorem_1(10, 0.3)),
        abs(_mi(exact, 0.3) - kalantari2018.lemma_3(10, 0.3)) - CERTIFIED,
    )
    return holds(named=named, tolerance=1e-9)


@claim()
def figure_7() -> Finding:
    source, named = load_source_set("P_II_10"), {}
    for distortion in (0.05, 0.2, 0.4, 0.65):
        one, two = _mi(source, distortion), eps(source, distortion)
        named[f"D = {distortion}: {one:.4f} < {two:.4f}"] = one - two + 1e-6
    named["D^(M-1) = 0.7"] = abs(kalantari2018.lemma_4(source) - 0.7)
    named["D = 0.7: both 0"] = max(_mi(source, 0.7), eps(source, 0.7))
    return holds(named=named, tolerance=CERTIFIED)


def _convex_in_distortion(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])), letters=(2, 4))
    one, two = sorted(rng.uniform(0.02, 0.8, size=2))
    return _mi(source, (one + two) / 2) - (_mi(source, one) + _mi(source, two)) / 2


@claim(instance=_convex_in_distortion, tolerance=CERTIFIED, share=0.05)
def convex_information(sample: Sample) -> Finding:
    source = load_source_set("P_II_10")
    grid = leakage_curve(source, [0.1, 0.25, 0.4, 0.55, 0.7], notion=MutualInformation())
    bends = {f"Table II, D = {0.1 + 0.15 * i:.2f}": float(grid[i] - (grid[i - 1] + grid[i + 1]) / 2) for i in (1, 2, 3)}
    return holds(sample, named=bends, tolerance=CERTIFIED, of="sets, middle of two distortions")


@claim()
def not_convex() -> Finding:
    """Two ways not to be convex: concave pieces, and the jump."""
    one = symmetric(3, 0.6) - (symmetric(3, 0.55) + symmetric(3, 0.65)) / 2
    source = load_source_set("P_II_10")
    two = eps(source, 0.69) - (eps(source, 0.66) + eps(source, 0.72)) / 2
    named = {
        f"Class I, M = 3, D = 0.55, 0.6, 0.65: middle above the mean by {one:.4f}": 1e-4 - one,
        f"Table II, D = 0.66, 0.69, 0.72, across the jump: by {two:.4f}": 1e-4 - two,
    }
    return holds(named=named, tolerance=0.0)


def _same_end(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])))
    return abs(last_budget(source) - float(distortion_curve(source, 0.0, notion=MutualInformation())))


@claim(instance=_same_end, tolerance=1e-9, share=0.5)
def same_perfect_privacy(sample: Sample) -> Finding:
    named = {}
    for name in ("P_II_6", "P_II_10", "P_IIIc_6", "P_IIIc_10", "P_I_6"):
        source = load_source_set(name)
        named[name] = max(_mi(source, last_budget(source)), eps(source, last_budget(source)))
    points = as_floats(prior("1/2 3/10 1/5"))
    below = min(eps(points, 0.49), _mi(points, 0.49))
    named[f"(1/2, 3/10, 1/5), D = 0.49: at least {below:.1e} nats are needed by both"] = float(below < 1e-5)
    return holds(sample, named=named, tolerance=CERTIFIED, of="sets of all classes")


@claim()
def perfect_privacy_points() -> Finding:
    identity = Mechanism(np.eye(2)).matrix
    none = max(information(end, identity) for end in np.eye(2))
    free = SourceSet(np.eye(2)).worst_case_distortion(identity) if none == 0 else math.nan
    return above(
        "the points (1, 0), (0, 1): distortion at which mutual information 0 is reached (the identity), and at which "
        "differential privacy has no leakage",
        claimed=free,
        actual=last_budget(SourceSet(np.eye(2))),
    )


def _stronger(rng: np.random.Generator) -> float:
    source = random_set(rng, "III", letters=(3, 4))
    matrix = Mechanism(random_channel(rng, source.alphabet_size))
    return MutualInformation().leakage(matrix, source) - math.log(largest_ratio(matrix))


@claim(instance=_stronger, tolerance=1e-9, share=0.5)
def stronger(sample: Sample) -> Finding:
    notion, matrix = MutualInformation(), Mechanism(kalantari2016.equation_5(6, 0.2))
    gap = notion.leakage(matrix, load_source_set("P_IIIc_6")) - math.log(largest_ratio(matrix))
    return holds(
        sample, named={"Q_D, D = 0.2, P_IIIc^(6)": gap}, tolerance=1e-9, of="mechanisms, worst case over a set"
    )
