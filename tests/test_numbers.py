"""Numbers in README and in docs/*.md: each is part of a name, is listed here as measured, or is what the package computes.

A check is a piece of a text with ``{}`` in place of its numbers, and a function that returns what they have to be. A number in
no such piece fails, and so does a piece that is in no text.
"""

import csv
import math
import re
import tomllib
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.certificates.documents import MOST_PROVED
from paper_repro.checks import MOST_LETTERS
from paper_repro.claims import read_ledger
from paper_repro.claims.base import PAPERS
from paper_repro.errors import CertificateError, SolverError
from paper_repro.notions import NOTION_NAMES, notion_by_name
from paper_repro.papers import alvim2011, kalantari2018, zhong_bu2022
from paper_repro.papers.folding import Folding
from paper_repro.paths import FIGURES, ROOT

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
WORDS = "three four five six seven eight nine ten eleven twelve".split()
VALUES = {word: number for number, word in enumerate(WORDS, start=3)} | {"twenty": 20, "million": 1_000_000}
NUMBER = rf"\d+(?:,\d{{3}})*(?:\.\d+)?(?:e[-+]?\d+)?(?:/\d+)?|\b(?:{'|'.join(VALUES)})\b"
TOKEN = re.compile(rf"(?<![\w.])(?:{NUMBER})(?!\w)", re.IGNORECASE)

# What has digits and states no number: code, addresses, the papers' names for their parts, years of papers, letters of formulas.
_KINDS, _ONE = "Theorem|Proposition|Lemma|Figure|Table|Example|Remark", r"\d+(?:\(\w\))?"
_PART = rf"(?:{_KINDS})s? {_ONE}(?:(?: and|, Theorems) {_ONE})*"
NAMES = [
    r"`[^`]*`",
    r"\]\([^)]*\)",
    _PART,
    r"eq\. \(\d+\)",
    r"20(?:11|16|17|18|21|22)\b",
    r"arXiv:[\d.]+",
    r"BSD-3-Clause",
    r"M - 1\b",
    r"\(m - 1\)/m",
    r"\(1 - Q_ii\)",
]


@cache
def source(name):
    return pr.load_source_set(name)


def least(of, distortion, notion=None, **constraints):
    return pr.optimal_mechanism(of, distortion=distortion, notion=notion, **constraints).leakage


@cache
def commute():
    known = pr.SourceSet(["3/5", "3/10", "1/10"])
    return (
        0.35,
        least(pr.SourceSet.unknown(range(3)), 0.35),
        least(known, 0.35),
        float(pr.exact_curve(known).breakpoints[-1]),
    )


