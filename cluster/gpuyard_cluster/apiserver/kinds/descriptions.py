"""What the types of the table and their fields are for, in the words of the installed Kubernetes client.

Stands for the doc comments in the generated OpenAPI definitions of `k8s.io/api`. The text of the client's modules is
read when somebody asks: importing them takes longer than starting a cluster. Of a client that is written otherwise,
nothing is found.
"""

import ast
import functools
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

ITSELF = ""
"""The name of a type among its fields: what the type is."""
_CLASS = re.compile(r'^class \w+\(.*\):\n    """\n    (.*)\n', re.MULTILINE)
_FIELD = re.compile(r"^    (\w+): .* = Field\((.*)\)$", re.MULTILINE)
_ALIAS = re.compile(r'serialization_alias="(\w+)"')
_DESCRIPTION = re.compile(r'description="((?:[^"\\]|\\.)*)"')
_WORDS = (re.compile(r"([A-Z]+)([A-Z][a-z])"), re.compile(r"([a-z\d])([A-Z])"))


@functools.cache
def of_type(type_name: str) -> Mapping[str, str]:
    """Field -> description, of a type of the table; only of those that have one."""
    source = _models() / f"{_module(type_name)}.py"
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    itself = _CLASS.search(text)
    found = {ITSELF: itself[1]} if itself else {}
    for field in _FIELD.finditer(text):
        alias, told = _ALIAS.search(field[2]), _DESCRIPTION.search(field[2])
        if told:
            found[alias[1] if alias else field[1]] = ast.literal_eval(f'"{told[1]}"')
    return found


@functools.cache
def _models() -> Path:
    client = find_spec("kubernetes")
    places = client.submodule_search_locations if client else None
    return Path(places[0] if places else "", "client", "models")


def _module(type_name: str) -> str:
    for words in _WORDS:
        type_name = words.sub(r"\1_\2", type_name)
    return type_name.lower()
