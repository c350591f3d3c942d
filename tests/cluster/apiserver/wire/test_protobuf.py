import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.wire.protobuf import MEDIA_TYPE, decode
from gpuyard_cluster.apiserver.wire.protobuf_fields import KINDS
from tests.cluster.apiserver.calling import CONFIGS, PODS, Caller, config, pod


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + varint(value >> 7) if value > 0x7F else low


def message(*fields: tuple[int, Any]) -> bytes:
    """Fields as (number, integer, text or bytes), in wire format."""
    encoded = b""
    for number, value in fields:
        data = value.encode() if isinstance(value, str) else value
        if isinstance(data, int):
            encoded += varint(number << 3) + varint(data)
        else:
            encoded += varint(number << 3 | 2) + varint(len(data)) + data
    return encoded


def body(api_version: str, kind: str, *fields: tuple[int, Any]) -> bytes:
    return b"k8s\x00" + message((1, message((1, api_version), (2, kind))), (2, message(*fields)))


def test_a_config_map_is_read_as_json_would_have_it() -> None:
    label = message((1, "x"), (2, "y"))
    metadata = message((1, "a"), (3, ""), (7, 0), (8, b""), (11, label))
    data = message((1, "key"), (2, "value"))
    empty = message((1, "empty"))
    decoded = decode(body("v1", "ConfigMap", (1, metadata), (2, data), (2, empty), (3, data), (4, 1)))
    assert decoded == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "generation": 0, "labels": {"x": "y"}},
        "data": {"key": "value", "empty": ""},
        "binaryData": {"key": "dmFsdWU="},
        "immutable": True,
    }


def test_numbers_keep_their_sign_and_zero() -> None:
    decoded = decode(body("scheduling.k8s.io/v1", "PriorityClass", (2, -5), (3, 0)))
    assert (decoded["value"], decoded["globalDefault"]) == (-5, False)
    assert decode(body("v1", "DeleteOptions", (1, 0)))["gracePeriodSeconds"] == 0


@pytest.mark.parametrize(("fields", "value"), [([(1, 0), (2, 3)], 3), ([(1, 1), (3, "50%")], "50%")])
def test_numbers_or_texts_are_either(fields: list[tuple[int, Any]], value: object) -> None:
    spec = message((1, message(*fields)))
    assert decode(body("policy/v1", "PodDisruptionBudget", (2, spec)))["spec"] == {"minAvailable": value}


@pytest.mark.parametrize(
    "sent", [body("apps/v1", "Deployment"), body("v1", "Namespace", (9, "from the future"))]
)
def test_what_is_not_known_is_refused_with_the_way_around(sent: bytes) -> None:
    with pytest.raises(ApiError, match="kubectl apply -f -") as refusal:
        decode(sent)
    assert refusal.value.code == 415


@given(sent=st.binary(max_size=40), kind=st.sampled_from(sorted(KINDS)))
@settings(deadline=None, max_examples=150)
def test_nonsense_is_read_or_refused(sent: bytes, kind: str) -> None:
    envelope = b"k8s\x00" + message((1, message((1, "v1"), (2, kind))))
    for broken in (sent, envelope + varint(18) + varint(len(sent)) + sent):
        with contextlib.suppress(ApiError):
            assert decode(broken)["kind"] == kind


def test_kubectl_creates_deletes_and_evicts_in_protobuf() -> None:
    api = Caller()
    made = api.call("POST", CONFIGS, body("v1", "ConfigMap", (1, message((1, "a")))), MEDIA_TYPE)
    assert (made.status, made.body["metadata"]["name"]) == (201, "a")
    api.make(CONFIGS, config("b"))
    dry = body("v1", "DeleteOptions", (5, "All"))
    assert api.call("DELETE", f"{CONFIGS}/b", dry, MEDIA_TYPE).status == 200
    assert api.get(f"{CONFIGS}/b").status == 200
    api.make(PODS, pod("p"))
    eviction = body("policy/v1", "Eviction", (1, message((1, "p"), (3, "default"))), (2, message((1, 0))))
    assert api.call("POST", f"{PODS}/p/eviction", eviction, MEDIA_TYPE).status == 201
    assert api.get(f"{PODS}/p").status == 404
