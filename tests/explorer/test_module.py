"""The explorer's module against the package: optima, certificates, curves, folded bounds; tables and addresses."""

import math
from fractions import Fraction

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.papers.folding import Folding, isolated
from paper_repro.papers.kalantari2018 import theorem_3
from paper_repro.sources import distance_to_hull, source_set_names
from tests.explorer.node import answers, builder, needs_node

pytestmark = needs_node

NOTIONS = {
    "dp": lambda about, size: pr.DifferentialPrivacy(getattr(pr, about["graph"])(size) if "graph" in about else None),
    "approximate": lambda about, size: pr.ApproximateDP(about["delta"]),
    "leakage": lambda about, size: pr.MaximalLeakage(),
    "information": lambda about, size: pr.MaximalInformation(),
}
COUNT = 1000


def random_set(rng, letters):
    """Vertices with and without order, of few digits, with ties and zeros among them."""
    count = rng.integers(1, 5)
    vertices = rng.dirichlet(np.full(letters, rng.choice([0.5, 1.0, 4.0])), size=count)
    if rng.random() < 0.5:
        vertices = np.round(vertices, 2)
        vertices[:, 0] += 1 - vertices.sum(axis=1)
        vertices = np.abs(vertices)
    if rng.random() < 0.3:
        vertices = np.sort(vertices, axis=1)[:, ::-1]
    return (vertices / vertices.sum(axis=1, keepdims=True)).tolist()


def random_problem(rng):
    kind = rng.choice(
        ["dp", "approximate", "leakage", "information", "ring", "line"], p=[0.35, 0.15, 0.25, 0.1, 0.08, 0.07]
    )
    about = {"notion": "dp" if kind in ("ring", "line") else str(kind)}
    small = kind in ("information", "ring", "line")
    vertices = random_set(rng, int(rng.integers(3, 6) if small else rng.integers(2, 13)))
    if kind == "approximate":
        about["delta"] = float(np.round(rng.uniform(0, 0.3), 2))
    if kind in ("ring", "line"):
        about["graph"] = str(kind)
    by = rng.choice(["distortion", "leakage"])
    budget = rng.uniform(0.01, 0.7) if by == "distortion" else rng.uniform(0.05, 4)
    return {"kind": "optimum", "vertices": vertices, "budget": {str(by): float(np.round(budget, 3))}, **about}


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    rng = np.random.default_rng(14)
    problems = [random_problem(rng) for _ in range(COUNT)]
    return list(zip(problems, answers(tmp_path_factory.mktemp("optima"), problems), strict=True))


def test_a_thousand_optima_are_those_of_the_package(solved):
    for problem, found in solved:
        assert "error" not in found, (problem, found)
        source = pr.SourceSet(problem["vertices"])
        notion = NOTIONS[problem["notion"]](problem, source.alphabet_size)
        best = pr.optimal_mechanism(source, **problem["budget"], notion=notion)
        if "distortion" in problem["budget"]:
            assert found["leakage"] == pytest.approx(best.leakage, rel=1e-9, abs=1e-9), problem
        else:
            assert found["distortion"] == pytest.approx(best.distortion, rel=1e-9, abs=1e-9), problem


def test_all_of_them_are_certified(solved):
    assert [problem for problem, found in solved if not found["certified"]] == []
    assert all(found["gap"] >= -1e-12 for _, found in solved)


def test_what_the_page_says_of_a_matrix_is_true_of_it(solved):
    for problem, found in solved[:300]:
        source = pr.SourceSet(problem["vertices"])
        notion = NOTIONS[problem["notion"]](problem, source.alphabet_size)
        matrix = np.array(found["matrix"])
        assert matrix.min() >= 0 and matrix.sum(axis=1) == pytest.approx(1, abs=1e-14)
        assert notion.leakage(matrix, source) == pytest.approx(found["leakage"], rel=1e-12, abs=1e-14)
        assert source.worst_case_distortion(matrix) == pytest.approx(found["distortion"], rel=1e-13, abs=1e-15)


