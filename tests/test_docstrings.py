"""Every public docstring says what a reader needs: quantity, shapes, unit, errors, and an example that the doctests run."""

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import textwrap
from dataclasses import is_dataclass
from functools import cached_property

import pytest

import paper_repro
from paper_repro.types import FloatArray

# What draws a picture, writes files or is a command has no result that an example could print.
NO_EXAMPLES = re.compile(r"paper_repro\.((figures|reproduce)(\..*)?|cli|columns\.(commands|options))")

ARRAY = re.compile(r"\b(ArrayLike|NDArray|FloatArray|IntArray|BoolArray|ndarray)\b")
FLOAT = re.compile(r"\bfloat\b")
UNIT = re.compile(
    r"\[0, 1[\])]|"
    r"\b(nats?|bits?|records?|dimensionless|probabilit(y|ies)|distortions?|distances?|ratios?|seconds?|inch(es)?|points?)\b",
    re.IGNORECASE,
)
SHAPE = re.compile(r"\b([Ss]hapes?|scalar|square)\b|\b[A-Z] x [A-Z]\b")
ORDER = re.compile(r"(Return|Compute|Calculate|Get|Give|Make|Build|Evaluate)s?\b")
ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def modules():
    """All modules but the checks of the ledger, each of which is described by its statement."""
    names = [found.name for found in pkgutil.walk_packages(paper_repro.__path__, "paper_repro.")]
    return [
        importlib.import_module(name)
        for name in ["paper_repro", *names]
        if not re.match(r"paper_repro\.(claims\.|__main__)", name)
    ]


class Documented:
    """A public function, method, property or class, and where it is found."""

    def __init__(self, thing, name, owner=None):
        self.name = name
        self.is_property = isinstance(thing, (property, cached_property))
        if isinstance(thing, property):
            thing = thing.fget
        elif isinstance(thing, cached_property):
            thing = thing.func
        self.thing = inspect.unwrap(getattr(thing, "__func__", thing))
        self.text = inspect.cleandoc(self.thing.__dict__.get("__doc__") or "") if inspect.isclass(thing) else ""
        self.text = self.text or inspect.cleandoc(self.thing.__doc__ or "")
        if self.is_property and not self.text:  # described among the attributes of its class
            self.text = owner.entries().get(self.thing.__name__, "")
        self.head = inspect.getmodule(self.thing).__doc__ or ""

    @cached_property
    def annotations(self):
        """Types of what is taken and of what is returned, by name, as written; fields of a class."""
        if inspect.isclass(self.thing):
            own = {name: str(kind) for name, kind in inspect.get_annotations(self.thing).items() if name[0] != "_"}
            return {name: kind for name, kind in own.items() if "ClassVar" not in kind} or annotations_of(
                self.thing.__dict__.get("__init__")
            )
        return annotations_of(self.thing)

    def section(self, title):
        found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|^>>> |\Z)", self.text, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""

    def entries(self):
        """What the docstring says of each parameter or field, by name; of what is returned, where it has a section for it."""
        entries = {"return": self.section("Returns")} if self.section("Returns") else {}
        for entry in ENTRY.split(self.section("Parameters") + self.section("Attributes")):
            names, _, _ = entry.partition("\n")[0].partition(" : ")
            entries |= {name.strip(): entry for name in names.split(",")}
        return entries

    def gaps(self):
        yield from self.first_line()
        yield from self.shapes()
        if any(FLOAT.search(kind) for kind in self.annotations.values()) and not UNIT.search(self.text):
            yield "unit"
        yield from self.errors()

    def first_line(self):
        first = self.text.partition("\n")[0]
        if not first or ORDER.match(first):
            yield "first line"

    def shapes(self):
        entries = self.entries()
        if re.search(r"\b[Pp]arameters\b.* as of :", self.text):  # those of a function it names
            return
        for name, kind in self.annotations.items():
            if (
                ARRAY.search(kind)
                and "Callable" not in kind
                and not (SHAPE.search(entries.get(name, self.text)) or self.defined(name))
            ):
                yield f"shape of {name}"

    def defined(self, name):
        """Whether a sentence at the head of the module says what shape all that are called this have."""
        sentences = re.split(r"\.\s", self.head)
        return any(re.search(rf"\b{name}s?\b", said, re.IGNORECASE) and SHAPE.search(said) for said in sentences)

    def errors(self):
        if re.search(r"\berrors? as (of|for) :", self.text):  # those of a function it names
            return
        said = self.text.partition("Raises")[2]
        missing = [names for names in raised(self.thing) if not any(re.search(rf"\b{name}\b", said) for name in names)]
        yield from sorted({f"Raises {names[0]}" for names in missing})

    def has_example(self):
        texts = [self.text]
        if inspect.isclass(self.thing):
            texts += [inspect.getdoc(member) or "" for name, member in vars(self.thing).items() if name[0] != "_"]
        return any(">>>" in text and "+SKIP" not in text for text in texts)


