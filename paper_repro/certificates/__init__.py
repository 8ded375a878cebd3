r"""Proofs as files: what a certificate proves, and by which inequalities.

A file is a JSON object: ``format``; ``source_set``, with ``vertices``, V rows of M probabilities; ``notion``; perhaps ``costs``,
M x M distances d (else 1 between different letters); and ``points``, each with a budget, a mechanism, multipliers and a claim, a
point a line. Numbers are texts: "320/9", "0.25", "1e-12"; a ratio t is the exponential of a leakage. The ``seal``, a digest of a
point and all that is common, notices accidents; no proof rests on it. ``checker`` verifies a file, ``documents`` writes one,
from optima that ``linear`` finds exactly and ``curved`` encloses.

Every lower bound is weak duality: it holds whatever the multipliers are, which only decide how good it is.

D_i is the chance that letter i is changed, a_i = 1 - D_i, S = sum a_i; y >= 0 are multipliers of the vertices'
distortions, kappa = sum_v y_v P_v, C_ij = kappa_i d_ij; w >= 0 are weights that sum to 1, P = sum_v w_v P_v. So sum
C_ij Q_ij <= D sum y.

**Differential privacy, all letters neighbors.** In a column of ratio t no entry is below a_j / t, so that row i gives
a_i + (S - a_i) / t <= 1. For c = min D_i this is S - 1 + c <= t c. If c = 0, only one letter is ever published; each
such answer has to err too often under some vertex. Else, with s = 1 / c and e_i = s D_i in [1, s], t >= 1 + (M - 1) s
- sum e_i, and adding y . (P_v . e - D s) <= 0, t >= 1 + sum_i e_i (kappa_i - 1) + s (M - 1 - D sum y) >= 1 + sum_i
max(0, kappa_i - 1) + s B, where B = M - 1 - D sum y - sum_i max(0, 1 - kappa_i); if B >= 0, s = 1 is worst. At a
given t, P . a is largest, under (t - 1) a_i + S <= t, where n letters are kept alike: no distortion is below 1 -
max_n t / (t + n - 1) * (sum of the n largest P_i). A mechanism given by D_i, S >= 1, is Q_ij = a_j D_i / (S - a_i) <=
a_j, of ratio at most max_i (S - a_i) / D_i. *Approximate*, pointwise (Q_ij <= t Q_kj + delta), which the standard
definition implies: take b_i = max(0, a_i - delta) / (1 - delta). The row of the largest meets the inequality above,
and 1 - a_i >= (1 - delta) (1 - b_i): the same with D / (1 - delta). The mechanism is delta I + (1 - delta) Q.

**Maximal leakage**, t = sum_j max_i Q_ij >= S, all costs 1: M - S <= sum_i max(0, 1 - kappa_i) + kappa . D_i, that is
t + D sum y >= M - sum_i max(0, 1 - kappa_i); the mechanism above has t = S. Other costs, for any u and G = max_j
sum_i max(0, u_i - C_ij): sum u_i <= sum_ij Q_ij (C_ij + max(0, u_i - C_ij)) <= D sum y + t G.

**Comparisons** of rows g with mixtures p of rows: Q_gj <= t (p Q)_j + delta for all j (pointwise), or sum_j max(0,
Q_gj - t (p Q)_j) <= delta. Neighbors i, k: g = i, p = k alone; maximal information: every row, every vertex. For f_cj
>= 0 a channel that meets them has distortion at least b = sum_i min_j (A_ij - t B_ij) - delta F, A_ij = P_i d_ij +
sum_(c: g = i) f_cj, B_ij = sum_c f_cj p_c(i), F = sum f_cj or sum_c max_j f_cj. Distortions that can be had fall with
t: b > D shows that the least ratio is above t. If b = D, the second multipliers of ``beside`` count, for t less
``step``: mixed with the first in proportion, they move b by at least the sum over i of the least of ((A' - A) - t (B'
- B)) / step + B, over the minimizing j, less delta (F' - F) / step, a unit to the left of t; if that is above 0, no
smaller ratio will do.

**Information of order alpha**: I = min_r log(sum_ij P_i Q_ij^alpha r_j^(1 - alpha)) / (alpha - 1), for order 1 min_r
sum_i P_i KL(Q_i || r); a ``reference`` r bounds it from above. From below, for order 1 and any u > 0, by convexity of
-log, I + sum C_ij Q_ij >= sum_i P_i log u_i - log max_j sum_i P_i u_i exp(-C_ij / P_i). Above 1, beta = alpha /
(alpha - 1): by Hoelder's inequality, for F = exp(I / beta) = sum_j (sum_i P_i Q_ij^alpha)^(1 / alpha) and G the
largest over j of (sum_i P_i (max(0, u_i - C_ij) / P_i)^beta)^(1 / beta), G F + sum C_ij Q_ij >= sum u_i. Letters with
P_i = 0 are left out.

**Renyi differential privacy**: sum_j Q_ij^alpha Q_kj^(1 - alpha) is convex and homogeneous in two rows, so a tangent
plane at X > 0 lies below: with weights l_ik of the pairs and s_ikj = X_ij / X_kj, the largest is at least sum_i min_j
(G_ij + C_ij) - D sum y, G_ij = sum_k l_ik alpha s_ikj^(alpha - 1) - (alpha - 1) sum_k l_ki s_kij^alpha, or for order
1, of divergences, G_ij = sum_k l_ik (1 + log s_ikj) - sum_k l_ki s_kij. Logarithms and powers are enclosed by
decimals of 50 digits, rounded outward.
"""
