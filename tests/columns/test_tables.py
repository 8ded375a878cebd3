"""Tables as they are: read in batches, written whole or not at all, and refused in one sentence."""

import csv
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paper_repro.columns.estimating import estimate
from paper_repro.columns.releasing import release
from paper_repro.columns.tables import MISSING, categories_of, open_table
from paper_repro.columns.writing import check_output, whole_or_nothing, write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


# Cells that readers and writers like to change: numbers, dates, spaces, marks, lines, what looks missing.
NASTY = (
    *("1e5", "007", "1.10000000000000000001", "-0.0", "2020-01-01", "NaN", "NA", "null", "TRUE", "", '""', '""""'),
    *(" x", '"y  "', '"a,b"', '"a\nb"', '"a\r\nb"', '"a ""q"" b"', '5" pipe', '"x"tail', "ünï", "\U0001f600", '"=1+1"'),
)


@pytest.mark.parametrize(("end", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
def test_a_release_leaves_all_other_values(tmp_path, end, mark):
    rows = [
        [note, eye, note] for note, eye in zip(NASTY * 4, ['"gr,een"', "blue", '"blue"', "NA", ""] * 99, strict=False)
    ]
    lines = ["note,eye,id", *(",".join(row) for row in rows)]
    (tmp_path / "in.csv").write_bytes((mark + end.join(lines)).encode())
    asked = {"distortion": 0.3, "missing": "keep", "missing_values": ["NA"]}
    release(tmp_path / "in.csv", "eye", output=tmp_path / "out.csv", **asked)
    assert (tmp_path / "out.csv").read_bytes().startswith(mark.encode())
    with (tmp_path / "in.csv").open(encoding="utf-8-sig", newline="") as file:
        before = list(csv.reader(file))
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        after = list(csv.reader(file))
    assert [row[::2] for row in after] == [row[::2] for row in before]
    absent = {"": True, "NA": True}
    assert [absent.get(row[1], False) for row in after] == [absent.get(row[1], False) for row in before]
    # A quoted empty text and no text at all are told apart by who reads so.
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").count(',""\n') == 4


def test_in_parquet_what_stands_for_missing_elsewhere_stays(tmp_path):
    (tmp_path / "in.csv").write_text("note,eye\n" + "NA,blue\n,brown\n" * 5 + '"",NA\n')
    asked = {"distortion": 0.3, "missing": "keep", "missing_values": ["NA"]}
    release(tmp_path / "in.csv", "eye", output=tmp_path / "out.parquet", **asked)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["note"].to_pylist() == ["NA", None] * 5 + [""]
    assert found["eye"].to_pylist()[-1] is None


def test_an_empty_text_in_a_dictionary_is_missing_too(tmp_path):
    pq.write_table(pa.table({"c": pa.array(["a", "", "b"]).dictionary_encode()}), tmp_path / "in.parquet")
    assert open_table(tmp_path / "in.parquet").counts(["c"])["c"].to_pylist() == ["a", "b", None]


def rewritten(path, output):
    table = open_table(path)
    with whole_or_nothing(output) as file:
        write_table(file, output, table.schema, table.batches(), table)
    return output


@pytest.mark.parametrize(
    "text",
    [
        "id,eye\n007,blue\n010,\n",
        "id;eye\n1,5;blue\n2;x\n",
        "id\teye\n1\tblue\n",
        "\ufeffid,eye\n1,é\n",
        "eye\nblue\n\nbrown\n",
        'id,eye\n1,"a ""b"", c"\n',
    ],
)
def test_a_csv_comes_out_as_it_went_in(tmp_path, text):
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8", newline="")
    out = rewritten(path, tmp_path / "out.csv").read_bytes().decode()
    if '"' in text:  # a batch that needs quotation marks has them everywhere
        assert pd.read_csv(io.StringIO(out), dtype=str).equals(pd.read_csv(io.StringIO(text), dtype=str))
    else:
        assert out == text


def test_other_encodings_stay_what_they_are(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("id,eye\n1,café\n".encode("latin-1"))
    table = open_table(path, encoding="latin-1")
    with whole_or_nothing(tmp_path / "out.csv") as file:
        write_table(file, tmp_path / "out.csv", table.schema, table.batches(), table)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
    assert table.counts(["eye"])["eye"].to_pylist() == ["café"]


def test_parquet_keeps_types_order_and_metadata(tmp_path):
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2020-01-01", None, "2021-05-05"]),
            "eye": pd.Categorical(["blue", None, "brown"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "tags": [["a"], [], None],
        }
    )
    frame.to_parquet(tmp_path / "in.parquet")
    out = rewritten(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert pq.read_schema(out).equals(pq.read_schema(tmp_path / "in.parquet"), check_metadata=True)
    pd.testing.assert_frame_equal(pd.read_parquet(out), pd.read_parquet(tmp_path / "in.parquet"))


@pytest.mark.parametrize(
    ("raw", "match"),
    [
        (b"", "which is empty"),
        (b"a,b\n", "must have rows; got .* with a header only"),
        (b"\n1,2\n", "the first line of .* must be a header; got an empty line"),
        (b"a,a\n1,2\n", "must be distinct in .*; got 'a' for columns 1 and 2"),
        (
            b"a,b\n1,2\n3\n",
            r"as many cells as the header, 2; got 1 in row 3 .*: '3'. Fix the row or close the quotation mark",
        ),
        (b"a,b\n1,caf\xe9\n", "got utf-8, in which line 2 cannot be read: byte 0xe9 after .*encoding='latin-1'"),
        ("a,b\n1,2\n".encode("utf-16"), "encoding='utf-16'"),
        (b"PK\x03\x04workbook", "compressed or a workbook"),
        (b"PAR1 and nothing", "must be a CSV or Parquet file that can be read; got"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, raw, match):
    path = tmp_path / "in.csv"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=match) as caught:
        open_table(path).counts(["a"])
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("kind", ["list<item: int64>", "string_view", "halffloat"])
def test_types_that_are_no_categories_are_refused(tmp_path, kind):
    values = {"string_view": pa.array(["a", "b"]), "halffloat": pa.array(np.float16([1, 2]))}.get(kind, [[1], [2]])
    table = pa.table({"c": values.cast(kind) if kind == "string_view" else values, "d": ["x", "y"]})
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(
        ValueError, match=f"column must be a column of texts or numbers in .*; got 'c' of type {kind.split('<')[0]}"
    ):
        open_table(tmp_path / "in.parquet").counts(["d", "c"])


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64"])
def test_an_encoding_that_is_none(tmp_path, encoding):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=f"encoding must be one that Python knows.*; got '{encoding}'"):
        open_table(tmp_path / "in.csv", encoding=encoding)


@pytest.mark.parametrize("name", ["count", "a.b", "a b", "é", '"', "a\nb", ""])
def test_a_column_may_have_any_name(tmp_path, name):
    table = pd.DataFrame({name: ["x", "y", "y"] * 40, "group": ["1", "2"] * 60})
    table.to_csv(tmp_path / "in.csv", index=False)
    release(tmp_path / "in.csv", name, distortion=0.2, by="group", output=tmp_path / "out.csv")
    documents = [tmp_path / f"out.{group}.mechanism.json" for group in (1, 2)]
    found = estimate(tmp_path / "out.csv", name, documents, by="group")
    assert found.records == 120 and list(found.groups) == ["1", "2"]
    with pytest.raises(ValueError, match="mechanisms must be of different strata; got two of the stratum '1'"):
        estimate(tmp_path / "out.csv", name, [*documents, documents[0]], by="group")


def test_a_folder_a_lost_file_and_a_wrong_column(tmp_path):
    with pytest.raises(IsADirectoryError, match="data must be a CSV or Parquet file; got the folder"):
        open_table(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"got .*lost\.csv', which does not exist"):
        open_table(tmp_path / "lost.csv")
    with pytest.raises(
        ValueError, match=r"column must be one of \['eye'\] in the table; got 'Eye'\. Did you mean 'eye'\?"
    ):
        open_table(pd.DataFrame({"eye": ["x"]})).check_column("Eye")


def test_counts_add_up_over_batches_and_parts(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("paper_repro.columns.tables._PENDING", 10)
    codes = rng.integers(0, 7, 1000)
    table = pa.table({"c": pa.array(codes, mask=codes == 3), "d": codes % 2})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=100)
    read = open_table(tmp_path / "in.parquet")
    assert read.parts == 10
    found = read.counts(["c"])
    expected = np.bincount(codes)
    assert found["c"].to_pylist() == [0, 1, 2, 4, 5, 6, None]
    np.testing.assert_array_equal(found["count"], [*np.delete(expected, 3), expected[3]])
    assert sum(read.counts(["c", "d"], part)["count"].to_numpy().sum() for part in range(10)) == 1000


def test_codes_are_numbers_of_categories_and_back():
    for array in (pa.array(["b", None, "", "a"]), pa.array(["b", None, None, "a"]).dictionary_encode()):
        for labels, expected in ((["a", "b"], [1, -1, -1, 0]), (["a", "b", None], [1, 2, 2, 0])):
            categories = categories_of(pa.array(labels), "c")
            codes = categories.codes(array)
            np.testing.assert_array_equal(codes, expected)
            back = categories.column(codes, array.type)
            assert back.type == array.type
            assert back.to_pylist() == ["b", None, None, "a"]
    assert categories.labels == ("a", "b", MISSING)


def test_nothing_is_overwritten_and_an_error_leaves_nothing(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(RuntimeError), whole_or_nothing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileExistsError, match="output must not exist"), whole_or_nothing(path) as file:
        file.write(b"second")
        with whole_or_nothing(path) as other:  # two at once: the first to be whole stays
            other.write(b"first")
    assert path.read_bytes() == b"first"
    with pytest.raises(FileExistsError, match=r"output must not exist; got .*out\.csv"):
        check_output(path)
    with pytest.raises(FileNotFoundError, match="output must be in an existing folder"):
        check_output(tmp_path / "lost" / "out.csv")


CHILD = """
import resource, sys, time
from pathlib import Path
from paper_repro.columns.writing import whole_or_nothing
if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    with whole_or_nothing(Path(sys.argv[1])) as file:
        file.write(bytes(100_000))
        file.flush()
        print("half", flush=True)
        time.sleep(60)
except OSError as error:
    print(error)
"""


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", CHILD, tmp_path / "out.csv", "full"], capture_output=True, text=True, timeout=60
    )
    assert "must be a file that can be written" in run.stdout and "File too large" in run.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="elsewhere what is unfinished has a name")
def test_a_kill_leaves_nothing(tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-c", CHILD, tmp_path / "out.csv", "kill"], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "half\n"
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert list(Path(tmp_path).iterdir()) == []


def test_a_series_is_refused_with_the_way_to_a_table():
    series = pd.Series(["blue", "brown"], name="eyes")
    with pytest.raises(ValueError, match=r"got pandas.*Series\. Convert it, by to_frame\(\)\.$"):
        open_table(series)
    assert open_table(series.to_frame()).counts(["eyes"]).num_rows == 2