def annotations_of(function):
    if function is None:
        return {}
    return {name: str(kind) for name, kind in inspect.get_annotations(inspect.unwrap(function)).items()}


def raised(thing):
    """What the own body raises, and the checks of arguments that it calls: tuples of errors of which one is to be named."""
    bodies = [thing]
    if inspect.isclass(thing):
        bodies = [vars(thing).get(name) for name in ("__init__", "__post_init__", "__new__")]
        bodies = [body for body in bodies if getattr(body, "__module__", None) == thing.__module__]
    found = set()
    for body in bodies:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(body)))
        except (OSError, TypeError):  # made by a dataclass
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func).rpartition(".")[2]
                found.add((name, *(base.__name__ for base in getattr(builtins, name, int).__mro__[1:-3])))
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if re.match(r"check_\w+$", called):
                found.add(("ValueError", r"\w+Error"))
    return {names for names in found if names[0] != "NotImplementedError"}


def members(module):
    """Public names of a module that are its own, with the public members that their classes define."""
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if getattr(thing, "__module__", None) != module.__name__ or not (
            inspect.isfunction(inspect.unwrap(thing)) or inspect.isclass(thing)
        ):
            continue
        own = Documented(thing, f"{module.__name__}.{name}")
        yield own
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                is_callable = isinstance(value, (staticmethod, classmethod, property, cached_property))
                inherited = any(inspect.getdoc(getattr(base, member, None)) for base in thing.__mro__[1:])
                if member[0] != "_" and (is_callable or inspect.isfunction(value)) and not inherited:
                    yield Documented(value, f"{module.__name__}.{name}.{member}", own)


def needs_example(documented, module):
    """Functions and classes of a module; not errors, protocols, abstract classes, and dataclasses, which functions return."""
    thing = documented.thing
    if documented.name != f"{module}.{thing.__name__}" or NO_EXAMPLES.fullmatch(module):
        return False
    if inspect.isclass(thing):
        abstract = (
            inspect.isabstract(thing) or getattr(thing, "_is_protocol", False) or issubclass(thing, BaseException)
        )
        return not abstract and not is_dataclass(thing) and not issubclass(thing, tuple)
    return True


def all_gaps():
    found = {}
    for module in modules():
        for documented in members(module):
            gaps = list(documented.gaps())
            if needs_example(documented, module.__name__) and not documented.has_example():
                gaps.append("example")
            found |= {documented.name: gaps} if gaps else {}
    return found


def test_docstrings_say_what_a_reader_needs():
    found = all_gaps()
    assert not found, "\n".join(f"{name} lacks {', '.join(gaps)}" for name, gaps in found.items())


GOOD = """Least leakage of a matrix, in nats.

Parameters
----------
matrix : ndarray, shape (M, M)

Raises
------
ValueError
    If it is no channel.
"""


@pytest.mark.parametrize(
    ("old", "new", "gap"),
    [
        ("Least leakage of a matrix", "Return the leakage", "first line"),
        (", in nats", "", "unit"),
        (", shape (M, M)", "", "shape of matrix"),
        ("ValueError", "KeyError", "Raises ValueError"),
    ],
)
def test_a_gap_is_noticed(old, new, gap):
    def function(matrix: FloatArray, slack: float) -> float:
        if slack < 0:
            raise ValueError(slack)
        return 0.0

    function.__doc__ = GOOD
    assert list(Documented(function, "function").gaps()) == []
    function.__doc__ = GOOD.replace(old, new)
    assert list(Documented(function, "function").gaps()) == [gap]
