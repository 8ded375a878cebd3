"""A verdict follows from numbers: for each kind of check a planted false claim changes it."""

import inspect
import math
import sys

import numpy as np
import pytest

from paper_repro.claims import base
from paper_repro.claims.base import Claim, Finding, Sample, sample_of

NAN = float("nan")


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (lambda: base.reproduced({"a": (1.0, 1.0 + 1e-10)}, 1e-9), lambda: base.reproduced({"a": (1.0, 1.1)}, 1e-9)),
        (lambda: base.holds(named={"a": -0.5, "b": 1e-12}), lambda: base.holds(named={"a": -0.5, "b": 1e-3})),
        (lambda: base.holds(Sample(9, 1e-12, 3, 0)), lambda: base.holds(Sample(9, 0.1, 3, 2))),
        (
            lambda: base.corrected({"a": (1.0, 2.0)}, {"a": (2.0, 2.0)}),
            lambda: base.corrected({"a": (1.0, 2.0)}, {"a": (3.0, 2.0)}),
        ),
        (
            lambda: base.corrected({"a": (1.0, 2.0)}, {"a": (2.0, 2.0)}, Sample(5, -1.0, 0, 0)),
            lambda: base.corrected({"a": (1.0, 2.0)}, {"a": (2.0, 2.0)}, Sample(5, 1.0, 0, 1)),
        ),
        (lambda: base.refuted("a", claimed=1.0, actual=2.0), lambda: base.refuted("a", claimed=2.0, actual=1.0)),
        (lambda: base.loose({"a": (1.0, 2.0)}), lambda: base.loose({"a": (2.0, 1.0)})),
        (lambda: base.loose({"a": (1.0, 2.0)}), lambda: base.loose({"a": (2.0, 2.0)})),
        (
            lambda: base.loose({"a": (1.0, 2.0)}, Sample(5, 0.0, 0, 0)),
            lambda: base.loose({"a": (1.0, 2.0)}, Sample(5, 0.1, 0, 1)),
        ),
    ],
)
def test_a_planted_error_changes_the_verdict(true, false):
    assert true().verdict != false().verdict


def test_what_the_kinds_say_of_planted_errors():
    assert base.reproduced({"a": (1.0, NAN)}, 1e-9).verdict == "refuted"
    assert base.holds(named={"a": NAN}).verdict == "refuted"
    assert base.corrected({"a": (2.0, 2.0)}, {"a": (2.0, 2.0)}).verdict == "holds", "nothing to correct"
    assert base.refuted("a", claimed=1.0, actual=1.0 + 1e-9).verdict == "holds", "within the margin"
    assert base.refuted("a", claimed=1.0, actual=NAN).verdict == "holds"
    assert base.loose({"a": (2.0, 2.0)}).verdict == "holds", "attained"


def test_infinities_are_equal():
    assert base.reproduced({"D = 0": (math.inf, math.inf)}, 1e-9).verdict == "reproduced"
    assert base.reproduced({"D = 0": (math.inf, 700.0)}, 1e-9).verdict == "refuted"


def test_a_statement_without_instances_does_not_hold():
    with pytest.raises(ValueError, match="needs instances"):
        base.holds()
    with pytest.raises(ValueError, match="needs instances"):
        base.holds(Sample())
    with pytest.raises(ValueError, match="say why"):
        base.not_checkable("")


def test_the_evidence_names_the_instance():
    finding = base.holds(Sample(100, 0.25, 17, 3))
    assert "3 of 100" in finding.evidence
    assert "no. 17 by 0.25" in finding.evidence
    assert "b by 0.5" in base.holds(named={"a": 0.0, "b": 0.5}).evidence


def claim(instance, check=lambda sample: Finding("holds", ""), **more):
    return Claim("zhong_bu2022.own", "zhong_bu2022", "Own", "here", "a statement", "", check, instance, **more)


def test_instances_depend_on_the_claim_and_their_number_alone():
    def draw(rng):
        return float(rng.random())

    whole = sample_of(claim(draw), 0, 30)
    parts = sample_of(claim(draw), 20, 30) | sample_of(claim(draw), 0, 7) | sample_of(claim(draw), 7, 20)
    assert whole == parts
    assert whole.count == whole.failures == 30
    other = Claim("zhong_bu2022.other", "zhong_bu2022", "Own", "here", "a statement", "", lambda: None, draw)
    assert sample_of(other, 0, 30).worst != whole.worst


def test_what_a_claim_does_not_speak_of_is_not_counted():
    sample = sample_of(claim(lambda rng: NAN if rng.random() < 0.5 else -1.0), 0, 200)
    assert 70 < sample.count < 130
    assert (sample.worst, sample.failures) == (-1.0, 0)


def test_the_worst_of_two_samples_does_not_depend_on_the_order():
    rng = np.random.default_rng(5)
    samples = [Sample(1, float(rng.integers(3)), number, 0) for number in range(20)]
    forward = backward = Sample()
    for one in samples:
        forward |= one
    for one in reversed(samples):
        backward = one | backward
    assert forward == backward


def test_shares_of_the_instances():
    assert claim(lambda rng: 0.0, share=0.1).instances(200) == 20
    assert claim(lambda rng: 0.0, share=0.001).instances(200) == 1
    assert claim(None).instances(200) == 0


@pytest.mark.parametrize("claim", base.all_claims(), ids=lambda claim: claim.name)
def test_a_search_for_a_name_ends_where_the_claim_is_registered(claim):
    own = claim.name.partition(".")[2]
    source = inspect.getsource(sys.modules[claim.module])
    assert f"def {own}(" in source or f'"{own}"' in source


def test_a_name_is_taken_once():
    register = base.register("zhong_bu2022", "Own", "here", "a statement")

    def some_claim():
        return base.not_checkable("only a test")

    register(some_claim)
    try:
        with pytest.raises(ValueError, match=r"a claim named zhong_bu2022\.some_claim already"):
            register(some_claim)
    finally:
        del base._REGISTRY["zhong_bu2022.some_claim"]
    with pytest.raises(ValueError, match="unknown paper 'dwork2006'"):
        base.register("dwork2006", "1", "here", "a statement")(some_claim)
