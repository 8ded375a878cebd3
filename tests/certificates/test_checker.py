"""Certificates: exact where the optimum is rational, and refused once anything in them is changed."""

import copy
import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.certificates import checker
from paper_repro.certificates.documents import written
from paper_repro.cli import main
from paper_repro.graphs import line

SOURCE = pr.SourceSet([["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"]])
APART = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
LINEAR = {
    "differential privacy": {"notion": pr.DifferentialPrivacy()},
    "approximate": {"notion": pr.ApproximateDP(0.1)},
    "approximate, standard": {"notion": pr.ApproximateDP(0.1, standard=True)},
    "maximal leakage": {"notion": pr.MaximalLeakage()},
    "maximal information": {"notion": pr.MaximalInformation()},
    "on a line": {"notion": pr.DifferentialPrivacy(line(3))},
    "standard on a line": {"notion": pr.ApproximateDP(0.01, standard=True, adjacency=line(3))},
    "costs": {"notion": pr.DifferentialPrivacy(), "costs": APART},
    "maximal leakage, costs": {"notion": pr.MaximalLeakage(), "costs": APART},
    "maximal information, costs": {"notion": pr.MaximalInformation(), "costs": APART},
}
IRRATIONAL = {"pointwise on a line": {"notion": pr.ApproximateDP(0.01, adjacency=line(3))}}
CURVED = {
    "mutual information": {"notion": pr.MutualInformation()},
    "Sibson": {"notion": pr.SibsonInformation(2)},
    "Renyi": {"notion": pr.RenyiDP(2)},
    "mutual information, costs": {"notion": pr.MutualInformation(), "costs": APART},
    "Sibson, costs": {"notion": pr.SibsonInformation(3), "costs": APART},
    "Renyi on a line": {"notion": pr.RenyiDP(1, line(3))},
}
BUDGETS = {"distortion": {"distortion": "1/5"}, "leakage": {"leakage": math.log(2)}}


def document(problem, budget):
    return pr.optimal_mechanism(SOURCE, **problem, **BUDGETS[budget]).certificate


def sealed(certificate):
    """The same with seals that fit, so that only the proof itself is left to refuse it."""
    common = {name: value for name, value in certificate.items() if name != "points"}
    for point in certificate["points"]:
        point["seal"] = checker.seal(common, point)
    return certificate


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("problem", LINEAR.values(), ids=LINEAR)
def test_rational_optima_are_certified_exactly(problem, budget):
    certificate = document(problem, budget)
    (point,) = certificate["points"]
    figure = "ratio" if budget == "distortion" else "distortion"
    assert point[f"least_{figure}"] == point[f"most_{figure}"]
    found = pr.optimal_mechanism(SOURCE, **problem, **BUDGETS[budget])
    same = math.exp(found.leakage) if budget == "distortion" else found.distortion
    assert float(Fraction(point[f"most_{figure}"])) == pytest.approx(same, rel=1e-8)
    assert checker.check(certificate)


@pytest.mark.parametrize("problem", IRRATIONAL.values(), ids=IRRATIONAL)
def test_irrational_optima_are_enclosed(problem):
    (point,) = document(problem, "distortion")["points"]
    least, most = Fraction(point["least_ratio"]), Fraction(point["most_ratio"])
    assert 0 < most / least - 1 < Fraction(1, 10**15)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("problem", CURVED.values(), ids=CURVED)
def test_information_and_divergences_are_enclosed(problem, budget):
    found = pr.optimal_mechanism(SOURCE, **problem, **BUDGETS[budget])
    (point,) = found.certificate["points"]
    figure = "leakage" if budget == "distortion" else "distortion"
    least, most = Fraction(point[f"least_{figure}"]), Fraction(point[f"most_{figure}"])
    assert 0 <= most - least <= Fraction(1, 10**9) or (most - least <= 2 * Fraction(found.gap) and found.gap > 0)
    assert float(most) == pytest.approx(getattr(found, figure), abs=1e-6)
    better = copy.deepcopy(found.certificate)
    better["points"][0][f"most_{figure}"] = str(least * Fraction(999999, 10**6))
    assert is_refused(sealed(better))
    higher = copy.deepcopy(found.certificate)
    higher["points"][0][f"least_{figure}"] = higher["points"][0][f"most_{figure}"] = str(most + Fraction(1, 10**6))
    assert is_refused(sealed(higher))


def test_randomized_response_and_no_leakage_are_certified():
    even = pr.SourceSet(["1/3", "1/3", "1/3"])
    for notion in (pr.RenyiDP(3), pr.MutualInformation(), pr.SibsonInformation(2)):
        (point,) = pr.optimal_mechanism(even, distortion=0.2, notion=notion).certificate["points"]
        assert Fraction(point["most_leakage"]) - Fraction(point["least_leakage"]) < Fraction(1, 10**11)
        (point,) = pr.optimal_mechanism(even, distortion=0.7, notion=notion).certificate["points"]
        assert point["most_leakage"] == "0"


def test_letters_that_never_occur_may_be_left_out_by_the_solver():
    source = pr.SourceSet(["22/43", 0, "21/43"])
    (point,) = pr.optimal_mechanism(source, leakage=0.47, notion=pr.RenyiDP(2)).certificate["points"]
    assert Fraction(point["most_distortion"]) - Fraction(point["least_distortion"]) < Fraction(1, 10**9)


