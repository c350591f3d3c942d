"""Reading a user's files: every fault is one line that names file, field and remedy."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gpuyard_kube import documents as written
from gpuyard_kube.documents import InvalidDocumentError

_OBJECT_FILES: Final = (".json", ".yaml", ".yml")


class InvalidInputError(Exception):
    """A file that cannot be used. The command prints it as one line and ends with exit code 2."""

    def __init__(self, file: Path | str, field: str, problem: str, remedy: str) -> None:
        place = f"{file}: {field}" if field else str(file)
        super().__init__(f"{place}: {problem}; {remedy}")


def documents(path: Path) -> list[Any]:
    """The documents of a file, empty ones left out."""
    return _of(path, lambda: written.read(path))


def named(path: Path) -> list[Any]:
    """The documents of what `-f` names, as for kubectl: a file, a folder of files, or - for what is piped in."""
    if str(path) == "-":
        return _of("standard input", lambda: written.taken(sys.stdin.read))
    if not path.is_dir():
        return documents(path)
    files = sorted(file for file in path.iterdir() if file.suffix in _OBJECT_FILES)
    if not files:
        raise InvalidInputError(path, "", "no file of it ends in .yaml, .yml or .json", "name another folder")
    return [found for file in files for found in documents(file)]


def parsed(text: str, file: str) -> list[Any]:
    """The documents of a text that is from `file`."""
    return _of(file, lambda: written.parsed(text))


def _of(file: Path | str, read: Callable[[], list[Any]]) -> list[Any]:
    try:
        return read()
    except InvalidDocumentError as fault:
        raise InvalidInputError(file, fault.place, fault.problem, fault.remedy) from fault


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

    def whole(self, name: str) -> int | None:
        found = self._content.pop(name, None)
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
