import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.wire.protobuf import MEDIA_TYPE, decode, table
from tests.cluster.apiserver.calling import CONFIGS, DEPLOYMENTS, PODS, Caller, config, pod

KINDS = [name.rpartition("/")[::2] for name in table()["kinds"]]


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
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "data": {"key": "value", "empty": ""},
        "binaryData": {"key": "dmFsdWU="},
        "immutable": True,
    }


def test_numbers_keep_their_sign_and_a_zero_that_somebody_said() -> None:
    decoded = decode(body("scheduling.k8s.io/v1", "PriorityClass", (2, -5), (3, 0)))
    assert (decoded["value"], "globalDefault" in decoded) == (-5, False)
    assert decode(body("v1", "DeleteOptions", (1, 0)))["gracePeriodSeconds"] == 0


@pytest.mark.parametrize(("fields", "value"), [([(1, 0), (2, 3)], 3), ([(1, 1), (3, "50%")], "50%")])
def test_numbers_or_texts_are_either(fields: list[tuple[int, Any]], value: object) -> None:
    spec = message((1, message(*fields)))
    assert decode(body("policy/v1", "PodDisruptionBudget", (2, spec)))["spec"] == {"minAvailable": value}


@pytest.mark.parametrize(
    "sent", [body("example.com/v1", "Widget"), body("v1", "Namespace", (9, "from the future"))]
)
def test_what_is_not_known_is_refused_with_the_way_around(sent: bytes) -> None:
    with pytest.raises(ApiError, match="kubectl apply -f -") as refusal:
        decode(sent)
    assert refusal.value.code == 415


@given(sent=st.binary(max_size=40), kind=st.sampled_from(KINDS))
@settings(deadline=None, max_examples=150)
def test_nonsense_is_read_or_refused(sent: bytes, kind: tuple[str, str]) -> None:
    envelope = b"k8s\x00" + message((1, message((1, kind[0]), (2, kind[1]))))
    for broken in (sent, envelope + varint(18) + varint(len(sent)) + sent):
        with contextlib.suppress(ApiError):
            assert decode(broken)["kind"] == kind[1]


QUANTITY = message((1, "cpu"), (2, message((1, "500m"))))
CONTAINER = message(
    *((1, "main"), (2, "busybox:1.36"), (5, ""), (6, message((1, ""), (2, 0), (3, 80), (4, ""), (5, "")))),
    *((7, message((1, "A"), (2, ""))), (8, message((2, QUANTITY))), (16, 0), (17, 0), (18, 0)),
    *(
        (
            10,
            message(
                (1, message((3, message((1, message((1, 0), (2, 80), (3, ""))), (2, ""))))), (2, 0), (3, 5)
            ),
        ),
    ),
)
VOLUME = message((1, "v"), (2, message((2, b""))))
POD_SPEC = message((1, VOLUME), (2, CONTAINER), (3, ""), (6, ""), (11, 0), (14, message((3, 0))), (16, ""))


def test_what_go_writes_though_it_is_empty_is_left_out_as_in_json() -> None:
    decoded = decode(
        body("v1", "Pod", (1, message((1, "p"), (8, b""))), (2, POD_SPEC), (3, message((1, ""))))
    )
    assert decoded == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [
                {
                    "name": "main",
                    "image": "busybox:1.36",
                    "ports": [{"containerPort": 80}],
                    "env": [{"name": "A"}],
                    "resources": {"requests": {"cpu": "500m"}},
                    "livenessProbe": {"tcpSocket": {"port": 80}, "timeoutSeconds": 5},
                }
            ],
            "securityContext": {"runAsNonRoot": False},
        },
    }


def test_times_are_written_as_in_json() -> None:
    moment = message((1, 1_700_000_000), (2, 5_000))
    lease = decode(body("coordination.k8s.io/v1", "Lease", (2, message((1, "me"), (3, moment), (4, b"")))))
    assert lease["spec"] == {
        "holderIdentity": "me",
        "acquireTime": "2023-11-14T22:13:20.000005Z",
        "renewTime": None,
    }


def test_owners_of_fields_and_extra_words_about_users_are_json_inside() -> None:
    entry = message((1, "kubectl"), (7, message((1, b'{"f:data":{}}'))))
    decoded = decode(body("v1", "ConfigMap", (1, message((17, entry)))))
    assert decoded["metadata"]["managedFields"] == [{"manager": "kubectl", "fieldsV1": {"f:data": {}}}]
    extra = message((1, "scopes"), (2, message((1, "a"), (1, "b"))))
    spec = message((3, "joe"), (5, extra))
    asked = decode(body("authorization.k8s.io/v1", "SubjectAccessReview", (2, spec)))
    assert asked["spec"] == {"user": "joe", "extra": {"scopes": ["a", "b"]}}


def test_kubectl_creates_deployments_in_protobuf() -> None:
    api = Caller()
    label = message((1, "app"), (2, "a"))
    template = message(
        (1, message((11, label), (8, b""))), (2, message((2, message((1, "c"), (2, "i"), (8, b"")))))
    )
    spec = message((1, 0), (2, message((1, label))), (3, template), (4, message((1, ""))), (5, 0), (7, 0))
    sent = body("apps/v1", "Deployment", (1, message((1, "a"))), (2, spec), (3, message((1, 0))))
    made = api.call("POST", DEPLOYMENTS, sent, MEDIA_TYPE)
    assert (made.status, made.body["spec"]["replicas"]) == (201, 0)
    assert made.body["spec"]["template"]["spec"]["containers"][0]["image"] == "i"
    assert made.body["spec"]["strategy"]["type"] == "RollingUpdate"


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
