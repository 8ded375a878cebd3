"""The walk of a newcomer, command by command; the examples that the help shows; and errors of one line."""

import ast
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.cli import main
from paper_repro.columns import releasing
from paper_repro.columns.options import in_flags

pytest.importorskip("pyarrow")

EYES = ["tradeoff", "eyes.csv", "--column", "eyes"]
CATEGORIES = [f"{number:02d}" for number in range(1, 13)]  # leading zeros


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def _call(*arguments, code=0):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), "a traceback, not a message"
        assert result.exit_code == code, result.output
        return result

    return _call


def survey(rows, rng):
    prior = np.arange(12, 0, -1) / 78
    eyes = np.array(CATEGORIES, dtype=object)[rng.choice(12, rows, p=prior)]
    eyes[rng.random(rows) < 0.01] = None
    regions = rng.choice(["north", "south"], rows)
    return pd.DataFrame({"id": [f"{number:07d}" for number in range(rows)], "eye_color": eyes, "region": regions})


def test_the_walk_of_a_newcomer(call, tmp_path, rng):
    people = survey(200_000, rng)
    people.to_csv("survey.csv", index=False)
    before = (tmp_path / "survey.csv").read_bytes()
    line = call("tradeoff", "survey.csv", "--column", "eye_color", code=1).stderr
    assert (
        line.startswith("Error: column 'eye_color' of 'survey.csv' must have a value in each row; got ")
        and "values missing, the first in row " in line
        and "Add --missing category" in line
    )

    told = json.loads(
        call("tradeoff", "survey.csv", "--column", "eye_color", "--missing", "keep", "--at", 0.3, "--json").stdout
    )
    (point,) = told["points"]
    assert told["class"] in ("II", "III")
    assert point["least"] < point["estimable"] < point["nothing_known"]
    assert point["nothing_known"] == pytest.approx(np.log(0.7 * 11 / 0.3))

    asked = ("release", "survey.csv", "--column", "eye_color", "--missing", "keep", "--distortion", 0.3)
    assert "Nothing was written" in call(*asked).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]
    report = json.loads(call(*asked, "--output", "private.parquet", "--json").stdout)
    (stratum,) = report["strata"]
    assert stratum["leakage"] == pytest.approx(point["estimable"], abs=1e-9)
    assert (tmp_path / "survey.csv").read_bytes() == before
    private = pd.read_parquet("private.parquet")
    assert private["id"].tolist() == people["id"].tolist()
    assert set(private["eye_color"].dropna()) == set(CATEGORIES)
    changed = (private["eye_color"] != people["eye_color"])[people["eye_color"].notna()].mean()
    assert changed <= 0.3 + 5 * np.sqrt(0.25 / 200_000)
    assert call(*asked, "--output", "private.parquet", code=1).stderr.startswith(
        "Error: --output must not exist; got 'private.parquet'"
    )

    asked = ("estimate", "private.parquet", "--column", "eye_color", "--mechanism", "private.mechanism.json")
    found = json.loads(call(*asked, "--of", "sample", "--json").stdout)["estimates"]
    truth = people["eye_color"].value_counts(normalize=True)
    for row in found:
        assert abs(row["frequency"] - truth[row["category"]]) < 5 * row["standard error"]
    assert "agrees" in call("inspect", "private.mechanism.json").stdout


@pytest.fixture
def asked(monkeypatch):
    """What takes minutes, with what it was asked for: the figures, the notebooks and the ledger."""
    asked = {"run_figures": [], "refresh_notebooks": [], "judge": []}
    monkeypatch.setattr(
        "paper_repro.cli.run_figures", lambda *told, **more: asked["run_figures"].append((told, more)) or []
    )
    monkeypatch.setattr(
        "paper_repro.cli.refresh_notebooks", lambda **more: asked["refresh_notebooks"].append(more) or []
    )
    monkeypatch.setattr("paper_repro.cli.judge", lambda count, **_: asked["judge"].append(count) or [])
    monkeypatch.setattr("paper_repro.cli.compare", lambda *_, **__: [])
    return asked


