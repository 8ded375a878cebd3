"""How times grow with the number of letters, for ``make bench``: beside a yardstick in the same run, over two decades of M.

Bars, on one core: one prior of 10^6 letters at most 20 times its sort, for differential privacy and maximal leakage,
certificate included; 8 vertices over 10^6 letters 60 s, and over 50,000 at least 20 times faster than HiGHS on the reduced
program; intervals of 10^5 letters 30 s; a row is sampled in constant time. Mutual information, one prior of 10^6 letters 5 s,
8 vertices over 10^5 60 s; maximal information of 100 letters, 1, 2 and 8 vertices 0.2, 2 and 10 s; Renyi on 30 letters 30 s;
graphs of 100 vertices 10 s; the exact pieces of the curve of 200 letters and vertices 5 s; one call on 60 letters 10^5 times
faster than qif (an extra of its own, `peers`).
"""

import time

import numpy as np
import pytest

import paper_repro as pr
from tests.solvers.test_many_letters import least_ratio

pytest.importorskip("pytest_benchmark")

RATIOS = [pr.DifferentialPrivacy(), pr.MaximalLeakage()]


def seconds(call, rounds=1):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def priors(letters, vertices=1):
    return np.random.default_rng(letters + vertices).dirichlet(np.ones(letters), size=vertices)


def growth(call, sizes):
    """Times at each size, and the exponent of a power law through them."""
    times = [seconds(lambda size=size: call(size)) for size in sizes]
    return times, float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def told(benchmark, call, sizes):
    """The largest size in the table; times at all, and their growth, beside it."""
    times, exponent = growth(call, sizes)
    benchmark.extra_info |= {"seconds": dict(zip(map(str, sizes), times, strict=True)), "growth": exponent}
    benchmark.pedantic(call, (sizes[-1],), rounds=1)
    print(f"{benchmark.name}: " + ", ".join(f"{m}: {t:.3g} s" for m, t in zip(sizes, times, strict=True)), end="")
    print(f"; grows with M^{exponent:.2f}")


@pytest.mark.benchmark(group="one prior: a sort, and an optimum with its certificate")
@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 9.0}], ids=str)
@pytest.mark.parametrize("notion", RATIOS, ids=repr)
def test_one_prior_against_its_sort(benchmark, notion, budget):
    prior = priors(10**6)[0]
    source = pr.SourceSet(prior)
    told(
        benchmark,
        lambda size: pr.optimal_mechanism(pr.SourceSet(priors(size)), notion=notion, **budget),
        [10**4, 10**5, 10**6],
    )
    ratios = [
        seconds(lambda: pr.optimal_mechanism(source, notion=notion, **budget)) / seconds(lambda: np.sort(prior))
        for _ in range(5)
    ]
    benchmark.extra_info["times a sort"] = float(np.median(ratios))
    print(f"times a sort: {np.median(ratios):.1f}")


@pytest.mark.benchmark(group="8 vertices")
@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"distortion": 0.9}, {"leakage": 9.0}], ids=str)
@pytest.mark.parametrize("notion", RATIOS, ids=repr)
def test_few_vertices(benchmark, notion, budget):
    sizes = [10**4, 10**5, 10**6]
    sources = {size: pr.SourceSet(priors(size, 8)) for size in sizes}
    told(benchmark, lambda size: pr.optimal_mechanism(sources[size], notion=notion, **budget), sizes)


@pytest.mark.benchmark(group="8 vertices over 50,000 letters, D = 0.3, and HiGHS on the reduced program")
def test_few_vertices_against_highs(benchmark):
    vertices = priors(50_000, 8)
    own = seconds(lambda: pr.optimal_mechanism(pr.SourceSet(vertices), distortion=0.3), 3)
    other = benchmark.pedantic(seconds, (lambda: least_ratio(vertices, 0.3),), rounds=1)
    benchmark.extra_info["times faster"] = other / own
    print(f"HiGHS {other:.3g} s, own {own:.3g} s: {other / own:.0f} times faster")


