"""Object literals of CEL (`Object{spec: Object.spec{...}}`) and merging what they say into an object.

Stands for the ApplyConfiguration patcher of MutatingAdmissionPolicy. celpy parses such literals and cannot build
them, so their frame (objects, and lists of objects) is evaluated here and only the leaves by celpy. A literal inside
another expression, such as a conditional, is refused when the policy is created.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import cel
from gpuyard_cluster.apiserver.admission.cel import Failure
from gpuyard_cluster.apiserver.changes import merging
from gpuyard_cluster.apiserver.changes.shapes import Shape

Builder = Callable[[Mapping[str, Any]], Any]
"""Variables -> the JSON that a part of the literal stands for, or a Failure."""


@functools.lru_cache(maxsize=256)
def compile_literal(text: str, variables: frozenset[str]) -> Builder | Failure:
    """Compile an expression that is one object literal."""
    tree = cel.parse(text)
    if isinstance(tree, Failure):
        return tree
    if _core(tree).data != "member_object":
        return Failure("compilation failed: ERROR: the expression must be an object literal: Object{...}")
    return _build(_core(tree), "Object", text, variables)


def merge(obj: JSON, config: JSON, shape: Shape) -> JSON | Failure:
    """`obj` with the fields of `config`, merged as by server-side apply: keyed lists gain items, none doubles."""
    if path := _atomic(config, shape, ""):
        return Failure(f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {path}")
    if (faulty := merging.faulty_list(config, shape)) is not None:
        return Failure(f"invalid ApplyConfiguration: {faulty}: items need their keys, each once")
    merged: JSON = merging.merge(obj, config, shape)
    return merged


_FRAME = ("member_object", "list_lit")
"""What of a syntax tree is built here; celpy evaluates the rest."""


def _core(tree: Any) -> Any:
    """The first node below chains of single children: the grammar has one for each level of precedence."""
    while tree.data not in _FRAME and len(tree.children) == 1 and hasattr(tree.children[0], "children"):
        tree = tree.children[0]
    return tree


def _build(tree: Any, expected: str, text: str, variables: frozenset[str]) -> Builder | Failure:
    """The builder of one part; `expected` is the type that an object literal here must name."""
    tree = _core(tree)
    if tree.data == "member_object":
        return _build_object(tree, expected, text, variables)
    if tree.data == "list_lit":
        return _build_list(tree, expected, text, variables)
    compiled = cel.compile_tree(text, tree, variables)
    return compiled if isinstance(compiled, Failure) else compiled.evaluate


def _build_object(tree: Any, expected: str, text: str, variables: frozenset[str]) -> Builder | Failure:
    named = ".".join(str(token) for token in tree.children[0].scan_values(lambda _: True))
    if named != expected:
        return Failure(
            f"compilation failed: ERROR: the literal of type {named} stands where {expected} belongs"
        )
    parts = tree.children[1].children if len(tree.children) > 1 else []
    builders: dict[str, Builder] = {}
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        builder = _build(value, f"{expected}.{name}", text, variables)
        if isinstance(builder, Failure):
            return builder
        builders[str(name)] = builder
    return lambda known: _collected({name: builder(known) for name, builder in builders.items()})


def _build_list(tree: Any, expected: str, text: str, variables: frozenset[str]) -> Builder | Failure:
    items = tree.children[0].children if tree.children else []
    builders: list[Builder] = []
    for item in items:
        builder = _build(item, expected, text, variables)
        if isinstance(builder, Failure):
            return builder
        builders.append(builder)
    return lambda known: _collected([builder(known) for builder in builders])


def _collected(value: Any) -> Any:
    """`value`, or the first Failure in it."""
    parts = value.values() if isinstance(value, dict) else value
    return next((part for part in parts if isinstance(part, Failure)), value)


def _atomic(config: Any, shape: Shape | None, path: str) -> str:
    """Where a configuration sets a list, map or object that cannot be set in part; empty when nowhere."""
    if isinstance(config, dict):
        if shape is None or not (shape.granular_object or shape.loose):
            return path
        found = (_atomic(part, shape.child(key), f"{path}.{key}") for key, part in config.items())
    elif isinstance(config, list):
        if shape is None or not shape.granular_list:
            return path
        found = (_atomic(item, shape.items, f"{path}[{index}]") for index, item in enumerate(config))
    else:
        return ""
    return next((place for place in found if place), "")
