"""What the tests compare with: independent computations, none of which uses code of the package."""

DELTA, ORDER = 0.1, 2.0
"""Of the notions that tests go through by name."""
