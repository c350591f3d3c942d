from gpuyard_cluster.apiserver.kinds import kinds
from gpuyard_cluster.apiserver.wire.protobuf_fields import KINDS, MESSAGES

SCALARS = {"string", "bytes", "int", "bool", "time", "number or text"}
VERSIONS = {
    "Eviction": "policy/v1",
    "PodDisruptionBudget": "policy/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "SelfSubjectAccessReview": "authorization.k8s.io/v1",
    "SelfSubjectReview": "authentication.k8s.io/v1",
    "SelfSubjectRulesReview": "authorization.k8s.io/v1",
}


def test_every_message_that_is_named_is_there() -> None:
    named = {
        kind.removeprefix("[]").removeprefix("{}")
        for fields in MESSAGES.values()
        for _, kind in fields.values()
    }
    assert named <= SCALARS | set(MESSAGES)
    assert set(MESSAGES) >= KINDS


def test_every_field_of_a_kind_is_one_of_its_json_form() -> None:
    for kind in KINDS - {"DeleteOptions"}:
        type_name = kinds.type_of(VERSIONS.get(kind, "v1"), kind)
        assert type_name is not None
        assert {name for name, _ in MESSAGES[kind].values()} <= set(kinds.fields(type_name))
