"""A release: what is known, what is reported, what is published, and what is refused with the table left as it was."""

import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.columns.documents import MechanismDocument
from paper_repro.columns.knowing import known_source, read_column
from paper_repro.columns.releasing import release
from paper_repro.columns.tables import open_table
from paper_repro.columns.tradeoffs import tradeoffs_of_rows

pq = pytest.importorskip("pyarrow.parquet")

LETTERS = np.array(["blue", "brown", "green", "grey"])
PRIOR = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.fixture
def people(rng):
    return pd.DataFrame(
        {
            "id": [f"{number:05d}" for number in range(4000)],
            "eyes": LETTERS[rng.choice(4, 4000, p=PRIOR)],
            "region": rng.choice(["north", "south"], 4000),
        }
    )


@pytest.fixture
def path(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet", row_group_size=500)
    return tmp_path / "people.parquet"


def test_only_the_column_changes_and_as_often_as_the_mechanism_says(people, path, tmp_path):
    made = release(path, "eyes", distortion=0.3, source={"blue": 500, "brown": 300, "green": 150, "grey": 50},
                   output=tmp_path / "out.parquet", seed=3)  # fmt: skip
    found = pd.read_parquet(made.output)
    pd.testing.assert_frame_equal(found[["id", "region"]], people[["id", "region"]])
    stratum = made.strata[0]
    expected = stratum.sampler.mechanism.matrix
    for row, letter in enumerate(stratum.source.labels):
        of = found["eyes"][people["eyes"] == letter]
        seen = of.value_counts().reindex(list(stratum.source.labels), fill_value=0).to_numpy() / len(of)
        # Five standard errors.
        assert (
            np.abs(seen - expected[row]) <= 5 * np.sqrt(expected[row] * (1 - expected[row]) / len(of)) + 1e-12
        ).all()
    document = MechanismDocument.read(made.documents[0])
    assert document.stated["differential privacy"] == stratum.leakages["differential privacy"]
    np.testing.assert_array_equal(document.sampler.kept, stratum.sampler.kept)


def test_the_report_says_what_is_certified(people):
    stratum = release(
        people, "eyes", distortion=0.3, source=pr.SourceSet(PRIOR, labels=LETTERS.tolist()), seed=1
    ).strata[0]
    best = pr.optimal_mechanism(pr.SourceSet(PRIOR), distortion=0.3)
    told = stratum.report()
    assert told["least_possible"] == best.leakage
    assert best.leakage < told["leakage"] <= best.leakage + told["price_of_estimability"] + 1e-9
    assert told["least_without_knowledge"] == pytest.approx(np.log(0.7 * 3 / 0.3), abs=1e-12)
    assert told["distortion"] <= 0.3 + 1e-15
    assert told["never_published"] == []
    bare = release(people, "eyes", distortion=0.3, source=stratum.source, estimable=False, seed=1).strata[0].report()
    assert bare["never_published"] == ["grey"]
    assert bare["effective_rows"]["grey"] == 0
    assert bare["leakage"] == pytest.approx(best.leakage, abs=1e-12)
    assert all(nats is not None and nats >= 0 for nats in told["leakages"].values())


def test_a_seed_repeats_and_is_called_unsafe(people):
    first, second = (release(people, "eyes", distortion=0.2, seed=5) for _ in range(2))
    assert first.frame.equals(second.frame)
    assert any("UNSAFE" in note for note in first.notes)
    assert not release(people, "eyes", distortion=0.2).frame.equals(first.frame)


def test_consistent_by_an_id_repeats_over_orders_and_needs_every_id(people):
    first = release(people, "eyes", distortion=0.3, source="unknown", consistent_by="id", key=bytes(32)).frame
    shuffled = people.sample(frac=1, random_state=1)
    second = release(shuffled, "eyes", distortion=0.3, source="unknown", consistent_by="id", key=bytes(32)).frame
    pd.testing.assert_frame_equal(first, second.sort_values("id", ignore_index=True), check_index_type=False)
    other = release(people, "eyes", distortion=0.3, source="unknown", consistent_by="id", key=bytes([1] * 32)).frame
    assert (first["eyes"] != other["eyes"]).any()
    people.loc[7, "id"] = None
    with pytest.raises(
        ValueError, match=r"an ID in each row; got 'id' with none in row 8 of the table\. Give each row an ID"
    ):
        release(people, "eyes", distortion=0.3, consistent_by="id")


def test_strata_have_a_mechanism_and_a_document_each(people, path, tmp_path):
    made = release(path, "eyes", distortion=0.2, by="region", output=tmp_path / "out.csv")
    assert [stratum.name for stratum in made.strata] == ["north", "south"]
    assert [document.name for document in made.documents] == ["out.north.mechanism.json", "out.south.mechanism.json"]
    for stratum in made.strata:
        counts = people["eyes"][people["region"] == stratum.name].value_counts()
        assert dict(zip(stratum.source.labels, stratum.counts.tolist(), strict=True)) == counts.to_dict()
    found = pr.estimate(tmp_path / "out.csv", "eyes", list(made.documents), by="region")
    truth = pd.crosstab(people["region"], people["eyes"]).to_numpy() / len(people)
    assert (np.abs(found.frequencies - truth) < 5 * found.standard_errors).all()


def test_the_number_of_workers_does_not_matter(path, tmp_path):
    distributed = pytest.importorskip("distributed")
    rows = pd.DataFrame({"year": ["1973", "1974"], "blue": [0.5, 0.6], "brown": [0.3, 0.3], "green": [0.2, 0.1]})
    ways = {"seed": {"seed": 2}, "id": {"consistent_by": "id", "key": bytes(16)}}

    def found(name, scheduler=""):
        asked = {"distortion": 0.3, "by": "region", "scheduler": scheduler}
        made = [
            release(path, "eyes", output=tmp_path / f"{name}-{way}.parquet", **asked, **options)
            for way, options in ways.items()
        ]
        curves = tradeoffs_of_rows(rows, [0.2, 0.3], scheduler=scheduler)
        return [each.output.read_bytes() for each in made], curves.to_pydict()

    alone = found("alone")
    for workers in (1, 2):
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
        ) as cluster:
            assert found(workers, cluster.scheduler_address) == alone


