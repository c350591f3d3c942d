"""The grammar of label selectors: `app=x`, `tier in (web,db)`, `!old`, `index>3`, joined by commas.

Stands for the parser in `k8s.io/apimachinery/pkg/labels`. Law: `!=` and `notin` hold where the key is missing.
"""

import enum
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from gpuyard_cluster.apiserver.rules import names

_TOKEN = re.compile(r"\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)")


class Operator(enum.Enum):
    """What a requirement asks of a key's value."""

    EXISTS = "exists"
    ABSENT = "!"
    IN = "in"
    NOT_IN = "notin"
    GREATER = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on the value of one key. `values` has one whole number for GREATER and LESS."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def holds(self, value: str | None) -> bool:
        """Whether it holds for the value; None where the object has no such key."""
        match self.operator:
            case Operator.EXISTS:
                return value is not None
            case Operator.ABSENT:
                return value is None
            case Operator.IN:
                return value in self.values
            case Operator.NOT_IN:
                return value not in self.values
        number, bound = _number(value), int(next(iter(self.values)))
        return number is not None and (
            number > bound if self.operator is Operator.GREATER else number < bound
        )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?[0-9]{1,18}", text) else None


class SelectorError(ValueError):
    """A label selector that cannot be read."""


def parse(text: str) -> Iterator[Requirement]:
    """The requirements of a selector, none for an empty text. Raises SelectorError while iterating."""
    return _Parser(text).requirements()


_BY_TOKEN = {"=": Operator.IN, "==": Operator.IN, "!=": Operator.NOT_IN} | {
    operator.value: operator for operator in (Operator.IN, Operator.NOT_IN, Operator.GREATER, Operator.LESS)
}


class _Parser:
    """Recursive descent over the tokens of one label selector."""

    def __init__(self, text: str) -> None:
        self._tokens = deque(_TOKEN.findall(text.strip()))

    def requirements(self) -> Iterator[Requirement]:
        """Terms between commas; an empty text selects everything."""
        while self._tokens:
            yield self._requirement()
            if self._tokens:
                self._expect(",")
                if not self._tokens:
                    raise SelectorError("found '', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(self._key(), Operator.ABSENT)
        key = self._key()
        if self._peek() in ("", ","):
            return Requirement(key, Operator.EXISTS)
        token = self._next()
        if token not in _BY_TOKEN:
            raise SelectorError(f"found '{token}', expected: in, notin, =, ==, !=, >, <")
        operator = _BY_TOKEN[token]
        values = self._values() if token in ("in", "notin") else frozenset({self._value()})
        if operator in (Operator.GREATER, Operator.LESS) and _number(*values) is None:
            raise SelectorError(f"{key} {token}: must be followed by a whole number")
        return Requirement(key, operator, values)

    def _values(self) -> frozenset[str]:
        self._expect("(")
        values = [self._value()]
        while self._peek() == ",":
            self._next()
            values.append(self._value())
        self._expect(")")
        return frozenset(values)

    def _key(self) -> str:
        key = self._next()
        if fault := names.qualified_fault(key):
            raise SelectorError(f'key: Invalid value: "{key}": {fault}')
        return key

    def _value(self) -> str:
        """A value may be empty, as in `key=` and `key in (,x)`."""
        value = "" if self._peek() in ("", ",", ")") else self._next()
        if fault := names.label_value_fault(value):
            raise SelectorError(f'values: Invalid value: "{value}": {fault}')
        return value

    def _peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _next(self) -> str:
        return self._tokens.popleft() if self._tokens else ""

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise SelectorError(f"found '{found}', expected: '{token}'")
