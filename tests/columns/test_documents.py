"""A mechanism as a file: it comes back as it was, and nothing that is edited passes."""

import hashlib
import json
import math
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.columns.documents import MechanismDocument, notion_of, write_for_r
from paper_repro.columns.sampler import IntegerSampler
from paper_repro.types import NOTION_NAMES

SOURCE = pr.SourceSet([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]], labels=["red", "grün", "blue"])


def document(source=SOURCE, notion=None, **more):
    notion = notion or pr.DifferentialPrivacy()
    best = pr.optimal_mechanism(source, distortion=0.2, notion=notion)
    sampler = IntegerSampler.of(best.mechanism)
    notions = [notion if notion.name == name else pr.notion_by_name(name) for name in NOTION_NAMES]
    stated = {each.name: sampler.leakage(each, source) for each in notions}
    spent = sampler.distortion(source)
    return MechanismDocument(
        sampler, source, notion, {"distortion": 0.2}, stated, spent, version=pr.__version__, **more
    )


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "mechanism.json"
    policy = {"missing": "refuse", "randomness": "operating system"}
    best = pr.optimal_mechanism(SOURCE, distortion=0.2)
    knowledge = {"source_set": repr(SOURCE), "class": "II", "rows": 1000}
    document(
        knowledge=knowledge, policy=policy, certificate=best.certificate, price=0.0, constraints={"keep_at_least": 0.5}
    ).write(found)
    return found


def test_it_comes_back(path):
    found, made = MechanismDocument.read(path, categories=["red", "grün", "blue"]), document()
    assert found.sampler.digest == made.sampler.digest
    assert (found.stated, found.distortion, found.budget) == (made.stated, made.distortion, made.budget)
    assert found.source.vertices.tolist() == SOURCE.vertices.tolist() and found.policy["missing"] == "refuse"
    checks = found.inspect()
    assert all(agrees for *_, agrees in checks)
    names = {name for name, *_ in checks}
    assert {
        "checksum",
        "distortion",
        "certificate",
        "price of estimability, nats",
        "maximal leakage, nats",
    } < names


@pytest.mark.parametrize(
    "notion",
    [
        pr.ApproximateDP(0.05, standard=True),
        pr.RenyiDP(3),
        pr.SibsonInformation(math.inf),
        pr.DifferentialPrivacy(pr.line(3)),
        pr.DifferentialPrivacy(pr.Adjacency.from_weights([[0, "1/3", 1], ["1/3", 0, math.inf], [1, 0, 0]])),
    ],
    ids=repr,
)
def test_notions_come_back_with_their_parameters(notion, tmp_path):
    made = document(notion=notion)
    made.write(tmp_path / "m.json")
    found = MechanismDocument.read(tmp_path / "m.json")
    assert repr(found.notion).replace("line: ", "") == repr(notion).replace("line: ", "")
    assert found.stated == made.stated


def test_intervals_and_what_leaks_without_bound(tmp_path):
    box = pr.SourceSet.from_intervals([0.4, 0.2, 0.1], [0.6, 0.4, 0.3])
    identity = IntegerSampler.of(pr.Mechanism(np.eye(3)))
    stated = {"differential privacy": math.inf}
    made = MechanismDocument(identity, box, budget={"leakage": math.inf}, stated=stated, distortion=0.0)
    made.write(tmp_path / "m.json")
    assert "Infinity" not in (tmp_path / "m.json").read_text()
    found = MechanismDocument.read(tmp_path / "m.json")
    assert found.stated == made.stated and found.source.bounds[0].tolist() == [0.4, 0.2, 0.1]


def edited(path, change):
    """Change a file and make its checksum fit again."""
    content = json.loads(path.read_text())
    del content["checksum"]
    change(content)
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in content.items()]
    checksum = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    path.write_text("{\n" + ",\n".join([*lines, f'"checksum": "{checksum}"']) + "\n}\n")


def move_a_unit(content):
    matrix = content["integers"]["matrix"]
    matrix[0][0] += 2**40
    matrix[0][1] -= 2**40