def test_missing_values_are_decided_on(people):
    people.loc[[4, 9], "eyes"] = None
    with pytest.raises(ValueError, match=r"got 2 of 4,000 values missing, the first in row 5\. Add missing='category'"):
        release(people, "eyes", distortion=0.2)
    kept = release(people, "eyes", distortion=0.2, missing="keep", seed=1)
    assert kept.frame["eyes"].isna().to_numpy().nonzero()[0].tolist() == [4, 9]
    assert any("2 missing values are published as missing" in note for note in kept.notes)
    counted = release(people, "eyes", distortion=0.2, missing="category", seed=1)
    assert counted.strata[0].source.labels == (*LETTERS, "(missing)")
    assert counted.frame["eyes"].isna().sum() > 2


@pytest.mark.parametrize(
    ("column", "options", "match"),
    [
        (
            "eyes",
            {"distortion": 0},
            "distortion must be such that values change; got 0, at which the optimum publishes every value as it is",
        ),
        ("eyes", {"distortion": 1}, "distortion must be below .* for estimable frequencies; got 1,"),
        ("eyes", {"distortion": 0.2, "confidence": 1.5}, "1.5"),
        ("eyes", {"distortion": 0.2, "leakage": 1}, "exactly one of distortion and leakage must be given; got both"),
        ("id", {"distortion": 0.2}, "fewer than 2,000 different values in 4,000 rows; got 4,000, as of a key"),
        ("eyes", {"distortion": 0.2, "by": "id"}, "by must be a column of at most 1,000 values; got 'id' with 4,000"),
        (
            "eyes",
            {"distortion": 0.2, "source": {"blue": 1, "brown": 2, "green": 3}},
            "must be among the categories given, .*; got 'grey' in row",
        ),
        ("eyes", {"distortion": 0.2, "source": pr.SourceSet([0.5, 0.5])}, "without labels for the column's 4"),
        ("eyes", {"distortion": 0.2, "source": "nothing"}, "one of counts, frequencies, order, unknown"),
        (
            "eyes",
            {"distortion": 0.2, "seed": 1, "consistent_by": "id"},
            "seed must be left out with consistent_by='id'; got 1",
        ),
        ("lips", {"distortion": 0.2}, "column must be one of .*; got 'lips'"),
    ],
)
def test_what_cannot_be_released_is_refused_and_nothing_written(path, tmp_path, column, options, match):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=match) as caught:
        release(path, column, output=tmp_path / "out.parquet", **options)
    assert "\n" not in str(caught.value)
    assert [found.name for found in tmp_path.iterdir()] == ["people.parquet"]
    assert path.read_bytes() == before


