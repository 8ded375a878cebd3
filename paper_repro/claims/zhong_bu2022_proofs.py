"""What Zhong and Bu state (2022), claim by claim: steps of proofs that do not hold as printed, and some that hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, Sample, claim, corrected, proved
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import Channel, changed, distances, exp_ratio, product, response
from paper_repro.claims.prove import always, identical
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MUTUAL,
    RENYI,
    information,
    least_by_program,
    least_distortion,
    loss,
    put_right,
    snapped,
    uniform,
)
from paper_repro.errors import optional
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.types import FloatArray

_EXACT = 1e-8
_SAYS = "for {name} the printed sum is {}, and the exact value is {}"


def _space(rng: np.random.Generator) -> tuple[int, int, float]:
    """m, n and a distortion below n(m-1)/m."""
    m, n = [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (2, 3), (3, 3), (2, 4)][rng.integers(8)]
    return m, n, float(rng.uniform(0.02, 0.98)) * n * (m - 1) / m


def _z3(names: str) -> Any:
    return optional("z3", "proofs").Reals(names)


# Theorem 6, first part: what Q_D leaks


@claim(wrong={"up to D = n": {"all_d": True}})
def proof_of_theorem_6_a_and_b(all_d: bool = False) -> Finding:
    m, n, d, x, y = _z3("m n d x y")
    known = [m >= 2, n >= 1, d > 0, d < n if all_d else d * m < n * (m - 1)]
    facts = {"A > 1": always((m - 1) * (n - d) > d, *known)}
    facts["1/m < 1 - D/n < 1"] = always(optional("z3", "proofs").And(n < m * (n - d), n - d < n), *known)
    facts["which powers keep"] = always(x * y < y * y, 0 < x, x < y)
    return proved(
        "For all $m$, $n$ and $D$, $1/m < 1 - D/n < 1 < A$ (z3), and taking the $n$th power keeps the order.", facts
    )


def _moment(m: int, n: int, d: float, alpha: float) -> float:
    """The sum in item 1.1, from the definition."""
    matrix = zhong.lemma_5_mechanism(m, n, d)
    return float((matrix[0] ** alpha * matrix[1] ** (1 - alpha)).sum())


def _by_shells(m: int, n: int, d: float, alpha: float, top: int, *, counted: bool = True) -> float:
    """The same by distances, with C(top, l-1) ways to choose the other changed records; the last sum not counted in print."""
    ratio, same = (m - 1) * (n - d) / d, (1 - d / n) ** n
    ways = [math.comb(top, place) * (m - 1) ** place for place in range(n)]
    further = sum(way * ratio ** -(place + 1) * same for place, way in enumerate(ways))
    closer = sum((way if counted else 1) * ratio**-place * same for place, way in enumerate(ways))
    return (m - 2 + ratio ** (1 - alpha)) * further + closer * ratio ** (alpha - 1)


def _shells_gap(rng: np.random.Generator, less: int = 1) -> float:
    m, n, d = _space(rng)
    alpha = float(rng.uniform(1.1, 4))
    return _by_shells(m, n, d, alpha, n - less) / _moment(m, n, d, alpha) - 1


@claim(instance=_shells_gap, wrong={"C(n, l-1)": {"less": 0}}, tolerance=_EXACT, share=0.3)
def proof_of_theorem_6_item_1_1(sample: Sample, less: int = 1) -> Finding:
    name = "$m = 2$ and $n = 3$ at $D = 1$ with order 2"
    exact = _moment(2, 3, 1.0, 2.0)
    closed = math.exp(zhong.lemma_5_leakage(RENYI, 2, 3, 1.0, alpha=2.0))
    mended = {name: (_by_shells(2, 3, 1.0, 2.0, 3 - less), exact), f"{name}, closed form": (closed, exact)}
    return corrected({name: (_by_shells(2, 3, 1.0, 2.0, 1, counted=False), exact)}, mended, sample, says=_SAYS)


def _stationarity(m: int, n: int, d: float, alpha: float, *, weighted: bool = True, factor: bool = True) -> float:
    """The multiplier lambda less the derivative of the sum in P(x) at the uniform prior."""
    ratio = (m - 1) * (n - d) / d
    powers = ratio ** (-alpha * np.array(distances(m, n), dtype=float))
    shares = powers.mean(axis=0) ** ((1 - alpha) / alpha) / alpha
    slopes = powers @ shares if weighted else np.full(len(powers), shares.sum())
    price = m ** (n * (alpha - 1) / alpha) * (1 + (m - 1) * ratio**-alpha) ** (n / alpha) / (alpha if factor else 1)
    return float(abs(price - slopes).max())


@claim(
    instance=lambda rng, factor=True: _stationarity(*_space(rng), float(rng.uniform(1.1, 4)), factor=factor),
    wrong={"lambda without 1/a": {"factor": False}},
    tolerance=_EXACT,
)
def proof_of_theorem_6_item_1_2(sample: Sample, factor: bool = True) -> Finding:
    name = "$m = 2$ and $n = 1$ at $D = 1/4$ with order 2"
    printed = {name: (_stationarity(2, 1, 0.25, 2.0, weighted=False), 0.0)}
    mended = {name: (_stationarity(2, 1, 0.25, 2.0, factor=factor), 0.0)}
    return corrected(
        printed,
        mended,
        sample,
        says=r"for {name} the printed derivative differs from $\lambda$ by {}, and it should differ by {}",
    )


@claim(wrong={"orders below 1": {"low": True}})
def proof_of_theorem_6_item_1_2_convexity(low: bool = False) -> Finding:
    sympy = optional("sympy", "proofs")
    s, v, base, e = sympy.symbols("s v base e", positive=True)
    bent = sympy.diff((base + s * v) ** e, s, 2).subs(s, 0)
    facts = {"the second derivative": sympy.simplify(bent / (v**2 * base ** (e - 2)) - e * (e - 1)) == 0}
    power = _z3("e e_")[0]
    facts["is not positive"] = always(power * (power - 1) <= 0, power > (1 if low else 0), power < (3 if low else 1))
    how = r"Along a line of priors $u^e$ with $e = 1/\alpha$ has the second derivative $e(e-1) v^2 u^{e-2} \le 0$ (sympy, z3)."
    return proved(how, facts)


def _limit(m: int, n: int, d: float, alpha: float, times: int, power: int) -> float:
    """``power log m + n times/(a-1) log((c2/n)^a + (m-1)(c1/n)^a)``, c2 = n - D and c1 = D/(m-1), for an order near its limit."""
    kept, other = alpha * math.log(1 - d / n), alpha * math.log(d / (n * (m - 1)))
    total = float(np.logaddexp(kept, math.log(m - 1) + other))
    return power * math.log(m) + n * times / (alpha - 1) * total


def _register_limit(key: str, notion: str, alpha: float) -> None:
    def violation(rng: np.random.Generator, without_n: bool = False) -> float:
        m, n, d = _space(rng)
        exact = loss(notion, zhong.lemma_5_mechanism(m, n, d), m, n, uniform(m**n))
        return abs(_limit(m, n, d, alpha, 1, 1 if without_n else n) - exact)

    @claim(
        name=key,
        instance=violation,
        wrong={"log m in place of n log m": {"without_n": True}},
        tolerance=1e-5,
        share=0.3,
    )
    def check(sample: Sample, without_n: bool = False) -> Finding:
        exact = loss(notion, zhong.lemma_5_mechanism(2, 2, 0.5), 2, 2, uniform(4))
        printed, mended = (_limit(2, 2, 0.5, alpha, *pair) for pair in ((2, 2), (1, 1 if without_n else 2)))
        name, says = "$m = n = 2$ at $D = 1/2$", r"for {name} the printed limit is $\log {}$, and $Q_D$ leaks $\log {}$"
        # Orders as near to the limit give six digits.
        pairs = [(round(math.exp(value), 5), round(math.exp(exact), 5)) for value in (printed, mended)]
        return corrected({name: pairs[0]}, {name: pairs[1]}, sample, tolerance=2e-5, says=says)


_register_limit("proof_of_theorem_6_item_1_4", LEAKAGE, 1e9)
_register_limit("proof_of_theorem_6_item_1_5", MUTUAL, 1 + 1e-7)


# Theorem 6, second part: lower bounds


@claim(wrong={"theta with the largest probability": {"largest": True}})
def proof_of_theorem_6_inequality_6(largest: bool = False) -> Finding:
    z3, facts = optional("z3", "proofs"), {}
    for size in (2, 3, 4):
        prior, each = z3.RealVector("p", size), z3.RealVector("e", size)
        end = z3.Real("end")
        known = [one >= 0 for one in each] + [one > 0 for one in prior]
        known += [one <= end if largest else one >= end for one in prior] + [z3.Or(*(one == end for one in prior))]
        mean = sum(p * e for p, e in zip(prior, each, strict=True))
        facts[f"{size} databases"] = always(end * sum(each) <= mean, *known)
    return proved(
        r"If $e(x)$ is the distortion at database $x$, $\min_x P(x) \sum_x e(x) \le \sum_x P(x) e(x)$ (z3, up to 4 databases).",
        facts,
    )


@claim(wrong={"(n-l)(m-1), as many as are farther": {"more": 0}})
def proof_of_theorem_6_items_2_1_and_2_5(more: int = 1) -> Finding:
    facts = {}
    for m, n in ((2, 2), (3, 2), (2, 3), (3, 3), (4, 2), (2, 4)):
        apart = distances(m, n)
        for place in range(1, n + 1):
            nearer = [x for x in range(m**n) if apart[x][0] == place - 1]
            counts = {sum(apart[x][z] == 1 and apart[z][0] == place for z in range(m**n)) for x in nearer}
            facts[f"m = {m}, n = {n}, l = {place}"] = counts == {(n - place + more) * (m - 1)}
    return proved("The neighbors of all databases are counted, for up to 27 databases.", facts)


@claim(wrong={"strict where all probabilities are positive": {"least": F(1, 8)}})
def proof_of_theorem_6_strict(least: F = F(0)) -> Finding:
    # The mechanism of Lemma 10 leaks nothing at this delta: no probability differs by more between its inputs.
    delta = F(1, 4)
    rows = [1 - delta - least, delta + least], [1 - least, least]
    ratio, free = 4, all(abs(a - b) <= delta for a, b in zip(*rows, strict=True))
    most = ratio * rows[1][1] + delta
    text = (
        r"Take two inputs, $\delta$ = {delta} and $\epsilon = \log 4$. If one input gives output 2 with probability {one} and "
        r"the other never, nothing leaks, and the strict inequality would be {one} < {most}."
    )
    false = free and not rows[0][1] < most
    return put_right(text, false, rows[0][1] <= most, delta=delta, one=rows[0][1], most=most)


@claim(wrong={"with theta D": {"power": 1}})
def proof_of_theorem_6_item_2_5_last_line(power: int = -1) -> Finding:
    exact = snapped(math.exp(least_by_program(RENYI, 2, 1, 0.2, ((0.75, 0.25),))))
    printed, mended = ((1 - d) ** 2 / d for d in (0.2, 0.2 * 0.5**power))
    name = "$P = (3,1)/4$ at $D = 1/5$ with order 2"
    says = r"for {name} the last line gives $\log {}$, and the least leakage is $\log {}$"
    return corrected({name: (printed, exact)}, {f"{name}, excess": (max(0.0, mended - exact), 0.0)}, says=says)


def _mass_gap(rng: np.random.Generator, shells: bool = True) -> float:
    m, n = [(2, 1), (3, 1), (2, 2)][rng.integers(3)]
    prior, apart = random_prior(rng, m**n), np.array(distances(m, n))
    worst = -math.inf
    for place in range(n + 1):
        share = math.comb(n, place) * (m - 1) ** place / m**n if shells else 0.0
        worst = max(worst, float(((apart == place) @ prior).max()) - 1 + m**n * prior.min() * (1 - share))
    return worst


@claim(instance=_mass_gap, wrong={"1 - theta": {"shells": False}})
def proof_of_theorem_6_item_2_6(sample: Sample, shells: bool = True) -> Finding:
    name = r"$\{(1,1)/2, (3,1)/4\}$ with $\theta^* = 1$ and $l = 0$"
    bound = 1 - (1 - (0.5 if shells else 0.0))
    says = "for {name} the bound is {}, and the largest mass of the second prior is {}"
    mended = {f"{name}, first prior: excess": (max(0.0, 0.5 - bound), 0.0)}
    return corrected({name: (0.5, 0.75)}, mended, sample, says=says)


def _objective(matrix: FloatArray, prior: FloatArray, output: FloatArray) -> float:
    joint = prior[:, np.newaxis] * matrix
    used = joint > 0
    return float((joint[used] * np.log((matrix / (output @ matrix))[used])).sum())


def _objective_gap(rng: np.random.Generator, **_: Any) -> float:
    matrix = random_mechanism(rng, int(rng.integers(2, 5)), zeros=False)
    prior = random_prior(rng, len(matrix))
    return abs(_objective(matrix, prior, prior) - information(prior, matrix))


@claim(instance=_objective_gap, wrong={"where P' is uniform": {"prior": (0.5, 0.5)}})
def proof_of_theorem_6_problem_7(sample: Sample, prior: tuple[float, float] = (0.75, 0.25)) -> Finding:
    p, matrix = np.array(prior), np.eye(2)
    exact = information(p, matrix)
    found = [_objective(matrix, p, output) for output in (np.full(2, 0.5), p)]
    name, says = "$P' = (3,1)/4$ and the identity", "for {name} the objective is {}, and the mutual information is {}"
    return corrected({name: (found[0], exact)}, {name: (found[1], exact)}, sample, says=says)


def _relaxed(prior: FloatArray, m: int, n: int, d: float) -> tuple[float, float, float]:
    """theta, eta and the objective of problem (8) at ``Q_{D/theta}``."""
    theta, eta = m**n * float(prior.min()), float(prior.max())
    matrix = zhong.lemma_5_mechanism(m, n, d / theta)
    return theta, eta, theta / m**n * float((matrix * np.log(matrix / (eta * matrix.sum(axis=0)))).sum())


def _bound_7(theta: float, eta: float, m: int, n: int, d: float, factor: float) -> float:
    first = theta * n * math.log(eta ** (-1 / n) * (1 - d / (n * theta)))
    return first + factor * math.log(d / ((m - 1) * (n * theta - d)))


def _slope(theta: float, eta: float, m: int, n: int, d: float, below: float) -> float:
    """Derivative of the Lagrangian of (8) in ``Q(x|x)`` at ``Q_{D/theta}``, where ``d(x,x) = 0``: it has to vanish."""
    slope = theta / m**n * (n * math.log(1 - d / (n * theta)) - math.log(eta))
    return slope + n * theta / m**n * math.log(eta ** (1 / n) / below)


def _relaxed_case(rng: np.random.Generator) -> tuple[FloatArray, int, int, float]:
    m, n = [(2, 1), (3, 1), (2, 2), (3, 2)][rng.integers(4)]
    prior = random_prior(rng, m**n, 1.0, 3.0)
    return prior, m, n, float(rng.uniform(0.02, 0.9)) * m**n * float(prior.min()) * n * (m - 1) / m


def _multiplier_gap(rng: np.random.Generator, records: bool = True) -> float:
    prior, m, n, d = _relaxed_case(rng)
    theta, eta, _ = _relaxed(prior, m, n, d)
    return abs(_slope(theta, eta, m, n, d, (1 if records else n) - d / (n * theta)))


def _value_gap(rng: np.random.Generator, power: int = 0) -> float:
    prior, m, n, d = _relaxed_case(rng)
    theta, eta, value = _relaxed(prior, m, n, d)
    return abs(_bound_7(theta, eta, m, n, d, d / theta**power) - value)


_SKEWED = np.array([0.22, 0.26, 0.26, 0.26])
_NAME_7 = "two bits and $P = (22,26,26,26)/100$ at $D = 1/10$"


@claim(instance=_multiplier_gap, wrong={"n - D/(n theta)": {"records": False}}, share=0.4)
def proof_of_theorem_6_item_2_7_multipliers(sample: Sample, records: bool = True) -> Finding:
    theta, eta, _ = _relaxed(_SKEWED, 2, 2, 0.1)
    kept = (1 if records else 2) - 0.1 / (2 * theta)
    found = [_slope(theta, eta, 2, 2, 0.1, below) for below in (2 * (2 - 0.1 / theta), kept)]
    says = r"for {name} and the printed $\alpha_x$ the derivative in $Q(x|x)$ is {}, and it should be {}"
    return corrected({_NAME_7: (found[0], 0.0)}, {_NAME_7: (found[1], 0.0)}, sample, says=says)


@claim(instance=_value_gap, wrong={"with D/theta": {"power": 1}}, share=0.4)
def proof_of_theorem_6_item_2_7_value(sample: Sample, power: int = 0) -> Finding:
    theta, eta, value = _relaxed(_SKEWED, 2, 2, 0.1)
    found = [_bound_7(theta, eta, 2, 2, 0.1, factor) for factor in (theta * 0.1, 0.1 / theta**power)]
    says = "for {name} the last line gives {}, and the objective is {}"
    return corrected({_NAME_7: (found[0], value)}, {_NAME_7: (found[1], value)}, sample, says=says)


# Theorem 9


def _by_diagonal(kept: Sequence[F], delta: F) -> Channel:
    """``Q(j|i) = (a_j - delta)(1 - a_i) / sum_{j != i} (a_j - delta)``, and a_i on the diagonal."""
    total = sum((a - delta for a in kept), F(0))
    return [
        [a if i == j else (b - delta) * (1 - a) / (total - (a - delta)) if a < 1 else F(0) for j, b in enumerate(kept)]
        for i, a in enumerate(kept)
    ]


# The best diagonal for (7,2,1)/10, D = 1/4, delta = 0.
_KEPT = (F(5, 6), F(5, 6), F(0))
_NAME_9 = r"diagonal $(5,5,0)/6$ with $\delta = 0$"


@claim(wrong={"where all are kept alike": {"kept": (F(2, 3),) * 3}})
def proof_of_theorem_9_channel(kept: Sequence[F] = _KEPT) -> Finding:
    table = _by_diagonal(kept, F(0))
    columns, rows = ([float(sum(line)) for line in lines] for lines in (zip(*table, strict=True), table))
    mended = {f"{_NAME_9}, sum over outputs, input {i + 1}": (1.0, total) for i, total in enumerate(rows)}
    says = "the sum over the inputs should be {}, and it is {}"
    return corrected({f"{_NAME_9}, output 3": (1.0, columns[2])}, mended, says=says)


@claim(wrong={"with the least in place of the largest": {"over": min}})
def proof_of_theorem_9_its_leakage(over: Any = max) -> Finding:
    ratio = over((sum(_KEPT) - a) / (1 - a) for a in _KEPT)
    exact = float(exp_ratio(_by_diagonal(_KEPT, F(0))))
    says = r"the print gives {}, and the leakage is {}"
    return corrected(
        {_NAME_9: (float(ratio), math.log(exact))}, {_NAME_9: (math.log(ratio), math.log(exact))}, says=says
    )


@claim(wrong={"for D = D^(m-1), where it is": {"distortion": F(1, 2)}})
def proof_of_theorem_9_convention(distortion: F = F(1, 10)) -> Finding:
    # (1, 1, 1) meets all constraints of (9); what counts is the least of those with a_1 = 1.
    prior = (0.5, 0.3, 0.2)
    needed = 1 - float(distortion) > prior[0]
    least = least_distortion(DP, (prior,), math.log(18)) if needed else 0.0
    text = (
        "For $P = (5,3,2)/10$, $\\delta = 0$ and $D = 1/10$ the diagonal $(1,1,1)$ meets the constraints of (9) and would have "
        "$d_1 = {zero}$. The least leakage is $\\log {ratio}$: the least distortion at this leakage is {least}."
    )
    exact = abs(least - float(distortion)) < _EXACT
    return put_right(text, needed and exact, exact, zero=0, ratio=18, least=distortion)


def _order_14(prior: FloatArray, slack: float) -> int:
    """How many of the inequalities (14) fail by more than the slack (if it is negative: are not strict by as much)."""
    tails, lines, wrong = [0.0, *np.cumsum(prior[::-1]).tolist()], range(1, len(prior)), 0
    for j in lines:
        across = [(i - j) / (tails[i] - tails[j]) for i in lines if i != j]
        heights = [j - tails[j] * one for one in across]
        wrong += sum(later > one + slack for one, later in itertools.pairwise(across))
        wrong += sum(later < one - slack for one, later in itertools.pairwise(heights))
        wrong += sum(one < -slack for one in (*across, *heights))
    return wrong


def _order_gap(rng: np.random.Generator, falling: bool = True) -> float:
    prior = random_prior(rng, int(rng.integers(3, 7)), -0.3, 1.5)
    return float(_order_14(prior if falling else rng.permutation(prior), 1e-9))


@claim(instance=_order_gap, wrong={"priors that are not sorted": {"falling": False}})
def proof_of_theorem_9_14(sample: Sample, falling: bool = True) -> Finding:
    fair, four = np.full(4, 0.25), np.array([0.4, 0.3, 0.2, 0.1] if falling else [0.1, 0.2, 0.3, 0.4])
    printed = {"$P = (1,1,1,1)/4$": (0.0, float(_order_14(fair, -1e-9)))}
    mended = {"$P = (1,1,1,1)/4$, in the wide sense": (0.0, float(_order_14(fair, 1e-9)))}
    mended["$P = (4,3,2,1)/10$"] = (0.0, float(_order_14(four, -1e-9)))
    return corrected(
        printed, mended, sample, says="for {name}, {} of the inequalities (14) should be equalities, and {} are"
    )


def _tight(prior: list[F], i: int, j: int) -> int:
    """How many of the lines 1 .. m-1, which bound the feasible region, pass through the point where lines i and j meet."""
    tails = [sum(prior[len(prior) - k :], F(0)) for k in range(len(prior) + 1)]
    across = F(i - j) / (tails[i] - tails[j])
    return sum(j - tails[j] * across == k - tails[k] * across for k in range(1, len(prior)))


@claim(wrong={"at the point of lines 1 and 3": {"corner": (3, 1)}})
def proof_of_theorem_9_corners(corner: tuple[int, int] = (2, 1)) -> Finding:
    prior = [F(5, 10), F(3, 10), F(2, 10)]
    name, says = (
        "$P = (5,3,2)/10$",
        "for {name} each corner lies on {} lines of constraints, and $Z_{{2,3}}$ lies on {}",
    )
    printed = {name: (2.0, float(_tight(prior, 3, 2)))}
    return corrected(printed, {f"{name}, $Z_{{1,2}}$": (2.0, float(_tight(prior, *corner)))}, says=says)


def _summary(prior: FloatArray, d: float, delta: float, last: int) -> float:
    """The summary as a ratio: least over j up to ``k - 1 + last``, where (1-delta) D^(k-1) <= D < (1-delta) D^(k)."""
    tails = (1 - delta) * np.append(0.0, np.cumsum(np.sort(prior)))
    k = int(np.searchsorted(tails, d, side="right"))
    until = range(1, max(k - 1 + last, 1) + 1)
    return min((len(prior) - j) * (1 - d - delta) / (d - tails[j - 1]) for j in until if d > tails[j - 1])


def _summary_gap(rng: np.random.Generator, last: int = 1) -> float:
    """The least distortion of all channels with the ratio of the summary is D."""
    prior, delta = random_prior(rng, int(rng.integers(2, 6)), -0.3, 1.5), float(rng.choice([0.0, 0.1, 0.4]))
    d = float(rng.uniform(0.02, 0.98)) * (1 - delta) * (1 - float(prior[0]))
    ratio = max(_summary(prior, d, delta, last), 1.0)
    return abs(least_distortion(APPROXIMATE, (tuple(prior.tolist()),), math.log(ratio), delta=delta) - d)


@claim(instance=_summary_gap, wrong={"over j up to k - 1": {"last": 0}}, tolerance=_EXACT, share=0.2)
def proof_of_theorem_9_summary(sample: Sample, last: int = 1) -> Finding:
    prior = np.array([0.7, 0.2, 0.1])
    ratios = [_summary(prior, 0.25, 0.0, one) for one in (0, last)]
    # Of all channels with e^eps = 5 none has a distortion below 1/4.
    exact = 5.0 if abs(least_distortion(DP, ((0.7, 0.2, 0.1),), math.log(5)) - 0.25) < _EXACT else math.nan
    name, says = (
        "$P = (7,2,1)/10$ at $D = 1/4$",
        r"for {name} the summary gives $\log {}$, and the least leakage is $\log {}$",
    )
    return corrected({name: (ratios[0], exact)}, {name: (ratios[1], exact)}, sample, says=says)


# Propositions and lemmas of the appendix


@claim(wrong={"with Q(i|k), as the sums of the rows give": {"last": True}})
def proof_of_proposition_30(last: bool = False) -> Finding:
    ii, ki, ik, kk, rest_i, rest_k = _z3("ii ki ik kk rest_i rest_k")
    known = [one >= 0 for one in (ii, ki, ik, kk)] + [ii + ki + rest_i == 1, ik + kk + rest_k == 1, rest_i >= rest_k]
    right = always(kk + ik >= ii + ki, *known)
    # The last display of the proof, for x = Q(i|i) - delta, with Q(k|i) in place of Q(k|k).
    right &= always(ii - ki / ik * ii == ii / ik * (ik - ki), ik > 0)
    false = not always(kk + (ik if last else ki) >= ii + ki, *known)
    text = "For rows $(8,2)/10$ of $i$ and $(3,7)/10$ of $k$, $Q(k|k) + Q(k|i) = {left}$ is below $Q(i|i) + Q(k|i) = {right}$."
    return put_right(text.replace("{right}", "1"), false, right, left=F(9, 10))


@claim(wrong={"its exponential": {"form": math.exp}})
def proof_of_lemma_24_item_3(form: Callable[[float], float] = math.log) -> Finding:
    exact = loss(LEAKAGE, np.eye(2), 2, 1)
    name, says = (
        "two categories published unchanged",
        "for {name} the sum is {}, and the maximal leakage is $\\log 2$ = {}",
    )
    return corrected({name: (2.0, exact)}, {name: (form(2.0), exact)}, says=says)


def _merging_gap(rng: np.random.Generator, positive: bool = True) -> float:
    """Whether the distortion falls if and only if the merged outputs are the last letter and one more."""
    size = int(rng.integers(2, 4))
    matrix = random_mechanism(rng, size, size + int(rng.integers(1, 3)), zeros=not positive)
    last = matrix.shape[1]
    merged = matrix.copy()
    merged[:, last - 2] += merged[:, last - 1]
    return float(((np.diagonal(merged) - np.diagonal(matrix)).sum() > 0) != (last == size + 1))


@claim(instance=_merging_gap, wrong={"entries of the first N columns may be 0": {"positive": False}})
def proof_of_lemma_24_equality(sample: Sample, positive: bool = True) -> Finding:
    z3, facts = optional("z3", "proofs"), {}
    for size, more in itertools.product((2, 3, 4), (1, 2, 3)):
        q, prior = [z3.RealVector(f"q{i}_", size + more) for i in range(size)], z3.RealVector("p", size)
        merged = [[*row[:-2], row[-2] + row[-1]] for row in q]
        before, after = (sum(p * (1 - rows[i][i]) for i, p in enumerate(prior)) for rows in (q, merged))
        known = [one > 0 for one in prior] + [one > 0 if positive else one >= 0 for row in q for one in row]
        facts[f"m = {size}, N = {size + more}"] = always(after < before if more == 1 else after == before, *known)
    how = (
        "Merging adds $Q(N|m)$ to $Q(m|m)$ if $N = m + 1$, and changes no diagonal entry if $N > m + 1$ (z3, for $m \\le 4$ and "
        "$N \\le m + 3$)."
    )
    return proved(how, facts, sample)


@claim(wrong={"where as many are white as red": {"white": 2}})
def proof_of_lemma_26_first_case(white: int = 1) -> Finding:
    t, black, red = F(1, 10), 1, 2
    total, meant = 1 - t + F(white, red) * t, 1 - F(black, black) * t + F(red, red) * t
    name, says = (
        "$n_B = 1$, $n_R = 2$, $n_W = 1$, $\\Delta = 1/10$",
        "for {name} the row sums to {}, and it should sum to {}",
    )
    return corrected({name: (float(total), 1.0)}, {name: (float(meant), 1.0)}, says=says)


# Theorem 14


@claim(wrong={"for equal diagonal entries": {"kept": (F(3, 4), F(3, 4))}})
def proof_of_theorem_14_channel(kept: tuple[F, F] = (F(1), F(1, 2))) -> Finding:
    # Two fair letters at D = 1/4.
    printed_row = kept[0] + (1 - kept[1]) * kept[0] / kept[0]
    meant = _by_diagonal(kept, F(0))
    name = r"$P = (1,1)/2$ at $D = 1/4$ with diagonal $(1, 1/2)$"
    mended = {f"{name}, row sum {i + 1}": (float(sum(row)), 1.0) for i, row in enumerate(meant)}
    mended[f"{name}, distortion"] = (float(changed(meant, [F(1, 2), F(1, 2)])), 0.25)
    total = float(sum(max(column) for column in zip(*meant, strict=True)))
    mended[f"{name}, least at its leakage"] = (least_distortion(LEAKAGE, ((0.5, 0.5),), math.log(total)), 0.25)
    says = "for {name} the first row sums to {}, and it should sum to {}"
    return corrected({name: (float(printed_row), 1.0)}, mended, says=says, tolerance=_EXACT)


def _dual(prior: Sequence[float], d: float, less: float, most: float) -> float:
    """The least sum of the diagonal by the dual program (17) with ``D^(m-j) - less``; multipliers up to ``most``."""
    numbers = range(1, len(prior) + 1)
    rows = [[less - sum(prior[j:]), float(j), -1.0] for j in numbers]
    return -float(linprog([d - 1, -1.0, 1.0], rows, [float(j) for j in numbers], bounds=(0, most)).fun)


@claim(wrong={"with D^(m-j) - 1/2": {"less": 0.5}})
def proof_of_theorem_14_dual_program(less: float = 1.0) -> Finding:
    # Of all channels with column maxima of sum 3/2 none has a distortion below 1/4.
    exact = 1.5 if abs(least_distortion(LEAKAGE, ((0.5, 0.5),), math.log(1.5)) - 0.25) < _EXACT else math.nan
    printed, mended = (_dual((0.5, 0.5), 0.25, one, 100.0) for one in (0.0, less))
    name = r"$P = (1,1)/2$ at $D = 1/4$"
    says = (
        r"for {name} the printed program has the least value $-{}$ with $\gamma \le 100$ and none without that limit; "
        r"it should be $-{}$, since $\epsilon^*_{{ML}} = \log 3/2$"
    )
    return corrected({name: (printed, exact)}, {name: (mended, exact)}, says=says, tolerance=_EXACT)


# Theorem 17(2)


def _chain(rng: np.random.Generator, power: int = 1, divided: int = 1) -> float:
    """What a product of two leaks, between one factor's losses at ``delta m^(n-1)`` and at delta, and at delta q^(1-n)."""
    size, delta = int(rng.integers(2, 4)), float(rng.uniform(0.01, 0.15))
    matrix = random_mechanism(rng, size, zeros=False)
    whole, top = loss(APPROXIMATE, np.kron(matrix, matrix), size, 2, delta=delta), float(matrix.max()) ** divided
    ends = (min(one, 0.999) for one in (delta * size**power, delta / top, delta))
    low, same, high = (loss(APPROXIMATE, matrix, size, 1, delta=one) for one in ends)
    return max(low - whole, whole - high, abs(whole - same))


