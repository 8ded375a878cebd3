"""Files made by hand to deceive the checker, or to keep it busy for ever: each is refused by one line."""

import copy
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.certificates import checker

SOURCE = pr.SourceSet([["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"]])
PRIVATE = pr.optimal_mechanism(SOURCE, distortion="1/5").certificate
LINE = pr.optimal_mechanism(SOURCE, leakage=math.log(2), notion=pr.DifferentialPrivacy(pr.line(3))).certificate
RENYI = pr.optimal_mechanism(SOURCE, distortion="1/5", notion=pr.RenyiDP(2)).certificate
MUTUAL = pr.optimal_mechanism(SOURCE, distortion="1/5", notion=pr.MutualInformation()).certificate
SIBSON = pr.optimal_mechanism(SOURCE, distortion="1/5", notion=pr.SibsonInformation(2)).certificate
ENDLESS = pr.optimal_mechanism(SOURCE, distortion=0).certificate
BETWEEN = pr.optimal_mechanism(
    pr.SourceSet.from_intervals([0.3, 0.2, 0.1], [0.5, 0.4, 0.3]), distortion="1/5"
).certificate
UNEVEN = pr.optimal_mechanism(
    pr.SourceSet.from_intervals([0.6, 0.1, 0], [0.8, 0.3, 0.1]), leakage=0.5, notion=pr.MaximalLeakage()
).certificate
FLOORS = pr.optimal_mechanism(SOURCE, distortion="1/5", keep_at_least=0.7).certificate
FEW = "9" * 1999


def changed(certificate, path, value):
    """The same with one field changed, or left out, and seals that fit."""
    found = copy.deepcopy(certificate)
    place = found
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    common = {name: part for name, part in found.items() if name != "points"}
    for point in found["points"] if isinstance(found.get("points"), list) else ():
        if isinstance(point, dict):
            point["seal"] = checker.seal(common, point)
    return found


