r"""Proofs as files: what a certificate proves, and by which inequalities.

A file is a JSON object: ``format``; ``source_set``, with ``vertices``, V rows of M probabilities, and of intervals ``lower``
and ``upper``, between which the vertices are; ``notion``; perhaps ``costs``, M x M distances d (else 1 between different
letters), ``at_least`` and ``at_most``, tables that a mechanism has to be between, and ``invariant``, that the vertices stay
as they are; and ``points``, each with a budget, a mechanism, multipliers and a claim, a point a line. Numbers are texts:
"320/9", "0.25", "1e-12", and of losses "infinity"; a ratio t is the exponential of a leakage. The ``seal``, a digest of a
point and what is common, notices accidents; no proof rests on it. ``checker`` verifies a file, ``documents`` writes one, from
optima that ``linear`` finds exactly and ``curved`` encloses.

Every lower bound is weak duality: it holds whatever the multipliers are, which only decide how good it is. What the vertices
force, all of the intervals forces; a mechanism is judged by the worst distribution of these.

D_i is the chance that letter i is changed, a_i = 1 - D_i, S = sum a_i; y >= 0 are multipliers of the vertices'
distortions, kappa = sum_v y_v P_v, C_ij = kappa_i d_ij. So sum C_ij Q_ij <= D sum y.

**Differential privacy, all letters neighbors.** In a column of ratio t no entry is below a_j / t, so that row i gives
a_i + (S - a_i) / t <= 1. For c = min D_i this is S - 1 + c <= t c. If c = 0, only one letter is ever published; each
such answer has to err too often under some vertex. Else, with s = 1 / c and e_i = s D_i in [1, s], t >= 1 + (M - 1) s
- sum e_i, and adding y . (P_v . e - D s) <= 0, t >= 1 + sum_i e_i (kappa_i - 1) + s (M - 1 - D sum y) >= 1 + sum_i
max(0, kappa_i - 1) + s B, where B = M - 1 - D sum y - sum_i max(0, 1 - kappa_i); if B >= 0, s = 1 is worst, and
t >= (1 - D) sum y: as long as D is too small, or t is. A mechanism given by D_i, S >= 1, is Q_ij = a_j D_i / (S - a_i) <=
a_j, of ratio at most max_i (S - a_i) / D_i. *Approximate*, pointwise (Q_ij <= t Q_kj + delta), which the standard
definition implies: take b_i = max(0, a_i - delta) / (1 - delta). The row of the largest meets the inequality above,
and 1 - a_i >= (1 - delta) (1 - b_i): the same with D / (1 - delta). The mechanism is delta I + (1 - delta) Q.
**Maximal leakage**, t = sum_j max_i Q_ij >= S, all costs 1: M - S <= sum_i max(0, 1 - kappa_i) + kappa . D_i, that is
t + D sum y >= M - sum_i max(0, 1 - kappa_i); the mechanism above has t = S.

**Everything else** is one Lagrangian. Rows are compared: neighbors i, k; every row with that of the output, r, which is free
(information, and maximal leakage, where Q_ij <= t r_j); every row with the output of every vertex (maximal information).

* Ratios, Q_ij <= t^w Q_kj + delta for all j, w being the pair's weight, or sum_j max(0, Q_ij - t Q_kj) <= delta: multipliers
  f_ikj >= 0 add f to entry ij of the table C, and take t^w f from entry kj, or its shares; the right side D sum y grows by delta
  sum f, or delta max_j f. Powers that are no rational numbers are enclosed, and the side is taken that proves less.
* Divergences: sum_j Q_ij^alpha Q_kj^(1 - alpha) is convex and homogeneous in two rows, so that a tangent plane at ratios s_j >= 0
  lies below: it adds alpha s^(alpha - 1) to entry ij and takes (alpha - 1) s^alpha from entry kj; for order 1, of Q_ij
  log(Q_ij / Q_kj), 1 + log s and s. With a pair's load l >= 0 the right side grows by l exp((alpha - 1) I), or l I. Against the
  output's row, loads are proportional to a distribution of the source set. At no leakage rows that may occur are equal: t = 1.
* What stays as it is, P_v Q = P_v: any n_vj add n_vj P_v(i) to entry ij, and P_v . n_v to the right side.

Rows of Q are distributions between ``at_least`` and ``at_most``: the least that they can make of the table, row by row, must not
be below the right side, else there is no such mechanism. At a leakage, D may be anything that is claimed too small. At a
distortion t is what may be too small: if both sides are equal, all smaller t are refused where the table grows to the left,
for those Q which make it least; ``second_`` multipliers, mixed with the first in proportion, a ``step`` for all of them, help.

**Infinite** leakage: without comparisons both sides are equal, so that entries which cost more than the row's dearest must be 0.
If row k is 0 somewhere, row i is, or at most delta; pairs of a ``chain`` carry that on until nothing is left of a row.

Logarithms and powers are enclosed by decimals of 50 digits, rounded outward.
"""