def test_the_examples_of_the_help_run(call, tmp_path, rng, asked):
    people = survey(2_000, rng).dropna()
    people.to_csv("survey.csv", index=False)
    pd.DataFrame({"year": ["a", "b"], "blue": [50, 60], "brown": [30, 30]}).to_csv("years.csv", index=False)
    Path("priors.csv").write_text("blue,brown,green\n0.5,0.3,0.2\n0.4,0.3,0.3\n")
    pr.optimal_mechanism(pr.load_source_set("P_II_4"), distortion="1/5").write_certificate("best.json")
    ran = {}
    for name in ("best", "check", "tradeoff", "release", "estimate", "inspect", "figures", "notebooks", "verify", None):
        text = CliRunner().invoke(main, [*filter(None, [name]), "--help"], terminal_width=300).stdout
        lines = re.findall(r"^ +privacy-distortion (.+)$", text.partition("Examples:")[2], re.MULTILINE)
        assert lines, name
        for example in lines:
            call(*shlex.split(example))
            ran.setdefault(name, []).append(example)
    assert (
        len(ran["release"]) == 4 and len(ran["tradeoff"]) == 4 and len(ran["estimate"]) == 3 and len(ran["best"]) == 3
    )
    assert len(asked["run_figures"]) == 3 and len(asked["refresh_notebooks"]) == 2 and asked["judge"] == [500, 4, 4]
    assert (tmp_path / "eyes.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "key.bin").stat().st_mode & 0o777 == 0o600


def test_a_release_that_is_terminated_leaves_nothing(call, tmp_path, monkeypatch):
    pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40}).to_csv("eyes.csv", index=False)

    def terminated(*arguments):
        yield from released(*arguments)
        os.kill(os.getpid(), signal.SIGTERM)

    released = releasing._released
    monkeypatch.setattr(releasing, "_released", terminated)
    result = call("release", "eyes.csv", "--column", "eyes", "--distortion", 0.2, "--output", "out.csv", code=1)
    assert result.stderr.strip().endswith("Aborted!")
    assert [path.name for path in tmp_path.iterdir()] == ["eyes.csv"]


def sentences(path):
    """What a module says where it raises, warns or takes note, with X for what is filled in."""

    def text(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return "".join(map(text, node.values)) if isinstance(node, ast.JoinedStr) else "X"

    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise | ast.Yield) or (isinstance(node, ast.Call) and ast.unparse(node.func) in SAY):
            parts = {part for whole in ast.walk(node) if isinstance(whole, ast.JoinedStr) for part in whole.values}
            for inner in set(ast.walk(node)) - parts:
                if isinstance(inner, ast.JoinedStr) or (isinstance(inner, ast.Constant) and " " in str(inner.value)):
                    yield text(inner)


SAY = ("warnings.warn", "found.append", "checked", "_REFUSED.format", "_AS_WRITTEN.format", "wrong")


def test_each_sentence_speaks_its_users_language():
    package, told = Path(pr.__file__).parent, 0
    ours = {package / "columns" / name for name in ("commands.py", "options.py")}
    every = [*main.commands.values()]
    names = {option.name for command in every for option in command.params if option.name != option.opts[0].strip("-")}
    for path in [
        *package.glob("columns/*.py"),
        *package.glob("knowledge/*.py"),
        package / "notions" / "constrained.py",
    ]:
        for sentence in sentences(path):
            told += 1
            if path in ours:
                assert not re.search(r"\w=[\w'.]", sentence), (path.name, sentence)
                continue
            assert "--" not in sentence, (path.name, sentence)
            in_options = in_flags(sentence, every)
            assert "knowledge" in path.parts or not re.search(r"\w\.\w+\(", in_options), (path.name, in_options)
            assert not re.search(rf"(?<![-\w'])({'|'.join(names & set(LONG))})(?![-\w'])", in_options), in_options
            assert not re.search(r"(?<![\w-])[a-z_]+=", in_options), (path.name, in_options)
    assert told > 100


LONG = ("keep_at_least", "consistent_by", "missing_values")