def test_each_probability_is_that_of_the_category_it_is_meant_for():
    """Without labels they went to the categories as sorted, so that the distortion promised was not kept."""
    column = pd.DataFrame({"x": ["c"] * 50 + ["a"] * 30 + ["b"] * 20})
    prior = [0.5, 0.3, 0.2]
    with pytest.raises(ValueError, match=r"source must name its categories, .* Give the set its labels"):
        release(column, "x", distortion=0.2, source=pr.SourceSet(prior))
    made = release(column, "x", distortion=0.2, source=pr.SourceSet(prior, labels=["c", "a", "b"]), seed=1)
    (stratum,) = made.strata
    changed = dict(zip(stratum.sampler.labels, 1 - stratum.sampler.mechanism.matrix.diagonal(), strict=True))
    spent = 0.5 * changed["c"] + 0.3 * changed["a"] + 0.2 * changed["b"]
    assert spent == pytest.approx(0.2, abs=1e-12)
    found = pr.estimate(made.frame, "x", stratum.sampler).frame
    assert list(found.index) == ["c", "a", "b"]


def test_one_category_and_none():
    with pytest.raises(ValueError, match="must have two categories or more; got 'blue' in all rows"):
        release(pd.DataFrame({"eyes": ["blue"] * 5}), "eyes", distortion=0.2)
    with pytest.raises(ValueError, match="must have values; got 5 missing ones"):
        release(pd.DataFrame({"eyes": pd.array([None] * 5, dtype="string")}), "eyes", distortion=0.2)


def test_a_document_that_is_there_is_not_overwritten(path, tmp_path):
    (tmp_path / "out.mechanism.json").write_text("mine")
    with pytest.raises(FileExistsError, match=r"must not exist; got .*out\.mechanism\.json"):
        release(path, "eyes", distortion=0.2, output=tmp_path / "out.csv")
    assert (tmp_path / "out.mechanism.json").read_text() == "mine"


def test_numbers_and_dictionaries_stay_what_they_are(rng):
    codes = rng.integers(1, 4, 300)
    frame = pd.DataFrame({"code": codes, "kind": pd.Categorical.from_codes(codes - 1, ["x", "y", "z"])})
    for column in frame:
        found = release(frame, column, distortion=0.4, source="unknown", seed=1).frame
        assert found.dtypes.equals(frame.dtypes)
        assert (found[column] != frame[column]).any()


def test_what_is_noted_of_a_column(people):
    people["eyes"] = people["eyes"].replace("grey", "NA").replace("green", "Blue ")
    notes = read_column(open_table(people), "eyes").notes
    assert any("['NA'] is taken as a category" in note for note in notes)
    assert any("'Blue ' and 'blue' differ in letter case or spaces alone" in note for note in notes)


def test_knowledge_in_words():
    counts, labels = np.array([10, 60, 30]), ["a", "b", "c"]
    assert known_source("order", counts, labels).labels == ("b", "c", "a")
    assert known_source("unknown", counts, labels).source_class == "I"
    np.testing.assert_array_equal(known_source("frequencies", counts, labels).vertices, [[0.1, 0.6, 0.3]])
    ours, theirs = known_source(None, counts, labels).bounds, pr.SourceSet.from_counts(counts, 0.95).bounds
    np.testing.assert_array_equal(ours, theirs)


def test_costs_are_told_apart_by_their_names():
    frame = pd.DataFrame({"eyes": ["b"] * 50 + ["a"] * 30 + ["c"] * 20})
    costs = pd.DataFrame([[0, 1, 5], [1, 0, 1], [5, 2, 0]], columns=["a", "b", "c"], dtype=float)
    turned = costs.iloc[[2, 0, 1], [2, 0, 1]]
    first, second = (release(frame, "eyes", distortion=0.4, costs=table, seed=1) for table in (costs, turned))
    assert (first.strata[0].best.costs == second.strata[0].best.costs).all()
    assert first.strata[0].leakages == second.strata[0].leakages
    labels = list(first.strata[0].source.labels)
    assert first.strata[0].best.costs[labels.index("a"), labels.index("c")] == 5
    with pytest.raises(ValueError, match="got 'c' in the column only"):
        release(frame, "eyes", distortion=0.4, costs=costs.rename(columns={"c": "d"}))


def test_ids_that_are_none_are_told():
    frame = pd.DataFrame({"eyes": ["b", "a"] * 50, "town": ["x", "y", "z", "w"] * 25})
    with pytest.raises(
        ValueError, match="consistent_by must be another column than the released one; got 'eyes' for both"
    ):
        release(frame, "eyes", distortion=0.2, consistent_by="eyes")
    found = release(frame, "eyes", distortion=0.2, consistent_by="town")
    assert any("only 4 different town in 100 rows" in note for note in found.notes)


def test_changes_rarer_than_integers_can_make_are_refused():
    frame = pd.DataFrame({"eyes": ["b", "a"] * 50})
    with pytest.raises(ValueError, match="distortion must be at least 1e-9"):
        release(frame, "eyes", distortion=1e-30)
