"""The algebra of field sets."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.changes.fieldsets import (
    paths,
    well_formed,
)


def test_paths_are_shown_as_conflicts_show_them() -> None:
    fields = {
        "f:spec": {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}},
        "f:finalizers": {'v:"example.com/a"': {}},
    }
    port = '.spec.ports[containerPort=80,protocol="TCP"]'
    assert list(paths(fields)) == [port, f"{port}.name", '.finalizers[="example.com/a"]']


@pytest.mark.parametrize(
    "fields", [None, [], {"x": {}}, {"f:a": 1}, {"k:{": {}}, {"k:1": {}}, {"f:a": {"v:": {}}}]
)
def test_what_is_no_field_set_is_recognised(fields: Any) -> None:
    assert not well_formed(fields)


def test_a_field_set_is_well_formed() -> None:
    assert well_formed({"f:a": {".": {}, 'k:{"n":1}': {}, "v:1": {}}})
