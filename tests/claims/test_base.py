"""A verdict follows from numbers: for each kind of check a planted false claim changes it, and a wrong variant is noticed."""

import inspect
import math

import numpy as np
import pytest

from paper_repro.claims import base, skeleton
from paper_repro.claims.base import Claim, Finding, Sample, Statement, sample_of, told_apart

NAN = float("nan")


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (lambda: base.proved("By hand.", {"a": True}), lambda: base.proved("By hand.", {"a": True, "b": False})),
        (
            lambda: base.proved("By hand.", {"a": True}),
            lambda: base.proved("By hand.", {"a": True}, Sample(5, 1.0, 0, 1)),
        ),
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
        (lambda: base.refuted("{a} > 1.", True, a=2.0), lambda: base.refuted("{a} > 1.", False, a=0.0)),
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
    assert base.loose({"a": (2.0, 2.0)}).verdict == "holds", "attained"
    one = base.refuted("1 > 0.", True)
    assert base.depends({"so": one, "or so": one}).verdict == "refuted", "one verdict under both readings"


def test_a_garbled_text_is_no_fault_and_a_wrong_reading_of_it_is():
    shown = base.corrected({"a": (1.0, 2.0)}, {"a": (2.0, 2.0)})
    finding = base.uncertain(shown)
    assert finding.verdict == "source text uncertain"
    assert finding.numbers == shown.numbers and shown.evidence in finding.evidence
    for other in (
        base.corrected({"a": (1.0, 2.0)}, {"a": (3.0, 2.0)}),
        base.corrected({"a": (2.0, 2.0)}, {"a": (2.0, 2.0)}),
        base.refuted("1 > 0.", True),
    ):
        assert base.uncertain(other) == other


def test_infinities_are_equal():
    assert base.reproduced({"D = 0": (math.inf, math.inf)}, 1e-9).verdict == "reproduced"
    assert base.reproduced({"D = 0": (math.inf, 700.0)}, 1e-9).verdict == "refuted"


def test_a_statement_without_instances_does_not_hold():
    with pytest.raises(ValueError, match="needs instances"):
        base.holds()
    with pytest.raises(ValueError, match="needs instances"):
        base.holds(Sample())
    with pytest.raises(ValueError, match="a proof needs facts"):
        base.proved("By hand.", {})


def test_the_evidence_names_the_instance():
    finding = base.holds(Sample(100, 0.25, 17, 3))
    assert "3 of 100" in finding.evidence
    assert "no. 17 by 1/4" in finding.evidence
    assert "b by 1/2" in base.holds(named={"a": 0.0, "b": 0.5}).evidence


def test_evidence_carries_no_rounding():
    one, two = (base.holds(named={"a": noise}, of="pairs") for noise in (1e-16, -3e-15))
    assert (one.evidence, one.numbers) == (two.evidence, two.numbers)


def claim(instance, check=lambda sample: Finding("holds", ""), name="own", **more):
    return Claim(Statement("zhong_bu2022", name, "Own", "here", "a statement"), check, check, instance, **more)


def test_instances_depend_on_the_claim_and_their_number_alone():
    def draw(rng):
        return float(rng.random())

    whole = sample_of(claim(draw), 0, 30)
    parts = sample_of(claim(draw), 20, 30) | sample_of(claim(draw), 0, 7) | sample_of(claim(draw), 7, 20)
    assert whole == parts
    assert whole.count == whole.failures == 30
    assert sample_of(claim(draw, name="other"), 0, 30).worst != whole.worst


def test_what_a_claim_does_not_speak_of_is_drawn_again_and_not_counted():
    often = sample_of(claim(lambda rng: NAN if rng.random() < 0.5 else -1.0), 0, 200)
    assert (often.count, often.worst, often.failures) == (200, -1.0, 0)
    rare = sample_of(claim(lambda rng: NAN if rng.random() < 0.99 else -1.0), 0, 200)
    assert 40 < rare.count < 130, "1 - 0.99^50 of them"


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


