"""The command line: one best mechanism, figures, and errors of one line with exit code 1."""

import importlib.metadata
import os
import re
import signal
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.cli import main
from paper_repro.notions import NOTION_NAMES
from paper_repro.paths import ROOT
from paper_repro.reproduce.runs import load_runs


@pytest.fixture
def call():
    def _call(*arguments):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), "a traceback, not a message"
        return result

    return _call


@pytest.fixture
def refused(call):
    """The line of the error: after how the command is used, if that is what was wrong."""

    def _refused(*arguments, usage=False):
        result = call(*arguments)
        assert result.exit_code == 1 + usage
        assert result.stdout == ""
        *before, line = result.stderr.splitlines()
        assert bool(before) == usage
        assert line.startswith("Error: ")
        return line

    return _refused


def printed_mechanism(output):
    """Leakage, distortion, and the matrix below the line of labels."""
    first, labels, *rows = output.splitlines()
    leakage, distortion = (float(number) for number in re.findall(r"(?:leakage|distortion)=(\S+?)[ ,]", first))
    assert [row.split()[0] for row in rows] == labels.split()
    return leakage, distortion, np.array([row.split()[1:] for row in rows], dtype=float)


def test_best_by_name_at_a_distortion(call):
    result = call("best", "P_II_6", "--distortion", 0.2)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "OptimalMechanism(differential privacy: leakage=2.677279 nats, distortion=0.200000, gap="
    )
    leakage, distortion, matrix = printed_mechanism(result.stdout)
    best = pr.optimal_mechanism(pr.load_source_set("P_II_6"), distortion=0.2)
    # Six decimals are printed.
    np.testing.assert_allclose(matrix, best.mechanism.matrix, atol=5.1e-7, rtol=0)
    np.testing.assert_allclose([leakage, distortion], [best.leakage, 0.2], atol=5.1e-7, rtol=0)


def test_best_by_csv_at_a_leakage_with_the_files_own_labels(call, tmp_path):
    (tmp_path / "eyes.csv").write_text("brown,blue-or-grey,green\n0.6,0.3,0.1\n0.5,0.3,0.2\n")
    result = call("best", tmp_path / "eyes.csv", "--leakage", 1.0)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split() == ["brown", "blue-or-grey", "green"]
    assert len({len(line) for line in result.stdout.splitlines()[1:]}) == 1, "columns stand below their labels"
    leakage, distortion, matrix = printed_mechanism(result.stdout)
    # Six decimals of each of three numbers.
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1.6e-6, rtol=0)
    assert leakage <= 1 + 5.1e-7
    worst = pr.load_source_set(tmp_path / "eyes.csv").worst_case_distortion(matrix)
    assert worst == pytest.approx(distortion, abs=1.1e-6)


def test_best_for_another_notion(call):
    result = call("best", "P_II_10", "--distortion", 0.5, "--notion", "mutual information")
    assert result.exit_code == 0
    leakage, _, _ = printed_mechanism(result.stdout)
    assert leakage == pytest.approx(0.23250, abs=6.1e-6)  # known to five decimals, certified to 1e-6 nats


def test_best_without_distortion_keeps_every_letter(call):
    result = call("best", "P_II_6", "--distortion", 0)
    assert result.exit_code == 0
    leakage, distortion, matrix = printed_mechanism(result.stdout)
    assert (leakage, distortion) == (np.inf, 0)
    np.testing.assert_array_equal(matrix, np.eye(6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["P_II_6"], "give exactly one budget: --distortion or --leakage"),
        (["P_II_6", "--distortion", 0.2, "--leakage", 1], "give exactly one budget: --distortion or --leakage"),
        (["P_II_6", "--distortion", 20], "'--distortion': distortion must be a probability of change between 0 and 1; got 20.0"),
        (["P_II_6", "--distortion", "-0.1"], "distortion must be a probability of change between 0 and 1; got -0.1"),
        (["P_II_6", "--distortion", "nan"], "distortion must be a probability of change between 0 and 1; got nan"),
        (["P_II_6", "--leakage", "-1"], "'--leakage': leakage must be at least 0 nats (infinity is allowed); got -1.0"),
        (["P_II_6", "--distortion", "half"], "'--distortion': 'half' is not a valid float"),
        (["P_II_6", "--distortion", 0.2, "--notion", "privacy"], "'--notion': 'privacy' is not one of 'differential privacy', "),
        (["P_II_6", "--distortion", 0.2, "--alpha", 3], "--alpha has no effect on differential privacy; leave it out"),
        (["P_II_6", "--distortion", 0.2, "--notion", "mutual information", "--alpha", 3], "--alpha has no effect on mutual inf"),
        (["P_II_6", "--distortion", 0.2, "--notion", "Renyi differential privacy", "--delta", 0.1], "--delta has no effect on"),
        (["P_II_6", "--distortion", 0.2, "--notion", "Sibson information", "--alpha", 0.5], "'--alpha': alpha must be"),
        (["P_II_6", "--distortion", 0.2, "--notion", "approximate differential privacy", "--delta", 7], "'--delta': delta must"),
    ],
)  # fmt: skip
def test_best_refuses_wrong_options_by_their_names(refused, arguments, message):
    assert message in refused("best", *arguments, usage=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["P_II_7", "--distortion", 0.2], "the source set must be one of P_I_2, P_II_4"),
        (["lost.csv", "--distortion", 0.2], f"no source set file lost.csv in {Path.cwd()}"),
    ],
)
def test_best_refuses_an_unknown_set_in_one_line(refused, arguments, message):
    assert message in refused("best", *arguments)


