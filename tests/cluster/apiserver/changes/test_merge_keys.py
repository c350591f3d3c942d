"""The merge rules against the type table."""

from typing import Any

import orjson

from gpuyard_cluster.apiserver.changes import merge_keys
from gpuyard_cluster.apiserver.kinds import kind_table


def test_every_merge_rule_is_about_a_field_of_the_type_table() -> None:
    types: dict[str, Any] = orjson.loads(kind_table.TABLE.read_bytes())["types"]
    rules = [*merge_keys.LISTS, *merge_keys.SETS, *merge_keys.PATCH_KEYS, *merge_keys.KEY_DEFAULTS]
    for path in (*rules, *merge_keys.ATOMIC_MAPS):
        name, _, field = path.partition(".")
        assert field in types[name], path
    assert set(types) >= merge_keys.ATOMIC_TYPES
    for path, keys in merge_keys.LISTS.items():
        name, _, field = path.partition(".")
        assert set(keys) <= set(types[types[name][field].removeprefix("[]")]), path


def test_no_list_merges_both_by_key_and_as_a_set() -> None:
    assert not merge_keys.SETS & set(merge_keys.LISTS)
