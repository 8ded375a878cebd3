"""What Alvim, Andrés, Chatzikokolakis, Degano and Palamidessi print in HAL inria-00580122v2, 2011.

*Differential Privacy: on the trade-off between Utility and Information Leakage*. As printed, mistakes included, unless a reading
is named ``corrected``; what is true is in :mod:`paper_repro.tradeoff`, :mod:`paper_repro.guessing` and
:mod:`paper_repro.solvers`. The paper counts leakage in bits and the privacy parameter in nats, and so does this module.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_count, check_leakage, check_probability_rows
from paper_repro.errors import Clause, optional, wrong
from paper_repro.graphs import Adjacency, clique, hamming, ring
from paper_repro.papers.readings import Reading, check_reading
from paper_repro.types import FloatArray

__all__ = [
    "border_count",
    "capacity",
    "equation_6",
    "lemma_1",
    "lemma_2",
    "lemma_4",
    "lemma_5",
    "proposed_mechanism",
    "proposition_1",
    "proposition_2",
    "remark_1",
    "remark_2",
    "single_orbit_automorphism",
    "theorem_1",
    "theorem_2",
    "theorem_3",
    "theorem_4",
]

# Beyond this, looking for an automorphism with a single orbit can take for ever.
_MOST_ORBIT = 20


def capacity(channel: ArrayLike) -> float:
    """Section 2.2: the capacity as printed, ``sum_z max_x C_xz``; the logarithm is missing.

    Of a channel of shape (n, m); dimensionless. Raises ValueError if the rows are no distributions.

    >>> capacity([[0.75, 0.25], [0.25, 0.75]])
    1.5
    """
    return float(check_probability_rows(channel, "channel").max(axis=0).sum())


def theorem_1(values: int, records: int, leakage: float) -> float:
    """Theorem 1: bound ``B(u, v, eps) = u log2( v e^eps / (v - 1 + e^eps) )`` on the min-entropy leakage, in bits.

    Holds and is attained by :func:`proposition_1` as corrected. Evaluated without powers, so that no u, v or eps overflows.

    Raises ValueError if v < 2, u < 1, or eps is negative.

    >>> round(theorem_1(3, 2, math.log(2)), 6), round(theorem_1(100, 100, 700.0), 4)
    (1.169925, 664.3856)
    """
    _check_space(values, records)
    odds = (values - 1) * math.exp(-check_leakage(leakage))
    return max(0.0, records * (math.log2(values) - math.log1p(odds) / math.log(2)))


def proposition_1(values: int, records: int, leakage: float, reading: Reading = "printed") -> FloatArray:
    """Proposition 1 and Example 1: the matrix ``scale / e^(eps d)`` on ``Val^u``, d being the distance of two databases.

    Parameters
    ----------
    reading : {"printed", "example", "corrected"}
        The scale. ``printed``: ``B(u, v, eps)``, as in the proof of Proposition 1. ``example``: ``v e^eps / (v - 1 + e^eps)``, as
        in Example 1, which exceeds 1. ``corrected``: ``(e^eps / (v - 1 + e^eps))^u``, with which the rows sum to 1.

    Returns
    -------
    ndarray, shape (v^u, v^u)
        A channel in the corrected reading only.

    Raises
    ------
    ValueError
        If the leakage is negative, or there is no such reading or space of databases.

    >>> proposition_1(3, 2, math.log(2), "corrected")[0].round(6).tolist()
    [0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.125, 0.0625, 0.0625]
    >>> float(proposition_1(3, 2, math.log(2), "example").max())
    1.5
    """
    check_reading(reading, "printed", "example", "corrected")
    ratio = math.exp(-check_leakage(leakage))
    kept = 1 / (1 + (values - 1) * ratio)
    if reading == "printed":
        scale = theorem_1(values, records, leakage)
    else:
        scale = values * kept if reading == "example" else kept**records
    return scale * ratio ** hamming(values, records).distances


def proposition_2(values: int, records: int, outputs: int, leakage: float) -> float:
    """Proposition 2: bound on the min-entropy leakage with r outputs, in bits.

    ``log2( r e^(u eps) / ((v - 1 + e^eps)^l - e^(l eps) + e^(u eps)) )`` with ``l = floor(log_v r)``.

    Raises
    ------
    ValueError
        If r is not in 1 .. v^u.

    >>> [round(proposition_2(2, 3, r, math.log(2)), 4) for r in (2, 3)]
    [0.8301, 1.415]
    """
    _check_space(values, records)
    # v^u may have thousands of digits; integers have no limit.
    if check_count(outputs, "outputs", most=math.inf) > values**records:
        raise ValueError(
            wrong(
                "outputs",
                f"be between 1 and v^u = {values}^{records}",
                outputs,
                "More outputs than databases leak no more than Theorem 1 allows.",
            )
        )
    log_size = next(power for power in range(records, -1, -1) if values**power <= outputs)
    ratio = math.exp(-check_leakage(leakage))
    # Both powers are divided by e^(u eps), and their difference is kept as a logarithm.
    growth = log_size * math.log1p((values - 1) * ratio)
    if growth == 0 or (math.isinf(leakage) and log_size < records):
        return math.log2(outputs)
    rest = (records - log_size) * leakage if log_size < records else 0.0
    extra = float(np.logaddexp(0.0, growth + math.log(-math.expm1(-growth)) - rest))
    return math.log2(outputs) - extra / math.log(2)


def theorem_2(leakage: float) -> float:
    """Theorem 2: bound ``log2 e^eps`` on the leakage about one individual, in bits.

    >>> theorem_2(math.log(2))
    1.0
    """
    return lemma_4(leakage)


def theorem_3(leakage: float, border: int, diameter: int) -> float:
    """Theorem 3: bound on the utility, ``t^n (1 - t) / (t^n (1 - t) + c (1 - t^n))`` with ``t = e^eps``.

    For graphs with an automorphism that has a single orbit, and at least c vertices at each distance that occurs, up to n.

    Raises ValueError if c < 1, n < 0, or eps is negative.

    >>> round(theorem_3(math.log(2), border=5, diameter=1), 6)
    0.285714
    """
    check_count(border, "border")
    check_count(diameter, "diameter", least=0)
    # The quotient of both by t^n (1 - t): a geometric sum, which has no gap at t = 1.
    beyond = sum(math.exp(-check_leakage(leakage) * distance) for distance in range(1, diameter + 1))
    return 1 / (1 + border * beyond)


def border_count(adjacency: Adjacency) -> int | None:
    """The number c of Theorem 4: how many vertices there are at every distance from 1 on, of every vertex; None if it varies.

    >>> border_count(ring(5)), border_count(ring(6))
    (2, None)
    """
    counts = {int(size) for vertex in range(adjacency.size) for size in adjacency.border_sizes(vertex)[1:]}
    return counts.pop() if len(counts) == 1 else None


def equation_6(adjacency: Adjacency, leakage: float, border: int) -> FloatArray:
    """Equation (6): the matrix ``alpha / e^(eps dist(y, z))`` with alpha of Theorem 3 for this c and the graph's diameter.

    A channel when c is the graph's :func:`border_count` (Theorem 4).

    Shape (n, n), dimensionless.

    >>> equation_6(ring(3), math.log(2), 2).round(4).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """
    alpha = theorem_3(leakage, border, adjacency.diameter)
    with np.errstate(invalid="ignore"):  # infinity times a distance of 0
        return alpha * np.exp(np.where(adjacency.distances > 0, -leakage * adjacency.distances, 0.0))


def theorem_4(adjacency: Adjacency, leakage: float) -> FloatArray:
    """Theorem 4: the matrix of equation (6), a channel of greatest utility for uniform answers, where its conditions hold.

    Shape (n, n).

    Raises
    ------
    ValueError
        If no automorphism of the graph runs through all vertices, or distances have different numbers of vertices.

    >>> round(float(np.trace(theorem_4(ring(5), math.log(2)))) / 5, 6)
    0.4
    """
    border = border_count(adjacency)
    if border is None or single_orbit_automorphism(adjacency) is None:
        raise ValueError(
            wrong(
                "adjacency",
                "have an automorphism with a single orbit, and as many vertices at every distance, for Theorem 4",
                adjacency,
                "Add edges by remark_2.",
            )
        )
    return equation_6(adjacency, leakage, border)


def single_orbit_automorphism(adjacency: Adjacency) -> tuple[int, ...] | None:
    """An automorphism that runs through all vertices in one cycle, as images of 0 .. n-1; None if there is none.

    It exists when the graph is circulant: its vertices can be put around a circle so that being neighbors depends on how
    many places apart they are. Theorem 3 asks for it.

    Raises
    ------
    ValueError
        If the graph is no clique or ring and has more than 20 vertices.

    >>> from paper_repro.graphs import clique, line
    >>> single_orbit_automorphism(line(3)) is None
    True
    >>> single_orbit_automorphism(clique(3))
    (1, 2, 0)
    """
    size = adjacency.size
    if adjacency.is_clique or adjacency.name == "ring":
        return tuple(np.roll(np.arange(size), -1).tolist())
    degrees = set(np.bincount(adjacency.edges.ravel(), minlength=size).tolist())
    if len(degrees) > 1:
        return None
    if size > _MOST_ORBIT:
        raise ValueError(
            wrong(
                "adjacency",
                f"have at most {_MOST_ORBIT} vertices for the search whether it is circulant",
                size,
                "Build it by clique or ring, where this is known.",
            )
        )
    nx = optional("networkx", "graphs")
    graph, degree = adjacency.to_networkx(), degrees.pop()
    if 2 * degree >= size:  # a graph is circulant when its complement is, and sparse graphs are compared faster
        graph, degree = nx.complement(graph), size - 1 - degree
    for offsets in _offsets(size, degree):
        around = nx.vf2pp_isomorphism(nx.circulant_graph(size, offsets), graph)
        if around is not None:
            places = {vertex: place for place, vertex in around.items()}
            return tuple(int(around[(places[vertex] + 1) % size]) for vertex in range(size))
    return None


def _offsets(size: int, degree: int) -> Iterator[list[int]]:
    """Sets of distances around a circle that give every vertex this many neighbors."""
    half = size // 2
    opposite = [half] if size % 2 == 0 else []
    for with_opposite in (False, True) if opposite else (False,):
        rest = degree - with_opposite
        if rest % 2 == 0:
            for chosen in itertools.combinations(range(1, (size + 1) // 2), rest // 2):
                yield [*chosen, *(opposite if with_opposite else [])]


def remark_1(size: int, leakage: float) -> FloatArray:
    """Remark 1: equation (6) with c = 2 on an even ring, the entries at the greatest distance doubled.

    Shape (n, n).

    Raises
    ------
    ValueError
        If the ring is odd or smaller than 4, or ``(e^eps)^2 < 2``: then doubling breaks the privacy ratio.

    >>> remark_1(6, math.log(2))[0].round(4).tolist()
    [0.3636, 0.1818, 0.0909, 0.0909, 0.0909, 0.1818]
    """
    if check_count(size, "size") < 4 or size % 2:
        raise ValueError(
            wrong("size", "be even and at least 4 for Remark 1", size, "Odd rings satisfy Theorem 4 as they are.")
        )
    if 2 * check_leakage(leakage) < math.log(2) - 1e-12:
        raise ValueError(
            wrong(
                "leakage",
                f"be at least {math.log(2) / 2:.6f} nats for Remark 1, which requires (e^eps)^2 >= 2",
                leakage,
            )
        )
    return _furthest_doubled(ring(size), leakage)


def _furthest_doubled(around: Adjacency, leakage: float) -> FloatArray:
    matrix = equation_6(around, leakage, 2)
    matrix[around.distances == around.diameter] *= 2
    return matrix


def remark_2(adjacency: Adjacency, extended: Adjacency, leakage: float) -> FloatArray:
    """Remark 2: equation (6) on a graph with artificial adjacencies added, which meets Theorem 4's conditions.

    Shape (n, n).

    Raises
    ------
    ValueError
        If the extended graph lacks an edge of the first, or does not have the same number of vertices at every distance.

    >>> from paper_repro.graphs import clique, line
    >>> remark_2(line(3), clique(3), math.log(2))[0].tolist()
    [0.5, 0.25, 0.25]
    """
    if extended.size != adjacency.size:
        raise ValueError(wrong("extended", f"have {adjacency.size} vertices, as the first graph", extended.size))
    if not extended.is_clique:
        missing = {tuple(edge) for edge in adjacency.edges.tolist()} - {tuple(edge) for edge in extended.edges.tolist()}
        if missing:
            raise ValueError(
                wrong(
                    "extended",
                    "have all edges of the first graph, and may have more",
                    Clause(f"a graph without the edge {min(missing)}"),
                )
            )
    border = border_count(extended)
    if border is None:
        raise ValueError(
            wrong("extended", "have the same number of vertices at every distance", extended, "A clique always has.")
        )
    return equation_6(extended, leakage, border)


def lemma_1(matrix: ArrayLike) -> FloatArray:
    """Lemma 1: a square matrix with each column's largest entry on the diagonal, as private and as leaky as the given one.

    Columns with their largest entry in the same row are added up; columns are then put in that row's place.

    Parameters
    ----------
    matrix : array_like, shape (n, m) with n <= m
        A channel.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If the matrix is no channel or has more rows than columns.

    >>> lemma_1([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]).round(6).tolist()
    [[0.8, 0.2], [0.4, 0.6]]
    """
    channel = check_probability_rows(matrix, "channel")
    rows, columns = channel.shape
    if rows > columns:
        raise ValueError(
            wrong(
                "matrix",
                "have at least as many columns as rows for Lemma 1 (n <= m)",
                Clause(f"shape {channel.shape}"),
                f"Add {rows - columns} columns of zeros.",
            )
        )
    collapsed = np.zeros((rows, rows))
    for column, row in zip(channel.T, channel.argmax(axis=0), strict=True):
        collapsed[:, row] += column
    return collapsed


def lemma_2(matrix: ArrayLike, values: int, records: int) -> FloatArray:
    """Lemma 2: on ``Val^u``, average each entry over all pairs of databases at the same distance; the diagonal becomes constant.

    Keeps privacy and, if the diagonal holds the columns' largest entries, min-entropy leakage under the uniform prior.

    The matrix, and what is made of it, have shape (v^u, v^u). Raises ValueError if it has not, or is no channel.

    >>> lemma_2([[0.9, 0.1], [0.4, 0.6]], 2, 1).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    channel = check_probability_rows(matrix, "channel")
    distances = hamming(values, records).distances
    if channel.shape != distances.shape:
        raise ValueError(
            wrong(
                "matrix",
                f"have shape {distances.shape}, a row and a column for each database",
                Clause(f"shape {channel.shape}"),
            )
        )
    totals = np.bincount(distances.ravel(), channel.ravel())
    return (totals / np.bincount(distances.ravel()))[distances]


