"""Work spread over the workers of a Dask scheduler, all of which must have this very code."""

from __future__ import annotations

import hashlib
import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from paper_repro.errors import optional
from paper_repro.paths import DATA

__all__ = ["check_address", "digest", "on_cluster"]

# Seconds that a scheduler has to answer, and that it may be without a worker.
_WAIT, _PATIENCE = 15, 5
_LEDGER = DATA / "ledger.csv"  # what is found, not what it is found by

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def one_line(error: Exception) -> str:
    """The text of an error in one line."""
    return " ".join(str(error).split())[:200].rstrip(".")


def check_address(address: str) -> str:
    """The address of a scheduler. Raises ValueError if it is none."""
    if not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^/]+:\d+", address):
        raise ValueError(
            f"scheduler must be an address, such as tcp://127.0.0.1:8786; got {address!r}. Take the one that the scheduler "
            "prints."
        )
    return address


def digest() -> str:
    """Of all that a result may depend on: NumPy, the package's code, its statements and the data."""
    found = hashlib.sha256(np.__version__.encode())
    package = Path(__file__).parents[1]
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.toml"), *DATA.rglob("*.csv")]):
        if path != _LEDGER:
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def on_cluster(
    do: Callable[[Asked], Answer], tasks: Iterable[Asked], scheduler: str, *, in_order: bool = False
) -> Iterator[Answer]:
    """What a function makes of each task, as soon as it is done, or in the order of the tasks.

    Raises OSError, in one sentence, if no scheduler answers, or it has no workers, others than these, or loses them; and what the
    function raises.
    """
    distributed = optional("distributed", "cluster")
    dask = optional("dask", "cluster")
    for name in ("distributed", "distributed.client"):  # what goes wrong is told below, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # A scheduler that has died is not waited for.
    with dask.config.set({"distributed.comm.timeouts.connect": f"{_WAIT}s", "distributed.comm.retry.count": 0}):
        try:
            client = distributed.Client(scheduler, timeout=_WAIT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise OSError(
                f"scheduler must be one that answers within {_WAIT} s; got {scheduler!r} ({one_line(error)}). Start it, or "
                "correct the address."
            ) from None
        with client:
            _check_workers(client, scheduler)
            waiting, seen = list(client.map(do, list(tasks), pure=False)), time.monotonic()
            while waiting:
                is_done: Any = distributed.Future.done
                done = set(takewhile(is_done, waiting) if in_order else filter(is_done, waiting))
                ready, waiting = [[one for one in waiting if (one in done) == is_in] for is_in in (True, False)]
                try:
                    for future in ready:
                        yield future.result(timeout=_WAIT)
                    if ready or (client.status == "running" and client.scheduler_info(n_workers=-1)["workers"]):
                        seen = time.monotonic()
                except (OSError, CancelledError):
                    seen = -math.inf
                if time.monotonic() - seen > _PATIENCE:
                    raise OSError(
                        f"scheduler must run, with a worker, until the work is done; got {scheduler!r}, of which one has ended. "
                        "Start it again, and repeat the command."
                    )
                time.sleep(0 if ready else 0.05)


def _check_workers(client: Any, scheduler: str) -> None:
    """Raise OSError unless there are workers, and all of them have this very code."""
    try:
        client.wait_for_workers(1, timeout=_WAIT)
        digests, here = client.run(digest), digest()
    except TimeoutError:
        raise OSError(
            f"scheduler must have workers; got {scheduler!r} without any. Start some: dask worker {scheduler}."
        ) from None
    except Exception as error:
        raise OSError(
            f"workers of {scheduler!r} must have this package; got one without it ({one_line(error)}). Install it there."
        ) from None
    if other := [worker for worker, found in digests.items() if found != here]:
        raise OSError(
            f"workers of {scheduler!r} must have this version of the package and its data; got another one at {other[0]!r}. "
            "Install this version there."
        )
