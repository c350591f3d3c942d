from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules import data


def config(**fields: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", **fields}


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        (config(data={"a/b": "x"}), "data[a/b]"),
        (config(data={"b": "x"}, binaryData={"b": "AAE="}), "data[b]"),
        (config(data={"x": "y" * 1_100_000}), ""),
        ({"kind": "Secret", "data": {"x": "AAAA" * 400_000}}, "data"),
    ],
)
def test_bad_data_is_told_by_field(obj: dict[str, Any], field: str) -> None:
    assert [cause.field for cause in data.data_faults(obj)] == [field]


def test_base64_counts_as_what_it_encodes() -> None:
    assert not list(data.data_faults({"kind": "Secret", "data": {"x": "AAAA" * 300_000}}))


def test_immutable_data_stays() -> None:
    old = config(immutable=True, data={"x": "1"})
    assert not list(data.update_faults(old, {**old, "metadata": {"labels": {"still": "editable"}}}))
    new = config(data={"x": "2"})
    assert {cause.field for cause in data.update_faults(old, new)} == {"immutable", "data"}


def test_the_type_of_a_secret_stays() -> None:
    old, new = {"kind": "Secret", "type": "Opaque"}, {"kind": "Secret", "type": "tls"}
    assert [cause.field for cause in data.update_faults(old, new)] == ["type"]
