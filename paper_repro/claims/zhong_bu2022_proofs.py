"""What Zhong and Bu state (2022), claim by claim: steps of proofs that do not hold as printed, and some that hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import Channel, changed, distances, exp_ratio, product, response
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MUTUAL,
    RENYI,
    information,
    least,
    loss,
    uniform,
)
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.types import FloatArray

_EXACT = 1e-8
_PLACE = "Section III, proof of Theorem 6"


def _space(rng: np.random.Generator) -> tuple[int, int, float]:
    """m, n and a distortion below n(m-1)/m."""
    m, n = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    return m, n, float(rng.uniform(0.02, 0.98)) * n * (m - 1) / m


# Theorem 6, first part: what Q_D leaks


def _range_of_a_and_b(m: int, n: int, d: float) -> float:
    ratio, same = (m - 1) * (n - d) / d, (1 - d / n) ** n
    return max(m**-n - same, same - 1, 1 - ratio)


@claim(instance=lambda rng: _range_of_a_and_b(*_space(rng)))
def proof_of_theorem_6_a_and_b(sample: Sample) -> Finding:
    return holds(sample, named={"m = 3, n = 2, D = 1": _range_of_a_and_b(3, 2, 1.0)}, of="m, n and D")


def _moment(m: int, n: int, d: float, alpha: float) -> float:
    """The sum in item 1.1, from the definition."""
    matrix = zhong.lemma_5_mechanism(m, n, d)
    return float((matrix[0] ** alpha * matrix[1] ** (1 - alpha)).sum())


def _moment_by_shells(m: int, n: int, d: float, alpha: float, top: int, *, counted: bool) -> float:
    """The same by distances, with C(top, l-1) ways to choose the other changed records; the last sum not counted in print."""
    ratio, same = (m - 1) * (n - d) / d, (1 - d / n) ** n
    ways = [math.comb(top, place) * (m - 1) ** place for place in range(n)]
    further = sum(way * ratio ** -(place + 1) * same for place, way in enumerate(ways))
    closer = sum((way if counted else 1) * ratio**-place * same for place, way in enumerate(ways))
    return (m - 2 + ratio ** (1 - alpha)) * further + closer * ratio ** (alpha - 1)


def _binomial_gap(rng: np.random.Generator) -> float:
    m, n, d = _space(rng)
    if m**n > 256:
        return math.nan
    alpha = float(rng.uniform(1.1, 4))
    exact = _moment(m, n, d, alpha)
    return _moment_by_shells(m, n, d, alpha, n - 1, counted=True) / exact - 1


@claim(instance=_binomial_gap, tolerance=_EXACT)
def proof_of_theorem_6_item_1_1(sample: Sample) -> Finding:
    name = "m = 2, n = 3, D = 1, order 2"
    exact = _moment(2, 3, 1.0, 2.0)
    printed = _moment_by_shells(2, 3, 1.0, 2.0, 1, counted=False)
    mended = _moment_by_shells(2, 3, 1.0, 2.0, 2, counted=True)
    closed = math.exp(zhong.lemma_5_leakage("Renyi differential privacy", 2, 3, 1.0, alpha=2.0))
    return corrected({name: (printed, exact)}, {name: (mended, exact), f"{name}, closed form": (closed, exact)}, sample)


def _stationarity(m: int, n: int, d: float, alpha: float, *, weighted: bool) -> float:
    """The multiplier lambda less the derivative of the sum in P(x) at the uniform prior."""
    ratio = (m - 1) * (n - d) / d
    powers = ratio ** (-alpha * np.array(distances(m, n), dtype=float))
    means = powers.mean(axis=0)
    shares = means ** ((1 - alpha) / alpha) / alpha
    slopes = powers @ shares if weighted else np.full(len(powers), shares.sum())
    price = m ** (n * (alpha - 1) / alpha) * (1 + (m - 1) * ratio**-alpha) ** (n / alpha) / alpha
    return float(abs(price - slopes).max())


def _stationarity_gap(rng: np.random.Generator) -> float:
    m, n, d = _space(rng)
    if m**n > 81:
        return math.nan
    alpha = float(rng.uniform(1.1, 4))
    return _stationarity(m, n, d, alpha, weighted=True) / m**n


@claim(instance=_stationarity_gap)
def proof_of_theorem_6_item_1_2(sample: Sample) -> Finding:
    name = "m = 2, n = 1, D = 1/4, order 2: derivative less lambda"
    found = [_stationarity(2, 1, 0.25, 2.0, weighted=weighted) for weighted in (False, True)]
    return corrected({name: (found[0], 0.0)}, {name: (found[1], 0.0)}, sample)


def _concave(rng: np.random.Generator) -> float:
    size, alpha, share = int(rng.integers(2, 5)), float(rng.uniform(1.1, 6)), rng.uniform()
    powers = random_mechanism(rng, size) ** alpha
    first, second = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
    value = [((prior @ powers) ** (1 / alpha)).sum() for prior in (first, second, share * first + (1 - share) * second)]
    return float(share * value[0] + (1 - share) * value[1] - value[2])


@claim(instance=_concave)
def proof_of_theorem_6_item_1_2_convexity(sample: Sample) -> Finding:
    powers = np.array([[0.75, 0.25], [0.25, 0.75]]) ** 2
    value = [float(((np.array(prior) @ powers) ** 0.5).sum()) for prior in ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5])]
    named = {"rows (3,1)/4 and (1,3)/4, order 2, half-way": (value[0] + value[1]) / 2 - value[2]}
    return holds(sample, named=named, of="channels, orders and pairs of priors")


def _limit(m: int, n: int, d: float, alpha: float, times: int) -> float:
    """``n log m + n times/(a-1) log((c2/n)^a + (m-1)(c1/n)^a)``, c2 = n - D and c1 = D/(m-1), for an order near its limit."""
    kept, other = math.log(1 - d / n), math.log(d / (n * (m - 1)))
    total = max(alpha * kept, alpha * other)
    total += math.log(math.exp(alpha * kept - total) + (m - 1) * math.exp(alpha * other - total))
    return n * math.log(m) + n * times / (alpha - 1) * total


def _limit_gap(notion: str, alpha: float) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        m, n, d = _space(rng)
        if m**n > 256:
            return math.nan
        exact = loss(notion, zhong.lemma_5_mechanism(m, n, d), m, n, uniform(m**n))
        return abs(_limit(m, n, d, alpha, 1) - exact)

    return violation


def _check_limit(notion: str, alpha: float) -> Callable[[Sample], Finding]:
    def check(sample: Sample) -> Finding:
        exact = math.exp(loss(notion, zhong.lemma_5_mechanism(2, 2, 0.5), 2, 2, uniform(4)))
        name = "m = n = 2, D = 1/2, as exp"
        printed, mended = (math.exp(_limit(2, 2, 0.5, alpha, times)) for times in (2, 1))
        return corrected({name: (printed, exact)}, {name: (mended, exact)}, sample, tolerance=1e-5)

    return check


for _name, _item, _notion, _alpha, _end in (
    ("proof_of_theorem_6_item_1_4", "1.4", LEAKAGE, 1e9, "infinity"),
    ("proof_of_theorem_6_item_1_5", "1.5", MUTUAL, 1 + 1e-7, "1"),
):
    claim(name=_name, instance=_limit_gap(_notion, _alpha), tolerance=1e-5)(_check_limit(_notion, _alpha))


# Theorem 6, second part: lower bounds


def _inequality_6(rng: np.random.Generator) -> float:
    m, n = [(2, 1), (3, 1), (2, 2), (3, 2)][rng.integers(4)]
    prior, matrix = random_prior(rng, m**n), random_mechanism(rng, m**n)
    apart = np.array(distances(m, n))
    each = (matrix * apart).sum(axis=1)
    return float(each.sum() - (prior @ each) / prior.min())


@claim(instance=_inequality_6)
def proof_of_theorem_6_inequality_6(sample: Sample) -> Finding:
    flip = response(2, F(1, 4))
    total = sum((q for i, row in enumerate(flip) for j, q in enumerate(row) if i != j), F(0))
    bound = changed(flip, [F(3, 4), F(1, 4)]) * 2 / F(1, 2)
    named = {f"P = (3,1)/4 flipped with 1/4: {total} <= {bound}": float(total - bound)}
    return holds(sample, named=named, of="priors and channels")


def _common(m: int, n: int, place: int, first: int) -> int:
    """How many databases are at distance ``first`` from x and ``place`` from y, for x and y at distance ``place - 1``."""
    apart = distances(m, n)
    x = apart[0].index(place - 1)
    return sum(apart[x][z] == first and apart[0][z] == place for z in range(m**n))


@claim()
def proof_of_theorem_6_items_2_1_and_2_5() -> Finding:
    printed, mended = {}, {}
    for m, n, place in ((2, 2, 2), (3, 2, 2), (2, 3, 2)):
        name, wanted = f"m = {m}, n = {n}, l = {place}", float((n - place + 1) * (m - 1))
        printed[name] = (wanted, float(_common(m, n, place, place)))
        mended[name] = (wanted, float(_common(m, n, place, 1)))
    return corrected(printed, mended)


@claim()
def proof_of_theorem_6_item_2_5_last_line() -> Finding:
    exact = least(RENYI, 2, 1, 0.2, ((0.75, 0.25),))
    printed = [(1 - d) ** 2 / d for d in (0.2, 0.4)]
    name = "P = (3,1)/4, D = 1/5, order 2, as exp"
    over = max(0.0, printed[1] - math.exp(exact))
    return corrected({name: (printed[0], math.exp(exact))}, {f"{name}, with D/theta: above the least by": (0.0, over)})


def _item_2_6_gap(rng: np.random.Generator) -> float:
    m, n = [(2, 1), (3, 1), (2, 2)][rng.integers(3)]
    prior, apart = random_prior(rng, m**n), np.array(distances(m, n))
    worst = -math.inf
    for place in range(n + 1):
        mass = float(((apart == place) @ prior).max())
        worst = max(worst, mass - (1 - m**n * prior.min() * (1 - math.comb(n, place) * (m - 1) ** place / m**n)))
    return worst


@claim(instance=_item_2_6_gap)
def proof_of_theorem_6_item_2_6(sample: Sample) -> Finding:
    name = "{(1,1)/2, (3,1)/4}, theta = 1, l = 0: largest mass"
    bound = F(1) - 1 * (1 - F(1, 2))
    printed = {f"{name} of (3,1)/4, at most": (float(bound), 0.75)}
    return corrected(printed, {f"{name} of (1,1)/2": (float(bound), 0.5)}, sample)


def _objective(matrix: FloatArray, prior: FloatArray, output: FloatArray) -> float:
    joint = prior[:, np.newaxis] * matrix
    used = joint > 0
    return float((joint[used] * np.log((matrix / (output @ matrix))[used])).sum())


def _objective_gap(rng: np.random.Generator) -> float:
    matrix = random_mechanism(rng, int(rng.integers(2, 5)), zeros=False)
    prior = random_prior(rng, len(matrix))
    return abs(_objective(matrix, prior, prior) - information(prior, matrix))


@claim(instance=_objective_gap)
def proof_of_theorem_6_problem_7(sample: Sample) -> Finding:
    prior, half, matrix = np.array([0.75, 0.25]), np.array([0.5, 0.5]), np.eye(2)
    name = "P' = (3,1)/4, identity, nats"
    exact = information(prior, matrix)
    return corrected(
        {name: (_objective(matrix, prior, half), exact)}, {name: (_objective(matrix, prior, prior), exact)}, sample
    )


def _relaxed(prior: FloatArray, m: int, n: int, d: float) -> tuple[float, float, float]:
    """theta, eta and the objective of problem (8) at ``Q_{D/theta}``."""
    theta, eta = m**n * float(prior.min()), float(prior.max())
    matrix = zhong.lemma_5_mechanism(m, n, d / theta)
    return theta, eta, theta / m**n * float((matrix * np.log(matrix / (eta * matrix.sum(axis=0)))).sum())


def _bound_7(theta: float, eta: float, m: int, n: int, d: float, factor: float) -> float:
    first = theta * n * math.log(eta ** (-1 / n) * (1 - d / (n * theta)))
    return first + factor * math.log(d / ((m - 1) * (n * theta - d)))


def _multiplier(theta: float, eta: float, m: int, n: int, d: float, *, printed: bool) -> float:
    """Derivative of the Lagrangian of (8) in ``Q(x|x)`` at ``Q_{D/theta}``, where ``d(x,x) = 0``: it has to vanish."""
    kept = 1 - d / (n * theta)
    slope = theta / m**n * (n * math.log(kept) - math.log(eta))
    below = m * (n - d / theta) if printed else kept
    return slope + n * theta / m**n * math.log(eta ** (1 / n) / below)


def _relaxation_gap(multiplier: bool) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        m, n = [(2, 1), (3, 1), (2, 2), (3, 2)][rng.integers(4)]
        prior = random_prior(rng, m**n, 1.0, 3.0)
        d = float(rng.uniform(0.02, 0.9)) * m**n * float(prior.min()) * n * (m - 1) / m
        theta, eta, value = _relaxed(prior, m, n, d)
        if multiplier:
            return abs(_multiplier(theta, eta, m, n, d, printed=False))
        return abs(_bound_7(theta, eta, m, n, d, d) - value)

    return violation


_SKEWED = np.array([0.22, 0.26, 0.26, 0.26])


@claim(instance=_relaxation_gap(multiplier=True))
def proof_of_theorem_6_item_2_7_multipliers(sample: Sample) -> Finding:
    theta, eta, _ = _relaxed(_SKEWED, 2, 2, 0.1)
    name = "two bits, P = (22,26,26,26)/100, D = 1/10: derivative in Q(x|x)"
    found = [_multiplier(theta, eta, 2, 2, 0.1, printed=printed) for printed in (True, False)]
    return corrected({name: (found[0], 0.0)}, {name: (found[1], 0.0)}, sample)


@claim(instance=_relaxation_gap(multiplier=False))
def proof_of_theorem_6_item_2_7_value(sample: Sample) -> Finding:
    theta, eta, value = _relaxed(_SKEWED, 2, 2, 0.1)
    name = "two bits, P = (22,26,26,26)/100, D = 1/10, nats"
    found = [_bound_7(theta, eta, 2, 2, 0.1, factor) for factor in (theta * 0.1, 0.1)]
    return corrected({name: (found[0], value)}, {name: (found[1], value)}, sample)


# Theorem 9

_PLACE_9 = "Section IV-B, proof of Theorem 9"


def _by_diagonal(kept: list[F], delta: F) -> Channel:
    """``Q(j|i) = (a_j - delta)(1 - a_i) / sum_{j != i} (a_j - delta)``, and a_i on the diagonal."""
    total = sum((a - delta for a in kept), F(0))
    size = range(len(kept))
    return [
        [
            kept[i]
            if i == j
            else (kept[j] - delta) * (1 - kept[i]) / (total - (kept[i] - delta))
            if kept[i] < 1
            else F(0)
            for j in size
        ]
        for i in size
    ]


@claim()
def proof_of_theorem_9_channel() -> Finding:
    # (7,2,1)/10, D = 1/4, delta = 0: keep 5/6, 5/6 and 0.
    table = _by_diagonal([F(5, 6), F(5, 6), F(0)], F(0))
    columns = [float(sum(column)) for column in zip(*table, strict=True)]
    rows = [float(sum(row)) for row in table]
    name = "diagonal (5,5,0)/6, delta = 0"
    printed = {f"{name}, sum over inputs, output 3": (1.0, columns[2])}
    return corrected(
        printed, {f"{name}, sum over outputs, input {i + 1}": (1.0, total) for i, total in enumerate(rows)}
    )


@claim()
def proof_of_theorem_9_its_leakage() -> Finding:
    kept = [F(5, 6), F(5, 6), F(0)]
    ratio = max((sum(kept) - a) / (1 - a) for a in kept)
    exact = math.log(exp_ratio(_by_diagonal(kept, F(0))))
    name = "diagonal (5,5,0)/6, delta = 0, nats"
    return corrected({name: (float(ratio), exact)}, {name: (math.log(ratio), exact)})


def _corner(tails: list[float], i: int, j: int) -> tuple[float, float]:
    """Where the lines ``z = j - D^(j) y`` and ``z = i - D^(i) y`` meet."""
    across = (i - j) / (tails[i] - tails[j])
    return across, j - tails[j] * across


def _order_14(prior: FloatArray, slack: float) -> int:
    """How many of the inequalities (14) fail by more than the slack (if it is negative: are not strict by as much)."""
    tails = [0.0, *np.cumsum(prior[::-1]).tolist()]
    wrong = 0
    for j in range(1, len(prior)):
        corners = [_corner(tails, i, j) for i in range(1, len(prior)) if i != j]
        wrong += sum(later[0] > one[0] + slack for one, later in itertools.pairwise(corners))
        wrong += sum(later[1] < one[1] - slack for one, later in itertools.pairwise(corners))
        wrong += sum(min(corner) < -slack for corner in corners)
    return wrong


@claim(instance=lambda rng: float(_order_14(random_prior(rng, int(rng.integers(3, 7)), -0.3, 1.5), 1e-9)))
def proof_of_theorem_9_14(sample: Sample) -> Finding:
    fair = np.full(4, 0.25)
    printed = {"P = (1,1,1,1)/4: inequalities that are not strict": (0.0, float(_order_14(fair, -1e-9)))}
    mended = {"P = (1,1,1,1)/4: that fail in the wide sense": (0.0, float(_order_14(fair, 1e-9)))}
    strict = np.array([0.4, 0.3, 0.2, 0.1])
    mended["P = (4,3,2,1)/10: not strict"] = (0.0, float(_order_14(strict, -1e-9)))
    return corrected(printed, mended, sample)


def _tight(prior: list[F], i: int, j: int) -> int:
    """How many of the lines 1 .. m-1, which bound the feasible region, pass through the point where lines i and j meet."""
    tails = [sum(prior[len(prior) - k :], F(0)) for k in range(len(prior) + 1)]
    across = F(i - j) / (tails[i] - tails[j])
    height = j - tails[j] * across
    return sum(height == k - tails[k] * across for k in range(1, len(prior)))


@claim()
def proof_of_theorem_9_corners() -> Finding:
    prior = [F(5, 10), F(3, 10), F(2, 10)]
    name = "P = (5,3,2)/10: constraints that are tight, two at a corner,"
    printed = {f"{name} at Z_23": (2.0, float(_tight(prior, 3, 2)))}
    return corrected(printed, {f"{name} at Z_12": (2.0, float(_tight(prior, 2, 1)))})


def _summary(prior: FloatArray, d: float, delta: float, last: int) -> float:
    """The summary: the least over j up to ``k - 1 + last``, k being such that (1-delta) D^(k-1) <= D < (1-delta) D^(k)."""
    m = len(prior)
    tails = (1 - delta) * np.append(0.0, np.cumsum(np.sort(prior)))
    if d >= tails[m - 1] * (1 - 1e-12):
        return 0.0
    k = int(np.searchsorted(tails, d, side="right"))
    terms = [
        (m - j) * (1 - d - delta) / (d - tails[j - 1]) for j in range(1, max(k - 1 + last, 1) + 1) if d > tails[j - 1]
    ]
    return math.log(min(terms))


def _summary_gap(rng: np.random.Generator) -> float:
    prior, delta = random_prior(rng, int(rng.integers(2, 6)), -0.3, 1.5), float(rng.choice([0.0, 0.1, 0.4]))
    d = float(rng.uniform(0.02, 1.1)) * zhong.lemma_10(prior, delta)
    exact = least(APPROXIMATE, len(prior), 1, d, (tuple(prior.tolist()),), delta=delta)
    return abs(_summary(prior, d, delta, 1) - exact)


@claim(instance=_summary_gap, tolerance=_EXACT)
def proof_of_theorem_9_summary(sample: Sample) -> Finding:
    prior = np.array([0.7, 0.2, 0.1])
    name = "P = (7,2,1)/10, delta = 0, D = 1/4, as exp"
    exact = math.exp(least(DP, 3, 1, 0.25, ((0.7, 0.2, 0.1),)))
    found = [math.exp(_summary(prior, 0.25, 0.0, last)) for last in (0, 1)]
    return corrected({name: (found[0], exact)}, {name: (found[1], exact)}, sample, tolerance=_EXACT)


# Theorem 14

_PLACE_14 = "Appendix E, proof of Theorem 14"


@claim()
def proof_of_theorem_14_channel() -> Finding:
    # Two fair letters at D = 1/4: keep 1 and 1/2.
    kept = [F(1), F(1, 2)]
    printed_row = kept[0] + (1 - kept[1]) * kept[0] / kept[0]
    meant = _by_diagonal(kept, F(0))
    wrong = float(changed(meant, [F(1, 2), F(1, 2)]))
    name = "P = (1,1)/2, D = 1/4, diagonal (1, 1/2)"
    mended = {f"{name}, indices exchanged: row sum {i + 1}": (1.0, float(sum(row))) for i, row in enumerate(meant)}
    mended[f"{name}, distortion"] = (0.25, wrong)
    exact = math.exp(least(LEAKAGE, 2, 1, 0.25, ((0.5, 0.5),)))
    mended[f"{name}, leakage as exp"] = (float(sum(max(column) for column in zip(*meant, strict=True))), exact)
    return corrected({f"{name}, row sum 1": (1.0, float(printed_row))}, mended)


def _dual(prior: list[F], d: F, gamma: tuple[F, F, F], *, printed: bool) -> tuple[bool, F]:
    """Whether a point is feasible in the dual program (17), and its objective."""
    m = len(prior)
    feasible = min(gamma) >= 0
    for j in range(1, m + 1):
        weight = sum(prior[j:], F(0)) - (0 if printed else 1)
        feasible &= weight * gamma[0] - j * gamma[1] + gamma[2] >= -j
    return feasible, (d - 1) * gamma[0] - gamma[1] + gamma[2]


@claim()
def proof_of_theorem_14_dual_program() -> Finding:
    prior, d = [F(1, 2), F(1, 2)], F(1, 4)
    # The exact kept mass is 3/2; mended, y = (2, 0, 0) attains it, and strong duality says that nothing is below.
    exact = math.exp(least(LEAKAGE, 2, 1, 0.25, ((0.5, 0.5),)))
    name = "P = (1,1)/2, D = 1/4"
    far, value = _dual(prior, d, (F(100), F(0), F(0)), printed=True)
    near, best = _dual(prior, d, (F(2), F(0), F(0)), printed=False)
    printed = {f"{name}, y = (100,0,0){' feasible' * far}: kept mass": (float(-value), exact)}
    return corrected(printed, {f"{name}, mended, y = (2,0,0){' feasible' * near}: kept mass": (float(-best), exact)})


# Theorem 17(2)


def _chain(rng: np.random.Generator) -> float:
    """What a product leaks, between one factor's losses at ``delta m^(n-1)`` and at delta."""
    size, delta = int(rng.integers(2, 4)), float(rng.uniform(0.01, 0.15))
    matrix = random_mechanism(rng, size, zeros=False)
    whole = loss(APPROXIMATE, np.kron(matrix, matrix), size, 2, delta=delta)
    low, high = (loss(APPROXIMATE, matrix, size, 1, delta=one) for one in (delta * size, delta))
    same = loss(APPROXIMATE, matrix, size, 1, delta=min(delta / float(matrix.max()), 0.999))
    return max(low - whole, whole - high, abs(whole - same))