@pytest.mark.benchmark(group="intervals")
@pytest.mark.parametrize("notion", [*RATIOS, pr.ApproximateDP(0.1)], ids=repr)
def test_intervals(benchmark, notion):
    def best(size):
        middle = priors(size)[0]
        source = pr.SourceSet.from_intervals(0.7 * middle, np.minimum(1.4 * middle, 1.0))
        return pr.optimal_mechanism(source, notion=notion, distortion=0.3)

    told(benchmark, best, [10**3, 10**4, 10**5])


@pytest.mark.benchmark(group="10^6 values sampled")
def test_a_row_is_sampled_in_constant_time(benchmark):
    made = {
        size: pr.Mechanism.from_distortions(np.full(size, 0.5), answers=priors(size)[0])
        for size in (10**4, 10**5, 10**6)
    }
    rng = np.random.default_rng(0)
    told(benchmark, lambda size: made[size].sample(rng.integers(0, size, 10**6), rng), list(made))


@pytest.mark.benchmark(group="other notions at their sizes")
@pytest.mark.parametrize(
    ("notion", "sizes", "vertices"),
    [
        (lambda _: pr.MutualInformation(), [10**4, 10**5, 10**6], 1),
        (lambda _: pr.MutualInformation(), [10**3, 10**4, 10**5], 8),
        (lambda _: pr.MaximalInformation(), [5, 25, 100], 1),
        (lambda _: pr.MaximalInformation(), [5, 25, 100], 2),
        (lambda _: pr.MaximalInformation(), [5, 25, 100], 8),
        (lambda _: pr.RenyiDP(5), [3, 10, 30], 1),
        (lambda size: pr.DifferentialPrivacy(pr.line(size)), [5, 25, 100], 1),
        (lambda size: pr.DifferentialPrivacy(pr.ring(size)), [5, 25, 100], 1),
    ],
    ids=[
        f"{name} {count}"
        for name, count in zip(
            "mutual mutual maximal maximal maximal Renyi line ring".split(), (1, 8, 1, 2, 8, 1, 1, 1), strict=True
        )
    ],
)
def test_other_notions(benchmark, notion, sizes, vertices):
    pr.optimal_mechanism(pr.SourceSet([0.5, 0.3, 0.2]), notion=pr.MaximalInformation(), distortion=0.3)  # imports
    sources = {size: pr.SourceSet(priors(size, vertices)) for size in sizes}
    told(benchmark, lambda size: pr.optimal_mechanism(sources[size], notion=notion(size), distortion=0.3), sizes)


@pytest.mark.benchmark(group="the exact curve of 200 letters and 200 vertices")
def test_exact_curve(benchmark):
    benchmark.pedantic(pr.exact_curve, (pr.SourceSet(priors(200, 200)),), rounds=1)


@pytest.mark.benchmark(group="one call, n = 60")
@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 2.0}], ids=str)
def test_one_call(benchmark, budget):
    source = pr.SourceSet(priors(60))
    benchmark(lambda: pr.optimal_mechanism(source, **budget))


@pytest.mark.benchmark(group="one call, n = 60")
def test_one_call_of_qif(benchmark):
    """The same optimum, its leakage that of distortion 0.3, by the linear program over the channel."""
    qif = pytest.importorskip("qif")
    source = pr.SourceSet(priors(60))
    leakage = pr.optimal_mechanism(source, distortion=0.3).leakage
    call = qif.mechanism.d_privacy.min_loss_given_d
    arguments = priors(60)[0], 60, lambda i, j: leakage * (i != j), lambda i, j: float(i != j)
    other = benchmark.pedantic(seconds, (lambda: call(*arguments),), rounds=1)
    own = [
        seconds(lambda budget=budget: pr.optimal_mechanism(source, **budget), 200)
        for budget in ({"distortion": 0.3}, {"leakage": leakage})
    ]
    benchmark.extra_info["times faster"] = [other / each for each in own]
    print(f"qif {other:.3g} s, own {own[0]:.3g} and {own[1]:.3g} s: {other / max(own):.3g} times faster")
