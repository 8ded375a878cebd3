"""Bad command lines and calls for columns: each has one clear message, in one form, and writes nothing."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.cli import main
from paper_repro.columns.documents import words_of
from paper_repro.columns.estimating import estimate_counts, weights
from paper_repro.columns.releasing import release
from paper_repro.columns.tables import open_table
from paper_repro.columns.tradeoffs import tradeoffs_of_rows

pytest.importorskip("pyarrow")

# What must be, what was given, and in most cases what to do: one line without control characters.
FORM = re.compile(r".+ must .+; got .+[.?]", re.DOTALL)
COUNTS = {"blue": 6013, "brown": 2977, "green": 1010}

LINES = r"""
best
best P_II_6
best P_II_6 P_II_4 --distortion 0.2
best P_II_6 --distortion 0.2 --leakage 1
best P_II_6 --distortion 20%
best P_II_6 --distortion 0,2
best P_II_6 --distortion +0,2
best P_II_6 --distortion -0.2
best P_II_6 --distortion 1/0
best P_II_6 --distortion ''
best P_II_6 --distortion nan
best P_II_6 --distortion "much"
best P_II_6 --distortion "\x1b[31m"
best P_II_6 --leakage -1
best P_II_6 --leakage 1nat
best P_II_6 --distortion
best P_II_6 --distorsion 0.2
best P_II_6 --distortion 0.2 --distortion 0.3
best P_II_6 --distortion 0.2 --notion dp
best P_II_6 --distortion 0.2 --notion "Differential"
best P_II_6 --distortion 0.2 --alpha 2
best P_II_6 --distortion 0.2 --delta 0.1
best P_II_6 --distortion 0.2 --standard
best P_II_6 --distortion 0.2 --standard=yes
best P_II_6 --distortion 0.2 --notion 'mutual information' --standard
best P_II_6 --distortion 0.2 --notion 'approximate differential privacy' --delta 1
best P_II_6 --distortion 0.2 --notion 'approximate differential privacy' --delta 10%
best P_II_6 --distortion 0.2 --notion 'Sibson information' --alpha 0.5
best P_II_6 --distortion 0.2 --notion 'Renyi differential privacy' --alpha two
best P_II_7 --distortion 0.2
best lost.csv --distortion 0.2
best ragged.csv --distortion 0.2
besst P_II_6
release
release survey.csv
release survey.csv --distortion 0.2
release --column eyes --distortion 0.2
release lost.csv --column eyes --distortion 0.2
release folder --column eyes --distortion 0.2
release empty.csv --column eyes --distortion 0.2
release header.csv --column eyes --distortion 0.2
release ragged.csv --column a --distortion 0.2
release latin.csv --column eyes --distortion 0.2
release latin.csv --column eyes --distortion 0.2 --encoding klingon
release twice.csv --column a --distortion 0.2
release book.csv --column a --distortion 0.2
release fake.parquet --column a --distortion 0.2
release survey.csv --column eye --distortion 0.2
release survey.csv --column "e\x07yes" --distortion 0.2
release survey.csv --column eyes
release survey.csv --column eyes --distortion 0.2 --leakage 1
release survey.csv --column eyes --distortion 1.2
release survey.csv --column eyes --distortion 0
release survey.csv --column eyes --distortion 1
release survey.csv --column eyes --distortion 1e-30
release survey.csv --column eyes --leakage 0
release survey.csv --column eyes --leakage inf
release survey.csv --column eyes --leakage -2
release survey.csv --column eyes --distortion 0.2 --output out.xls
release survey.csv --column eyes --distortion 0.2 --output folder
release survey.csv --column eyes --distortion 0.2 --output lost/out.csv
release survey.csv --column eyes --distortion 0.2 --output survey.csv
release survey.csv --column eyes --distortion 0.2 --source guess
release survey.csv --column eyes --distortion 0.2 --source lost.csv
release survey.csv --column eyes --distortion 0.2 --source other.csv
release survey.csv --column eyes --distortion 0.2 --confidence 95
release survey.csv --column eyes --distortion 0.2 --confidence 95%
release survey.csv --column eyes --distortion 0.2 --confidence much
release survey.csv --column eyes --distortion 0.2 --source unknown --confidence 0.9
release survey.csv --column eyes --distortion 0.2 --missing drop
release survey.csv --column gaps --distortion 0.2
release survey.csv --column id --distortion 0.2
release survey.csv --column constant --distortion 0.2
release survey.csv --column nothing --distortion 0.2
release survey.csv --column eyes --distortion 0.2 --by eyes
release survey.csv --column eyes --distortion 0.2 --by regions
release survey.csv --column eyes --distortion 0.2 --consistent-by eyes
release survey.csv --column eyes --distortion 0.2 --consistent-by gaps --output out.csv
release survey.csv --column eyes --distortion 0.2 --key key.bin
release survey.csv --column eyes --distortion 0.2 --consistent-by id --key folder
release survey.csv --column eyes --distortion 0.2 --consistent-by id --key short.bin
release survey.csv --column eyes --distortion 0.2 --consistent-by id --key open.bin
release survey.csv --column eyes --distortion 0.2 --consistent-by id --seed 1
release survey.csv --column eyes --distortion 0.2 --seed a
release survey.csv --column eyes --distortion 0.2 --seed 1.5
release survey.csv --column eyes --distortion 0.2 --seed -1
release survey.csv --column eyes --distortion 0.2 --estimable --bare
release survey.csv --column eyes --distortion 0.2 --estimable=no
release survey.csv --column eyes --distortion 0.2 --keep-at-least 2
release survey.csv --column eyes --distortion 0.2 --keep-at-least much
release survey.csv --column eyes --distortion 0.2 --keep-at-least violet=0.5
release survey.csv --column eyes --distortion 0.2 --keep-at-least 0.5 --keep-at-least blue=0.6
release survey.csv --column eyes --distortion 0.2 --forbidden blue
release survey.csv --column eyes --distortion 0.2 --forbidden blue violet
release survey.csv --column eyes --distortion 0.2 --costs lost.csv
release survey.csv --column eyes --distortion 0.2 --costs other.csv
release survey.csv --column eyes --distortion 0.2 --costs words.csv
release survey.csv --column eyes --distortion 0.2 --losses costs.csv
release survey.csv --column eyes --distortion 0.2 --scheduler here
tradeoff survey.csv
tradeoff survey.csv --column eyes --at 30%
tradeoff survey.csv --column eyes --at 3
tradeoff survey.csv --column eyes --at 0.1 --picture eyes.gif
tradeoff survey.csv --column eyes --at 0.1 --picture lost/eyes.png
tradeoff survey.csv --column eyes --at 0.1 --pram lost.csv
tradeoff survey.csv --column eyes --at 0.1 --pram ragged.csv
tradeoff survey.csv --column eyes --at 0.1 --pram short.csv
tradeoff survey.csv --column eyes --output out.csv
tradeoff survey.csv --each-row --column eyes
tradeoff survey.csv --each-row --at 0.3
tradeoff rows.csv --each-row --at 0.3
estimate survey.csv --column eyes
estimate survey.csv --mechanism m.mechanism.json
estimate lost.csv --column eyes --mechanism m.mechanism.json
estimate survey.csv --column lips --mechanism m.mechanism.json
estimate survey.csv --column eyes --mechanism lost.json
estimate survey.csv --column eyes --mechanism m.json
estimate survey.csv --column eyes --mechanism folder
estimate survey.csv --column eyes --mechanism survey.csv
estimate survey.csv --column eyes --mechanism edited.json
estimate survey.csv --column region --mechanism m.mechanism.json
estimate survey.csv --column gaps --mechanism m.mechanism.json
estimate survey.csv --column eyes --mechanism m.mechanism.json --confidence 2
estimate survey.csv --column eyes --mechanism m.mechanism.json --of sampel
estimate survey.csv --column eyes --mechanism m.mechanism.json --method best
estimate survey.csv --column eyes --mechanism m.mechanism.json --missing keep
estimate survey.csv --column eyes --mechanism m.mechanism.json --by eyes
estimate survey.csv --column eyes --mechanism m.mechanism.json --by regions
estimate survey.csv --column eyes --mechanism m.mechanism.json --mechanism m.mechanism.json
inspect
inspect lost.json
inspect folder
inspect survey.csv
inspect edited.json
inspect m.mechanism.json more.json
figures --jobs 0
figures --jobs many
figures --only figure_99 --output out
figures --output survey.csv
notebooks --jobs -1
verify --instances 0
verify --quick --instances 3
verify --only no_such_entry
verify --record --quick
verify --scheduler somewhere
check
tradoff survey.csv
--verbose
""".strip().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("messages"), np.random.default_rng(5)
    eyes = np.array(["blue"] * 180 + ["brown"] * 90 + ["green"] * 30)[rng.permutation(300)]
    survey = pd.DataFrame({"id": range(300), "eyes": eyes, "region": ["north", "south", "west"] * 100, "constant": "x"})
    survey["gaps"] = [None, *eyes[1:]]
    survey["nothing"] = None
    survey.to_csv(folder / "survey.csv", index=False)
    (folder / "folder").mkdir()
    for name, text in {
        "empty.csv": "",
        "header.csv": "eyes,id\n",
        "ragged.csv": "a,b\n0.5,0.5\n0.5\n",
        "twice.csv": "a,a\n1,2\n",
        "book.csv": "PK\x03\x04",
        "fake.parquet": "a,b\n1,2\n",
        "other.csv": "blue,violet\n0.5,0.5\n0.4,0.6\n",
        "words.csv": "blue,brown,green\n0,1,1\n1,0,one\n1,1,0\n",
        "costs.csv": "blue,brown,green\n0,1,1\n1,0,1\n1,1,0\n",
        "short.csv": "blue,brown,green\n0.8,0.1,0.1\n",
        "rows.csv": "blue,brown\n50,30\n40,\n",
        "short.bin": "abc",
        "open.bin": "a" * 32,
    }.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes("eyes\nvért\n".encode("latin-1"))
    (folder / "short.bin").chmod(0o600)
    (folder / "open.bin").chmod(0o644)
    release(survey, "eyes", distortion=0.2, seed=1)
    made = release(folder / "survey.csv", "eyes", distortion=0.2, seed=1, output=folder / "m.csv")
    (folder / "edited.json").write_text(made.documents[0].read_text().replace("a seed: UNSAFE", "dice"))
    return folder


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_form(text):
    assert FORM.fullmatch(text), text
    assert text.isprintable(), repr(text)
    assert "paper-repro" not in text and "Traceback" not in text
    assert len(text) < 700


@pytest.mark.parametrize("line", LINES)
def test_a_bad_command_line_has_one_message_and_writes_nothing(folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    before = files_of(folder)
    result = CliRunner().invoke(main, shlex.split(line.replace(r"\x1b", "\x1b").replace(r"\x07", "\x07")))
    assert isinstance(result.exception, SystemExit), "a traceback, or no error"
    assert result.exit_code in (1, 2)
    *usage, last = result.stderr.split("\n")[:-1]
    assert last.startswith("Error: ")
    assert not usage or usage[0].startswith("Usage: ")
    check_form(last.removeprefix("Error: "))
    names = [
        name
        for name in ("keep_at_least", "consistent_by", "missing_values", "data must", "name_or_path")
        if name in last
    ]
    assert not names, "an argument of Python in the message of a command"
    assert files_of(folder) == before


def test_there_are_enough_bad_command_lines():
    assert len(LINES) == len(set(LINES)) > 100


EYES = pd.DataFrame({"eyes": np.repeat(list(COUNTS), list(COUNTS.values())), "id": range(10_000)})
MECHANISM = pr.randomized_response(3, 2.0).renamed(list(COUNTS))
CALLS = {
    "estimable as a word": lambda: release(EYES, "eyes", distortion=0.2, estimable="no"),
    "seed as a word": lambda: release(EYES, "eyes", distortion=0.2, seed="a"),
    "seed with a fraction": lambda: release(EYES, "eyes", distortion=0.2, seed=1.5),
    "a truth value as seed": lambda: release(EYES, "eyes", distortion=0.2, seed=True),
    "seed and IDs": lambda: release(EYES, "eyes", distortion=0.2, seed=1, consistent_by="id"),
    "key without IDs": lambda: release(EYES, "eyes", distortion=0.2, key=bytes(32)),
    "short key": lambda: release(EYES, "eyes", distortion=0.2, consistent_by="id", key=b"short"),
    "key as text": lambda: release(EYES, "eyes", distortion=0.2, consistent_by="id", key="a" * 32),
    "no constraint": lambda: release(EYES, "eyes"),
    "two constraints": lambda: release(EYES, "eyes", distortion=0.2, leakage=1),
    "percent": lambda: release(EYES, "eyes", distortion="20%"),
    "comma": lambda: release(EYES, "eyes", distortion="0,2"),
    "lost column": lambda: release(EYES, "eye", distortion=0.2),
    "column 3": lambda: release(EYES, 3, distortion=0.2),
    "missing": lambda: release(EYES, "eyes", distortion=0.2, missing="drop"),
    "source as a number": lambda: release(EYES, "eyes", distortion=0.2, source=3),
    "source as an array": lambda: release(EYES, "eyes", distortion=0.2, source=np.ones(3)),
    "source without labels": lambda: release(EYES, "eyes", distortion=0.2, source=pr.SourceSet([0.5, 0.3, 0.2])),
    "costs with one row": lambda: release(EYES, "eyes", distortion=0.2, costs=pd.DataFrame(0, [0], list(COUNTS))),
    "costs of others": lambda: release(
        EYES, "eyes", distortion=0.2, costs=pd.DataFrame(np.eye(3), columns=list("abc"))
    ),
    "output as a number": lambda: release(EYES, "eyes", distortion=0.2, output=3),
    "output with a zero": lambda: release(EYES, "eyes", distortion=0.2, output="a\0.csv"),
    "a dict as data": lambda: release({"eyes": ["blue"]}, "eyes", distortion=0.2),
    "a series as data": lambda: release(EYES["eyes"], "eyes", distortion=0.2),
    "encoding of a frame": lambda: release(EYES, "eyes", distortion=0.2, encoding="utf-8"),
    "no rows": lambda: release(EYES[:0], "eyes", distortion=0.2),
    "path with a zero": lambda: open_table("a\0b.csv"),
    "mixed types": lambda: open_table(pd.DataFrame({"a": ["x", 1, b"y"]})),
    "a release as mechanism": lambda: pr.estimate(EYES, "eyes", release(EYES, "eyes", distortion=0.2, seed=1)),
    "strata as mechanisms": lambda: pr.estimate(EYES, "eyes", [MECHANISM, MECHANISM]),
    "another mechanism": lambda: pr.estimate(EYES, "eyes", pr.randomized_response(3, 2.0)),
    "method": lambda: pr.estimate(EYES, "eyes", MECHANISM, method="best"),
    "of": lambda: pr.estimate(EYES, "eyes", MECHANISM, of="all"),
    "confidence": lambda: pr.estimate(EYES, "eyes", MECHANISM, confidence=95),
    "by": lambda: pr.estimate(EYES, "eyes", MECHANISM, by="region"),
    "singular": lambda: weights(pr.Mechanism.constant([0.5, 0.5])),
    "too few counts": lambda: estimate_counts([1, 2], MECHANISM),
    "counts of another": lambda: estimate_counts({"violet": 2}, MECHANISM),
    "negative counts": lambda: estimate_counts([1, 2, -3], MECHANISM),
    "rows of texts": lambda: tradeoffs_of_rows(EYES[["eyes"]]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call_has_one_message_without_the_counts_and_writes_nothing(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    before = files_of(folder)
    with pytest.raises((ValueError, OSError)) as caught:
        CALLS[name]()
    text = str(caught.value)
    check_form(text)
    assert not numbers_in(text) & set(COUNTS.values())
    assert files_of(folder) == before


def numbers_in(text):
    return {int(number.replace(",", "")) for number in re.findall(r"(?<![\d.,])\d[\d,]*(?![\d.]*\d)", text)}


@pytest.mark.parametrize("by", ["", "region"])
def test_what_a_release_shows_has_no_count_of_the_data(by):
    table = EYES.assign(region=["north", "south"] * 5000)
    made = release(table, "eyes", distortion=0.2, by=by, seed=1)
    counts = {count for stratum in made.strata for count in [stratum.rows, *stratum.counts.tolist()]} | set(
        COUNTS.values()
    )
    for one in (made, *made.strata):
        assert len(repr(one)) < 200 and "\n" not in repr(one)
        shown = one._repr_html_()
        assert shown.startswith("<table>") and "least possible, nats" in shown
        for text in (repr(one), str(one), shown, one._repr_latex_(), "\n".join(made.notes)):
            assert not numbers_in(text) & counts, text
    nats = made.strata[0].leakages["differential privacy"]
    assert f"leakage={nats:.6f} nats" in repr(made.strata[0])
    assert f"<td>{nats:.6g}</td>" in made._repr_html_()


def test_the_standard_definition_is_an_option(folder, monkeypatch):
    """At most delta in total is a stronger requirement than at most delta in each category, and leaks more on a graph or here."""
    monkeypatch.chdir(folder)
    notion = ["--notion", "approximate differential privacy", "--delta", "0.05"]
    asked = ["release", "survey.csv", "--column", "eyes", "--distortion", "0.3", "--source", "unknown", *notion]
    pointwise, standard = (CliRunner().invoke(main, [*asked, *more]).stdout for more in ([], ["--standard"]))
    assert "pointwise (ε, δ)-differential privacy with δ = 0.05" in pointwise
    assert "standard (ε, δ)-differential privacy with δ = 0.05" in standard and "pointwise" not in standard
    assert words_of(pr.ApproximateDP(0.05, standard=True)) == "standard (ε, δ)-differential privacy with δ = 0.05"


def test_help_names_the_command_that_is_installed_and_no_other(capsys):
    for command in ([], *([name] for name in main.commands)):
        text = CliRunner().invoke(main, [*command, "--help"], prog_name="privacy-distortion").stdout
        assert "paper-repro" not in text and "Examples:" in text
        assert not re.search(r"\b(judge|letter|symbol|loss|losses)", text, re.IGNORECASE), text


@pytest.mark.parametrize("path", sorted(Path(pr.__file__).parent.rglob("*.py")), ids=lambda path: path.name)
def test_the_alias_of_the_command_is_in_no_text_of_the_commands(path):
    if path.parent.name in ("columns", "reproduce") or path.name == "cli.py":
        assert "paper-repro" not in path.read_text(encoding="utf-8")