def test_the_prior_is_in_the_set_and_forces_the_result(solved):
    tried = 0
    for problem, found in solved[:200]:
        vertices, prior, budget = np.array(problem["vertices"]), np.array(found["prior"]), problem["budget"]
        assert distance_to_hull(prior, vertices) <= 1e-9
        if found["forcing"] and 0 < budget.get("distortion", 0) < 1 - prior.max() - 1e-9:  # not on its own jump
            notion = NOTIONS[problem["notion"]](problem, len(prior))
            alone = pr.leakage_curve(pr.SourceSet(prior), budget["distortion"], notion=notion)
            assert alone == pytest.approx(found["leakage"], abs=1e-7), problem
            tried += found["leakage"] > 0
    assert tried > 50


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(D + scale * found.values[i]) / sigma", "(D + scale * found.values[i]) / sigma / 1.001"),  # keeps too much
        ("(D + scale * found.values[i]) / sigma", "(D + scale * found.values[i]) / sigma * 1.001"),  # and too little
        (
            "weights: normalized(found.duals.slice(0, count).map((y) => -y))",
            "weights: vertices.map((_, v) => Number(!v))",
        ),
    ],
)
def test_what_is_not_optimal_is_not_certified(tmp_path, right, wrong):
    """A mechanism that leaks more, one that spends more than the budget, and a prior that proves less."""
    module = (builder.SOURCE / "explorer.js").read_text(encoding="utf-8")
    assert right in module
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "explorer.js").write_text(module.replace(right, wrong, 1), encoding="utf-8")
    asked = {"kind": "optimum", "vertices": [[0.6, 0.3, 0.1], [0.2, 0.45, 0.35]], "budget": {"distortion": 0.25}}
    assert [answers(tmp_path, [asked], *spoiled)[0]["certified"] for spoiled in ([], [tmp_path / "explorer.js"])] == [
        True,
        False,
    ]


def test_budgets_at_the_ends(tmp_path):
    """No distortion, all distortion, and the jump itself: by fractions, (.5, .3, .2) jumps from log 5/3 to 0 at 1/2."""
    prior = [[0.5, 0.3, 0.2]]
    ends = [0.0, 0.5, 0.5 - 1e-13, 0.5 - 1e-6, 1.0]
    found = answers(tmp_path, [{"kind": "optimum", "vertices": prior, "budget": {"distortion": D}} for D in ends])
    assert [answer["leakage"] for answer in found[:3]] == ["inf", 0, 0] and found[4]["leakage"] == 0
    assert math.exp(found[3]["leakage"]) == pytest.approx(5 / 3, abs=1e-5)
    assert all(answer["certified"] for answer in found)
    assert found[0]["matrix"] == np.eye(3).tolist()
    (free,) = answers(tmp_path, [{"kind": "optimum", "vertices": prior, "budget": {"leakage": 0}}])
    assert free["distortion"] == 0.5 and free["leakage"] == 0


def hard_problems(rng):
    """Lines, rings and cliques of up to 12 categories, rare ones too, at distortions down to 1e-12, and at none."""
    for place in range(60):
        size = int(rng.integers(2, 13))
        vertices = rng.dirichlet(np.full(size, rng.choice([0.2, 1.0])), size=int(rng.integers(1, 4)))
        if place % 4 == 0:
            vertices[:, rng.integers(size)] = 0.0
            vertices /= vertices.sum(axis=1, keepdims=True)
        budget = 0.0 if place % 5 == 0 else float(10 ** rng.uniform(-12, -1))
        graph = ["line", "ring", "clique"][place % 3] if size > 2 else "line"
        yield {"kind": "optimum", "vertices": vertices.tolist(), "budget": {"distortion": budget}, "graph": graph}


def test_only_what_is_true_is_certified_where_few_changes_are_left(tmp_path):
    line = {"kind": "optimum", "vertices": [[1 / 12] * 12], "budget": {"distortion": 0.0005}, "graph": "line"}
    problems = [line, *hard_problems(np.random.default_rng(15))]
    certified = infinite = 0
    found = answers(tmp_path, problems)
    assert found[0]["certified"] and found[0]["leakage"] == pytest.approx(8.2067655, abs=1e-7)
    for problem, answer in zip(problems, found, strict=True):
        if not answer.get("certified"):
            continue
        source = pr.SourceSet(problem["vertices"])
        notion = NOTIONS["dp"](problem, source.alphabet_size)
        best = pr.optimal_mechanism(source, **problem["budget"], notion=notion).leakage
        told = math.inf if answer["leakage"] == "inf" else answer["leakage"]
        assert told == pytest.approx(best, rel=1e-9, abs=2e-9), problem
        certified, infinite = certified + 1, infinite + (told == math.inf)
    assert certified > 40 and infinite > 5