POINT = ("points", 0)
ATTACKS = {
    "no vertices": (PRIVATE, ("source_set", "vertices"), []),
    "vertices of no letters": (PRIVATE, ("source_set", "vertices"), [[], []]),
    "vertices that are objects": (PRIVATE, ("source_set", "vertices"), [{"0": "1"}]),
    "no source set": (PRIVATE, ("source_set",), None),
    "no points": (PRIVATE, ("points",), []),
    "points that are an object": (PRIVATE, ("points",), {"0": {}}),
    "negative multipliers": (PRIVATE, (*POINT, "multipliers"), ["-1", "40"]),
    "negative comparisons": (LINE, (*POINT, "comparisons"), [["-1", "0", "0"]] * 4),
    "negative probabilities": (PRIVATE, ("source_set", "vertices", 0), ["2", "-1/2", "-1/2"]),
    "a negative change": (PRIVATE, (*POINT, "mechanism", "distortions"), ["-1", "0", "0"]),
    "weights below those of the loads": (MUTUAL, (*POINT, "weights"), ["0", "1"]),
    "no loads": (RENYI, (*POINT, "loads"), ["0"] * 6),
    "ratios of 0": (MUTUAL, (*POINT, "comparisons"), [["0", "0", "0"]] * 3),
    "NaN": (PRIVATE, (*POINT, "distortion"), "nan"),
    "Infinity": (PRIVATE, (*POINT, "distortion"), "Infinity"),
    "an infinite distortion": (PRIVATE, (*POINT, "distortion"), "infinity"),
    "an infinite multiplier": (PRIVATE, (*POINT, "multipliers"), ["infinity", "0"]),
    "1e400": (PRIVATE, (*POINT, "distortion"), "1e400"),
    "an exponent of nine digits": (PRIVATE, (*POINT, "distortion"), "1e999999999"),
    "unicode digits": (PRIVATE, (*POINT, "distortion"), "\u0661/\u0665"),
    "an underscore": (PRIVATE, (*POINT, "distortion"), "0.2_0"),
    "a sign and a space": (PRIVATE, (*POINT, "distortion"), " +0.2\n"),
    "a truth value for a number": (PRIVATE, (*POINT, "distortion"), True),
    "a float for a number": (PRIVATE, (*POINT, "distortion"), 0.2),
    "a truth value for a text": (PRIVATE, ("notion", "name"), True),
    "a number for a truth value": (FLOORS, ("invariant",), "true"),
    "a fraction over 0": (PRIVATE, (*POINT, "distortion"), "1/0"),
    "more digits than there are": (PRIVATE, (*POINT, "distortion"), "1" * 5000),
    "another notion": (PRIVATE, ("notion", "name"), "maximal leakage"),
    "another notion of tables": (RENYI, ("notion",), {"name": "differential privacy"}),
    "a notion unheard of": (PRIVATE, ("notion", "name"), "privacy"),
    "another order": (RENYI, ("notion", "order"), "3"),
    "a smaller order": (RENYI, ("notion", "order"), "1/2"),
    "an order that takes for ever": (RENYI, ("notion", "order"), "1e300"),
    "a delta of 1": (
        changed(PRIVATE, ("notion",), {"name": "approximate differential privacy"}),
        ("notion", "delta"),
        "1",
    ),
    "a field without meaning": (PRIVATE, (*POINT, "note"), "true"),
    "a field of another notion": (PRIVATE, ("notion", "order"), "2"),
    "a field that is not needed": (PRIVATE, (*POINT, "comparisons"), []),
    "two budgets": (PRIVATE, (*POINT, "ratio"), "2"),
    "a bound of the other kind": (PRIVATE, (*POINT, "least_distortion"), "0.1"),
    "nats for a ratio": (PRIVATE, (*POINT, "least_leakage"), "1"),
    "a distortion above what was proved": (PRIVATE, (*POINT, "distortion"), "1/4"),
    "a distortion below what is had": (PRIVATE, (*POINT, "distortion"), "1/6"),
    "infinite where it is not": (PRIVATE, (*POINT, "least_ratio"), "infinity"),
    "a chain from nowhere": (ENDLESS, (*POINT, "chain"), [["7", "8"]]),
    "a chain of halves": (ENDLESS, (*POINT, "chain"), [["1/2", "1"]]),
    "no chain": (ENDLESS, (*POINT, "chain"), []),
    "infinite at a distortion that is not 0": (ENDLESS, (*POINT, "distortion"), "1/10"),
    "no floors": (changed(FLOORS, ("at_least",), [["0"] * 3] * 3), (*POINT, "most_ratio"), "4"),
    "floors that are broken": (FLOORS, ("at_least", 0, 0), "0.95"),
    "nothing allowed": (FLOORS, ("at_most",), [["0"] * 3] * 3),
    "vertices beside the intervals": (BETWEEN, ("source_set", "lower", 0), "0.45"),
    "intervals of one end": (BETWEEN, ("source_set", "lower"), None),
    "wider intervals": (UNEVEN, ("source_set", "upper"), ["1", "1", "1"]),
    "neighbors that are none": (LINE, ("notion", "weights"), [["-1", "-1", "-1"]] * 3),
    "looser weights": (LINE, ("notion", "weights", 0, 1), "2"),
    "huge weights": (LINE, ("notion", "weights", 0, 1), "1e300"),
    "too many letters": (PRIVATE, ("source_set", "vertices"), [["1"] + ["0"] * 2000]),
    "too many rows": (RENYI, ("source_set", "vertices"), [["1"] + ["0"] * 400]),
    "denominators without end": (
        PRIVATE,
        ("source_set", "vertices"),
        [[f"1/{int(FEW) - 2 * i}" for i in range(300)]] * 2,
    ),
    "a mechanism of another size": (LINE, (*POINT, "mechanism", "matrix"), [["1"]]),
    "rows that do not sum to 1": (LINE, (*POINT, "mechanism", "matrix", 0), ["1", "1", "0"]),
    "costs below 0": (changed(LINE, ("costs",), [["-1"] * 3] * 3), (*POINT, "least_distortion"), "0.9"),
    "a seal without meaning": (PRIVATE, ("format",), "privacy-distortion certificate, version 1"),
}


