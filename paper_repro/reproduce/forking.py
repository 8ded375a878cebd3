"""Python processes forked from one that has imported what they need: a start takes milliseconds, where importing takes seconds.

The template is one process with one thread, and forks whatever asks for it: ``python -m module arguments``, with its own
environment, folder and streams. It and all that it forked end with the process that started it, however that ends. On other
systems than Linux, where a package has started a thread, or with ``PAPER_REPRO_FORK=0``, there is none, and callers start
processes as usual.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paper_repro.paths import NOTEBOOKS

__all__ = ["Forked", "Template", "notebook_modules", "template"]

# What runs every notebook, and what the figures import only where they need it.
_RUNNING = ("ipykernel.debugger", "ipykernel.kernelapp", "papermill", "psutil")
_DRAWING = (*(f"matplotlib.backends.backend_{kind}" for kind in ("agg", "pdf", "svg")), "seaborn")
_SERVE = "from paper_repro.reproduce.forking import _serve; _serve()"
_LONGEST = 1 << 20  # bytes of a request
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of linux/prctl.h
# pandas loads pyarrow, whose allocator would start a thread of its own; with a second thread nothing can be forked.
_ONE_THREAD = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


class Forked:
    """A process forked from a template, with what Jupyter asks of a ``subprocess.Popen``; who drops it kills it."""

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket, pid: int) -> None:
        self._line, self.pid = line, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status, negative for a signal's number; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                said = self._line.recv(16)
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired(f"forked process {self.pid}", timeout or 0) from None
            except ConnectionError:
                said = b""
            self.returncode = int(said or -signal.SIGKILL)  # a template that dies takes along all that it forked
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process and to those it started, unless it has ended."""
        with contextlib.suppress(OSError):
            self._line.send(str(int(number)).encode())

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Template:
    """A process with modules imported, to fork others from."""

    def __init__(self, channel: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self._channel, self.process = channel, process

    @classmethod
    def start(cls, modules: Iterable[str], environment: Mapping[str, str]) -> Template | None:
        """Start one, or None where that is not safe or not wanted. It imports while the caller goes on."""
        if sys.platform != "linux" or not hasattr(os, "pidfd_open") or environment.get("PAPER_REPRO_FORK") == "0":
            return None
        ours, theirs = _pair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(theirs.fileno()), *modules],
                # As a kernel has it: what pyplot shows goes into the notebook.
                env={"MPLBACKEND": "module://matplotlib_inline.backend_inline", **_ONE_THREAD, **environment},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the caller, whose end is the template's
            )
        return cls(ours, process)

    def close(self) -> None:
        """End it, if it was started here, with all that it forked."""
        self._channel.close()
        if self.process:
            self.process.kill()
            self.process.wait()

    def fork(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str, streams: Sequence[int]
    ) -> Forked | None:
        """Run ``python -m module arguments`` in a folder, or None if that cannot be done by a fork.

        ``streams`` are the descriptors of its input, output and error output.
        """
        request = json.dumps([module, list(arguments), dict(environment), folder]).encode()
        ours, theirs = _pair()
        with theirs, contextlib.suppress(OSError):  # too long a request, or the template is gone
            socket.send_fds(self._channel, [request], [theirs.fileno(), *streams])
        with contextlib.suppress(ConnectionError):
            if pid := ours.recv(16):
                return Forked(ours, int(pid))
        ours.close()
        return None


_inherited: Template | None = None


@functools.cache
def template() -> Template | None:
    """The template that this process was forked from; elsewhere one of its own, with what the notebooks import."""
    own = _inherited or Template.start(notebook_modules(sorted(NOTEBOOKS.glob("*.ipynb"))), os.environ)
    if own and own.process:
        atexit.register(own.close)
    return own


