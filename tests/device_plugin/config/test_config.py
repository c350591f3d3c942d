"""NVIDIA's config file is understood as NVIDIA does, or refused with the field and a remedy."""

from typing import Any

import pytest

from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.config.config import (
    DeviceIdStrategy,
    DeviceListStrategy,
    InvalidConfigError,
    PluginConfig,
    parse,
)


def shares(
    key: str = "timeSlicing", replicas: Any = 10, name: Any = "nvidia.com/gpu", **settings: Any
) -> Any:
    return {"sharing": {key: {"resources": [{"name": name, "replicas": replicas}], **settings}}}


@pytest.mark.parametrize("empty", [None, {}, {"version": "v1"}, {"flags": None, "sharing": None}])
def test_no_settings_mean_whole_gpus(empty: Any) -> None:
    assert parse(empty) == PluginConfig()


@pytest.mark.parametrize("strategy", list(MigStrategy))
def test_the_mig_strategy_is_read(strategy: MigStrategy) -> None:
    assert parse({"flags": {"migStrategy": strategy.value}}).mig_strategy is strategy


def test_time_slicing_is_read() -> None:
    config = parse({"version": "v1", **shares(renameByDefault=True, failRequestsGreaterThanOne=True)})
    assert config.sharing == Sharing(SharingMode.TIME_SLICING, 10, renamed=True)
    assert config.fail_requests_greater_than_one


def test_more_than_one_share_is_refused_by_default_with_mps_only() -> None:
    assert not parse(shares("timeSlicing")).fail_requests_greater_than_one
    assert parse(shares("mps")).fail_requests_greater_than_one
    assert not parse(shares("mps", failRequestsGreaterThanOne=False)).fail_requests_greater_than_one


def test_mps_wins_over_time_slicing() -> None:
    both = {"sharing": {**shares("mps", 4)["sharing"], **shares("timeSlicing", 9)["sharing"]}}
    assert parse(both).sharing == Sharing(SharingMode.MPS, 4)


def plugin(**settings: Any) -> Any:
    return {"flags": {"plugin": settings}}


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("cdi-cri", [DeviceListStrategy.CDI_CRI]),
        (["envvar", "volume-mounts"], [DeviceListStrategy.ENVVAR, DeviceListStrategy.VOLUME_MOUNTS]),
        (["cdi-annotations"] * 2, [DeviceListStrategy.CDI_ANNOTATIONS]),
    ],
)
def test_one_way_to_list_devices_is_read_and_several_are(
    given: Any, understood: list[DeviceListStrategy]
) -> None:
    assert list(parse(plugin(deviceListStrategy=given)).device_list) == understood


def test_containers_can_be_told_indexes() -> None:
    assert parse({}).device_id is DeviceIdStrategy.UUID
    assert parse(plugin(deviceIDStrategy="index")).device_id is DeviceIdStrategy.INDEX


def test_a_plugin_can_wait_for_gpus_instead_of_ending() -> None:
    assert parse({}).fail_on_init_error
    assert not parse({"flags": {"failOnInitError": False}}).fail_on_init_error


def test_a_missing_prefix_and_what_only_a_driver_has_do_no_harm() -> None:
    flags = {"gdsEnabled": True, "gfd": {"oneshot": True}, "plugin": {"passDeviceSpecs": True}}
    document = shares(name="gpu") | {"flags": flags, "imex": {}, "resources": {"gpus": []}}
    assert parse(document).sharing.replicas == 10
    [line] = parse(document).ignored
    assert line.startswith(
        "resources, flags.gdsEnabled, flags.gfd, flags.plugin.passDeviceSpecs: without a meaning"
    )


@pytest.mark.parametrize("devices", ["all", 2, ["0", 1, "0:1", "GPU-e2c1b8d0-1f3a-5c43-9f42-0a1b2c3d4e5f"]])
def test_a_list_of_devices_is_read_as_all_as_nvidia_does(devices: Any) -> None:
    document = shares()
    document["sharing"]["timeSlicing"]["resources"][0]["devices"] = devices
    assert parse(document).sharing.replicas == 10