@claim(instance=_chain)
def proof_of_theorem_17_2_first_step(sample: Sample) -> Finding:
    flip = response(2, F(1, 4))
    pair = product(flip, flip)
    exact = float(exp_ratio(pair, 2, 2, F(1, 10)))
    name = "fair bits flipped with 1/4, n = 2, delta = 1/10, as exp"
    printed = {name: (float(exp_ratio(pair, 2, 2)), exact)}
    mended = {f"{name}, one factor at delta 4/3": (float(exp_ratio(flip, delta=F(1, 10) * F(4, 3))), exact)}
    return corrected(printed, mended, sample)


@claim(instance=_chain)
def proof_of_theorem_17_2_chain(sample: Sample) -> Finding:
    flip = response(2, F(1, 4))
    whole = exp_ratio(product(flip, flip), 2, 2, F(1, 10))
    low, high = exp_ratio(flip, delta=F(1, 5)), exp_ratio(flip, delta=F(1, 10))
    named = {f"fair bits flipped with 1/4, n = 2: {low} <= {whole} <= {high}": float(max(low - whole, whole - high))}
    return holds(sample, named=named, of="channels and delta")


# Lemmas 24 and 26


def _merging_gap(rng: np.random.Generator) -> float:
    """Whether the distortion stays exactly if the merged outputs are no letters, or nothing comes from the merged letter."""
    size = int(rng.integers(2, 4))
    matrix = random_mechanism(rng, size, size + int(rng.integers(1, 3)))
    last = matrix.shape[1]
    merged = matrix.copy()
    merged[:, last - 2] += merged[:, last - 1]
    moved = last == size + 1 and matrix[size - 1, last - 1] > 0
    saved = float((np.diagonal(merged) - np.diagonal(matrix)).sum())
    return float((saved > 0) != moved)


