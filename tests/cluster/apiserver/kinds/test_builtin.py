from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED


def test_every_resource_is_there_once_and_none_is_called_unserved() -> None:
    keys = [(resource.group, resource.version, resource.plural) for resource in BUILTIN]
    assert len(keys) == len(set(keys))
    assert not [key for key in keys if key[2] in UNSERVED.get(key[0], ())]
