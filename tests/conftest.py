"""Beside the tests so that they all find ``oracles`` and ``instances``; and a seeded generator."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(2018)