def test_the_help_of_best_lists_the_known_sets_and_notions(call):
    text = " ".join(call("best", "--help").stdout.split())
    assert f"Known source sets: {', '.join(pr.source_set_names())}." in text
    assert ", ".join(NOTION_NAMES) in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n0.5\n", "own.csv: line 2 must have 2 columns, one for each category of the header; got 1."),
        (
            b"a,b\n0.5,half\n",
            "own.csv: line 2, column 'b' must be a probability, a finite number between 0 and 1; got 'half'.",
        ),
        (b"a,b\n0.5,0.4\n", "own.csv: line 2 must sum to 1 within 1e-09; got 0.9."),
        (b"", "own.csv must have a header"),
    ],
)
def test_best_refuses_a_bad_csv_in_one_line(refused, tmp_path, content, message):
    (tmp_path / "own.csv").write_bytes(content)
    assert message in refused("best", tmp_path / "own.csv", "--distortion", 0.2)


@pytest.mark.parametrize("error", [pr.CertificateError("the gap is 0.1"), pr.SolverError("no answer")], ids=type)
def test_best_says_when_no_certified_answer_was_found(refused, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(pr, "optimal_mechanism", fail)
    assert refused("best", "P_II_6", "--distortion", 0.2) == f"Error: {error}"


def test_best_says_when_a_file_may_not_be_read(refused, monkeypatch):
    def fail(*_):
        raise PermissionError(13, "Permission denied", "own.csv")

    monkeypatch.setattr(pr, "load_source_set", fail)  # whoever runs the tests may read everything
    assert "own.csv" in refused("best", "own.csv", "--distortion", 0.2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quick", "--instances", 9], "--quick stands for --instances 4; give one of the two"),
        (["--record", "--quick"], "--record puts 500 random instances a claim on record, and no other number"),
        (
            ["--record", "--instances", 1000],
            "--record puts 500 random instances a claim on record, and no other number",
        ),
        (["--instances", 0], "'--instances'"),
        (["--scheduler", "here"], "'--scheduler': must be an address such as tcp://127.0.0.1:8786, got 'here'"),
        (
            ["--scheduler", "http://here"],
            "'--scheduler': must be an address such as tcp://127.0.0.1:8786, got 'http://here'",
        ),
    ],
)
def test_verify_refuses_wrong_options_by_their_names(refused, arguments, message):
    assert message in refused("verify", *arguments, usage=True)


@pytest.fixture
def judges_nothing(monkeypatch):
    def judge(*_, **__):
        raise AssertionError("nothing should be judged")

    monkeypatch.setattr("paper_repro.cli.judge", judge)


@pytest.mark.parametrize("content", [None, b"", b"\xff", b"name,paper\n", b"name,paper\na,b\n"])
def test_verify_reads_the_record_before_it_judges(refused, monkeypatch, tmp_path, judges_nothing, content):
    ledger = tmp_path / "ledger.csv"
    if content is not None:
        ledger.write_bytes(content)
    monkeypatch.setattr("paper_repro.cli.LEDGER", ledger)
    assert re.match(rf"Error: .*{re.escape(str(ledger))}", refused("verify", "--quick"))


def test_verify_record_needs_a_checkout(refused, monkeypatch, judges_nothing, tmp_path):
    monkeypatch.setattr("paper_repro.paths.NOTEBOOKS", tmp_path / "notebooks")
    assert "verify --record needs a checkout of the project" in refused("verify", "--record")


def test_sigterm_interrupts_verify(call, monkeypatch):
    def judge(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("paper_repro.cli.judge", judge)
    result = call("verify", "--quick")
    assert result.exit_code == 1 and "Aborted!" in result.stderr
    assert signal.getsignal(signal.SIGTERM) is before


def test_figures_refuses_an_unwritable_folder(refused, tmp_path):
    (tmp_path / "file").write_text("earlier")
    line = refused("figures", "--output", tmp_path / "file" / "figures")
    assert re.fullmatch(r"Error: cannot write into .*/file/figures: Not a directory", line)
    assert (tmp_path / "file").read_text() == "earlier"


def test_figures_refuses_a_file_in_place_of_the_folder(refused, tmp_path):
    (tmp_path / "file").write_text("earlier")
    assert "cannot write into" in refused("figures", "--output", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "earlier"


def test_figures_refuses_an_unknown_run_and_lists_those_there_are(refused, tmp_path):
    line = refused("figures", "--output", tmp_path / "out", "--only", "figure_9")
    assert line == f"Error: no run 'figure_9'; there is {', '.join(sorted(run.name for run in load_runs()))}"
    assert not (tmp_path / "out").exists()


def test_figures_refuses_no_jobs(refused, tmp_path):
    assert refused("figures", "--output", tmp_path / "out", "--jobs", 0) == "Error: jobs must be at least 1, got 0"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_the_commands(call, option):
    result = call(option)
    assert result.exit_code == 0
    assert re.findall(r"^  (\w+) ", result.stdout.partition("Commands:")[2], re.MULTILINE) == [
        "best",
        "check",
        "estimate",
        "figures",
        "inspect",
        "notebooks",
        "release",
        "tradeoff",
        "verify",
    ]


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_and_option_has_a_help_text(call, command):
    assert call(command, "--help").exit_code == 0
    assert main.commands[command].help
    for parameter in main.commands[command].params:
        assert parameter.param_type_name == "argument" or parameter.help or parameter.show_default, parameter.name


def test_all_versions_are_the_same(call):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert call("--version").stdout.split()[-1] == version
    assert pr.__version__ == version
    assert importlib.metadata.version("privacy-distortion") == version
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == version


@pytest.mark.parametrize("name", ["privacy-distortion", "paper-repro"])
def test_the_command_is_installed(name):
    assert {entry.load() for entry in importlib.metadata.entry_points(group="console_scripts", name=name)} == {main}
