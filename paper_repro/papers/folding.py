r"""Folding a source set into the region of falling probabilities (Definitions 5 and 6, Kalantari et al. 2017).

A permutation T of the letters names the region ``P_T(1) >= P_T(2) >= ... >= P_T(M)``. Those whose region a set meets are its
*folding permutations*; the part of the set in the region of T is its *piece* ``P|_T``, and the piece with its letters in falling
order, ``(P_T(1), ..., P_T(M))``, is the *folded image*. Images lie in the ordered region ``S_0``, where they can be compared:
``P^cap`` is what all of them share, ``P^cup`` their union, and unfolding either into every region again gives the sets ``P^LB``,
inside the source set, and ``P^UB``, around it, of Theorem 3. Pieces, images and intersections are exact polytopes.

**Direction.** The paper defines ``T(P)`` by ``T(P)_T(i) = P_i`` and folds by T, which is the inverse of what is meant. The two
agree where T is its own inverse. For a 3-cycle ``T(P)`` is not in falling order: (.2, .5, .3) lies in the region of T = (2, 3, 1)
and ``T(P) = (.3, .2, .5)``. Read literally, Definition 6 then keeps nothing of the piece but ties.

**A set or its hull.** The paper takes source sets for convex (Remark 4), but a hull meets more regions than the points it is
spanned by. A :class:`SourceSet` is a hull; a set that is not convex is given as a sequence of its convex parts, see
:func:`isolated`.

**What unfolding preserves.** Call letters alike if they have the same rank in two regions that the set meets, directly or through
other letters, and let G be the permutations that move letters among those alike: the group that the folding permutations span
permutes each such class transitively. The program of Theorem 3 gives alike letters equal distortions, so of a distribution it
sees only the average over each class. If ``D_i`` are the distortions of a valid mechanism for a set that contains these averages,
averaging them over each class keeps it valid for the averages and does not raise ``1 + (M - 1 - sum D) / min D``. Hence:

* *The optimum over the averages of* ``P^cup`` *is an upper bound.* Distortions that are equal on each class and valid for the
  averages are valid for every unfolded image, so for the set.
* *The optimum over the averages of* ``P^cap`` *is a lower bound if the averages lie in the hull of the set*, since fewer
  distributions need no more leakage. They do in two cases:

  1. *The folding permutations form a group*: then ``P^LB``, inside the set, holds all rearrangements of each P in ``P^cap`` by
     the group, and their mean is the average. (Of a convex set, the group is then all permutations within blocks of letters that
     follow each other: to cross from one region into a neighboring one is to swap two letters of adjacent ranks.) Any subset of
     the folding permutations that is a group gives a bound in the same way; the identity alone gives Remark 5.
  2. *The set is convex and all folded images are the same*, ``P^cap = P^cup``: let z be the average of a member p, and x the
     member nearest to z. Every member keeps company with all unfoldings of its image, those of x are as near to z, and the
     nearest is unique: x is its own average. So ``(p - x) . (z - x) = (z - x) . (z - x)``, which is not positive as x is nearest,
     and z = x is a member.

* *In general they do not*, and the bound may fail: see :func:`paper_repro.papers.kalantari2018.theorem_3`. It always does where
  all letters are alike, as then it is the curve of Class I, which no Class III set reaches near ``(M - 1) / M``. Of three
  letters, permutations that form no group make all alike, so there the bound holds for groups alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from paper_repro.errors import Clause, wrong
from paper_repro.papers.polytopes import Distribution, Polytope, as_fractions
from paper_repro.sources import SourceSet, check_source

__all__ = ["Direction", "FoldedPiece", "Folding", "Permutation", "Source", "alike", "as_source_set", "isolated"]

Permutation = tuple[int, ...]
"""``T[r]`` is the letter of rank r, most likely first; letters and ranks are counted from 0."""

Source = SourceSet | Sequence[SourceSet]
"""A convex source set, or the convex parts whose union it is."""

Direction = Literal["corrected", "printed"]
"""How to fold: ``corrected``, by ``P_T(i)``, or ``printed``, by the ``T(P)`` of Definition 6, cut with the ordered region."""


@dataclass(frozen=True, eq=False)
class FoldedPiece:
    """The part of a set in one region.

    Attributes
    ----------
    permutation : tuple of int
    parts : tuple of Polytope
        One for a convex set.
    images : tuple of Polytope
        The parts folded into the ordered region; empty if nothing of the printed image lies in it.
    """

    permutation: Permutation
    parts: tuple[Polytope, ...]
    images: tuple[Polytope, ...]


@dataclass(frozen=True, eq=False)
class Folding:
    """A source set with its folding permutations, folded images, and what they share.

    Parameters
    ----------
    source : SourceSet, or a sequence of them over the same letters
    ties : bool, default True
        Definition 5 counts a region that the set merely touches. If False, those permutations are left out that are not needed to
        cover the set: whose piece has a lower dimension than the set (or part of it), and, where letters tie throughout, all but
        the one that keeps tied letters in alphabetical order.
    direction : {"corrected", "printed"}

    Raises
    ------
    ValueError
        If the parts do not share their letters, there are none, or the direction is neither of the two.

    Examples
    --------
    >>> folding = Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))
    >>> folding.permutations, folding.is_group, folding.folds_alike
    (((0, 1, 2), (1, 0, 2)), True, True)
    >>> as_source_set(folding.intersection).vertices
    array([[0.6 , 0.3 , 0.1 ],
           [0.45, 0.45, 0.1 ]])
    >>> folding.classes
    ((0, 1), (2,))

    Of ties, and of the direction:

    >>> tied, cycle = SourceSet([0.5, 0.25, 0.25]), SourceSet([0.2, 0.5, 0.3])
    >>> Folding(tied).permutations, Folding(tied, ties=False).permutations
    (((0, 1, 2), (0, 2, 1)), ((0, 1, 2),))
    >>> [[str(p) for p in image.vertices[0]] for piece in Folding(cycle).pieces for image in piece.images]
    [['1/2', '3/10', '1/5']]
    >>> [len(piece.images) for piece in Folding(cycle, direction="printed").pieces]
    [0]
    """

    source: Source
    ties: bool = True
    direction: Direction = "corrected"

    def __post_init__(self) -> None:
        if not isinstance(self.source, Iterable | SourceSet):
            raise ValueError(wrong("source", "be a SourceSet or a sequence of them", self.source))
        parts = tuple(map(check_source, self._parts))
        sizes = {part.alphabet_size for part in parts}
        if len(sizes) != 1:
            raise ValueError(
                wrong(
                    "source",
                    "have parts over the same categories",
                    Clause(f"parts over {sorted(sizes)!r} categories"),
                    "Write 0 for a category that never occurs.",
                )
            )
        if self.direction not in ("corrected", "printed"):
            raise ValueError(wrong("direction", "be 'corrected' or 'printed'", self.direction))

    @property
    def _parts(self) -> tuple[SourceSet, ...]:
        return (self.source,) if isinstance(self.source, SourceSet) else tuple(self.source)

    @cached_property
    def _polytopes(self) -> tuple[Polytope, ...]:
        return tuple(Polytope.hull(as_fractions(part.vertices)) for part in self._parts)

    @cached_property
    def hull(self) -> Polytope:
        """The convex hull of the set."""
        return Polytope.hull(vertex for polytope in self._polytopes for vertex in polytope.vertices)

    @cached_property
    def pieces(self) -> tuple[FoldedPiece, ...]:
        """``P|_T`` and its image (equations (12) and (13)), in order of T."""
        found: dict[Permutation, list[Polytope]] = {}
        for polytope in self._polytopes:
            for permutation, part in _regions(polytope, self.ties):
                found.setdefault(permutation, []).append(part)
        return tuple(
            FoldedPiece(permutation, tuple(found[permutation]), self._fold(permutation, found[permutation]))
            for permutation in sorted(found)
        )

    @property
    def permutations(self) -> tuple[Permutation, ...]:
        """The folding permutations ``T_P``."""
        return tuple(piece.permutation for piece in self.pieces)

    @cached_property
    def intersection(self) -> tuple[Polytope, ...]:
        """``P^cap``, equation (14): what all folded images share; empty if nothing."""
        shared = self.pieces[0].images
        for piece in self.pieces[1:]:
            common = (one.intersection(two) for one in shared for two in piece.images)
            shared = _distinct(part for part in common if part is not None)
        return shared

    @cached_property
    def union(self) -> tuple[Polytope, ...]:
        """``P^cup``, equation (14): the distinct folded images."""
        return _distinct(image for piece in self.pieces for image in piece.images)

    @property
    def folds_alike(self) -> bool:
        """Whether ``P^cap = P^cup``; a set of several parts is compared part by part."""
        images = [{frozenset(image.rays) for image in piece.images} for piece in self.pieces]
        return all(image == images[0] for image in images)

    @property
    def rank_permutations(self) -> tuple[Permutation, ...]:
        """The folding permutations followed by the inverse of the first: the same if the set meets the ordered region.

        The paper relabels the letters so that it does. Relabeled so, the letters are the ranks in the first region.
        """
        first = self.permutations[0]
        return tuple(tuple(first.index(letter) for letter in permutation) for permutation in self.permutations)

    @property
    def is_group(self) -> bool:
        """Whether the (relabeled) folding permutations form a group: the product of any two is one of them."""
        known = set(self.rank_permutations)
        if len(known) == math.factorial(len(self.permutations[0])):
            return True
        return all(tuple(one[rank] for rank in two) in known for one in known for two in known)

    @cached_property
    def rank_classes(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that ``D_T(i) = D_i`` gives the same distortion, once letters are relabeled as by ``rank_permutations``."""
        return alike(self.rank_permutations, len(self.permutations[0]))

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """The same as letters: those which have the same rank in some two regions, directly or through others."""
        first = self.permutations[0]
        return tuple(sorted(tuple(sorted(first[rank] for rank in ranks)) for ranks in self.rank_classes))

    @property
    def averages_inside(self) -> bool:
        """Whether each distribution of ``P^cap``, averaged over the classes, lies in the hull of the set.

        Then the lower bound of Theorem 3 holds at every distortion; see the head of this module.
        """
        first = self.permutations[0]
        return all(
            _unfold(self.average(vertex), first) in self.hull for part in self.intersection for vertex in part.vertices
        )

    def average(self, ordered: Distribution) -> Distribution:
        """A distribution of the ordered region with its mass spread evenly over the ranks of alike letters.

        >>> folding = Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))
        >>> [str(mass) for mass in folding.average((Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)))]
        ['9/20', '9/20', '1/10']
        """
        spread = list(ordered)
        for ranks in self.rank_classes:
            mean = sum((ordered[rank] for rank in ranks), Fraction(0)) / len(ranks)
            for rank in ranks:
                spread[rank] = mean
        return tuple(spread)

    def unfolded(self, parts: Iterable[Polytope]) -> tuple[FoldedPiece, ...]:
        """Parts of the ordered region, unfolded into the region of each folding permutation (equation (51)).

        ``P^LB`` is what becomes of the intersection and ``P^UB`` of the union, as Figure 9 draws them.

        Returns
        -------
        tuple of FoldedPiece
            ``parts`` are the unfolded polytopes. With ``direction="printed"`` by the paper's ``T^-1``, which need not lie in the
            region of T.
        """
        images = tuple(parts)
        return tuple(
            FoldedPiece(
                permutation,
                tuple(
                    image.permuted(_inverse(permutation) if self.direction == "corrected" else permutation)
                    for image in images
                ),
                images,
            )
            for permutation in self.permutations
        )

    def _fold(self, permutation: Permutation, parts: list[Polytope]) -> tuple[Polytope, ...]:
        if self.direction == "corrected":
            return _distinct(part.permuted(permutation) for part in parts)
        images = []
        for part in parts:
            image: Polytope | None = part.permuted(_inverse(permutation))
            for rank in range(len(permutation) - 1):
                if image is not None:
                    image, _ = image.split(_difference(rank, rank + 1, len(permutation)))
            if image is not None:
                images.append(image)
        return _distinct(images)