def places(content, path=()):
    """Every text and number of a document, by the way to it."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    if not isinstance(content, dict | list):
        yield path, content
    for key, value in items:
        yield from places(value, (*path, key))


def put(content, path, value):
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value


def changes(value):
    """The same with one digit changed, every digit once."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    else:
        for digit in re.finditer(r"[0-9]", value):
            other = str((int(digit[0]) + 1) % 10)
            yield value[: digit.start()] + other + value[digit.end() :]


def is_refused(certificate, match=""):
    try:
        checker.check(certificate)
    except checker.Refused as error:
        return "\n" not in str(error) and bool(re.search(match, str(error)))
    return False


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    "problem", [*LINEAR.values(), *IRRATIONAL.values(), *CURVED.values()], ids=[*LINEAR, *IRRATIONAL, *CURVED]
)
def test_a_changed_digit_is_refused_anywhere(problem, budget):
    certificate = document(problem, budget)
    for path, value in list(places(certificate)):
        for changed in changes(value):
            tampered = copy.deepcopy(certificate)
            put(tampered, path, changed)
            assert is_refused(tampered), (path, value, changed)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("problem", LINEAR.values(), ids=LINEAR)
def test_nothing_false_is_accepted_whatever_is_forged(problem, budget):
    """With seals that fit: another claim is refused by the proof; what is accepted has the same optimum between its bounds."""
    certificate = document(problem, budget)
    (point,) = certificate["points"]
    figure = "ratio" if budget == "distortion" else "distortion"
    value = Fraction(point[f"least_{figure}"])
    better, worse = copy.deepcopy(certificate), copy.deepcopy(certificate)
    better["points"][0][f"most_{figure}"] = better["points"][0][f"least_{figure}"] = str(
        value * Fraction(999999, 10**6)
    )
    worse["points"][0][f"least_{figure}"] = worse["points"][0][f"most_{figure}"] = str(value * Fraction(1000001, 10**6))
    assert is_refused(sealed(better)) and (value == 0 or is_refused(sealed(worse)))
    for path, text in list(places(point)):
        for changed in () if path[0] in ("distortion", "ratio", "seal") else changes(text):
            tampered = copy.deepcopy(certificate)
            put(tampered["points"][0], path, changed)
            if not is_refused(sealed(tampered)):
                forged = tampered["points"][0]
                assert Fraction(forged[f"least_{figure}"]) <= value <= Fraction(forged[f"most_{figure}"])


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("points", 0, "distortion"), "1e999999999", r"points\[0\]\.distortion must be a number"),
        (("points", 0, "distortion"), 0.2, r"points\[0\]\.distortion is missing, or not of type str"),
        (("points", 0, "distortion"), "1/0", r"distortion must be a number"),
        (("points", 0, "least_ratio"), "-1", "is below 1, or not below 1e308"),
        (("points", 0, "multipliers"), ["1"], r"multipliers must be a list of length 2"),
        (("points", 0, "more"), "1", r"points\[0\]\.more has no meaning here"),
        (("points", 0), [], r"points\[0\] must be an object"),
        (("notion", "name"), "privacy", "notion.name is unknown: 'privacy'"),
        (("notion",), {}, "notion.name is missing, or not of type str"),
        (("source_set", "vertices"), [], "must have points, and 1 to 2000 letters"),
        (("source_set", "vertices", 0), ["1/2", "3/10", "3/10"], r"vertices\[0\] must sum to 1"),
        (("source_set", "vertices", 0), {}, r"must be a list"),
        (("format",), "mine", "certificate.format must be"),
    ],
)
def test_what_makes_no_sense_is_one_line_that_names_the_field(path, value, message):
    certificate = document(LINEAR["differential privacy"], "distortion")
    put(certificate, path, value)
    if isinstance(certificate["points"][0], dict):
        sealed(certificate)
    assert is_refused(certificate, message)


@pytest.mark.parametrize(
    "text", ["", "[", "null", "[]", "{}", '{"format": NaN}', "[" * 100000, '{"a": 1, "a": 2}', "\ufffd", "1" * 5000]
)
def test_a_file_that_is_no_certificate_is_refused_in_one_line(text, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    found = CliRunner().invoke(main, ["check", str(path)])
    assert found.exit_code == 1 and "Traceback" not in found.output
    assert found.output.startswith(f"{path} refused: ") and found.output.count("\n") == 1


def test_files_are_checked_by_the_command_and_by_the_checker_alone(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    pr.optimal_mechanism(SOURCE, distortion="1/5").write_certificate(good)
    bad.write_text(good.read_text().replace('"1/2"', '"1/3"').replace('"0.5"', '"0.4"'))
    found = CliRunner().invoke(main, ["check", str(good)])
    assert found.exit_code == 0 and "differential privacy, distortion 0.2: least ratio" in found.output
    assert CliRunner().invoke(main, ["check", str(good), str(bad)]).exit_code == 1
    for files, status in (([good], 0), ([bad, good], 1), ([tmp_path / "none.json"], 1)):
        command = [sys.executable, "-I", checker.__file__, *map(str, files)]
        run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == status and "Traceback" not in run.stderr


def test_the_checker_is_short_and_uses_the_standard_library_alone():
    text = Path(checker.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    imported = re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE)
    assert set(imported) <= {*sys.stdlib_module_names, "__future__"}


def test_a_certificate_reads_a_point_a_line():
    text = written(document(LINEAR["differential privacy"], "distortion"))
    assert json.loads(text) and sum(line.startswith('{"distortion"') for line in text.splitlines()) == 1