def set_to(*keys, value):
    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (move_a_unit, "is stated as"),
        (set_to("integers", "matrix", 0, 0, value=5), "must have 3 rows of 3 integers >= 0 that sum to 2"),
        (set_to("integers", "matrix", 0, 0, value=0.5), "other numbers than integers"),
        (set_to("leakage", 0, "nats", value=0.5), "differential privacy, nats is stated as 0.5"),
        (set_to("leakage", 6, "nats", value=0.1), "mutual information, nats is stated as 0.1"),
        (
            set_to("leakage", 1, "delta", value=0.2),
            "the parameters of approximate differential privacy are stated twice, and differently",
        ),
        (set_to("distortion", value=0.1), "distortion is stated as 0.1"),
        (set_to("distortion", value=None), "distortion is stated as None"),
        (set_to("leakage", value=[]), "differential privacy, nats is stated as None"),
        (set_to("budget", "distortion", value=0.1), "budget of distortion is stated as 0.1"),
        (set_to("source_set", "vertices", 0, value=[0.1, 0.1, 0.8]), "is stated as"),
        (set_to("constraints", "keep_at_least", value=0.95), "kept beyond keep_at_least"),
        (set_to("certificate", "points", 0, "least_ratio", value="100"), "certificate is stated as 'proved'"),
        (
            set_to("certificate", value=pr.optimal_mechanism(SOURCE, distortion=0.25).certificate),
            "certificate is stated",
        ),
        (
            set_to(
                "certificate", value=pr.optimal_mechanism(pr.SourceSet([0.2, 0.3, 0.5]), distortion=0.2).certificate
            ),
            "certificate is stated",
        ),
        (set_to("certificate", value=None), "price of estimability, nats is stated as 0.0 and found to be None"),
        (set_to("budget", value={}), "certificate is stated"),
        (set_to("budget", value={"leakage": 3.0}), "price of estimability, nats is stated as 0.0"),
        (set_to("knowledge", "class", value="I"), "class, in words is stated as 'I' and found to be 'II'"),
        (set_to("knowledge", "source_set", value="a better one"), "source_set, in words is stated as 'a better one'"),
        (set_to("price", value=0.5), "price of estimability, nats is stated as 0.5"),
        (set_to("categories", value=["red", "red", "blue"]), "twice"),
        (lambda content: content.pop("integers"), "'integers' is missing"),
        (
            set_to("format", value="privacy-distortion mechanism, version 2"),
            "must be a document of the format .*version 1.* of the format .*version 2",
        ),
    ],
)
def test_edited_numbers_are_found_without_the_checksum(path, change, message):
    edited(path, lambda content: None)
    MechanismDocument.read(path)
    edited(path, change)
    with pytest.raises(ValueError, match=message) as error:
        MechanismDocument.read(path)
    assert "\n" not in str(error.value)


def test_what_is_edited_where_nothing_can_be_computed_again(path):
    path.write_text(path.read_text().replace("operating system", "a dice"))
    with pytest.raises(ValueError, match="edited or damaged: checksum"):
        MechanismDocument.read(path)
    assert [name for name, *_, agrees in MechanismDocument.read(path, verify=False).inspect() if not agrees] == [
        "checksum"
    ]


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        (set_to("knowledge", "rows", value=7), "rows", 7),
        (set_to("policy", "randomness", value="a dice"), "randomness", "a dice"),
        (set_to("package_version", value="9"), "package version", "9"),
        (lambda content: content["knowledge"].pop("rows"), "rows", None),
        (lambda content: content.update(certificate=None, price=None, budget={}), "budget", None),
        (lambda content: content.update(certificate=None, price=None), "certificate", None),
    ],
)
def test_what_nobody_can_verify_is_listed_as_stated_only(path, change, name, value):
    assert dict(MechanismDocument.read(path).stated_only)["rows"] == 1000
    edited(path, change)
    found = MechanismDocument.read(path)
    assert dict(found.stated_only)[name] == value
    assert name not in {check.name for check in found.inspect()}


def test_other_files_and_categories(path, tmp_path):
    with pytest.raises(ValueError, match="categories of the mechanism must be"):
        MechanismDocument.read(path, categories=["red", "blue", "grün"])
    for text in ("", "[1]", "{}", "a,b\n1,2\n", '{"format": "privacy-distortion mechanism, version 1"}'):
        (tmp_path / "other").write_text(text)
        with pytest.raises(ValueError, match=str(tmp_path / "other")):
            MechanismDocument.read(tmp_path / "other")


