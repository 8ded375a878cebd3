"""Every message about a bad argument has one form: what the argument must be, what was given, and what to do."""

import ast
import json
import math
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.errors import Clause, MissingPackageError, optional, shown, wrong
from paper_repro.papers import alvim2011, ghazi2021, kalantari2016, kalantari2018, zhong_bu2022
from paper_repro.papers.coloring import optimal_with_suppressed
from paper_repro.paths import ROOT

# "<argument> must be <allowed>; got <value>." and perhaps what to do, in one line.
FORM = re.compile(r"\S[^\n;]* must [^\n]+; got [^\n]+\.(?: [A-Z][^\n]*\.)?")
# What Python, NumPy and SciPy say.
FOREIGN = re.compile(
    r"object is not (iterable|callable|subscriptable)|unsupported operand|not supported between|could not convert|"
    r"setting an array|"
    r"inhomogeneous|truth value of an|object has no attribute|unhashable|expected str, bytes|argument should be|cannot unpack|"
    r"not enough values|too many values to unpack|math domain|invalid literal|can't multiply|__init__\(\)"
)
SOURCE = pr.SourceSet([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]], labels=["a", "b", "c"])
KEEP = [[0.75, 0.25], [0.25, 0.75]]
TEXTS = ("20%", "0,2", "", "much", "0.2 ", "--1", "1\x1b[2J")
NUMBERS = (-0.1, math.nan, -math.inf, None, True, 1j, "20%", "0,2", "much\n", [0.1, "x"], {})
NOTIONS = ("mutual information", None.__class__, 3, SimpleNamespace(), pr.MutualInformation)


