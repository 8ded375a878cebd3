"""Proofs by machine: identities by computer algebra, and formulas over the reals by an SMT solver.

What is proved so holds for every value of the symbols, for the sizes that are spelled out; nothing is sampled.
"""

from __future__ import annotations

from typing import Any

from paper_repro.errors import optional

__all__ = ["always", "identical", "reals", "symbols"]

# Steps of z3, not seconds: whether a formula is decided does not depend on how busy the machine is. The ledger's take up to 1e6.
_STEPS = 500_000_000


def identical(left: Any, right: Any) -> bool:
    """Whether two sympy expressions are the same function, by simplifying their difference to 0.

    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> identical(sympy.log(x * 2), sympy.log(x) + sympy.log(2)), identical(x, 2 * x)
    (True, False)
    """
    sympy = optional("sympy", "proofs")
    return bool(sympy.simplify(sympy.expand_log(left - right, force=True)) == 0)


def always(conclusion: Any, *assumptions: Any) -> bool:
    """Whether a z3 formula follows from others for all values of the symbols: no values satisfy them and its negation.

    Raises ValueError if the assumptions contradict each other, for then anything follows, and RuntimeError if z3 cannot decide.

    >>> import z3
    >>> x, y = z3.Reals("x y")
    >>> always(x * x + y * y >= 2 * x * y), always(x > y, x > 0)
    (True, False)
    """
    z3 = optional("z3", "proofs")
    # In a context of its own: what was decided before, and who frees it, has no part in it.
    own = z3.Context()
    solver = z3.Solver(ctx=own)
    solver.add(*(z3.And(one).translate(own) for one in assumptions))
    solver.set("rlimit", _STEPS)
    if solver.check() == z3.unsat:
        raise ValueError(f"the assumptions {assumptions} contradict each other")
    solver.add(z3.Not(conclusion).translate(own))
    decided = solver.check()
    if decided == z3.unknown:
        raise RuntimeError(f"z3 cannot decide {conclusion}: {solver.reason_unknown()}")
    return bool(decided == z3.unsat)


def symbols(names: str) -> tuple[Any, ...]:
    """Positive symbols of sympy, always as a tuple."""
    return tuple(optional("sympy", "proofs").symbols(names, positive=True, seq=True))


def reals(names: str) -> list[Any]:
    """Real unknowns of z3."""
    return list(optional("z3", "proofs").Reals(names))