@cache
def column(figure, *where):
    with (FIGURES / f"{figure}.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] == value for name, value in where)]
    return {name: [row[name] for row in rows] for name in rows[0]}


@cache
def largest_shortfall(figure, name):
    """How far the printed value lies below the optimum at most: as drawn, and as computed at that distortion."""
    drawn = column(figure, ("source_set", name), ("curve", "as printed"))
    lacking = np.array(drawn["exact"], float) - np.array(drawn["leakage"], float)
    distortion = float(drawn["distortion"][lacking.argmax()])
    if name.startswith("P_IIIa"):
        base, swap = source(name.replace("IIIa", "II")), [1, 0, *range(2, 10)]
        printed = kalantari2018.theorem_3(base, distortion, permutations=[swap]).upper
    else:
        printed = kalantari2018.theorem_2(source(name), distortion)
    assert abs(least(source(name), distortion) - printed - lacking.max()) < 1e-6
    return float(lacking.max())


@cache
def printed_and_optimum(name):
    return 0.05, kalantari2018.theorem_2(source(name), 0.05), least(source(name), 0.05)


def nearly_uniform(size):
    falling = 1 + 1e-6 * (np.arange(size)[::-1] - (size - 1) / 2) / size
    prior = pr.SourceSet(falling / falling.sum())
    distortion = float(kalantari2018.distortion_thresholds(prior)[1]) * (1 + 1e-9)
    lacking = least(prior, distortion) - kalantari2018.theorem_2(prior, distortion)
    assert abs(lacking - math.log(size - 1)) < 1e-3, "almost log(M - 1)"
    return size, lacking


@cache
def thresholds(name):
    one = source(name)
    longer = (one.alphabet_size - 1) * one.vertices.min(axis=1).max()
    assert abs(pr.exact_curve(one).breakpoints[0] - longer) < 1e-12
    return float(kalantari2018.distortion_thresholds(one)[1]), float(longer)


def points(of):
    """The folding of a set of priors without their mixtures."""
    return Folding([pr.SourceSet(prior) for prior in of.vertices])


@cache
def class_iii():
    three = pr.SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
    constant = [[0.6, 0.4, 0.0]] * 3
    assert least(three, 0.6) == pr.DifferentialPrivacy().leakage(constant) == 0
    assert three.worst_case_distortion(constant) <= 0.6 + 1e-12
    claimed = kalantari2018.theorem_3(Folding(three), 0.6).lower
    for folded in (Folding(three), points(three)):
        same(kalantari2018.theorem_3(folded, 0.6).lower, math.log(4 / 3))
    return (*three.vertices.ravel().tolist(), Fraction(4, 3), claimed, 0.6, 0.6, 0.4)


@cache
def segment():
    """The lower bound of Theorem 3 is above the optimum of a convex set."""
    ends = pr.SourceSet([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
    assert ends.source_class == "III"
    claimed = same(kalantari2018.theorem_3(Folding(ends), 0.62).lower, math.log(38 / 31))
    best = pr.optimal_mechanism(ends, distortion=0.62)
    assert np.allclose(np.diagonal(best.mechanism.matrix), [19 / 35, 0, 19 / 35])
    optimum = same(best.leakage, math.log(19 / 16))
    return (
        *ends.vertices.ravel().tolist(),
        Fraction(38, 31),
        claimed,
        0.62,
        Fraction(19, 16),
        optimum,
        Fraction(19, 35),
    )


@cache
def group_with_the_order():
    """With the order constraint, the lower bound of Theorem 3 is above the optimum of a set folded by a group."""
    ends = pr.SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    folded = points(ends)
    same(kalantari2018.theorem_3(folded, 0.62, "corrected").lower, math.log(38 / 31))
    assert kalantari2018.theorem_3(folded, 0.62).lower < least(ends, 0.62) + 1e-9
    same(kalantari2018.theorem_3(folded, 0.62, "largest").lower, math.log(19 / 16))
    same(least(ends, 0.62), math.log(19 / 16))
    return (*ends.vertices.ravel().tolist(), 0.62, Fraction(38, 31), Fraction(19, 16))


def highest_above():
    drawn = column("kalantari_theorem_3")
    return (float((np.array(drawn["lower"], float) - np.array(drawn["exact"], float)).max()),)


def theorem_3_with_the_constraint():
    base, built, swap = source("P_II_10"), source("P_IIIa_10"), [1, 0, *range(2, 10)]
    for distortion in np.linspace(0.02, 0.74, 37):
        corrected = kalantari2018.theorem_3(base, distortion, "corrected", permutations=[swap]).upper
        assert abs(corrected - least(built, distortion)) < 1e-9
    return (largest_shortfall("figure_5", "P_IIIa_10"),)


@cache
def hull():
    ends = pr.SourceSet([[1.0, 0.0], [0.0, 1.0]])
    mutual = pr.MutualInformation()
    assert [mutual.leakage(np.eye(2), pr.SourceSet(prior)) for prior in ends.vertices] == [0, 0]
    return 1, 0, 0, 1, 0, 0, math.log(2), mutual.leakage(np.eye(2), ends)


@cache
def ring():
    around, uniform = pr.DifferentialPrivacy(pr.ring(6)), pr.SourceSet(["1/6"] * 6)
    doubled = alvim2011.remark_1(6, math.log(2))
    optimum = pr.optimal_mechanism(uniform, leakage=math.log(2), notion=around).utility
    return (
        6,
        2,
        Fraction(float(np.trace(doubled) / 6)).limit_denominator(1000),
        Fraction(optimum).limit_denominator(1000),
    )


@cache
def example_2():
    prior = [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
    first = pr.truncated_geometric(6, math.log(2) / 5).matrix  # its ends are five steps apart
    second = alvim2011.theorem_4(pr.clique(6), math.log(2))
    optimum = pr.optimal_mechanism(pr.SourceSet(prior), leakage=math.log(2)).utility
    guessed = [pr.bayes_vulnerability(prior, one) for one in (first, second)]
    printed = next(row.evidence for row in read_ledger() if row.name == "alvim2011.example_2_rounded")
    printed = float(re.search(r"the print gives (\d+\.\d+)", printed)[1])
    shares = [Fraction(one).limit_denominator(99) for one in (guessed[1], optimum)]
    return *prior, shares[0], guessed[1], shares[1], optimum, printed, guessed[0]


def rounded_example_2(digits):
    first = pr.truncated_geometric(6, math.log(2) / 5).matrix.round(digits)
    return float((np.array(example_2()[:6])[:, np.newaxis] * first).max(axis=0).sum())


def example_1():
    right = alvim2011.proposition_1(3, 2, math.log(2), "corrected")
    printed = Fraction(3 * 2, 3 - 1 + 2)  # v e^eps / (v - 1 + e^eps)
    assert np.allclose(right.sum(axis=1), 1)
    correct = Fraction(float(right.max())).limit_denominator(99)
    assert abs(float(correct) - (2 / (2 + 2)) ** 2) < 1e-12  # (e^eps / (2 + e^eps))^2
    return 2, printed, 2, 1, 2, 2, correct


def product_and_every(notion, share=0.5):
    """Least leakage of two bits of one known prior at D = 0.5: of products of one mechanism, and of every mechanism."""
    bit = np.array([share, 1 - share])
    both = None if share == 0.5 else pr.SourceSet(np.outer(bit, bit).ravel())
    product = pr.parallel_composition(pr.SourceSet(bit), 2, distortion=0.5, notion=notion).leakage
    return product, pr.optimal_database_mechanism(2, 2, distortion=0.5, notion=notion, source=both).leakage


@cache
def two_bits():
    for notion in (pr.MaximalInformation(), pr.SibsonInformation(2)):
        product, every = product_and_every(notion)
        assert every < product - 0.01
    for notion in (
        pr.DifferentialPrivacy(),
        pr.RenyiDP(2),
        pr.MutualInformation(),
        pr.ApproximateDP(0.1, standard=True),
    ):
        for share in (0.5, 0.6):
            product, every = product_and_every(notion, share)
            assert abs(every - product) < 2e-6, (notion, share)
    product, every = product_and_every(pr.MaximalLeakage())
    return 0.5, Fraction(9, 4), same(product, math.log(9 / 4)), 2, same(every, math.log(2))


def two_bits_pointwise():
    return 0.5, 0.1, *product_and_every(pr.ApproximateDP(0.1))


def same(value, other):
    assert abs(value - other) < 1e-8
    return other


@cache
def theorem_7():
    bounds = zhong_bu2022.theorem_7("maximal leakage", 2, 2, 0.4)
    optimum = pr.optimal_database_mechanism(2, 2, distortion=0.4, notion=pr.MaximalLeakage()).leakage
    return 2, 2, 0.4, bounds.lower, bounds.upper, Fraction(12, 5), same(optimum, math.log(12 / 5))


def class_i_intervals():
    for prior in (pr.SourceSet([0.5, 0.5]), pr.SourceSet(["1/3"] * 3), pr.SourceSet([[0.5, 0.5], [0.75, 0.25]])):
        for name in ("Renyi differential privacy", "Sibson information"):
            size, notion = prior.alphabet_size, notion_by_name(name, alpha=2)
            for distortion in (0.1, 0.3, 0.45):
                kept = pr.Mechanism.from_distortions(np.full(size, distortion))
                same(least(prior, distortion, notion), notion.leakage(kept, prior))
    return ()


def proposition_12():
    prior = pr.SourceSet([0.7, 0.2, 0.1])
    printed = zhong_bu2022.proposition_12(prior, 0.225, 0.1)
    optimum = least(prior, 0.225, pr.ApproximateDP(0.1))
    same(zhong_bu2022.proposition_12(prior, 0.225, 0.1, "corrected"), optimum)
    return 0.7, 0.2, 0.1, 0.1, 0.225, 6, same(printed, math.log(6)), 5, same(optimum, math.log(5))


def figure_4_text():
    prior, pointwise, most = source("P_II_4"), pr.ApproximateDP(0.1), pr.MaximalLeakage()
    for distortion in (0.1, 0.3, 0.5, 0.539):
        below = least(prior, distortion, most)
        assert below < min(least(prior, distortion, pointwise), least(prior, distortion))
    assert least(prior, 0.54, pointwise) == least(prior, 0.6, most) == 0 < least(prior, 0.599, most)
    return 0.54, 0.54, 0.6, 0.1, 0.54, Fraction(6, 5), same(least(prior, 0.54, most), math.log(1.2))


@cache
def counts():
    """Entries of each verdict, and of each weight of an incorrect statement."""
    rows = read_ledger()
    assert sum(row.rejected for row in rows) == sum(row.variants for row in rows), "each alteration changes the verdict"
    misprints = Counter(row.weight for row in rows if row.verdict == "corrected")["misprint"]
    used = Counter(row.weight for row in rows)["false, relied on"]
    return Counter(row.verdict for row in rows) | {"misprint": misprints, "false, relied on": used}


def holding():
    return sum(counts()[verdict] for verdict in ("proved", "reproduced", "holds", "loose"))


def tried(name):
    (row,) = [row for row in read_ledger() if row.name == name]
    assert row.tried == row.relevant
    return (row.tried,)


@cache
def variances():
    """How much larger the variances of the estimated shares are than with randomized response of the same leakage."""
    from paper_repro.columns.accuracy import effective_sample_sizes
    from paper_repro.columns.estimable import estimable

    with (ROOT / "data" / "columns" / "us_states.csv").open(encoding="utf-8") as file:
        census = list(csv.DictReader(line for line in file if not line.startswith("#")))
    people = np.array([[float(row[year]) for row in census] for year in ("2010", "2020")])
    states = pr.SourceSet(people / people.sum(axis=1, keepdims=True))
    shares, told = states.vertices[1], [len(census)]

    def variance(mechanism):
        return float((shares * (1 - shares) / effective_sample_sizes(mechanism, shares, 1)).sum())

    for distortion in (0.2, 0.4, 0.6):
        released = estimable(pr.optimal_mechanism(states, distortion=distortion))
        even = pr.randomized_response(len(census), released.leakage)
        told += [100 * (variance(released.mechanism) / variance(even) - 1), distortion]
    return tuple(told)


def tolerance(names):
    (one,) = {notion_by_name(name).tolerance for name in names}
    return one


SHARP = ("differential privacy", "approximate differential privacy", "maximal information", "maximal leakage")
SMOOTH = ("Renyi differential privacy", "Sibson information", "mutual information")


def refused(prior, distortion, notion=None, **constraints):
    with pytest.raises((CertificateError, SolverError)), np.errstate(all="ignore"):
        least(prior, distortion, notion, **constraints)


def refused_renyi():
    prior = pr.SourceSet([0.4, 0.3, 0.2, 0.1])
    for order in (2, 10):
        assert least(prior, 0.3, pr.RenyiDP(order), invariant=True) > 0
        assert least(prior, 0.3, pr.RenyiDP(order), keep_at_least=0.3) > 0
    for order in (20, 50):
        refused(prior, 0.3, pr.RenyiDP(order), invariant=True)
        refused(prior, 0.3, pr.RenyiDP(order), keep_at_least=0.3)
    return 20, *prior.vertices[0].tolist(), 0.3, 10, 20, 50


def refused_sibson():
    prior = pr.SourceSet([0.4, 0.3, 0.2, 0.1])
    assert least(prior, 0.3, pr.SibsonInformation(20), invariant=True) > 0
    refused(prior, 0.3, pr.SibsonInformation(50), invariant=True)
    return 20, 50


def refused_floor():
    prior = pr.SourceSet([0.5, 0.3, 0.2])
    assert least(prior, 0.2, keep_at_least={0: 0.998}) > 0
    refused(prior, 0.2, keep_at_least={0: 0.999})
    return *prior.vertices[0].tolist(), 0.2, 0.998, 0.999


def a_million():
    prior = np.arange(1_000_000, 0, -1.0)
    for notion in (pr.DifferentialPrivacy(), pr.MaximalLeakage(), pr.MutualInformation()):
        best = pr.optimal_mechanism(pr.SourceSet(prior / prior.sum()), distortion=0.3, notion=notion)
        assert best.gap <= notion.tolerance
    return (1_000_000,)


def size_limits():
    from paper_repro.databases import _MOST_SOLVED
    from paper_repro.notions.constrained import _BY_CHANNEL, _BY_LETTERS, _CONVEX
    from paper_repro.solvers.profiles import _MOST_RECORDS

    return MOST_LETTERS, _BY_LETTERS, _BY_CHANNEL, _CONVEX, _MOST_RECORDS, _MOST_SOLVED, MOST_PROVED


def lowest_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return (float(project["requires-python"].removeprefix(">=")),)


def megabytes_of_figures():
    return (sum(path.stat().st_size for path in FIGURES.rglob("*") if path.is_file()) / 1e6,)


def audiences():
    first = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return (len(re.findall(r"^\* \*\*", first, re.MULTILINE)),)


def votes():
    query = pr.Query(sum, values=(0, 1), records=5)
    best = pr.optimal_mechanism(
        pr.SourceSet(["1/6"] * 6), leakage=math.log(2), notion=pr.DifferentialPrivacy(query.adjacency)
    )
    return (Fraction(best.utility).limit_denominator(1000),)


def measured(*numbers):
    """Time, memory and disk, measured by hand on a machine with two cores; nothing that a test could compute."""
    return lambda: numbers


def given(*numbers):
    """A definition or an instruction: the number is what it says."""
    return lambda: numbers


def nat():
    return 1, 1 / math.log(2)


# In any of the texts.
COMMON = [
    ("{} papers", lambda: (len(PAPERS),)),
    ("{} notions", lambda: (len(NOTION_NAMES),)),
    ("{} privacy notions", lambda: (len(NOTION_NAMES),)),
    ("Above, {} mechanisms for bus, bike and car at D = {}. Below, {} curves", lambda: (3, commute()[0], 3)),
    ("{} categories, by hand", given(3)),
    ("[{} categories](notebooks/00_start_here.ipynb)", given(3)),
]
CHECKS = {
    "README.md": [
        ("It is for {} audiences", audiences),
        ("`make figures` takes {} to {} minutes and {} GB of memory", measured(2, 5, 1.3)),
        ("(figures/README.md) ({} MB)", megabytes_of_figures),
        ("`make test` takes {} to {} minutes", measured(12, 18)),
        ("Python {} or newer", lowest_python),
        ("`.venv` ({} GB)", measured(1.3)),
        ("{} nat is {} bits", nat),
        ("the least leakage at D = {} from {} to {} nats", lambda: commute()[:3]),
        ("jumps to zero at D = {}", lambda: commute()[3:]),
        ("`make setup` is enough ({} seconds)", measured(20)),
        ("we found it right in {} random source sets", lambda: tried("kalantari2017.theorem_2b_program")),
        (
            "for the paper's set `P_II_10`, up to {} nats less",
            lambda: (largest_shortfall("figure_5", "P_II_10"),),
        ),
        ("[for one set of {} priors]", given(3)),
        ("it requires {} nats where a mechanism leaks nothing", lambda: (class_iii()[10],)),
        ("with D = {}, copies all", lambda: (float(re.search(r"--distortion ([\d.]+)", text_of("README.md"))[1]),)),
        ("an entry for each of {} statements", lambda: (len(read_ledger()),)),
    ],
    "docs/guide.md": [
        ("The tolerance is {} for differential privacy, its", lambda: (tolerance(SHARP),)),
        ("It is {} for Rényi differential privacy", lambda: (tolerance(SMOOTH),)),
        (
            "The checker has {} lines",
            lambda: (len((ROOT / "paper_repro/certificates/checker.py").read_text(encoding="utf-8").splitlines()),),
        ),
        ("an optimum with a {} categories takes seconds", a_million),
        ("of the {} states and the District", lambda: (variances()[0] - 1,)),
        ("larger by {} % at D = {}, {} % at D = {} and {} % at D = {}", lambda: variances()[1:]),
        ("the true count with probability {}", votes),
        ("without a proof on up to {} random instances", lambda: (max(row.tried for row in read_ledger()),)),
    ],
    "docs/findings.md": [
        ("an entry for each of {} statements", lambda: (len(read_ledger()),)),
        ("| holds as printed | {} | {} can be sharpened", lambda: (holding(), counts()["loose"])),
        (
            "| needs a correction | {} | {} have a misprint and nothing else |",
            lambda: (counts()["corrected"], counts()["misprint"]),
        ),
        ("| false | {} |", lambda: (counts()["refuted"],)),
        ("false in another | {} |", lambda: (counts()["depends on the reading"],)),
        ("is unclear | {} |", lambda: (counts()["source text uncertain"],)),
        ("could decide it | {} |", lambda: (counts()["not checkable"],)),
        ("incorrect statements, {} are used elsewhere", lambda: (counts()["false, relied on"],)),
        ("no violation in {} random source sets", lambda: tried("kalantari2017.theorem_2b_program")),
        ("program](../paper_repro/solvers/diagonal_ratio.py) in M + {} variables", given(1)),
        ("| `P_II_6` | {} | {} nats | {} nats |", lambda: printed_and_optimum("P_II_6")),
        ("| `P_II_10` | {} | {} nats | {} nats |", lambda: printed_and_optimum("P_II_10")),
        ("at most {} nats for `P_II_6`", lambda: (largest_shortfall("figure_4", "P_II_6"),)),
        ("at most {} nats for `P_II_10`", lambda: (largest_shortfall("figure_5", "P_II_10"),)),
        ("with M = {} categories it is {} nats", lambda: nearly_uniform(100)),
        ("| `P_II_6` | {} | {} |", lambda: thresholds("P_II_6")),
        ("| `P_II_10` | {} | {} |", lambda: thresholds("P_II_10")),
        (
            "the {} priors ({}, {}, {}), ({}, {}, {}) and ({}, {}, {}), with or without their mixtures, it requires log({}) = {} "
            "nats at D = {}. Publishing the first category with probability {} and the second with {}, without",
            lambda: (3, *class_iii()),
        ),
        (
            "the segment from ({}, {}, {}) to ({}, {}, {}), a convex set, it requires log({}) = {} nats at D = {}. The optimum "
            "is log({}) = {} nats: it keeps the first and the third category with probability {} each",
            segment,
        ),
        (
            "For the priors ({}, {}, {}) and ({}, {}, {}), without their mixtures, at D = {} it gives log({}) nats, and the "
            "optimum is log({}) nats",
            group_with_the_order,
        ),
        ("a difference of up to {} nats", highest_above),
        ("the printed value is up to {} nats below the optimum", theorem_3_with_the_constraint),
        (
            "two priors ({}, {}) and ({}, {}) and D = {}, only the identity is allowed. Its mutual information is {} nats under "
            "each prior, and log 2 = {} nats",
            lambda: hull()[:7],
        ),
        ("[ring of {} answers]", lambda: ring()[:1]),
        ("with ε = log {} this mechanism is right with probability {}.", lambda: ring()[1:3]),
        ("divided by their sum, it is right with probability {}, the optimum", lambda: ring()[3:]),
        ("For ε = log {} and the prior ({}, {}, {}, {}, {}, {}) the second mechanism", lambda: (2, *example_2()[:6])),
        ("a correct guess is {} = {}, and {} = {} is possible", lambda: example_2()[6:10]),
        (
            "[printed as {}](../figures/ledger_alvim2011.md#example_2_rounded) and is {}. With its entries rounded to {} "
            "digits one gets {}.",
            lambda: (*example_2()[10:], 3, rounded_example_2(3)),
        ),
        (
            "[printed as 3e^ε/({} + e^ε)](../figures/ledger_alvim2011.md#example_1_scale), which is {} at ε = log {}, and then "
            "the rows do not sum to {}. The correct formula is (e^ε/({} + e^ε))^{}, which is {} there",
            example_1,
        ),
        (
            "D = {} changed records, the best product has maximal leakage log({}) = {} nats; publishing one bit and a constant "
            "for the other has log {} = {} nats",
            two_bits,
        ),
        (
            "D = {} and δ = {}, the optimal mechanism for one record, used for both, has {} nats, and {} nats are possible",
            two_bits_pointwise,
        ),
        ("the term (m(α_1 - δ) - {} + δ) γ_2", given(1)),
        ("The prior is ({}, {}, {}, {}). Below", lambda: source("P_II_4").vertices[0].tolist()),
        (
            "For {} records of {} values and D = {} the interval is {} to {} nats, and the optimum is log({}) = {} nats",
            theorem_7,
        ),
        ("the optimum for D < (m - 1)/m is the upper end, and randomized response reaches it", class_i_intervals),
        (
            "For the prior ({}, {}, {}), δ = {} and D = {} the printed formula gives log {} = {} nats, and the optimum is log {} "
            "= {} nats",
            proposition_12,
        ),
        (
            "Below D = {} maximal leakage is the smallest of the three notions shown, as stated. From D = {} to {} pointwise "
            "(ε, δ)-differential privacy with δ = {} "
            "[needs no leakage](../figures/ledger_zhong_bu2022.md#figure_4_text_most_relaxed); "
            "at D = {} the least maximal leakage is log({}) = {} nats",
            figure_4_text,
        ),
        ("log {} = {} nats under their mean", lambda: (2, hull()[7])),
        ("of the {} notions shown", lambda: (len(set(column("zhong_bu_figure_4")["curve"])),)),
    ],
    "docs/limitations.md": [
        (
            "for orders from about {} on. For the prior ({}, {}, {}, {}) and D = {}, orders up to {} are solved, and orders {} "
            "and {} are refused",
            refused_renyi,
        ),
        ("order {} is solved and order {} is refused", refused_sibson),
        (
            "For the prior ({}, {}, {}) and D = {}, keeping the first category with probability {} is solved, and {} is refused",
            refused_floor,
        ),
        (
            "| {} categories | | constraints under differential privacy or maximal leakage, without costs | {} categories | "
            "| other constraints | {} categories; {} for mutual and Sibson information and Rényi differential privacy | "
            "| databases with the uniform prior | {} records | | databases with any other source set | {} databases | "
            "| certificates that need a program in exact rationals | {} categories |",
            size_limits,
        ),
        ("a ring of {} answers with a source set of {} vertices can take {} minutes", measured(100, 3, 3)),
        *[
            (f"| {name} | {{}} |", lambda name=name: (tolerance([name]),))
            for name in SHARP
            if "approximate" not in name
        ],
        ("pointwise and standard | {} |", lambda: (tolerance(SHARP[1:2]),)),
        *[(f"| {name.replace('Renyi', 'Rényi')} | {{}} |", lambda name=name: (tolerance([name]),)) for name in SMOOTH],
        ("no proof: up to {} random instances", lambda: (max(row.tried for row in read_ledger()),)),
    ],
    "docs/glossary.md": [
        ("in place of {};", given(1)),
        ("the package has {} |", lambda: (len(NOTION_NAMES),)),
        ("for a mechanism; {} if the published", lambda: (int(pr.DifferentialPrivacy().leakage([[0.5, 0.5]] * 2)),)),
        ("{} nat = {}/log {} = {} bits", lambda: (1, 1, 2, nat()[1])),
        ("each row sums to {} |", given(1)),
    ],
    "docs/index.md": [("{} minutes |", given(20))],
    "docs/style.md": [
        ("in at most {} words, with", given(25)),
        ("in at most {} words; symbols", given(12)),
        ("at most {} characters", given(72)),
        ("its minimum is {} nats below", lambda: (largest_shortfall("figure_5", "P_II_10"),)),
        ("by {} nats at D = {}.", lambda: (commute()[1] - commute()[2], commute()[0])),
    ],
    "docs/the_explorer.md": [],
}


@cache
def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def expected(function):
    return tuple(function())


def plain(text):
    """A text in one line, without blocks of code and the numbers of lists."""
    text = re.sub(r"^```\{?\w*\}?\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return " ".join(re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE).split())


def agrees(written, value):
    """Whether a number as written is this value, rounded to its digits."""
    if written.lower() in VALUES:
        return VALUES[written.lower()] == value
    digits = written.replace(",", "")
    if isinstance(value, int | Fraction) or "e" in digits or "/" in digits:
        number = Fraction(digits) if "e" not in digits else float(digits)
        return number == value
    return abs(float(digits) - value) <= 0.5000001 * 10.0 ** -len(digits.partition(".")[2])


def wrong(name, text):
    """What is wrong with a text's numbers, a line each."""
    text, found, known = plain(text), [], []
    for pattern in NAMES:
        known += [match.span() for match in re.finditer(pattern, text)]
    for piece, function in [*CHECKS[name], *COMMON]:
        pattern = re.escape(" ".join(piece.split())).replace(r"\{\}", f"({NUMBER})")
        matches = list(re.finditer(rf"(?<![\w.]){pattern}" if piece.startswith("{}") else pattern, text, re.IGNORECASE))
        if (piece, function) in COMMON:
            matches = [match for match in matches if match.span(1) not in known]
        elif not matches:
            found.append(f"{name} does not have: {piece}")
        for match in matches:
            values = expected(function)
            assert len(values) == len(match.groups()), piece
            known += [match.span(group) for group in range(1, len(values) + 1)]
            for written, value in zip(match.groups(), values, strict=True):
                if not agrees(written, value):
                    found.append(f"{name} has {written} where {value} is computed: {match[0]}")
    for match in TOKEN.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in known):
            found.append(
                f"{name} has a number that nothing checks: {text[max(0, match.start() - 40) : match.end() + 40]}"
            )
    return found


def test_every_text_has_its_checks():
    assert sorted(CHECKS) == sorted(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_number_is_what_the_package_computes(name):
    assert wrong(name, text_of(name)) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_changed_number_is_noticed(name):
    text = text_of(name)
    spans = [
        match.span()
        for pattern in ("^```.*?^```$", r"^\d+\. ", *NAMES)
        for match in re.finditer(pattern, text, re.M | re.S)
    ]
    stated = [one for one in TOKEN.finditer(text) if not any(a <= one.start() and one.end() <= b for a, b in spans)]
    assert stated or name == "docs/the_explorer.md"
    for match in stated:
        number = match[0]
        other = (
            "four"
            if number.lower() == "three"
            else "three"
            if number.lower() in VALUES
            else number[:-1] + str(int(number[-1]) % 9 + 1)
        )
        altered = text[: match.start()] + other + text[match.end() :]
        assert wrong(name, altered), f"{number} at {text[match.start() - 30 : match.end() + 30]!r} can be {other}"


def test_the_rows_of_the_table_of_counts_add_up():
    told = text_of("docs/findings.md")
    rows = re.findall(r"^\| [^|]+ \| (\d+) \|.*\|$", told[: told.index("\n## ")], re.MULTILINE)
    assert len(rows) == 6
    assert sum(map(int, rows)) == len(read_ledger())


def test_a_number_that_nothing_checks_is_noticed():
    text = text_of("docs/glossary.md")
    (told,) = wrong("docs/glossary.md", text + "\nIt takes 17 minutes.\n")
    assert "nothing checks" in told and "17 minutes" in told