def test_costs_and_forbidden_pairs(tmp_path):
    apart = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    best = pr.optimal_mechanism(
        SOURCE, distortion=0.3, costs=apart, notion=pr.MaximalLeakage(), forbidden=[("red", "blue")]
    )
    sampler = IntegerSampler.of(best.mechanism)
    spent = sampler.distortion(SOURCE, apart)
    assert spent == pytest.approx(best.distortion, abs=1e-12)
    made = MechanismDocument(
        sampler,
        SOURCE,
        best.notion,
        {"distortion": 0.3},
        {"maximal leakage": sampler.leakage(best.notion, SOURCE)},
        spent,
        constraints={"forbidden": [["red", "blue"]], "invariant": None},
        costs=apart,
    )
    made.write(tmp_path / "m.json")
    names = [name for name, *_ in MechanismDocument.read(tmp_path / "m.json").inspect()]
    found = [
        "checksum",
        "maximal leakage, nats",
        "distortion",
        "budget of distortion",
        "forbidden pairs that can occur",
    ]
    assert names == found


@pytest.mark.parametrize("size", [2, 5, 40])
def test_rows_for_r_sum_to_one_however_r_adds(size, tmp_path, rng):
    best = pr.optimal_mechanism(pr.SourceSet(rng.dirichlet(np.ones(size))), distortion=0.1).mechanism
    exported = write_for_r(IntegerSampler.of(best), tmp_path / "pd.csv")
    lines = (tmp_path / "pd.csv").read_text().splitlines()
    matrix = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]])
    assert (matrix == exported.mechanism.matrix).all()
    for row in matrix:
        plain, long = 0.0, np.longdouble(0)
        for entry in row:  # rowSums adds in long double, others in double
            plain, long = plain + entry, long + np.longdouble(entry)
        assert plain == long == 1.0 == math.fsum(row)
        assert all(Fraction(entry).denominator <= 2**52 for entry in row)
    difference = exported.leakage(pr.DifferentialPrivacy()) - pr.DifferentialPrivacy().leakage(best)
    assert 0 <= exported.leakage(pr.DifferentialPrivacy()) and difference <= 1e-11


_IN_R = """
pd <- as.matrix(read.csv(commandArgs(TRUE)[1], row.names=1, check.names=FALSE))
stopifnot(is.numeric(pd), identical(rownames(pd), colnames(pd)))
cat(sprintf("%.17g", max(abs(rowSums(pd) - 1))), sprintf("%a", t(pd)))
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed (apt-get install r-base-core)")
@pytest.mark.parametrize("size", [2, 5, 40])
def test_r_reads_what_was_written(size, tmp_path, rng):
    source = pr.SourceSet(rng.dirichlet(np.ones(size)), labels=[f"city {i}" for i in range(size)])
    best = pr.optimal_mechanism(source, distortion=0.1).mechanism
    exported = write_for_r(IntegerSampler.of(best), tmp_path / "pd.csv")
    told = ["Rscript", "--vanilla", "-e", _IN_R, str(tmp_path / "pd.csv")]
    printed = subprocess.run(told, capture_output=True, text=True, check=True).stdout.split()
    # Its own reader may be off in the last digit, but not its sums by more than sdcMicro takes.
    assert float(printed[0]) <= 2.2e-16
    read = np.array([float.fromhex(entry) for entry in printed[1:]]).reshape(size, size)
    np.testing.assert_allclose(read, exported.mechanism.matrix, rtol=3e-16, atol=0)


def test_notion_of_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match=r"must be one of 'differential privacy', .*; got 'trust'"):
        notion_of({"name": "trust"}, 2)


@pytest.mark.parametrize(
    "other",
    [{"keep_at_least": "1/3"}, {"costs": [[0, "1/3", 1], [1, 0, "1/7"], [1, 1, 0]]}, {"invariant": True}],
    ids=str,
)
def test_a_certificate_of_other_mechanisms_or_costs_is_found(tmp_path, other):
    """A true claim about fewer mechanisms, or in another unit, is no bound for this one."""
    people = pd.DataFrame({"eyes": ["blue"] * 3 + ["brown"] * 2 + ["green"]})
    made = []
    for number, asked in enumerate(({}, other)):
        output = tmp_path / f"{number}.csv"
        pr.release(people, "eyes", distortion="1/7", source="frequencies", seed=1, output=output, **asked)
        made.append(MechanismDocument.read(output.with_suffix(".mechanism.json")))
    assert all(check.agrees for document in made for check in document.inspect())
    forged = replace(made[0], certificate=made[1].certificate)
    assert "certificate" in [check.name for check in forged.inspect() if not check.agrees]
