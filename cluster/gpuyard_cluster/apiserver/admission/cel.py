"""CEL expressions, over celpy: compiled once, evaluated over JSON, errors as values.

Stands for `k8s.io/apiserver/pkg/cel`. Part of the language: the standard library, its macros and Kubernetes' common
string functions. Optionals (`?.`), `quantity()`, `url()` and other Kubernetes libraries are refused when compiled,
so that no rule is ever ignored. Costs are not counted.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import celpy
import orjson
from celpy import celtypes

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.readings import Path, parts_read, paths


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an expression could not be compiled or evaluated."""

    message: str


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression. `names` are the free variables that it reads."""

    text: str
    names: frozenset[str]
    _read: frozenset[Path]
    _value: Callable[[bytes], bytes]

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """The value as JSON, or a Failure. Variables are JSON values."""
        try:
            return orjson.loads(self._value(orjson.dumps(parts_read(variables, self._read))))
        except (celpy.CELEvalError, ValueError, TypeError, KeyError, OverflowError) as error:
            return Failure(f"expression '{self.text}' resulted in error: {_reason(error)}")


@functools.lru_cache(maxsize=1024)
def compile_text(text: str, variables: frozenset[str]) -> Expression | Failure:
    """Compile an expression that may read `variables`."""
    tree = parse(text)
    return tree if isinstance(tree, Failure) else compile_tree(text, tree, variables)


def parse(text: str) -> Any:
    """The syntax tree of an expression (celpy's), or a Failure."""
    try:
        return _environment().compile(text)
    except celpy.CELParseError as error:
        return Failure(f"compilation failed: ERROR: {str(error).strip().splitlines()[0]}: Syntax error")


def compile_tree(text: str, tree: Any, variables: frozenset[str]) -> Expression | Failure:
    """Compile a parsed expression, or a part of one; `text` is for messages."""
    called = {str(node.children[0]) for node in tree.find_data("ident_arg")}
    called |= {str(node.children[1]) for node in tree.find_data("member_dot_arg")}
    for name in sorted(called - _FUNCTIONS):
        return Failure(f"compilation failed: ERROR: undeclared reference to '{name}': no such function here")
    names = {str(node.children[0]) for node in tree.find_data("ident")} - _bound_names(tree) - _TYPES
    for name in sorted(names - variables):
        return Failure(f"compilation failed: ERROR: undeclared reference to '{name}'")
    for _ in tree.find_data("member_object"):
        return Failure("compilation failed: ERROR: objects cannot be built here")
    read = frozenset(path for path in paths(tree) if path[0] in names)
    return Expression(text, frozenset(names), read, _remembering(tree))


def _remembering(tree: Any) -> Callable[[bytes], bytes]:
    """From variables to the value, both in JSON. celpy takes milliseconds, and to a rule most pods look alike."""
    program = _environment().program(tree, functions=_extensions())

    def value(variables: bytes) -> bytes:
        activation = {name: celpy.json_to_cel(found) for name, found in orjson.loads(variables).items()}
        return _encoded(program.evaluate(activation))

    remembered = functools.lru_cache(maxsize=256)(value)
    return lambda variables: (remembered if len(variables) <= _LONGEST_REMEMBERED else value)(variables)


@functools.cache
def _environment() -> Any:
    """The one celpy environment: making it costs a quarter of a second, so it is made when first needed."""
    return celpy.Environment()


_LONGEST_REMEMBERED = 4096
"""Bytes of JSON."""
_MACROS = frozenset({"all", "exists", "exists_one", "filter", "map"})
_TYPES = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"})
_FUNCTIONS = (
    _MACROS
    | _TYPES
    | {"has", "size", "contains", "endsWith", "startsWith", "matches", "dyn", "duration", "timestamp"}
    | {"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getMonth"}
    | {"getHours", "getMilliseconds", "getMinutes", "getSeconds"}
    | {"charAt", "indexOf", "join", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii"}
)


def _bound_names(tree: Any) -> set[str]:
    """The variables that macros such as `list.all(x, ...)` bind."""
    macros = (node for node in tree.find_data("member_dot_arg") if str(node.children[1]) in _MACROS)
    arguments = (node.children[2].children[0] for node in macros if len(node.children) > 2)
    return {str(ident.children[0]) for argument in arguments for ident in argument.find_data("ident")}


@functools.cache
def _extensions() -> dict[str, Callable[..., Any]]:
    """Kubernetes' string functions that celpy lacks."""
    string, integer = celtypes.StringType, celtypes.IntType
    return {
        "charAt": lambda text, index: string(text[index : index + 1]),
        "dyn": lambda value: value,
        "indexOf": lambda text, part: integer(text.find(part)),
        "join": lambda parts, separator="": string(separator.join(parts)),
        "lowerAscii": lambda text: string(text.lower()),
        "replace": lambda text, old, new: string(text.replace(old, new)),
        "split": lambda text, separator: celtypes.ListType([string(part) for part in text.split(separator)]),
        "substring": lambda text, start, end=None: string(text[start:end]),
        "trim": lambda text: string(text.strip()),
        "upperAscii": lambda text: string(text.upper()),
    }


def _encoded(value: Any) -> bytes:
    if isinstance(value, celpy.CELEvalError):
        raise value
    return str(_encoder().encode(value)).encode()


@functools.cache
def _encoder() -> Any:
    return celpy.CELJSONEncoder()


def _reason(error: Exception) -> str:
    """celpy puts the whole activation into its message; the first sentence says what was wrong."""
    text = str(error.args[0]) if error.args else str(error)
    return text.partition(" (in activation")[0]


def holds(expression: Expression, variables: JSON) -> bool | Failure:
    """The value of a condition; a Failure when it has none, or is no boolean."""
    value = expression.evaluate(variables)
    if isinstance(value, bool | Failure):
        return value
    return Failure(f"expression '{expression.text}' must evaluate to bool")
