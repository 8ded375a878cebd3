"""A column from file to file, for ``make bench``: rows a second and peak memory, paired with NumPy's ``choice`` in memory.

Bars, on one core: 60 million rows a minute from Parquet to Parquet for 10 categories, and memory that does not grow with the
rows; 10^6 categories from file to release in 60 s and 2 GB.
"""

import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("pytest_benchmark")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# In a process of its own: the peak of memory is that of the process.
RELEASE = """
import resource, sys, time
from paper_repro.columns.releasing import release
begun, marks = time.process_time(), []
heard = lambda done, total: marks.append((time.process_time(), done))
release(sys.argv[1], "c", distortion=0.3, output=sys.argv[2], progress=heard)
spent = time.process_time() - begun
rate = sum(done for _, done in marks[1:]) / max(marks[-1][0] - marks[0][0], 1e-9)
print(spent, rate, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def released(path, output):
    """Seconds of the processor, rows a second of the publishing pass, and gigabytes at the peak."""
    run = subprocess.run([sys.executable, "-c", RELEASE, path, output], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return map(float, run.stdout.split())


def written(path, rows, categories, rng):
    names = np.array([f"category {number}" for number in range(categories)])
    with pq.ParquetWriter(path, pa.schema([("id", pa.int64()), ("c", pa.string())])) as file:
        for start in range(0, rows, 2**20):
            count = min(2**20, rows - start)
            codes = np.arange(start, start + count) % categories if categories > 10 else rng.integers(0, 10, count)
            file.write_table(pa.table({"id": np.arange(start, start + count), "c": names[codes]}))
    return path


def test_rows_a_minute_in_constant_memory(benchmark, tmp_path, rng):
    few = written(tmp_path / "few.parquet", 2_000_000, 10, rng)
    many = written(tmp_path / "many.parquet", 12_000_000, 10, rng)
    _, _, least = released(few, tmp_path / "a.parquet")
    _, rate, most = benchmark.pedantic(released, args=(many, tmp_path / "b.parquet"), rounds=1)
    start = time.process_time()
    rng.choice(10, 2_000_000, p=np.full(10, 0.1))
    benchmark.extra_info |= {
        "million rows a minute": round(rate * 60 / 1e6),
        "numpy's choice alone": round(2 * 60 / (time.process_time() - start)),
        "GB at the peak": most,
    }
    assert rate * 60 >= 60e6
    assert most <= least + 0.1


def test_a_million_categories_take_a_minute(benchmark, tmp_path, rng):
    path = written(tmp_path / "words.parquet", 4_000_000, 10**6, rng)
    spent, _, most = benchmark.pedantic(released, args=(path, tmp_path / "out.parquet"), rounds=1)
    benchmark.extra_info |= {"seconds": spent, "GB at the peak": most}
    assert spent <= 60
    assert most <= 2