def alike(permutations: Iterable[Sequence[int]], size: int) -> tuple[tuple[int, ...], ...]:
    """Classes of the letters 0 .. size - 1 that permutations join: i and T(i), directly or through others.

    >>> alike([(1, 0, 2, 3), (0, 2, 1, 3)], 4)
    ((0, 1, 2), (3,))
    """
    from scipy.cluster.hierarchy import DisjointSet

    classes = DisjointSet(range(size))
    for permutation in permutations:
        for letter, other in enumerate(permutation):
            classes.merge(letter, other)
    return tuple(sorted(tuple(sorted(group)) for group in classes.subsets()))


def isolated(source: SourceSet) -> tuple[SourceSet, ...]:
    """The vertices of a source set, each by itself: the set that is not convex.

    >>> source = SourceSet([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    >>> len(Folding(source).permutations), len(Folding(isolated(source)).permutations)
    (6, 3)
    """
    return tuple(SourceSet(vertex, source.labels) for vertex in source.vertices)


def as_source_set(parts: Iterable[Polytope]) -> SourceSet:
    """The hull of exact polytopes as a source set, each vertex once, in floats.

    Raises
    ------
    ValueError
        If there are no parts.

    >>> as_source_set(Folding(SourceSet([0.2, 0.5, 0.3])).union).vertices
    array([[0.5, 0.3, 0.2]])
    """
    vertices = list(dict.fromkeys(vertex for part in parts for vertex in part.vertices))
    if not vertices:
        raise ValueError(wrong("parts", "be at least one", Clause("none"), "The folded images have nothing in common."))
    return SourceSet([[float(probability) for probability in vertex] for vertex in vertices])