def _calls():
    """Bad calls of the public functions: each number and each kind of argument, with what is outside its range."""
    for value in (*NUMBERS, 1.2, 20, math.inf):
        yield (
            f"optimal_mechanism distortion={value!r}",
            lambda v=value: pr.optimal_mechanism(SOURCE, **({"distortion": v} if v is not None else {})),
        )
        yield f"leakage_curve {value!r}", lambda v=value: pr.leakage_curve(SOURCE, v)
        yield f"from_distortions {value!r}", lambda v=value: pr.Mechanism.from_distortions([v, 0.1])
        yield (
            f"parallel_composition {value!r}",
            lambda v=value: pr.parallel_composition(SOURCE, 2, distortion=v if v not in (1.2, None) else 2.5),
        )
    for value in NUMBERS:
        yield f"optimal_mechanism leakage={value!r}", lambda v=value: pr.optimal_mechanism(SOURCE, leakage=v)
        yield f"distortion_curve {value!r}", lambda v=value: pr.distortion_curve(SOURCE, v)
        yield f"randomized_response {value!r}", lambda v=value: pr.randomized_response(3, v)
        yield f"RenyiDP {value!r}", lambda v=value: pr.RenyiDP(v)
        yield f"SibsonInformation {value!r}", lambda v=value: pr.SibsonInformation(v)
        yield f"ApproximateDP {value!r}", lambda v=value: pr.ApproximateDP(v)
        yield (
            f"notion_by_name delta={value!r}",
            lambda v=value: pr.notion_by_name("approximate differential privacy", delta=v),
        )
        yield (
            f"keep_at_least {value!r}",
            lambda v=value: pr.optimal_mechanism(SOURCE, distortion=0.3, keep_at_least={"a": v}),
        )
        yield f"from_intervals {value!r}", lambda v=value: pr.SourceSet.from_intervals([v, 0.1], [0.9, 0.9])
    for value in (0, -1, 2.5, "3", None, True, [2], math.nan, 10**17):
        yield f"clique {value!r}", lambda v=value: pr.clique(v)
        yield f"ring {value!r}", lambda v=value: pr.ring(v)
        yield f"line {value!r}", lambda v=value: pr.line(v)
        yield f"hamming {value!r}", lambda v=value: pr.hamming(2, v)
        yield f"truncated_geometric {value!r}", lambda v=value: pr.truncated_geometric(v, 1.0)
        yield f"databases {value!r}", lambda v=value: pr.optimal_database_mechanism(2, v, distortion=0.1)
        yield f"Query {value!r}", lambda v=value: pr.Query(sum, 2, v)
        yield f"rr_top_k {value!r}", lambda v=value: ghazi2021.rr_top_k([0.5, 0.5], 1.0, v)
        yield (
            f"zero_columns {value!r}",
            lambda v=value: kalantari2018.equation_10(SOURCE, 0.1, v if v not in (0, True) else 9),
        )
        yield f"equation_25 {value!r}", lambda v=value: kalantari2016.equation_25(3, 0.1, v if v != 0 else 3)
        yield f"proposition_2 {value!r}", lambda v=value: alvim2011.proposition_2(2, 3, v, 1.0)
        yield f"suppressed {value!r}", lambda v=value: optimal_with_suppressed(SOURCE, 0.2, v if v != 0 else 3)
    for value in NOTIONS:
        for name, call in {
            "optimal_mechanism": lambda v: pr.optimal_mechanism(SOURCE, distortion=0.1, notion=v),
            "leakage_curve": lambda v: pr.leakage_curve(SOURCE, [0.1], notion=v),
            "parallel_leakage": lambda v: pr.parallel_leakage([KEEP], notion=v),
            "databases": lambda v: pr.optimal_database_mechanism(2, 2, distortion=0.1, notion=v),
        }.items():
            yield f"{name} notion={value!r}", lambda v=value, c=call: c(v)
        yield f"notion_by_name {value!r}", lambda v=value: pr.notion_by_name(["x", v])
    for value in (None, "P_II_6", 3, [0.5, 0.5], KEEP):
        for name, call in {
            "optimal_mechanism": lambda v: pr.optimal_mechanism(v, distortion=0.1),
            "exact_curve": pr.exact_curve,
            "leakage_curve": lambda v: pr.leakage_curve(v, [0.1]),
            "parallel_composition": lambda v: pr.parallel_composition(v, 2, distortion=0.1),
            "worst_case": lambda v: pr.MutualInformation().leakage(KEEP, v),
        }.items():
            yield f"{name} source={value!r}", lambda v=value, c=call: c(v)
    for value in (
        [],
        [[]],
        None,
        "half",
        0.5,
        [0.5, 0.6],
        [0.5, -0.5],
        [[0.5, 0.5], [1.0]],
        {"a": "20%"},
        {1},
        SimpleNamespace(),
    ):
        yield f"SourceSet {value!r}", lambda v=value: pr.SourceSet(v)
        yield f"min_entropy {value!r}", lambda v=value: pr.min_entropy(v)
        yield f"bayes_vulnerability {value!r}", lambda v=value: pr.bayes_vulnerability(v)
        yield f"Mechanism {value!r}", lambda v=value: pr.Mechanism(v)
        yield f"constant {value!r}", lambda v=value: pr.Mechanism.constant(v)
        yield f"rr_with_prior {value!r}", lambda v=value: ghazi2021.rr_with_prior(v, 1.0)
    for value in (3, None, "x", [], [3], [[0.5, 0.5]]):
        yield f"product_mechanism {value!r}", lambda v=value: pr.product_mechanism(v)
        yield f"parallel_distortion {value!r}", lambda v=value: pr.parallel_distortion(v, SOURCE)
    for value in (3, "x", [[0, 1]], np.eye(2), [[0, 1, 1], [1, 0, 1], [1, 1, "20%"]]):
        yield f"costs {value!r}", lambda v=value: pr.optimal_mechanism(SOURCE, distortion=0.1, costs=v)
        yield f"weights {value!r}", lambda v=value: pr.Adjacency.from_weights(v)
    for value in (3, "ab", [("a",)], [("a", "z")], [3]):
        yield f"forbidden {value!r}", lambda v=value: pr.optimal_mechanism(SOURCE, distortion=0.3, forbidden=v)
    for value in ("x", 3, [0.5, 0.5]):
        yield f"adjacency {value!r}", lambda v=value: pr.DifferentialPrivacy(v)
        yield f"uniform_least_distortion {value!r}", lambda v=value: pr.uniform_least_distortion(v, 1.0)
    for value in ([3, -1], [0, 0], [], "many", [1, "20%"], {"a": None}, [[1, 2], [3, 4]]):
        yield f"from_counts {value!r}", lambda v=value: pr.SourceSet.from_counts(v)
    for value in (95, 0, "95%", None):
        yield f"confidence {value!r}", lambda v=value: pr.SourceSet.from_counts([3, 4], confidence=v)
    for value in ("wald", 3, None, ["goodman"], np.array(["goodman", "x"])):
        yield f"method {value!r}", lambda v=value: pr.SourceSet.from_counts([3, 4], method=v)
    for value in ("nowhere", "", 3, None, b"P_II_6"):
        yield f"load_source_set {value!r}", lambda v=value: pr.load_source_set(v)
    for value in (3, None, b"a.csv"):
        yield f"read_source_set {value!r}", lambda v=value: pr.SourceSet.from_csv(v)
        yield (
            f"write_certificate {value!r}",
            lambda v=value: pr.optimal_mechanism(SOURCE, distortion=0.2).write_certificate(v),
        )
    for reading in ("right", None, 3):
        yield (
            f"reading {reading!r}",
            lambda v=reading: zhong_bu2022.theorem_7("differential privacy", 2, 3, 1, reading=v),
        )
    yield "both", lambda: pr.optimal_mechanism(SOURCE, distortion=0.1, leakage=0.1)
    for call in (pr.optimal_mechanism, pr.SourceSet, pr.Mechanism, pr.exact_curve, pr.RenyiDP, pr.ApproximateDP):
        yield f"{call.__name__}()", lambda c=call: c()
    for call in (pr.SibsonInformation, pr.Query, pr.optimal_database_mechanism, pr.parallel_composition):
        yield f"{call.__name__}()", lambda c=call: c()


