"""Spellings of an earlier release, which work for one more with a warning, and wrong ones: what to write instead."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["accepts_old_call", "made_by", "says_how"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def accepts_old_call(*positions: str, **keywords: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function be called as it was before: with keyword-only parameters by position, and renamed ones by their old names.

    Parameters
    ----------
    *positions : str
        Keyword-only parameters that followed the positional ones, in their order.
    **keywords : str
        Old name = new name.

    Raises
    ------
    TypeError
        When it is called with a parameter in both spellings.

    Examples
    --------
    >>> @accepts_old_call("notion", individuals="records")
    ... def count(records, *, notion="privacy"):
    ...     return records, notion
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     print(count(3, "leakage"), count(individuals=3))
    (3, 'leakage') (3, 'privacy')
    >>> [str(warning.message) for warning in caught]
    ["count: write notion='leakage'; by position it is deprecated", 'count: write records=3; individuals= is deprecated']
    >>> count(records=3, individuals=4)
    Traceback (most recent call last):
    TypeError: count: records must be given once; got 3 and 4.
    """

    def _decorate(function: Callable[P, R]) -> Callable[P, R]:
        most = sum(
            parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for parameter in inspect.signature(function).parameters.values()
        )

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = dict(kwargs)
            old_spellings = [
                (name, value, "by position it") for name, value in zip(positions, args[most:], strict=False)
            ] + [(new, given.pop(old), f"{old}=") for old, new in keywords.items() if old in given]
            for name, value, spelling in old_spellings:
                if name in given:
                    raise TypeError(
                        f"{function.__qualname__}: {name} must be given once; got {given[name]!r} and {value!r}."
                    )
                _warn(function, f"write {name}={value!r}; {spelling} is deprecated")
                given[name] = value
            anyhow: Callable[..., R] = function
            return anyhow(*args[:most], *args[most + len(positions) :], **given)

        return call

    return _decorate


def says_how(way_out: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Raises TypeError, with the way out, when a function is called with parameters that it does not have, or not by position.

    >>> @says_how("write half(of=...)")
    ... def half(*, of):
    ...     return of / 2
    >>> half(3)
    Traceback (most recent call last):
    TypeError: half: the arguments must fit its signature; got the error 'too many positional arguments'. Write half(of=...).
    """

    def _decorate(function: Callable[P, R]) -> Callable[P, R]:
        bind = inspect.signature(function).bind

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError:  # to bind first would take as long as a small mechanism
                try:
                    bind(*args, **kwargs)
                except TypeError as error:
                    raise TypeError(
                        f"{function.__qualname__.removesuffix('.__init__')}: the arguments must fit its signature; got the error {str(error)!r}. "
                        f"{way_out[0].upper()}{way_out[1:]}."
                    ) from None
                raise

        return call

    return _decorate


def made_by(way_out: str) -> Callable[[type[T]], type[T]]:
    """:func:`says_how` for the constructor of a dataclass. Raises TypeError, with the way out, when it is called otherwise.

    >>> @made_by("write Half(of)")
    ... class Half:
    ...     def __init__(self, of):
    ...         self.value = of / 2
    >>> Half()
    Traceback (most recent call last):
    TypeError: Half: the arguments must fit its signature; got the error "missing a required argument: 'of'". Write
    Half(of).
    """

    def _decorate(cls: type[T]) -> type[T]:
        cls.__init__ = says_how(way_out)(cls.__init__)  # type: ignore[method-assign]
        return cls

    return _decorate


def _warn(function: Callable[..., Any], message: str) -> None:
    warnings.warn(f"{function.__qualname__}: {message}", DeprecationWarning, stacklevel=3)