def lemma_4(leakage: float) -> float:
    """Lemma 4: bound ``eps log2 e`` in bits on the min-entropy leakage of a channel all of whose rows keep the ratio ``e^eps``.

    For any prior; Theorem 2 is its case of the databases in which one individual varies.

    Raises ValueError if the leakage is negative.

    >>> lemma_4(math.log(4))
    2.0
    """
    return check_leakage(leakage) / math.log(2)


def lemma_5(matrix: ArrayLike, automorphism: ArrayLike) -> FloatArray:
    """Lemma 5: average over the powers of an automorphism with a single orbit; the diagonal becomes constant.

    Parameters
    ----------
    matrix : array_like, shape (n, n)
        A channel on the vertices of a graph.
    automorphism : array_like, shape (n,)
        Images of 0 .. n-1, as of :func:`single_orbit_automorphism`.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If the matrix is no channel, or the automorphism does not permute its rows in a single orbit.

    >>> lemma_5([[0.9, 0.1], [0.4, 0.6]], (1, 0)).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    channel = check_probability_rows(matrix, "channel")
    image = np.asarray(automorphism, dtype=np.intp)
    if channel.shape != (len(image), len(image)) or sorted(image.tolist()) != list(range(len(image))):
        raise ValueError(
            wrong("automorphism", f"permute the {len(channel)} vertices of the square matrix", automorphism)
        )
    places, average = np.arange(len(image)), np.zeros_like(channel)
    for step in range(len(image)):
        if step and places[0] == 0:
            raise ValueError(wrong("automorphism", "have a single orbit, through all vertices", automorphism))
        average += channel[np.ix_(places, places)]
        places = image[places]
    return average / len(image)


def _check_space(values: int, records: int) -> None:
    check_count(values, "values", least=2, most=math.inf)
    check_count(records, "records", most=math.inf)


def proposed_mechanism(adjacency: Adjacency, leakage: float) -> FloatArray:
    """The mechanism that Section 5.2 arrives at for a graph of answers: Theorem 4 where it applies, else Remarks 1 and 2.

    Equation (6) where every distance has as many vertices; Remark 1 on an even ring; on a line, the ring that closes it;
    elsewhere, and below Remark 1's least leakage, equation (6) on the clique, the one artificial adjacency that always does.

    Shape (n, n).

    >>> from paper_repro.graphs import line
    >>> proposed_mechanism(line(6), math.log(2))[5].round(4).tolist()
    [0.1818, 0.0909, 0.0909, 0.0909, 0.1818, 0.3636]
    """
    border = border_count(adjacency) if adjacency.size > 1 else 1
    if border is not None:
        return equation_6(adjacency, leakage, border)
    degrees = np.bincount(adjacency.edges.ravel(), minlength=adjacency.size)
    along = np.arange(adjacency.size - 1)
    is_line = len(adjacency.edges) == len(along) and (adjacency.edges == np.column_stack([along, along + 1])).all()
    if is_line or (degrees == 2).all():
        closed = ring(adjacency.size) if is_line else adjacency
        if adjacency.size % 2:
            return remark_2(adjacency, closed, leakage)
        if leakage < math.log(2) / 2:
            return remark_2(adjacency, clique(adjacency.size), leakage)
        return _furthest_doubled(closed, leakage)
    return remark_2(adjacency, clique(adjacency.size), leakage)
