from gpuyard_cluster.apiserver.rules.containers import container_faults, volume_faults

MAIN = {"name": "main", "image": "app:1"}


def test_an_image_has_no_space_around_it() -> None:
    (fault,) = container_faults({"containers": [MAIN | {"image": " a"}]}, "spec")
    assert (fault.field, fault.reason) == ("spec.containers[0].image", "FieldValueInvalid")


def test_a_variable_has_one_source_and_a_probe_one_handler() -> None:
    variable = {"name": "A", "value": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    probe = {"exec": {"command": ["true"]}, "tcpSocket": {"port": 80}}
    found = container_faults({"containers": [MAIN | {"env": [variable], "livenessProbe": probe}]}, "spec")
    assert {(cause.field, cause.reason) for cause in found} == {
        ("spec.containers[0].env[0].valueFrom", "FieldValueInvalid"),
        ("spec.containers[0].livenessProbe", "FieldValueForbidden"),
    }


def test_a_volume_has_one_source_and_a_name_of_its_own() -> None:
    volumes = [{"name": "v", "emptyDir": {}, "hostPath": {}}, {"name": "v"}]
    found = {(cause.field, cause.reason) for cause in volume_faults({"volumes": volumes}, "spec")}
    assert found == {
        ("spec.volumes[0]", "FieldValueForbidden"),
        ("spec.volumes[1].name", "FieldValueDuplicate"),
    }
