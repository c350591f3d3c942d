"""The YAML that a cluster starts with is the YAML that `kubectl apply` takes."""

import pytest

from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.wiring import manifests


def test_definitions_come_first_and_nothing_that_runs_elsewhere_is_taken() -> None:
    kinds = [found["kind"] for found in manifests.load()]
    assert kinds[:2] == ["CustomResourceDefinition"] * 2
    assert set(kinds) == set(manifests.COLLECTIONS)


def test_after_the_installation_groups_and_reservations_are_served() -> None:
    clock = Steps()
    api = DirectApi(APIServer(clock.now), "kubectl")
    clock.complete(manifests.install(api))
    for path in ("/apis/scheduling.x-k8s.io/v1alpha1/podgroups", "/apis/gpuyard.io/v1alpha1/reservations"):
        assert clock.complete(api.read(path)).ok
    for obj in manifests.load():
        assert clock.complete(api.read(f"{manifests.COLLECTIONS[obj['kind']]}/{obj['metadata']['name']}")).ok


def test_a_second_installation_says_what_is_there_already() -> None:
    clock = Steps()
    api = DirectApi(APIServer(clock.now), "kubectl")
    clock.complete(manifests.install(api))
    with pytest.raises(ValueError, match="CustomResourceDefinition .*: .* already exists"):
        clock.complete(manifests.install(api))
