"""Reading a user's files: every fault is one line that names file, field and remedy."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

_OBJECT_FILES: Final = (".json", ".yaml", ".yml")
_DEEPEST: Final = 20
_NESTED: Final = 256
"""JSON is refused when it goes deeper."""
_MOST_VALUES: Final = 10**7


class _Loader(yaml.CSafeLoader):
    """As kubectl reads YAML: what looks like a date is a text."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
        for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class InvalidInputError(Exception):
    """A file that cannot be used. The command prints it as one line and ends with exit code 2."""

    def __init__(self, file: Path | str, field: str, problem: str, remedy: str) -> None:
        place = f"{file}: {field}" if field else str(file)
        super().__init__(f"{place}: {problem}; {remedy}")


def documents(path: Path) -> list[Any]:
    """The YAML documents of a file, empty ones left out."""
    return _read(path.read_text, path)


def named(path: Path) -> list[Any]:
    """The documents of what `-f` names, as for kubectl: a file, a folder of files, or - for what is piped in."""
    if str(path) == "-":
        return _read(sys.stdin.read, "standard input")
    if not path.is_dir():
        return documents(path)
    files = sorted(file for file in path.iterdir() if file.suffix in _OBJECT_FILES)
    if not files:
        raise InvalidInputError(path, "", "no file of it ends in .yaml, .yml or .json", "name another folder")
    return [found for file in files for found in documents(file)]


def _read(read: Callable[[], str], file: Path | str) -> list[Any]:
    try:
        return parsed(read(), file)
    except OSError as error:
        problem = error.strerror or str(error)
        raise InvalidInputError(file, "", problem, "give a file that can be read") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(file, "", "not valid YAML", "write valid YAML") from error


def parsed(text: str, file: Path | str) -> list[Any]:
    """The YAML documents of a text that is from `file`."""
    try:
        found = list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: what a tag says of its text is not so
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise InvalidInputError(file, line, problem, "write valid YAML") from error
    for document in found:
        _check(file, document)
    return [document for document in found if document is not None]


def _check(file: Path | str, document: Any) -> None:
    """Only what is JSON goes to an API server or an extender, where no alias stands for what it repeats."""
    if _count(document, {}) > _MOST_VALUES:
        problem = f"it has more than {_MOST_VALUES} values, counting what aliases repeat"
        raise InvalidInputError(file, "", problem, "write a smaller file")
    try:
        orjson.dumps(document)
    except TypeError as error:
        remedy = "write only mappings with texts as keys, lists, texts, numbers, true and false"
        raise InvalidInputError(file, _place(document), str(error), remedy) from error


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


class Fields:
    """A mapping of a user's file, read field by field; what is left unread at the end is a fault."""

    def __init__(self, file: Path | str, path: str, content: Any) -> None:
        if not isinstance(content, dict):
            raise InvalidInputError(file, path, f"{content!r} is not a mapping", "write fields with values")
        self.file, self.path, self._content = file, path, dict(content)

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def fault(self, name: str, problem: str, remedy: str) -> InvalidInputError:
        return InvalidInputError(self.file, self._at(name), problem, remedy)

    def text(self, name: str, default: str | None = None) -> str:
        found = self._content.pop(name, default)
        if found is None:
            raise self.fault(name, "a text is needed", f"set {name}")
        if not isinstance(found, str):
            raise self.fault(name, f"{found!r} is not a text", f'write it in quotes: {name}: "..."')
        return found

    def whole(self, name: str, default: int | None = None) -> int | None:
        found = self._content.pop(name, default)
        if found is not None and (isinstance(found, bool) or not isinstance(found, int) or found < 0):
            raise self.fault(name, f"{found!r} is not a whole number", "give 0 or more")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        found = self._content.pop(name, [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            remedy = 'write ["first", "second"], in quotes'
            raise self.fault(name, f"{found!r} is not a list of texts", remedy)
        return tuple(found)

    def mapping(self, name: str) -> Mapping[str, Any]:
        found = self._content.pop(name, {})
        if not isinstance(found, dict):
            raise self.fault(name, f"{found!r} is not a mapping", "write fields with values")
        return {str(key): value for key, value in found.items()}

    def text_lists(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """A mapping from the user's own names to lists of texts."""
        lists = Fields(self.file, self._at(name), self.mapping(name))
        return {key: lists.texts(key) for key, _ in lists.items()}

    def fields(self, name: str) -> "Fields | None":
        if name not in self._content:
            return None
        return Fields(self.file, self._at(name), self._content.pop(name))

    def items(self) -> Iterable[tuple[str, Any]]:
        """Every field at once, for mappings whose keys are the user's own names."""
        return [(str(key), value) for key, value in self._content.items()]

    def take(self, name: str) -> Any:
        return self._content.pop(name, None)

    def end(self, known: Iterable[str]) -> None:
        """Raise for the first field that nobody read."""
        for name in self._content:
            raise self.fault(name, "unknown field", f"known ones are {', '.join(known)}")

    def _at(self, name: str) -> str:
        return ".".join(part for part in (self.path, name) if part)
