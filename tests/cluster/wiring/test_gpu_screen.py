from gpuyard import yard
from gpuyard_cluster.wiring import gpu_screen

A100 = "NVIDIA-A100-SXM4-40GB"
(NODE,) = yard.parse(
    {
        "nodes": [
            {
                "name": "node-1",
                "gpus": {"model": A100, "count": 2},
                "mig": [{"gpus": [1], "instances": {"1g.5gb": 2}}],
            }
        ]
    }
)
WHOLE, SPLIT = NODE.gpus


def test_a_container_sees_the_devices_that_it_was_given_numbered_anew() -> None:
    screen = gpu_screen.of(NODE)
    instance = SPLIT.instances[1].uuid
    assert screen({"NVIDIA_VISIBLE_DEVICES": f"{instance},{WHOLE.uuid}"}) == [
        "GPU  MODEL                             MEMORY     UUID",
        f"0    {A100} MIG 1g.5gb  5gb        {instance}",
        f"1    {A100}             40960 MiB  {WHOLE.uuid}",
    ]


def test_devices_may_be_named_by_their_index() -> None:
    seen = gpu_screen.of(NODE)({"NVIDIA_VISIBLE_DEVICES": "0,1:0"})
    assert [line.split()[-1] for line in seen[1:]] == [WHOLE.uuid, SPLIT.instances[0].uuid]


def test_a_container_without_devices_prints_no_table() -> None:
    for visible in ("", "void", "/var/run/nvidia-container-devices"):
        assert list(gpu_screen.of(NODE)({"NVIDIA_VISIBLE_DEVICES": visible})) == []
    assert list(gpu_screen.of(NODE)({})) == []