def _regions(polytope: Polytope, ties: bool) -> Iterator[tuple[Permutation, Polytope]]:
    """The regions that a polytope meets, with what it has in each.

    Letters are placed one after the other into a ranking, and the polytope is cut as they are: a partial ranking that no member
    has is never completed. Exact, so that a set that touches a region is told from one that does not.
    """
    size = len(polytope.rays[0])
    partial: list[tuple[Permutation, Polytope]] = [((), polytope)]
    for letter in range(size):
        longer = []
        for ranking, part in partial:
            # From the top rank down; ``rest`` is where the new letter is no likelier than those passed.
            rest: Polytope | None = part
            for rank, other in enumerate(ranking):
                if rest is None:
                    break
                normal = _difference(letter, other, size)
                positive, negative = rest.signs(normal)
                above, below = rest.split(normal)
                if not ties and not positive:
                    above = None
                if not ties and positive and not negative:
                    below = None
                if above is not None:
                    longer.append(((*ranking[:rank], letter, *ranking[rank:]), above))
                rest = below
            if rest is not None:
                longer.append(((*ranking, letter), rest))
        partial = longer
    return iter(partial)


def _difference(first: int, second: int, size: int) -> tuple[int, ...]:
    return tuple(int(letter == first) - int(letter == second) for letter in range(size))


def _inverse(permutation: Permutation) -> Permutation:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def _unfold(ordered: Distribution, permutation: Permutation) -> Distribution:
    return tuple(ordered[rank] for rank in _inverse(permutation))


def _distinct(parts: Iterable[Polytope]) -> tuple[Polytope, ...]:
    return tuple({frozenset(part.rays): part for part in parts}.values())