@pytest.mark.parametrize("notion", ["leakage", "information"])
def test_without_any_change_the_bound_is_a_number_of_its_own(tmp_path, notion):
    vertices = [[0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.5, 0.0]]
    (found,) = answers(
        tmp_path, [{"kind": "optimum", "vertices": vertices, "budget": {"distortion": 0}, "notion": notion}]
    )
    assert found["certified"]
    assert math.exp(found["bound"]) == pytest.approx({"leakage": 3, "information": 5}[notion], rel=1e-12)


def test_curves_lie_on_the_exact_ones_with_both_ends_of_every_jump(tmp_path):
    sets = [[[0.5, 0.3, 0.2]], [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]], [[0.4, 0.3, 0.2, 0.1]]]
    asked = [{"kind": "curve", "vertices": vertices, "highest": 4} for vertices in sets]
    asked.append({"kind": "curve", "vertices": sets[2], "highest": 2.3, "notion": "information"})
    *found, lift = answers(tmp_path, asked)
    for vertices, curve in zip(sets, found, strict=True):
        exact = pr.exact_curve(pr.SourceSet(vertices))
        leakages = [point["leakage"] for point in curve["points"]]
        distortions = [point["distortion"] for point in curve["points"]]
        assert distortions == pytest.approx(exact.distortion(leakages), abs=1e-11)
        jump, limit = exact.breakpoints[-1], exact.limits_from_below[-1]
        told = [(end["distortion"], end["low"], end["high"]) for end in curve["jumps"]]
        assert told == ([(pytest.approx(jump), 0, pytest.approx(limit, abs=1e-8))] if limit > 1e-3 else [])
    # Maximal information jumps inside its curve: log 5 to log 10/3 at D = .1.
    inner = [end for end in lift["jumps"] if end["low"] > 0]
    assert any(
        (end["distortion"], end["low"], end["high"]) == pytest.approx((0.1, math.log(10 / 3), math.log(5)), abs=1e-7)
        for end in inner
    )


def test_folded_bounds_are_those_of_the_repaired_theorem(tmp_path):
    rng = np.random.default_rng(3)
    hulls = [np.round(rng.dirichlet(np.ones(3), size=3), 2) for _ in range(60)]
    points = [pr.load_source_set(name).vertices for name in source_set_names() if "III" in name]
    sets = [np.abs(p + np.outer(1 - p.sum(axis=1), [1, 0, 0])) for p in hulls] + points
    asked = [{"kind": "folded", "vertices": p.tolist(), "distortion": 0.3} for p in sets]
    for vertices, found in zip(sets, answers(tmp_path, asked), strict=True):
        source = pr.SourceSet(vertices)
        folding = Folding(source if vertices.shape[1] == 3 else isolated(source), ties=False)
        bounds = theorem_3(folding, 0.3, "largest")
        assert found["permutations"] == len(folding.permutations)
        assert (found["lower"], found["upper"]) == pytest.approx((bounds.lower, bounds.upper), abs=1e-9)
        if folding.intersection:
            assert found["inside"] == folding.averages_inside


def test_the_false_lower_bound_is_shown(tmp_path):
    vertices = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]
    bounds, truth = answers(
        tmp_path,
        [
            {"kind": "folded", "vertices": vertices, "distortion": 0.6},
            {"kind": "optimum", "vertices": vertices, "budget": {"distortion": 0.6}},
        ],
    )
    assert math.exp(bounds["lower"]) == pytest.approx(4 / 3) and not bounds["inside"]
    assert truth["leakage"] == 0


def test_randomized_response_costs_what_its_matrix_leaks(tmp_path):
    vertices = [[0.5, 0.3, 0.15, 0.05], [0.4, 0.3, 0.2, 0.1]]
    changed = (np.full((4, 4), Fraction(1, 10)) + Fraction(6, 10) * np.eye(4, dtype=int)).astype(float)
    kinds = [
        {"notion": "dp"},
        {"notion": "approximate", "delta": 0.1},
        {"notion": "leakage"},
        {"notion": "information"},
    ]
    asked = [{"kind": "response", "vertices": vertices, "distortion": 0.3, **about} for about in kinds]
    for about, found in zip(kinds, answers(tmp_path, asked), strict=True):
        notion = NOTIONS[about["notion"]](about, 4)
        assert found == pytest.approx(notion.leakage(changed, pr.SourceSet(vertices)), abs=1e-12)