def test_commands_import_no_more_than_they_need(tmp_path):
    pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40}).to_csv(tmp_path / "eyes.csv", index=False)
    program = """
import sys
from click.testing import CliRunner
from paper_repro.cli import main
about = ["eyes.csv", "--column", "eyes"]
for line in (["tradeoff", *about], ["release", *about, "--distortion", "0.2", "--output", "out.csv"],
             ["estimate", "out.csv", *about[1:], "--mechanism", "out.mechanism.json"], ["inspect", "out.mechanism.json"]):
    assert CliRunner().invoke(main, line).exit_code == 0
print(*sorted({"pandas", "scipy.stats", "statsmodels", "matplotlib", "distributed"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_a_key_is_ones_own_and_agrees_again(call, tmp_path):
    eyes = pd.DataFrame({"id": np.arange(400), "eyes": ["blue", "brown", "blue", "green"] * 100})
    eyes.to_csv("eyes.csv", index=False)
    asked = ("--column", "eyes", "--distortion", 0.3, "--source", "unknown", "--consistent-by", "id")
    assert "is not kept" in call("release", "eyes.csv", *asked).stdout
    call("release", "eyes.csv", *asked, "--key", "key", "--output", "whole.csv")
    call("release", "eyes.csv", *asked, "--key", "key", "--output", "again.csv")
    assert Path("whole.csv").read_bytes() == Path("again.csv").read_bytes()
    os.chmod("key", 0o644)
    assert "must be a file that only you may read" in call("release", "eyes.csv", *asked, "--key", "key", code=1).stderr
    os.chmod("key", 0o600)
    assert "is not kept" not in call("release", "eyes.csv", *asked, "--key", "key").stdout
    assert "--key must be a file; got the folder" in call("release", "eyes.csv", *asked, "--key", ".", code=1).stderr


def test_a_long_table_has_no_frame_and_all_rows(call):
    people = pd.DataFrame({"eyes": ["blue", "brown", "blue"] * 1000, "group": np.arange(3000) // 10})
    people.to_csv("eyes.csv", index=False)
    call("release", "eyes.csv", "--column", "eyes", "--distortion", 0.2, "--output", "out.csv")
    asked = ("estimate", "out.csv", "--column", "eyes", "--mechanism", "out.mechanism.json", "--by", "group")
    found = call(*asked)
    assert len(found.stdout.splitlines()) == 2 + 600 and found.stdout.count("\t") == 601 * 6
    told = json.loads(call(*asked, "--json").stdout)
    rows = told["estimates"]
    outside = [row for row in rows if not row["lower"] <= row["frequency"] <= row["upper"]]
    assert bool(outside) == any("may be below 0" in note for note in told["notes"])
    assert sum(row["frequency"] for row in rows) == pytest.approx(1)


def test_a_matrix_of_ones_own_is_compared(call):
    pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40}).to_csv("eyes.csv", index=False)
    with open("pram.csv", "w") as file:
        file.write("brown,blue\n0.9,0.1\n0.3,0.7\n")
    told = json.loads(
        call(
            "tradeoff", "eyes.csv", "--column", "eyes", "--source", "frequencies", "--pram", "pram.csv", "--json"
        ).stdout
    )
    assert told["pram"]["distortion"] == pytest.approx(0.6 * 0.3 + 0.4 * 0.1)
    assert told["pram"]["leakage"] == pytest.approx(np.log(7))
    best = pr.optimal_mechanism(pr.SourceSet([0.6, 0.4]), distortion=told["pram"]["distortion"])
    assert told["pram"]["least"] == pytest.approx(best.leakage)


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        (["tradeoff", "lost.csv", "--column", "eyes"], 1, "Error: TABLE must be a CSV or Parquet file; got 'lost.csv'"),
        (["tradeoff", ".", "--column", "eyes"], 1, "Error: TABLE must be a CSV or Parquet file; got the folder '.'"),
        (["tradeoff", "eyes.csv"], 2, "--column must be given without --each-row; got nothing. Add --column NAME."),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--at", "1.5"], 2, "--at must be a probability"),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--confidence", "1.5"], 2, "--confidence must be a probability"),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--picture", "eyes.txt"], 1, "must end in .png"),
        (
            ["release", "eyes.csv", "--column", "eyes"],
            2,
            "--distortion or --leakage must be given, exactly one of the two; got neither",
        ),
        (
            ["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--key", "k"],
            2,
            "--key must be left out without --consistent-by; got 'k'",
        ),
        (
            ["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--output", "x.xls"],
            1,
            "must end in .csv",
        ),
        (
            ["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--source", "lost.csv"],
            1,
            "the file of a source set must exist; got 'lost.csv'",
        ),
        (["estimate", "eyes.csv", "--column", "eyes", "--mechanism", "lost.json"], 1, "lost.json"),
        (["inspect", "eyes.csv"], 1, "eyes.csv"),
        (
            [*EYES, "--at", "0.1", "--notion", "maximal leakage", "--notion", "mutual information"],
            2,
            "--notion must be given once; got it 2 times",
        ),
        ([*EYES, "--json", "--json"], 2, "--json must be given once; got it 2 times"),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--estimable", "--bare"],
            2,
            "--estimable or --bare must be given once; got it 2 times",
        ),
        ([*EYES, "--alpha", "2"], 2, "--alpha must be left out with --notion 'differential privacy'; got 2.0"),
        (
            [*EYES, "--source", "unknown", "--confidence", "0.9"],
            2,
            "--confidence must be left out with --source unknown; got 0.9",
        ),
        (
            [*EYES, "--source", "guesses"],
            2,
            "--source must be one of counts, frequencies, order, unknown, or a .csv file",
        ),
        ([*EYES, "--scheduler", "tcp://127.0.0.1:1"], 2, "--scheduler must be left out without --each-row"),
        (["tradeoff", "eyes.csv", "--each-row", "--missing", "keep"], 2, "--missing must be left out with --each-row"),
        (
            ["tradeoff", "eyes.parquet", *EYES[2:], "--encoding", "latin-1"],
            1,
            "--encoding must be left out for a Parquet file; got 'latin-1'",
        ),
        (
            ["tradeoff", "eyes.parquet", *EYES[2:], "--missing-value", "NA"],
            1,
            "--missing-value must be left out for a Parquet file; got ['NA']",
        ),
        (["tradeoff", "fake.parquet", *EYES[2:]], 1, "got 'fake.parquet', whose content is not Parquet"),
        ([*EYES, "--picture", "lost/eyes.png"], 1, "--picture must be in an existing folder; got 'lost/eyes.png'"),
        ([*EYES, "--picture", "eyes.png"], 1, "--picture must not exist; got 'eyes.png'"),
        (["release", *EYES[1:], "--leakage", "0"], 1, "--leakage must be above 0 for estimable frequencies; got 0"),
        (["release", *EYES[1:], "--leakage", "inf"], 1, "--leakage must be such that values change; got inf"),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--output", "."],
            1,
            "--output must be a file; got the folder '.'",
        ),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--keep-at-least", "2"],
            1,
            "--keep-at-least must be a probability",
        ),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--keep-at-least", "violet=1/2"],
            1,
            "--keep-at-least must name categories of the source set, ['blue', 'brown']; got 'violet'.",
        ),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--keep-at-least", "0.5", "--keep-at-least", "violet=1/2"],
            2,
            "--keep-at-least must be one number for all categories, or one for each CATEGORY; got '0.5 violet=1/2'",
        ),
        (
            ["release", *EYES[1:], "--distortion", "0.2", "--invariant"],
            1,
            "--invariant must be False for intervals, as it keeps the frequencies of known priors",
        ),
        (
            ["release", *EYES[1:], "--distortion", "0.3", "--by", "region"],
            1,
            "stratum 'south': --distortion must be below",
        ),
        (
            ["release", "eyes.csv", "--column", "id", "--distortion", "0.3"],
            1,
            "must have fewer than 50 different values in 100 rows; got 50, as of a key",
        ),
    ],
)
def test_bad_input_is_one_line(call, arguments, code, match):
    eyes = pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40, "region": ["north", "north", "south", "north"] * 25})
    eyes.loc[eyes["region"] == "south", "eyes"] = "blue"
    eyes["id"] = np.arange(100) // 2
    eyes.to_csv("eyes.csv", index=False)
    eyes.to_parquet("eyes.parquet")
    eyes.to_csv("fake.parquet", index=False)
    Path("eyes.png").touch()
    result = call(*arguments, code=code)
    assert result.stdout == ""
    assert match in result.stderr.splitlines()[-1]
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