@claim(instance=_merging_gap)
def proof_of_lemma_24_equality(sample: Sample) -> Finding:
    table = [[F(1, 2), F(0), F(1, 2)], [F(0), F(1), F(0)]]
    before = sum((1 - table[i][i] for i in range(2)), F(0)) / 2
    merged = [[row[0], row[1] + row[2]] for row in table]
    after = sum((1 - merged[i][i] for i in range(2)), F(0)) / 2
    name = "rows (1,0,1)/2 and (0,1,0), N = m + 1 = 3, fair letters: distortion stays (1) or not (0)"
    stays = float(before == after)
    return corrected({name: (0.0, stays)}, {name: (float(table[1][2] == 0), stays)}, sample)


@claim()
def proof_of_lemma_26_first_case() -> Finding:
    t = F(1, 10)
    sums = {}
    for black, red, white in ((1, 1, 0), (1, 2, 1), (2, 1, 3)):
        name = f"n_B = {black}, n_R = {red}, n_W = {white}, t = 1/10: row sum"
        sums[name] = (1 - t + F(white, red) * t, 1 - F(black, black) * t + F(red, red) * t)
    printed = {name: (float(pair[0]), 1.0) for name, pair in sums.items()}
    return corrected(printed, {name: (float(pair[1]), 1.0) for name, pair in sums.items()})