def test_what_counts_for_nothing_is_said() -> None:
    document = shares()
    assert parse(document).ignored == ()
    document["sharing"]["timeSlicing"]["resources"][0] |= {"devices": 2, "rename": "nvidia.com/part"}
    assert [line.partition(" is ignored")[0] for line in parse(document).ignored] == [
        "sharing.timeSlicing.resources[0].devices",
        "sharing.timeSlicing.resources[0].rename",
    ]


def both(**second: Any) -> Any:
    """GPUs shared four times, and another resource."""
    resources = [{"name": "nvidia.com/gpu", "replicas": 4}, {"name": "mig-1g.5gb.me", "replicas": 3} | second]
    return {"flags": {"migStrategy": "mixed"}, "sharing": {"timeSlicing": {"resources": resources}}}


def test_each_resource_is_shared_as_often_as_it_says() -> None:
    sharing = parse(both()).sharing
    names = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb.me", "nvidia.com/mig-2g.10gb")
    assert [sharing.of(name) for name in names] == [4, 4, 3, 1]
    alone = shares(name="mig-1g.5gb") | {"flags": {"migStrategy": "mixed"}}
    assert [parse(alone).sharing.of(name) for name in ("nvidia.com/gpu", "nvidia.com/mig-1g.5gb")] == [1, 10]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "config"),
        ({"version": "v2"}, "version"),
        ({"flags": []}, "flags"),
        ({"flags": {"migStrategy": "both"}}, "flags.migStrategy"),
        ({"flags": {"migStrategy": ["none"]}}, "flags.migStrategy"),
        ({"sharing": {"timeSlicing": {}}}, "sharing.timeSlicing.resources"),
        ({"sharing": {"timeSlicing": {"resources": [{}, {}]}}}, "sharing.timeSlicing.resources[0].name"),
        (both(name="gpu"), "sharing.timeSlicing.resources[1].name"),
        (both(name="mig-9g.5gb"), "sharing.timeSlicing.resources[1].name"),
        (both(name="mig-1g.5gb.shared"), "sharing.timeSlicing.resources[1].name"),
        (both(replicas=1), "sharing.timeSlicing.resources[1].replicas"),
        (both() | {"flags": {}}, "sharing.timeSlicing.resources"),
        (shares("mps", name="mig-1g.5gb"), "sharing.mps.resources[0].name"),
        (shares(replicas=1), "sharing.timeSlicing.resources[0].replicas"),
        (shares(replicas=True), "sharing.timeSlicing.resources[0].replicas"),
        (shares(replicas=2.5), "sharing.timeSlicing.resources[0].replicas"),
        (shares(replicas="4"), "sharing.timeSlicing.resources[0].replicas"),
        (shares(name=None), "sharing.timeSlicing.resources[0].name"),
        (shares(name="nvidia.com/mig-1g.5gb"), "sharing.timeSlicing.resources"),
        (shares(renameByDefault="yes"), "sharing.timeSlicing.renameByDefault"),
        ({"flags": {"migStrategy": "mixed"}, **shares("mps", 4)}, "sharing.mps"),
        ({"sharing": {"timesSlicing": {}}}, "sharing.timesSlicing"),
        ({"flag": {}}, "flag"),
        (shares(replica=4), "sharing.timeSlicing.replica"),
        ({"flags": {"failOnInitError": "no"}}, "flags.failOnInitError"),
        (plugin(deviceListStrategy="env"), "flags.plugin.deviceListStrategy"),
        (plugin(deviceListStrategy=[]), "flags.plugin.deviceListStrategy"),
        (plugin(deviceIDStrategy=3), "flags.plugin.deviceIDStrategy"),
        (plugin(cdiAnnotationPrefix=""), "flags.plugin.cdiAnnotationPrefix"),
        (plugin(sharedDevicesAllocationPolicy="packed"), "flags.plugin.sharedDevicesAllocationPolicy"),
        (
            {"sharing": {"mps": {"resources": [{"name": "gpu", "replicas": 2, "devices": ["x"]}]}}},
            "sharing.mps.resources[0].devices",
        ),
    ],
)
def test_what_cannot_be_honoured_names_the_field_and_a_remedy(document: Any, field: str) -> None:
    with pytest.raises(InvalidConfigError) as refused:
        parse(document)
    assert refused.value.field == field
    assert refused.value.problem
    assert refused.value.remedy in str(refused.value)
