"""What several test files share: the notions by name, as ``tests.oracles.notions`` has them too, and a seeded generator."""

import numpy as np
import pytest

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
)
from tests.oracles import DELTA, ORDER

NOTIONS = {
    "DP": DifferentialPrivacy(),
    "pointwise": ApproximateDP(DELTA),
    "standard": ApproximateDP(DELTA, standard=True),
    "maximal information": MaximalInformation(),
    "maximal leakage": MaximalLeakage(),
    "Renyi": RenyiDP(ORDER),
    "Sibson": SibsonInformation(ORDER),
    "mutual information": MutualInformation(),
}
by_notion = pytest.mark.parametrize("name", NOTIONS)


@pytest.fixture
def rng():
    return np.random.default_rng(2018)