def test_classes_are_those_of_the_package(tmp_path):
    rng = np.random.default_rng(5)
    sets = [pr.load_source_set(name).vertices.tolist() for name in source_set_names()]
    sets += [random_set(rng, int(rng.integers(2, 6))) for _ in range(60)]
    found = answers(tmp_path, [{"kind": "class", "vertices": vertices} for vertices in sets])
    assert found == [pr.SourceSet(vertices).source_class for vertices in sets]
    assert set(found) == {"I", "II", "III"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The table must have a prior; got no line"),
        ("a,b\n", "The table must have a prior; got names of categories only"),
        ("a,a\n.5,.5", "must be distinct; got a, a in row 1"),
        ("a,b\n0.5,0.5\n0.5,zwei", "Row 3, column b must be a probability; got “zwei”"),
        ("0.5,0.6", "Row 1 must sum to 1; got 1.1"),
        ("# note\n\n0.5,0.5\n1.5,-0.5", "Row 4, column 1 must be a probability; got “1.5”"),
        ("a,b,c\n0.5,0.5", "Row 2 must have 3 numbers, one for each category; got 2"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_its_value(tmp_path, text, words):
    (found,) = answers(tmp_path, [{"kind": "table", "text": text}])
    assert words in found["error"]


def test_tables_are_read_with_any_separator(tmp_path):
    texts = [
        "a,b\n0.25,0.75\n1/2, 1/2",
        "a;b\n0,25;0,75\n0,5;0,5\n",
        "a\tb\n0.25\t0.75\n.5\t.5",
        "0.25 0.75\n.5 .5",
        "1,2\n.25,.75\n.5,.5",
    ]
    for found in answers(tmp_path, [{"kind": "table", "text": text} for text in texts]):
        assert found["vertices"] == [[0.25, 0.75], [0.5, 0.5]]
        assert found["labels"] in (["a", "b"], ["x1", "x2"], ["1", "2"])


def test_an_address_keeps_the_state_and_an_edited_one_is_told(tmp_path):
    names = source_set_names()
    kept = [
        "#set=P_II_6&notion=approximate&delta=0.05&leakage=1.5",
        "#set=a,b;0.3,0.7;0.5,0.5&notion=dp&graph=line&distortion=0.2",
    ]
    edited = {
        "#notion=magic": "magic",
        "#set=0.5,0.6": "must sum to 1; got 1.1",
        "#set=P_X": "P_X",
        "#distortion=2": "between 0 and 1",
        "#x=1": "“x”",
    }
    asked = [{"kind": "address", "hash": address, "names": names} for address in [*kept, *edited]]
    found = answers(tmp_path, asked)
    assert [answer["again"] for answer in found[:2]] == kept and not any(answer["problem"] for answer in found[:2])
    for words, answer in zip(edited.values(), found[2:], strict=True):
        assert words in answer["problem"] and answer["problem"].endswith("in its place.")


def test_the_python_line_does_the_same(tmp_path):
    vertices = [[0.3, 0.5, 0.2], [0.5, 0.3, 0.2]]
    states = [
        {"set": "P_II_4", "notion": "leakage", "by": "distortion", "distortion": 0.3},
        {"set": "uniform_3", "notion": "dp", "graph": "ring", "by": "leakage", "leakage": 1},
        {"set": {}, "notion": "approximate", "delta": 0.1, "by": "distortion", "distortion": 0.3},
    ]
    asked = [{"kind": "python", "state": state, "vertices": vertices, "labels": ["a", "b", "c"]} for state in states]
    found = [eval(line, {"pr": pr}) for line in answers(tmp_path, asked)]
    assert found[0].notion == pr.MaximalLeakage() and found[0].budget == {"distortion": 0.3}
    assert found[1].distortion == pytest.approx(2 / (math.e + 2))
    assert list(found[2].source.labels) == ["a", "b", "c"] and found[2].notion == pr.ApproximateDP(0.1)