_FLIP = response(2, F(1, 4))


@claim(instance=_chain, wrong={"at delta q^(-n)": {"divided": 2}}, share=0.3)
def proof_of_theorem_17_2_first_step(sample: Sample, divided: int = 1) -> Finding:
    pair, delta = product(_FLIP, _FLIP), F(1, 10)
    exact = float(exp_ratio(pair, 2, 2, delta))
    name = r"two fair bits flipped with probability 1/4 and $\delta = 1/10$"
    says = r"for {name} the first line gives $\log {}$, and the leakage is $\log {}$"
    mended = {f"{name}, one factor": (float(exp_ratio(_FLIP, delta=delta * F(4, 3) ** divided)), exact)}
    return corrected({name: (float(exp_ratio(pair, 2, 2)), exact)}, mended, sample, says=says)


@claim(instance=_chain, wrong={"at delta without m^(n-1)": {"power": 0}}, share=0.3)
def proof_of_theorem_17_2_chain(sample: Sample, **_: Any) -> Finding:
    sympy = optional("sympy", "proofs")
    a, b, q, delta = sympy.symbols("a b q delta", positive=True)
    facts = {"one factor at delta/q": identical((a * q - delta) / (b * q), (a - delta / q) / b)}
    m, top, d, less = _z3("m top d less")
    facts["least divided by the largest entry"] = always(d / top <= d / less, d > 0, less > 0, less <= top)
    between = optional("z3", "proofs").And(d * top <= d, d <= d * m * top)
    facts["delta <= delta/q <= delta m"] = always(between, d > 0, top <= 1, m * top >= 1)
    how = (
        r"A product of $n$ factors leaks as much as one factor at $\delta q^{1-n}$, where $1/m \le q \le 1$ (sympy, z3; for "
        r"$n = 2$, and by induction for all $n$)."
    )
    return proved(how, facts, sample)
