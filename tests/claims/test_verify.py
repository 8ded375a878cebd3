"""The ledger is recomputed, compared and kept; who does the work does not matter."""

import dataclasses
import os

import numpy as np
import pytest

from paper_repro.claims import all_claims, compare, faults, judge, read_ledger, write_ledger
from paper_repro.claims.base import PAPERS, VERDICTS, WEIGHTS, Claim, Statement, holds, refuted, statements
from paper_repro.claims.verify import LEDGER, QUICK, Journal
from paper_repro.reproduce import cluster


@pytest.fixture(scope="module")
def quick():
    """Every claim, judged on a few random instances each."""
    return judge(QUICK)


def test_every_verdict_is_the_one_on_record(quick):
    assert compare(quick, read_ledger(), same_instances=False) == []


def test_no_row_is_worthless(quick):
    assert faults(quick) == []


def test_the_ledger_is_complete():
    rows = read_ledger()
    assert [row.name for row in rows] == list(statements())
    assert {row.paper for row in rows} == set(PAPERS)
    for row in rows:
        assert row.number and row.place and row.evidence and row.statement, row.name
        assert row.verdict in VERDICTS and (row.weight == "" or row.weight in WEIGHTS), row.name
        assert row.variants or row.verdict == "not checkable", f"{row.name}: no variant"
        if row.verdict == "corrected":
            assert row.correction, f"{row.name}: say what is right"


def test_faults_of_rows_are_named(quick):
    row = next(row for row in quick if row.verdict == "holds")
    for planted, match in (
        ({"variants": 2, "rejected": 1}, "1 of 2 altered statements get the same verdict"),
        ({"verdict": "refuted"}, "has no weight"),
        ({"weight": "misprint"}, "has the weight 'misprint'"),
        ({"verdict": "source text uncertain", "text": ""}, "does not say what our copy shows"),
    ):
        (line,) = faults([dataclasses.replace(row, **planted)])
        assert line.startswith(f"{row.name}: ") and match in line


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("verdict", "refuted"), ("evidence", "Believe us."), ("tolerance", 1e9), ("statement", "Something else."),
        ("weight", "misprint"), ("rests_on", ("zhong_bu2022.lemma_20_4",)), ("variants", 99),
    ],
)  # fmt: skip
def test_whatever_is_forged_is_noticed(quick, field, value):
    first = next(number for number, row in enumerate(quick) if row.verdict == "holds")
    planted = [*quick]
    planted[first] = dataclasses.replace(planted[first], **{field: value})
    (line,) = compare(quick, planted)
    assert line.startswith(f"{quick[first].name}: ") and (field in line or field == "verdict")


def test_numbers_order_duplicates_and_missing_rows_are_noticed(quick):
    first = next(number for number, row in enumerate(quick) if row.numbers)
    row = quick[first]
    key = next(iter(row.numbers))
    planted = [*quick]
    planted[first] = dataclasses.replace(row, numbers={**row.numbers, key: row.numbers[key] + 0.5})
    assert [line.startswith(f"{row.name}, {key}: ") for line in compare(planted, quick)] == [True]
    assert compare(quick[1:], quick) == [f"{quick[0].name}: on record, but no entry has this name any more"]
    assert compare(quick, quick[1:])[0].startswith(f"{quick[0].name}: not on record")
    assert compare(quick, [*quick, quick[-1]]) == [f"{quick[-1].name}: 2 times on record"]
    (line,) = compare(quick, [quick[1], quick[0], *quick[2:]])
    assert line == f"{quick[0].name}: on record in another order, where {quick[1].name} has its place"


def test_instances_count_only_where_they_are_the_same(quick):
    first = next(number for number, row in enumerate(quick) if row.relevant)
    planted = [*quick]
    planted[first] = dataclasses.replace(planted[first], relevant=1_000_000)
    assert compare(planted, quick, same_instances=False) == []
    assert len(compare(planted, quick)) == 1