def notebook_modules(notebooks: Iterable[Path]) -> list[str]:
    """Modules that notebooks import, and what every one of them needs to run."""
    found = dict.fromkeys(_RUNNING)
    for notebook in notebooks:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # who runs it says what is wrong with it
            for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    found |= dict.fromkeys(_imports("".join(cell["source"])))
    return [*found, *(_DRAWING if "paper_repro.figures" in found else ())]


def _imports(source: str) -> Iterator[str]:
    with contextlib.suppress(SyntaxError):  # a cell with IPython magic
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                # What is imported from a package may be a module of it; the template passes over what is none.
                yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class _Child(NamedTuple):
    pid: int
    line: socket.socket  # to whoever asked for it: signals come, the exit status goes
    end: Any  # readable when it has ended


def _serve() -> None:
    """The template's whole life, and the beginning of what is forked from it."""
    first, modules = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    os.environ["JPY_PARENT_PID"] = str(
        os.getpid()
    )  # ipykernel reads it when imported; without a parent, kernels print a note
    for module in modules:
        with contextlib.suppress(Exception):  # who needs it says what is wrong
            importlib.import_module(module)
    gc.collect()
    gc.freeze()  # a fork then shares the pages that a search for garbage would write to
    own = os.getpid()
    if asked := _forked(first):
        _run(own, *asked)


def _forked(first: socket.socket) -> tuple[bytes, list[int]] | None:
    """Fork for every request: in the fork, it with its streams; in the template None, when who started it is gone."""
    watched = selectors.PollSelector()  # an epoll would be one with those of the forks
    watched.register(first, selectors.EVENT_READ)
    while True:
        key = watched.select()[0][0]
        source: Any = key.fileobj
        child: _Child | None = key.data
        if child is None:  # a channel, of who started the template or of a fork
            request, handles, _, _ = socket.recv_fds(source, _LONGEST, 4)
            if request and _fork(watched, handles[0]):
                return request, handles[1:]
            for handle in handles[1:]:
                os.close(handle)
            if not request and source is first:
                return None
            if not request:
                _forget(watched, source)
        elif source is child.end:
            status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
            with contextlib.suppress(OSError):
                child.line.send(str(status).encode())
            _forget(watched, child.end, child.line)
        else:
            asked = b""
            with contextlib.suppress(OSError):
                asked = source.recv(16)
            number = int(asked or signal.SIGKILL)
            try:
                os.killpg(child.pid, number)
            except ProcessLookupError:  # it has no group of its own yet
                os.kill(child.pid, number)
            if not asked:  # nobody waits for it any more
                watched.unregister(source)


def _fork(watched: selectors.BaseSelector, handle: int) -> bool:
    """Whether this is the fork, where nothing is open of what the template watches."""
    global _inherited
    line = socket.socket(fileno=handle)
    if len(os.listdir("/proc/self/task")) > 1:  # a lock that another thread holds would stay locked in the fork
        line.close()
        return False
    ours, theirs = _pair()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _forget(watched, ours, line, *[key.fileobj for key in watched.get_map().values()])
        watched.close()
        _inherited = Template(theirs)
        return True
    theirs.close()
    child = _Child(pid, line, open(os.pidfd_open(pid), "rb", buffering=0))
    watched.register(ours, selectors.EVENT_READ)
    watched.register(child.line, selectors.EVENT_READ, child)
    watched.register(child.end, selectors.EVENT_READ, child)
    with contextlib.suppress(OSError):
        line.send(str(pid).encode())
    return False


def _forget(watched: selectors.BaseSelector, *sources: Any) -> None:
    for source in sources:
        with contextlib.suppress(KeyError):
            watched.unregister(source)
        source.close()


def _run(template: int, request: bytes, streams: Sequence[int]) -> None:
    """Be ``python -m module arguments``."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != template:  # it died before that
        os._exit(1)
    module, arguments, environment, folder = json.loads(request)
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has jobs in the background ignore it
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = [folder, *filter(None, sys.path)]
    sys.argv[:] = [module, *arguments]
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # else all would draw the same
    runpy.run_module(module, run_name="__main__", alter_sys=True)
