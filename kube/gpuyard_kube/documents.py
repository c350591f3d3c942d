"""The YAML and JSON files that people write for us: profiles, yards, scenarios, objects, the plugin's configuration.

Law: they are read here and nowhere else, as kubectl reads them, and what comes out is what JSON can say. What cannot
be used is one InvalidDocumentError; a key that stands twice is refused, of which YAML and JSON would lose one.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

_DEEPEST: Final = 20
_NESTED: Final = 256
"""JSON is refused when it goes deeper."""
_MOST_VALUES: Final = 10**7


class InvalidDocumentError(Exception):
    """A text that cannot be used: where in it, if that is known, why, and what to do."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}" if place else f"{problem}; {remedy}")
        self.place, self.problem, self.remedy = place, problem, remedy


class _Loader(yaml.CSafeLoader):
    """As kubectl reads YAML: what looks like a date is a text, and no key stands twice."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
        for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_document(self, node: yaml.Node) -> Any:
        for mapping in _mappings(node):
            _refuse_repeated(mapping)
        return super().construct_document(node)


def read(path: Path) -> list[Any]:
    """The documents of a file, empty ones left out."""
    return taken(lambda: path.read_text("utf-8"))


def only(path: Path) -> Any:
    """The one document of a file; None: it is empty."""
    found = read(path)
    if len(found) > 1:
        raise InvalidDocumentError("", f"{len(found)} documents", "write exactly one YAML document")
    return found[0] if found else None


def taken(source: Callable[[], str]) -> list[Any]:
    """The documents of what such a call reads."""
    try:
        return parsed(source())
    except OSError as error:
        raise InvalidDocumentError(
            "", error.strerror or str(error), "give a file that can be read"
        ) from error
    except UnicodeDecodeError as error:
        raise _not_yaml(error) from error


def parsed(text: str) -> list[Any]:
    """The documents of a text, empty ones left out."""
    if found := _json(text):
        return found
    try:
        found = list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # All but the first: what a tag says of its text is not so.
        raise _not_yaml(error) from error
    for document in found:
        _check(document)
    return [document for document in found if document is not None]


def _json(text: str) -> list[Any]:
    """JSON is YAML, but is read a hundred times faster as what it is; nothing where it is none."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    # A key that stands twice is lost, and with it the quotes around it: the loader of YAML says where.
    whole = "\\u0022" not in text and text.count('"') == orjson.dumps(document).count(b'"')
    return [document] if whole and document is not None else []


def _not_yaml(error: Exception) -> InvalidDocumentError:
    where = getattr(error, "problem_mark", None)
    line = f"line {where.line + 1}" if where else ""
    return InvalidDocumentError(line, getattr(error, "problem", None) or "not valid YAML", "write valid YAML")


def _mappings(document: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Each mapping of a document once, however often aliases repeat it."""
    seen, ahead = set[int](), [document]
    while ahead:
        node = ahead.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield node
            ahead += [part for pair in node.value for part in pair]
        else:
            ahead += node.value


def _refuse_repeated(mapping: yaml.MappingNode) -> None:
    first: dict[tuple[str, str], int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode):
            continue  # no JSON has such a key
        name, line = (key.tag, key.value), key.start_mark.line + 1
        if name in first:
            problem = f"the key {key.value!r:.80} stands twice, first in line {first[name]}"
            raise InvalidDocumentError(f"line {line}", problem, "remove one of them")
        first[name] = line


def _check(document: Any) -> None:
    """Only what is JSON goes to an API server or an extender, where no alias stands for what it repeats."""
    if _count(document, {}) > _MOST_VALUES:
        problem = f"it has more than {_MOST_VALUES} values, counting what aliases repeat"
        raise InvalidDocumentError("", problem, "write a smaller file")
    try:
        orjson.dumps(document)
    except TypeError as error:
        remedy = "write only mappings with texts as keys, lists, texts, numbers, true and false"
        raise InvalidDocumentError(_place(document), str(error), remedy) from error


def _count(part: Any, known: dict[int, int], depth: int = 0) -> int:
    """The values in a document; each mapping and list is looked at once, however often it is repeated."""
    if not isinstance(part, dict | list) or depth > _NESTED:
        return 1
    if id(part) not in known:
        known[id(part)] = 0  # what contains itself is no JSON anyway
        within = part.values() if isinstance(part, dict) else part
        known[id(part)] = 1 + sum(_count(each, known, depth + 1) for each in within)
    return known[id(part)]


def _place(document: Any, place: str = "", depth: int = 0) -> str:
    """Where in a document the first thing is that is not JSON; not further down than people look."""
    parts = enumerate(document) if isinstance(document, list) else ()
    for key, part in document.items() if isinstance(document, dict) else parts:
        try:
            orjson.dumps(part)
        except TypeError:
            if depth < _DEEPEST:
                return _place(part, f"{place}.{key}".lstrip("."), depth + 1)
    return place
