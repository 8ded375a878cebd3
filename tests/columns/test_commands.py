"""The walk of a newcomer, command by command; the examples that the help shows; and errors of one line."""

import json
import os
import re
import shlex
import signal

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.cli import main
from paper_repro.columns import commands, releasing

pytest.importorskip("pyarrow")

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
        line.startswith("Error: survey.csv: column 'eye_color': ") and "values are missing, the first in row " in line
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
    assert call(*asked, "--output", "private.parquet", code=1).stderr.startswith("Error: private.parquet exists")

    asked = ("estimate", "private.parquet", "--column", "eye_color", "--mechanism", "private.mechanism.json")
    found = json.loads(call(*asked, "--of", "sample", "--json").stdout)["estimates"]
    truth = people["eye_color"].value_counts(normalize=True)
    for row in found:
        assert abs(row["frequency"] - truth[row["category"]]) < 5 * row["standard error"]
    assert "agrees" in call("inspect", "private.mechanism.json").stdout


def test_the_examples_of_the_help_run(call, tmp_path, rng):
    people = survey(2_000, rng).dropna()
    people.to_csv("survey.csv", index=False)
    pd.DataFrame({"year": ["a", "b"], "blue": [50, 60], "brown": [30, 30]}).to_parquet("years.parquet")
    count = 0
    for command in (commands.tradeoff, commands.release, commands.estimate, commands.inspect):
        text = CliRunner().invoke(main, [command.name, "--help"], terminal_width=300).stdout
        for example in re.findall(r"^ +paper-repro (.+)$", text, re.MULTILINE):
            if command is commands.estimate and "--by" in example:
                continue  # as the line before, for each region
            call(*shlex.split(example))
            count += 1
    assert count >= 10
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
        (["tradeoff", "lost.csv", "--column", "eyes"], 1, "Error: no file lost.csv"),
        (["tradeoff", ".", "--column", "eyes"], 1, "Error: . is a folder"),
        (["tradeoff", "eyes.csv"], 2, "name the column of categories: --column"),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--at", "1.5"], 2, "'--at': distortion must be a probability"),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--confidence", "1.5"], 1, "1.5"),
        (["tradeoff", "eyes.csv", "--column", "eyes", "--picture", "eyes.txt"], 2, "must end in .png"),
        (["release", "eyes.csv", "--column", "eyes"], 2, "give exactly one budget"),
        (["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--key", "k"], 2, "--key has no effect"),
        (
            ["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--output", "x.xls"],
            1,
            "must end in .csv",
        ),
        (
            ["release", "eyes.csv", "--column", "eyes", "--distortion", "0.2", "--source", "lost.csv"],
            1,
            "no source set",
        ),
        (["estimate", "eyes.csv", "--column", "eyes", "--mechanism", "lost.json"], 1, "lost.json"),
        (["inspect", "eyes.csv"], 1, "eyes.csv"),
    ],
)
def test_bad_input_is_one_line(call, arguments, code, match):
    pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40}).to_csv("eyes.csv", index=False)
    result = call(*arguments, code=code)
    assert result.stdout == ""
    assert match in result.stderr.splitlines()[-1]
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