def texts():
    """Files whose text is wrong."""
    good = json.dumps(PRIVATE)
    yield "a key twice", good.replace('"format"', '"format": "x", "format"', 1)
    yield "a key of a point twice", good.replace('"distortion": "0.2"', '"distortion": "0.1", "distortion": "0.2"', 1)
    yield "two documents", good + "\n" + good
    yield "a list of documents", f"[{good}]"
    yield "NaN", good.replace('"0.2"', "NaN", 1)
    yield "Infinity", good.replace('"0.2"', "-Infinity", 1)
    yield "1e400", good.replace('"0.2"', "1e400", 1)
    yield "deep", '{"format": ' + "[" * 100_000
    yield "half a document", good[:-20]
    yield "a comment", "// true\n" + good
    yield "a whole number without end", good.replace('"0.2"', "1" * 100_000, 1)


@pytest.mark.parametrize(("certificate", "path", "value"), ATTACKS.values(), ids=ATTACKS)
def test_what_is_false_or_senseless_is_refused(certificate, path, value):
    with pytest.raises(checker.Refused) as refusal:
        checker.check(changed(certificate, path, value))
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 400


@pytest.mark.parametrize("text", [text for _, text in texts()], ids=[name for name, _ in texts()])
def test_a_file_is_one_document_of_texts(text, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(text, encoding="utf-8")
    assert checker.report([str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_random_multipliers_prove_nothing_that_is_false():
    """A claim above the optimum is refused, whatever is put for the multipliers."""
    rng, point = np.random.default_rng(0), LINE["points"][0]
    above = str(Fraction(point["least_distortion"]) * (1 + Fraction(1, 10**9)))
    for _ in range(100):
        forged = changed(LINE, (*POINT, "least_distortion"), above)
        forged = changed(forged, (*POINT, "multipliers"), [str(x) for x in rng.integers(0, 9, 2)])
        scale = 10.0 ** rng.integers(-3, 2)
        table = [[f"{scale * x:.6f}" for x in row] for row in rng.exponential(size=(4, 3)) * rng.integers(0, 2, (4, 3))]
        with pytest.raises(checker.Refused):
            checker.check(changed(forged, (*POINT, "comparisons"), table))


def test_multipliers_of_nothing_prove_nothing():
    """All of them 0, and a claim far beyond the optimum."""
    for certificate in (PRIVATE, LINE, RENYI, MUTUAL, SIBSON, BETWEEN, UNEVEN, FLOORS):
        forged = certificate
        for name, value in certificate["points"][0].items():
            if name.startswith(("least_", "most_")):
                forged = changed(forged, (*POINT, name), "1" if name.endswith("distortion") else "40")
            elif isinstance(value, list):
                forged = changed(forged, (*POINT, name), nothing(value))
        with pytest.raises(checker.Refused):
            checker.check(forged)


def nothing(content):
    """Zeros in that shape."""
    return [nothing(part) for part in content] if isinstance(content, list) else "0"


WEIGHTED = pr.optimal_mechanism(
    SOURCE,
    leakage=math.log(2),
    notion=pr.DifferentialPrivacy(pr.Adjacency.from_weights([[0, 1, 2], [1, 0, 1], [2, 1, 0]])),
).certificate


@pytest.mark.parametrize(
    "certificate", [ENDLESS, FLOORS, BETWEEN, WEIGHTED], ids=["endless", "floors", "between", "weights"]
)
def test_a_digit_changed_is_refused_unless_all_that_is_claimed_is_true(certificate):
    """With seals that fit: what is still accepted has the optimum, which has not moved, between its bounds."""
    (point,) = certificate["points"]
    bounds = [name for name in point if name.startswith(("least_", "most_"))]
    optimum = math.inf if point[bounds[0]] == "infinity" else float(Fraction(point[bounds[0]]))
    for name in point:
        for path, text in leaves(point[name], (*POINT, name)) if name not in ("seal", "distortion", "ratio") else ():
            for place, digit in enumerate(text):
                if digit.isdigit():
                    other = text[:place] + str((int(digit) + 1) % 10) + text[place + 1 :]
                    forged = changed(certificate, path, other)
                    try:
                        checker.check(forged)
                    except checker.Refused:
                        continue
                    texts = [forged["points"][0][bound] for bound in bounds]
                    least, most = (math.inf if text == "infinity" else float(Fraction(text)) for text in texts)
                    assert least <= optimum * (1 + 1e-15) and most >= optimum * (1 - 1e-15)


def leaves(content, path):
    """Texts of a field, with the way to each."""
    if isinstance(content, str):
        yield path, content
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))