def test_a_wrong_variant_is_noticed_unless_the_check_is_blind():
    wrong = {"a <= b / 2": {"factor": 0.5}}
    named = claim(None, lambda factor=1.0: base.holds(named={"a = b": 1 - factor}), wrong=wrong)
    random = claim(
        lambda rng, factor=1.0: float(rng.random() - factor), lambda sample, factor=1.0: base.holds(sample), wrong=wrong
    )
    blind = claim(
        lambda rng, factor=1.0: float(rng.random() - 1), lambda sample, factor=1.0: base.holds(sample), wrong=wrong
    )
    assert [told_apart(one, "holds", "a <= b / 2", 50) for one in (named, random, blind)] == [True, True, False]


def test_every_entry_has_a_function_and_the_reverse(monkeypatch):
    texts = {claim.name: claim.text for claim in base.all_claims()}
    lonely = Statement("zhong_bu2022", "lonely", "Own", "here", "a statement")
    monkeypatch.setattr(base, "statements", lambda: texts | {lonely.name: lonely})
    with pytest.raises(ValueError, match=r"^zhong_bu2022\.lonely has an entry, but no function$"):
        base.all_claims()
    gone = next(iter(texts.values()))
    monkeypatch.setattr(base, "statements", lambda: {name: text for name, text in texts.items() if text is not gone})
    with pytest.raises(ValueError, match=rf"\.{gone.key} has no entry"):
        base.all_claims()


def test_a_name_is_taken_once():
    taken = next(one for one in base.all_claims() if one.source.__name__ == one.text.key)
    with pytest.raises(ValueError, match=f"two checks named {taken.text.key}"):
        base.claim()(taken.source)


def test_entries_are_checked(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "__file__", str(tmp_path / "base.py"))
    entry = '[lemma_1]\nnumber = "Lemma 1"\nplace = "here"\nstatement = "a"\n'
    for more, match in (
        ('wight = "misprint"', r"kalantari2016\.toml, \[lemma_1\]: .*wight"),
        ('weight = "heavy"', "unknown weight 'heavy'"),
        ('rests_on = ["kalantari2016.lemma_2"]', r"names 'kalantari2016\.lemma_2', which is no row"),
    ):
        for paper in base.PAPERS:
            (tmp_path / f"{paper}.toml").write_text(entry + more * (paper == "kalantari2016"))
        with pytest.raises(ValueError, match=match):
            base.statements.__wrapped__()


def test_the_skeleton_of_a_claim(tmp_path):
    (tmp_path / "alvim2011.toml").write_text("[lemma_1]\n")
    (tmp_path / "alvim2011.py").write_text("import numpy as np\n\nfrom paper_repro.claims.base import claim\n")
    written = skeleton.write_skeleton("alvim2011.lemma_99", folder=tmp_path)
    assert [path.name for path in written] == ["alvim2011.toml", "alvim2011.py"]
    assert written[0].read_text().startswith("[lemma_1]\n\n[lemma_99]\n")
    names = {"__name__": "paper_repro.claims.alvim2011_skeleton"}
    try:
        exec(compile(written[1].read_text(), "skeleton", "exec"), names)
        assert inspect.signature(names["lemma_99"]).parameters.keys() == {"a", "b", "factor"}
    finally:
        base._CHECKS.pop(("alvim2011", "lemma_99"), None)
    taken = base.all_claims()[0].name
    for name, module, match in (
        ("lemma_99", "", "NAME must be paper.function"),
        (taken, "", f"NAME must be a new name; got '{taken}'"),
        ("alvim2011.lemma_98", "alvim2012", "MODULE must be one of alvim2011.* for this paper; got 'alvim2012'"),
    ):
        with pytest.raises(ValueError, match=match):
            skeleton.write_skeleton(name, module, folder=tmp_path)
