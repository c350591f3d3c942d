import uuid

from gpuyard.hardware.gpus import gpu_uuid, mig_uuid


def test_ids_are_written_as_nvidia_writes_them() -> None:
    gpu = gpu_uuid("node-1", 0)
    instance = mig_uuid(gpu, 7)
    for identity, prefix in [(gpu, "GPU-"), (instance, "MIG-")]:
        assert identity.startswith(prefix)
        assert uuid.UUID(identity.removeprefix(prefix)).version == 5


def test_ids_last_for_ever() -> None:
    assert gpu_uuid("node-1", 0) == "GPU-adba7cc4-0e56-5a8c-8eed-4a42c604c71f"
    assert mig_uuid(gpu_uuid("node-1", 0), 7) == "MIG-ae870b29-f127-541e-bb6b-1ac3bda69785"


def test_every_gpu_and_every_instance_has_its_own_id() -> None:
    gpus = [gpu_uuid(node, index) for node in ("node-1", "node-11") for index in range(20)]
    assert len({*gpus, *(mig_uuid(gpu, instance) for gpu in gpus for instance in range(15))}) == 40 * 16