CALLS = dict(_calls())


def test_there_are_many_bad_calls():
    assert len(CALLS) >= 120


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call_is_told_in_the_one_form(name):
    with pytest.raises((ValueError, TypeError)) as error:
        CALLS[name]()
    said = str(error.value)
    assert FORM.fullmatch(said), said
    assert not FOREIGN.search(said), said
    assert said.isprintable() and len(said) < 700


# Raised where no argument is bad: the reason stands beside the beginning of the message.
OTHER_FORMS = {
    "No certificate": "something asked for is not offered or not achieved, whatever the arguments are",
    "record {": "another message of the one form, after the number of the record",
    "the answer is": "caught at once, and told as part of a message of the one form",
    "": "raised without words and caught in the same function",
}
MODULES = [ROOT / "paper_repro" / f"{name}.py" for name in (
    "checks errors sources graphs mechanisms tradeoff curves databases composition guessing types paths deprecated".split()
)]  # fmt: skip
MODULES += [
    path
    for folder in ("notions", "solvers", "knowledge", "certificates", "papers")
    for path in sorted((ROOT / "paper_repro" / folder).rglob("*.py"))
]


def _raised(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call | ast.Name):
            kind = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            if kind in ("ValueError", "TypeError"):
                yield node.lineno, node.exc.args[0] if isinstance(node.exc, ast.Call) else None


def _is_of_the_form(message):
    """By a helper that makes the sentence, or literally."""
    if isinstance(message, ast.Call) and ast.unparse(message.func) in (
        "wrong",
        "_no_probability",
        "_no_count",
        "_unusable",
    ):
        return True
    if isinstance(message, ast.Name):  # made by `wrong` before, for two places
        return message.id == "refusal"
    return " must " in ast.unparse(message) and "; got " in ast.unparse(message)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "paper_repro")))
def test_every_message_in_the_source_has_the_form(path):
    for line, message in _raised(path):
        if message is not None and _is_of_the_form(message):
            continue
        text = "" if message is None else ast.unparse(message).lstrip("f").strip("'\"(")
        known = [start for start in OTHER_FORMS if start and text.startswith(start)] or (message is None)
        assert known, f"{path.name}:{line}: {text}"


