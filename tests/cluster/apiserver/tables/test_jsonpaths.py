"""The JSON paths of printer columns."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.tables.jsonpaths import find

OBJ = {
    "metadata": {"annotations": {"example.com/a": "x"}},
    "spec": {"size": 3, "ports": [{"n": 1}, {"n": 2}], "flags": {"on": True}},
    "status": {
        "conditions": [{"type": "Other", "status": "No"}, {"type": "Ready", "status": "True", "n": 2}]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.size", [3]),
        ("{.spec.size}", [3]),
        ("$.spec.size", [3]),
        (".spec.ports[0].n", [1]),
        (".spec.ports[-1].n", [2]),
        (".spec.ports[*].n", [1, 2]),
        (".spec.ports[-1:].n", [2]),
        (".spec.ports[:1].n", [1]),
        (".spec.ports[0:9].n", [1, 2]),
        (".spec.ports[0:2:2].n", [1]),
        (".spec.ports[:].n", [1, 2]),
        (".spec.flags.*", [True]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Ready')].status", ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["No"]),
        (".status.conditions[?(@.n==2)].type", ["Ready"]),
        (r".metadata.annotations.example\.com/a", ["x"]),
        (".metadata.annotations['example.com/a']", ["x"]),
        (".spec.missing", []),
        (".spec.ports[7]", []),
        (".spec.ports[7:]", []),
        (".spec.ports[-3:]", []),
        (".spec.ports[::0]", []),
        (".spec.flags[0:1]", []),
        (".spec.size[0:1]", []),
        (".spec.size.below", []),
        (".spec.ports[", []),
        (".spec[?(@.x>1)]", []),
        ("", [OBJ]),
    ],
)
def test_a_path_finds_what_lies_there(path: str, found: list[Any]) -> None:
    assert find(OBJ, path) == found


@settings(deadline=None, max_examples=80)
@given(st.text(".[]?@'\"=*\\ab()", max_size=12))
def test_any_path_finds_something_or_nothing(path: str) -> None:
    assert isinstance(find({"a": {"b": [1]}}, path), list)
