"""Folding permutations and folded images against their definitions, by brute force over all permutations."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from paper_repro import SourceSet, load_source_set
from paper_repro.papers.folding import (
    Folding,
    as_source_set,
    isolated,
)
from tests.oracles.instances import random_vertices
from tests.oracles.tradeoffs import distance_to_hull, solve

# Vertices of small rationals lie apart by more, and exact touching shows as 0 up to a solver's 1e-10.
APART = 1e-7


def floats(polytope):
    return np.array([[float(probability) for probability in vertex] for vertex in polytope.vertices])


def draw(seed, size, count=None):
    """Vertices with ties and exact touches for even seeds, in general position for odd ones."""
    rng = np.random.default_rng([size, seed])
    count = count or int(rng.integers(1, 5))
    if seed % 2:
        return rng.dirichlet(np.ones(size), size=count)
    return rng.multinomial(6, np.full(size, 1 / size), size=count) / 6


def slack(vertices, permutation, tied=frozenset()):
    """Largest margin by which a member of the hull falls along a permutation, pairs in ``tied`` aside; None if none falls."""
    count = len(vertices)
    falls = -np.diff(vertices[:, permutation], axis=1).T
    margin = [0.0 if frozenset(pair) in tied else 1.0 for pair in itertools.pairwise(permutation)]
    # Columns: the weights, and the margin z in [0, 1].
    found = _feasible(count, falls, np.zeros(len(margin)))
    if not found:
        return None
    return -solve(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-falls, margin]),
        b_ub=np.full(len(margin), 1e-12),
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0, None)] * count + [(0, 1)],
    ).fun


def _feasible(count, falls, margin):
    """Whether some mixture falls, judged by the least violation, which is always solvable."""
    found = solve(
        np.append(np.zeros(count), 1.0),
        A_ub=np.column_stack([-falls, -np.ones(len(margin))]),
        b_ub=margin,
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
    )
    return found.fun < APART


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_folding_permutations_are_those_of_the_definition(seed, size):
    vertices = draw(seed, size)
    found = Folding(SourceSet(vertices)).permutations
    everything = itertools.permutations(range(size))
    assert found == tuple(letters for letters in everything if slack(vertices, letters) is not None)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_without_ties_those_are_left_whose_region_holds_more_than_a_boundary(seed, size):
    vertices = draw(seed, size)
    tied = {
        frozenset((i, j))
        for i, j in itertools.combinations(range(size), 2)
        if np.abs(vertices[:, i] - vertices[:, j]).max() < 1e-12
    }
    expected = []
    for letters in itertools.permutations(range(size)):
        alphabetical = all(
            letters.index(min(pair)) < letters.index(max(pair)) for pair in tied
        )  # of letters that tie throughout, one order is enough
        margin = slack(vertices, letters, tied)
        if alphabetical and margin is not None and margin > APART:
            expected.append(letters)
    assert Folding(SourceSet(vertices), ties=False).permutations == tuple(expected)


def test_ties_of_a_set_that_is_one_point_and_of_the_uniform_prior():
    assert len(Folding(SourceSet([0.25] * 4)).permutations) == 24
    assert Folding(SourceSet([0.25] * 4), ties=False).permutations == ((0, 1, 2, 3),)
    assert Folding(SourceSet([0.2, 0.4, 0.4])).permutations == ((1, 2, 0), (2, 1, 0))
    assert Folding(SourceSet([1.0])).permutations == ((0,),)
    # Letters that never occur tie as well.
    assert len(Folding(SourceSet([[0.6, 0.4, 0.0, 0.0], [0.4, 0.6, 0.0, 0.0]])).permutations) == 4


@pytest.mark.parametrize("seed", range(3))
def test_eight_letters(seed):
    """No member falls along a permutation that is not found, and each that is found has a member."""
    rng = np.random.default_rng(seed)
    vertices = rng.dirichlet(np.ones(8), size=4)
    source = SourceSet(vertices)
    pieces = Folding(source).pieces
    found = {piece.permutation for piece in pieces}
    assert len(found) < math.factorial(8) / 20
    for prior in rng.dirichlet(np.full(4, 0.5), size=3000) @ vertices:
        assert tuple(int(letter) for letter in np.argsort(-prior)) in found
    for piece in pieces:
        inside = floats(piece.parts[0]).mean(axis=0)
        assert (np.diff(inside[list(piece.permutation)]) < 1e-12).all()
    assert max(distance_to_hull(floats(piece.parts[0]).mean(axis=0), vertices) for piece in pieces[:10]) < 1e-9


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("ties", [True, False])
def test_pieces_part_the_set(size, ties, rng):
    vertices = rng.dirichlet(np.ones(size), size=size + 1)
    pieces = Folding(SourceSet(vertices), ties).pieces
    volume = 0.0
    for piece in pieces:
        assert len(piece.parts) == len(piece.images) == 1
        here = floats(piece.parts[0])
        assert floats(piece.images[0]) == pytest.approx(here[:, piece.permutation], abs=0)
        assert (np.diff(floats(piece.images[0]), axis=1) <= 0).all()
        if piece.parts[0].dimension == size - 1:
            volume += ConvexHull(here[:, :-1]).volume
    assert volume == pytest.approx(ConvexHull(vertices[:, :-1]).volume, rel=1e-8)


@pytest.mark.parametrize(("size", "seed"), [(3, 0), (3, 1), (3, 2), (3, 4), (3, 6), (4, 4), (4, 8), (4, 12)])
@pytest.mark.parametrize("ties", [True, False])
def test_intersection_holds_what_unfolds_into_the_set_everywhere(size, seed, ties):
    vertices = draw(seed, size, count=3)
    folding = Folding(SourceSet(vertices), ties)
    rng = np.random.default_rng(seed)
    shared = [floats(part) for part in folding.intersection]
    images = [floats(part) for part in folding.union]
    trials = [rng.dirichlet(np.ones(len(part))) @ part for part in (*images[:4], *shared, *shared)]
    for ordered in np.vstack([*trials, *shared]):
        unfolded = [ordered[np.argsort(permutation)] for permutation in folding.permutations]
        away = max(distance_to_hull(prior, vertices) for prior in unfolded)
        if not APART / 10 < away < 10 * APART:  # too close to the boundary for a linear program to tell
            assert (away < APART) == any(distance_to_hull(ordered, part) < APART for part in shared)


def test_the_printed_direction_loses_cycles():
    """T(P) of (.2, .5, .3), in the region of T = (2, 3, 1), is (.3, .2, .5): not in falling order."""
    cycle = SourceSet([0.2, 0.5, 0.3])
    (piece,) = Folding(cycle).pieces
    assert piece.permutation == (1, 2, 0)
    assert floats(piece.images[0]).tolist() == [[0.5, 0.3, 0.2]]
    assert Folding(cycle, direction="printed").pieces[0].images == ()
    assert Folding(cycle, direction="printed").union == ()
    assert floats(piece.parts[0].permuted((2, 0, 1))).tolist() == [[0.3, 0.2, 0.5]]
    # Permutations that are their own inverse are not touched by it.
    swapped = SourceSet([0.3, 0.5, 0.2])
    assert floats(Folding(swapped, direction="printed").union[0]).tolist() == [[0.5, 0.3, 0.2]]
    # What the literal reading keeps of a piece are its ties.
    tied = SourceSet([[0.2, 0.5, 0.3], [0.2, 0.4, 0.4]])
    images = {piece.permutation: piece.images for piece in Folding(tied, direction="printed").pieces}
    assert images[1, 2, 0] == ()
    assert floats(images[2, 1, 0][0]).tolist() == [[0.4, 0.4, 0.2]]


def test_printed_unfolding_is_the_inverse_of_printed_folding():
    vertices = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]]
    for direction in ("corrected", "printed"):
        folding = Folding(isolated(SourceSet(vertices)), direction=direction)
        (ordered,) = Folding(SourceSet(vertices[0])).union
        unfolded = {piece.permutation: floats(piece.parts[0])[0].tolist() for piece in folding.unfolded([ordered])}
        assert unfolded[0, 1, 2] == vertices[0]
        assert (unfolded[1, 2, 0] == vertices[1]) == (direction == "corrected")


@pytest.mark.parametrize("name", ["P_IIIa_6", "P_IIIb_6", "P_IIIc_6", "P_IIIa_10", "P_IIIb_10", "P_IIIc_10"])
def test_tables_fold_to_what_they_were_made_from_as_isolated_points(name):
    source, base = load_source_set(name), load_source_set("P_II_6" if name.endswith("_6") else "P_II_10")
    folding = Folding(isolated(source), ties=False)
    swaps = 1 + "abc".index(name[5])
    assert len(folding.permutations) == 1 + swaps
    assert folding.folds_alike
    assert sorted(as_source_set(folding.intersection).vertices.tolist()) == sorted(base.vertices.tolist())
    # A hull visits every ordering of the letters that its vertices swap.
    hull = Folding(source, ties=False)
    assert len(hull.permutations) == math.factorial(1 + swaps)
    assert hull.is_group
    assert hull.folds_alike == (swaps == 1)
    assert folding.is_group == (swaps == 1)
    assert (
        hull.classes
        == folding.classes
        == (tuple(range(1 + swaps)), *((i,) for i in range(1 + swaps, base.alphabet_size)))
    )


@pytest.mark.parametrize("seed", range(40))
def test_groups_of_convex_sets_permute_blocks_and_keep_averages_inside(seed):
    vertices = random_vertices("III", seed, most_letters=4, most_vertices=3)
    for ties in (True, False):
        folding = Folding(SourceSet(vertices), ties)
        orbit = math.prod(math.factorial(len(ranks)) for ranks in folding.rank_classes)
        generated = _generated(folding.rank_permutations)
        assert folding.is_group == (len(generated) == len(folding.permutations))
        if folding.is_group:
            assert len(folding.permutations) == orbit
            assert all(ranks == tuple(range(ranks[0], ranks[-1] + 1)) for ranks in folding.rank_classes)
            assert folding.averages_inside
        if folding.folds_alike:
            assert folding.averages_inside


def _generated(permutations):
    group = set(permutations)
    while True:
        larger = group | {tuple(one[rank] for rank in two) for one in group for two in permutations}
        if larger == group:
            return group
        group = larger


@pytest.mark.parametrize("seed", range(20))
def test_averages_inside_by_linear_programs(seed):
    vertices = draw(seed, 3, count=3)
    folding = Folding(SourceSet(vertices))
    group, first = _generated(folding.rank_permutations), folding.permutations[0]
    away = [0.0]
    for part in folding.intersection:
        for prior in floats(part):
            mean = np.mean([prior[list(letters)] for letters in group], axis=0)
            away.append(distance_to_hull(mean[np.argsort(first)], vertices))
    assert folding.averages_inside == (max(away) < APART)


def test_sets_of_several_parts():
    first, second = SourceSet([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]]), SourceSet([[0.3, 0.6, 0.1], [0.2, 0.7, 0.1]])
    folding = Folding([first, second])
    assert folding.permutations == ((0, 1, 2), (1, 0, 2))
    (shared,) = folding.intersection
    assert floats(shared).tolist() == [[0.6, 0.3, 0.1]]
    assert len(folding.union) == 2
    assert not folding.folds_alike
    assert Folding(SourceSet(np.vstack([first.vertices, second.vertices]))).intersection != ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Folding([SourceSet([0.5, 0.5]), SourceSet([0.5, 0.3, 0.2])]),
            r"source must have parts over the same categories; got parts over \[2, 3\] categories\. Write 0 "
            r"for a category that never occurs\.",
        ),
        (
            lambda: Folding([]),
            r"source must have parts over the same categories; got parts over \[\] categories\. Write 0 for "
            r"a category that never occurs\.",
        ),
        (lambda: Folding(SourceSet([0.5, 0.5]), direction="forward"), "'corrected' or 'printed'; got 'forward'"),
        (
            lambda: as_source_set([]),
            r"parts must be at least one; got none\. The folded images have nothing in common\.",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
