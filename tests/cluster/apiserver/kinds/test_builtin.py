from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.resources import ALL_VERBS
from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED


def test_every_resource_is_there_once_and_none_is_called_unserved() -> None:
    keys = [(resource.group, resource.version, resource.plural) for resource in BUILTIN]
    assert len(keys) == len(set(keys))
    assert not [key for key in keys if key[2] in UNSERVED.get(key[0], ())]


def test_pods_have_what_clients_look_for() -> None:
    pods = next(resource for resource in BUILTIN if resource.qualified == "pods")
    assert (pods.verbs, pods.short_names, pods.list_kind) == (ALL_VERBS, ("po",), "PodList")
    assert pods.subresource("eviction") is not None
    assert pods.subresource("nonsense") is None


def test_plurals_of_policies_are_spelled_right() -> None:
    plurals = {resource.plural for resource in BUILTIN}
    assert {"mutatingadmissionpolicies", "validatingadmissionpolicies"} <= plurals
