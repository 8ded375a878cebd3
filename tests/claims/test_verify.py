"""The ledger is recomputed, compared and kept; who does the work does not matter."""

import dataclasses

import numpy as np
import pytest

from paper_repro.claims import all_claims, compare, judge, read_ledger, write_ledger
from paper_repro.claims.base import PAPERS, VERDICTS, Claim, holds, refuted
from paper_repro.claims.verify import LEDGER, QUICK, Row


@pytest.fixture(scope="module")
def quick():
    """Every claim, judged on a few random instances each."""
    return judge(QUICK)


def test_every_verdict_is_the_one_on_record(quick):
    assert compare(quick, read_ledger(), same_instances=False) == []


def test_the_ledger_is_complete():
    rows = read_ledger()
    assert [row.name for row in rows] == [claim.name for claim in all_claims()]
    assert set(VERDICTS) >= {row.verdict for row in rows}
    assert {row.paper for row in rows} == set(PAPERS)
    for row in rows:
        assert row.number and row.place and row.evidence, row.name
        assert len(row.statement) > 20, row.name
        if row.verdict == "corrected":
            assert row.correction, f"{row.name}: say what is right"


def test_a_verdict_that_changes_is_noticed(quick):
    first = next(number for number, row in enumerate(quick) if row.verdict == "holds")
    planted = [*quick]
    planted[first] = dataclasses.replace(planted[first], verdict="refuted")
    (line,) = compare(planted, quick)
    assert line.startswith(f"{quick[first].name}: refuted, on record holds")


def test_numbers_texts_and_missing_rows_are_noticed(quick):
    first = next(number for number, row in enumerate(quick) if row.numbers and not row.instances)
    row = quick[first]
    key = next(iter(row.numbers))
    planted = [*quick]
    planted[first] = dataclasses.replace(row, numbers={**row.numbers, key: row.numbers[key] + 0.5})
    assert [line.startswith(f"{row.name}, {key}: ") for line in compare(planted, quick)] == [True]
    planted[first] = dataclasses.replace(row, statement="Something else.")
    assert compare(planted, quick) == [f"{row.name}: its statement is not the one on record"]
    assert compare(quick[1:], quick) == [f"{quick[0].name}: on record, but no longer claimed"]
    assert compare(quick, quick[1:])[0].startswith(f"{quick[0].name}: not on record")


def test_instances_count_only_where_they_are_the_same(quick):
    first = next(number for number, row in enumerate(quick) if row.instances)
    planted = [*quick]
    planted[first] = dataclasses.replace(planted[first], instances=1_000_000)
    assert compare(planted, quick, same_instances=False) == []
    assert compare(planted, quick) == [f"{quick[first].name}: 1000000 instances, on record {quick[first].instances}"]


def test_a_ledger_is_kept_as_it_is(quick, tmp_path):
    path = tmp_path / "ledger.csv"
    write_ledger(quick, path)
    assert compare(read_ledger(path), quick) == []
    write_ledger(read_ledger(path), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    assert LEDGER.read_bytes().count(b"\r") == 0


def own(name, violation):
    check = lambda sample: holds(sample, tolerance=0.5)  # noqa: E731
    return Claim(f"zhong_bu2022.{name}", "zhong_bu2022", "Own", "here", "a statement", "", check, violation, 0.5)


def test_claims_are_judged_by_their_instances():
    claims = [own("never", lambda rng: 0.0), own("sometimes", lambda rng: float(rng.random()))]
    fixed = lambda: refuted("two letters", 1.0, 2.0)  # noqa: E731
    claims.append(Claim("zhong_bu2022.fixed", "zhong_bu2022", "Own", "here", "a statement", "", fixed))
    steps = []
    rows = judge(60, claims=claims, workers=1, progress=lambda done, tasks: steps.append((done, tasks)))
    assert [(row.verdict, row.instances) for row in rows] == [("holds", 60), ("refuted", 60), ("refuted", 0)]
    assert steps == [(number, 7) for number in range(1, 8)]
    assert isinstance(rows[0], Row)
    with pytest.raises(ValueError, match="instances must be at least 1, got 0"):
        judge(0, claims=claims)


def test_an_error_names_the_claim():
    def broken(rng):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        judge(5, claims=[own("broken", broken)], workers=1)
    assert "zhong_bu2022.broken" in " ".join(caught.value.__notes__)


@pytest.fixture(scope="module")
def few():
    """Ten claims with random instances, spread over the papers."""
    random = [claim for claim in all_claims() if claim.instance is not None]
    return [random[place] for place in np.linspace(0, len(random) - 1, 10).astype(int)]


def test_the_number_of_workers_does_not_matter(few):
    assert judge(6, claims=few, workers=1) == judge(6, claims=few, workers=2)


def test_a_dask_cluster_finds_the_same(few):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    )
    with cluster:
        assert judge(6, claims=few, scheduler=cluster.scheduler_address) == judge(6, claims=few, workers=1)