def test_a_ledger_is_kept_as_it_is(quick, tmp_path):
    path = tmp_path / "ledger.csv"
    write_ledger(quick, path)
    assert compare(read_ledger(path), quick) == []
    write_ledger(read_ledger(path), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    assert LEDGER.read_bytes().count(b"\r") == 0
    assert {file.name for file in tmp_path.iterdir()} == {"ledger.csv", "again.csv"}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda text: text.replace("name,paper", "name,papers"), "the columns must be name, paper, "),
        (lambda text: text + "a,b\n", "line 4, a: "),
        (lambda text: text.replace(",0,0,", ",0,many,"), "line 3, .*many"),
    ],
)
def test_a_record_that_is_none_is_told(quick, tmp_path, change, match):
    path = tmp_path / "ledger.csv"
    write_ledger([dataclasses.replace(quick[0], tried=0, relevant=0, variants=0, rejected=0)], path)
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=match):
        read_ledger(path)


def own(name, violation, **more):
    text = Statement("zhong_bu2022", name, "Own", "here", "a statement")
    check = lambda sample, **_: holds(sample, tolerance=0.5)  # noqa: E731
    return Claim(text, check, check, violation, tolerance=0.5, **more)


def test_claims_are_judged_by_their_instances():
    wrong = {"at most 2": {"more": 2.0}, "at most 0": {"more": 0.0}}
    claims = [own("never", lambda rng, more=0.0: more, wrong=wrong), own("sometimes", lambda rng: float(rng.random()))]
    fixed = lambda: refuted("2 > 1.", True)  # noqa: E731
    claims.append(Claim(Statement("zhong_bu2022", "fixed", "Own", "here", "a statement"), fixed, fixed))
    steps = []
    findings = judged(claims, progress=lambda done, tasks: steps.append((done, tasks)))
    assert [(row.verdict, row.relevant) for row in findings] == [("holds", 60), ("refuted", 60), ("refuted", 0)]
    assert [(row.rejected, row.variants) for row in findings] == [(1, 2), (0, 0), (0, 0)]
    assert steps == [(number, 9) for number in range(1, 10)]
    with pytest.raises(ValueError, match="instances must be a whole number of at least 1; got 0"):
        judge(0, claims=claims)


def judged(claims, **options):
    return judge(60, claims=claims, workers=1, **options)


def test_an_error_names_the_claim_and_what_was_judged_is_kept(tmp_path):
    asked = []

    def counted(rng):
        asked.append(1)
        return 0.0

    def broken(rng):
        raise RuntimeError("no")

    before = own("counted", counted)
    with pytest.raises(RuntimeError) as caught:
        judged([before, own("broken", broken)], journal=Journal(tmp_path))
    assert "zhong_bu2022.broken" in " ".join(caught.value.__notes__)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text() + '[["zhong_bu2022.cou')  # the run ended here
    journal = Journal(tmp_path)
    assert judged([before], journal=journal) == judged([before])
    assert len(asked) == 120, "60 before the error, none again, and 60 without a journal"
    journal.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def few():
    """Ten claims with random instances, spread over the papers."""
    random = [claim for claim in all_claims() if claim.instance is not None]
    return [random[place] for place in np.linspace(0, len(random) - 1, 10).astype(int)]


def test_the_number_of_workers_does_not_matter(few):
    assert judge(6, claims=few, workers=1) == judge(6, claims=few, workers=2)


def test_a_dask_cluster_finds_the_same(few):
    distributed = pytest.importorskip("distributed")
    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    )
    with local:
        assert judge(6, claims=few, scheduler=local.scheduler_address) == judge(6, claims=few, workers=1)


@pytest.mark.parametrize(
    ("workers", "match"),
    [
        (None, "scheduler must be one that answers within"),
        (0, "must have workers; got .* without any"),
        (1, "must have this version of the package"),
    ],
)
def test_a_cluster_that_fails_is_told_in_one_line(few, monkeypatch, workers, match):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_WAIT", 3)
    monkeypatch.setattr(cluster, "digest", os.getpid)  # another one in a worker
    with distributed.LocalCluster(
        n_workers=workers or 0, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    ) as local:
        address = local.scheduler_address
        if workers is None:
            local.close()
        with pytest.raises(OSError, match=match) as caught:
            judge(6, claims=few, scheduler=address)
    assert "\n" not in str(caught.value)
