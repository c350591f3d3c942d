"""Reading a user's files: every fault is one line that names file, field and remedy."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml


class InvalidInputError(Exception):
    """A file that cannot be used. The command prints it as one line and ends with exit code 2."""

    def __init__(self, file: Path | str, field: str, problem: str, remedy: str) -> None:
        place = f"{file}: {field}" if field else str(file)
        super().__init__(f"{place}: {problem}; {remedy}")


def documents(path: Path) -> list[Any]:
    """The YAML documents of a file, empty ones left out."""
    try:
        found = list(yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader))
    except OSError as error:
        raise InvalidInputError(
            path, "", error.strerror or str(error), "give a file that can be read"
        ) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or a date such as 2024-99-99
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise InvalidInputError(path, line, problem, "write valid YAML") from error
    return [document for document in found if document is not None]


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