def test_what_to_do_is_a_sentence_of_its_own():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "wrong" and len(node.args) > 3:
                fix = node.args[3]
                if isinstance(fix, ast.Constant) and fix.value:
                    assert re.fullmatch(r"[A-Z].*[.]", fix.value), f"{path.name}:{node.lineno}: {fix.value}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\nb\x1b", r"'a\nb\x1b'"),
        (np.float64(0.5), "0.5"),
        (np.zeros((100, 100)), "an array of shape (100, 100)"),
        (np.eye(2), "array([[1.0, 0.0], [0.0, 1.0]])"),
        (list(range(10**5)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
        (Clause("shape (2, 3)\x07"), r"shape (2, 3)\x07"),
        (chr(0x202E), r"'\u202e'"),
    ],
)
def test_values_are_shown_short_and_without_control_characters(value, expected):
    assert shown(value) == expected
    assert wrong("it", "be so", value, "Do so.") == f"it must be so; got {expected}. Do so."


def test_what_cannot_be_shown_is_named_by_its_type():
    class Broken:
        def __repr__(self):
            raise ZeroDivisionError

    assert "Broken" in shown(Broken())


@pytest.mark.parametrize("module", ["nobodys_package", "nobodys_package.tables", "nobodys_package.a.b"])
def test_a_missing_package_names_both_ways_to_install_it(module):
    """In a checkout and from a wheel; the package index does not have the project, so its bare name is no way."""
    with pytest.raises(MissingPackageError, match="nobodys_package is not installed") as error:
        optional(module, "data")
    assert "install the wheel again with [data] after its file name" in str(error.value)
    assert "install 'privacy-distortion" not in str(error.value)
    assert "pip install -e '.[data]'" in str(error.value)


def test_a_package_that_lacks_another_one_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "lacking_package.py").write_text("import nobodys_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as error:
        optional("lacking_package", "data")
    assert not isinstance(error.value, MissingPackageError) and error.value.name == "nobodys_package"
    sys.modules.pop("lacking_package", None)


@pytest.mark.parametrize("path", ["nowhere/own.csv", "x" * 300 + ".csv", "a\0b.csv", "."])
def test_a_file_that_cannot_be_read(path):
    with pytest.raises((OSError, ValueError)) as error:
        pr.SourceSet.from_csv(path)
    assert "the file of a source set must exist" in str(error.value) and str(error.value).isprintable()


@pytest.mark.parametrize("path", ["nowhere/own.json", ".", "x" * 300])
def test_a_file_that_cannot_be_written(path, tmp_path):
    with pytest.raises(OSError, match=r"cannot write .*\. Check the folder and its permissions\.$"):
        pr.optimal_mechanism(SOURCE, distortion=0.2).write_certificate(tmp_path / path)


def test_names_for_people_and_keys():
    pointwise, standard = pr.ApproximateDP(0.1), pr.ApproximateDP(0.1, standard=True)
    assert pointwise.title == str(pointwise) == "pointwise (ε, δ)-differential privacy"
    assert standard.title == "standard (ε, δ)-differential privacy"
    assert pointwise.name == standard.name == "approximate differential privacy"
    assert repr(pointwise) == "ApproximateDP(delta=0.1)"
    assert pr.RenyiDP(2).title == "Rényi differential privacy" and pr.RenyiDP(2).name == "Renyi differential privacy"
    best = pr.optimal_mechanism(SOURCE, distortion=0.2, notion=standard)
    assert str(best).startswith("OptimalMechanism(standard (ε, δ)-differential privacy: leakage=")
    assert best.certificate["notion"]["name"] == json.loads(json.dumps(standard.name))
    for notion in (pr.MutualInformation(), pr.MaximalLeakage(), pr.DifferentialPrivacy(), pr.MaximalInformation()):
        assert notion.title == notion.name
    assert "(ε, δ)" in repr(pr.optimal_database_mechanism(2, 2, distortion=0.1, notion=pointwise))
    assert "Rényi" in repr(pr.parallel_composition(SOURCE, 2, distortion=0.1, notion=pr.RenyiDP(2)))


def test_a_shell_completes_the_public_names():
    assert dir(pr) == sorted(pr.__all__)
    assert {"release", "estimate", "Folding"} <= set(dir(pr))
