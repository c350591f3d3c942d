"""Faults that users of real and fake device plugins reported in public, and the tests that hold ours free of them.

Numbers are those of NVIDIA's (NDP), run:ai's (FGO) and other plugins' issues, or of kubernetes/kubernetes (k/k).
"""

import re
from pathlib import Path

import pytest

from tests.e2e.stories.stories import STORIES

ROOT = Path(__file__).parents[1]

COVERED = {
    "k/k#62773 allocatable stays 0 after a restart": "cluster/wiring/test_steps.py::"
    "test_a_plugin_that_died_is_gone_for_its_kubelet_until_it_registers_anew",
    "k/k#63118, #63231 the old endpoint's end hits the new one": "cluster/kubelet/test_sockets.py::"
    "test_a_second_instance_takes_over_and_the_end_of_the_first_changes_nothing",
    "k/k#121994, #139338 a second plugin on one socket": "device_plugin/test_server.py::"
    "test_a_second_server_takes_the_name_over_and_the_first_one_leaves_it_alone",
    "k/k#125579, #128043 other ids after a reboot": "gpuyard/hardware/test_gpus.py::test_ids_last_for_ever",
    "k/k#118559, #124345 a kubelet's restart ends pods": "cluster/kubelet/test_recovery.py::"
    "test_a_restarted_kubelet_knows_its_pods_and_their_devices",
    "k/k#52510, #92396 a plugin that is gone leaves 0": "cluster/kubelet/test_service.py::"
    "test_five_minutes_after_its_plugin_a_resource_is_gone_but_its_key_stays",
    "NDP#368, ROCm#186 no registration after the stream's end": "device_plugin/test_shell.py::"
    "test_a_stream_that_the_kubelet_ends_is_a_reason_to_register_again",
    "container-engine-accelerators#412 a stopped server stays stopped": "device_plugin/test_sockets.py::"
    "test_a_lost_socket_is_made_anew",
    "device-plugin-manager#32 transport is closing": "device_plugin/test_shell.py::"
    "test_a_kubelet_that_starts_anew_gets_the_same_devices_from_a_new_socket",
    "kubevirt#17122 the wrong folder is watched": "device_plugin/test_shell.py::"
    "test_it_is_ready_while_the_kubelet_watches_and_no_longer",
    "squat#94 no addresses for a unix socket": "device_plugin/test_dialing.py::"
    "test_the_pods_of_the_node_are_listed",
    "sriov#502, #33, #245 a refused registration": "device_plugin/test_shell.py::"
    "test_it_tries_again_when_the_kubelet_refuses",
    "FGO the socket stays behind": "device_plugin/test_main.py::"
    "test_it_registers_writes_on_its_node_and_leaves_nothing_behind_at_sigterm",
    "NDP#1432 an id twice in the variable": "device_plugin/containers/test_grants.py::"
    "test_by_default_a_variable_names_the_devices_once_and_by_index",
    "NDP#491, #1788 both replicas on one GPU": "device_plugin/allocating/test_admissions.py::"
    "test_shares_are_spread_and_named_once",
    "NDP#728 two MIG resources in one container": "device_plugin/containers/test_smi.py::"
    "test_it_lists_gpus_and_instances",
    "k/k#59629, NDP#61 all GPUs for who asks for none": "cluster/wiring/test_gpu_screen.py::"
    "test_a_container_without_devices_prints_nothing",
    "NDP#774, #460 a preference takes too long": "gpuyard/placing/test_choice.py::"
    "test_thousands_of_shares_are_dealt_out_evenly_and_each_once",
    "NDP#546, #439 NVLink is not looked at": "gpuyard/placing/test_choice.py::"
    "test_whole_gpus_go_together_by_topology",
    "volcano-vgpu#152 a list that is too long": "device_plugin/devices/test_node_inventory.py::"
    "test_a_list_that_the_kubelet_could_not_take_is_refused_before_it_is_made",
    "NDP#189, #1014 unhealthy for ever": "device_plugin/devices/test_health.py::"
    "test_a_gpu_with_an_xid_is_sick_until_the_annotation_goes",
    "NDP#1974 which XIDs count": "device_plugin/devices/test_health.py::"
    "test_xids_can_be_turned_off_and_on_as_with_nvidias_plugin",
    "NDP#221 ready without devices": "device_plugin/test_shell.py::"
    "test_it_is_ready_while_the_kubelet_watches_and_no_longer",
    "NDP health.go one replica of a sick GPU": "device_plugin/devices/test_health.py::"
    "test_all_shares_of_a_gpu_fall_sick_with_it",
    "NDP#990, #321 replicas without effect": "device_plugin/devices/test_node_inventory.py::"
    "test_replicas_multiply_the_devices",
    "NDP#929, #1762 more than one share": "device_plugin/allocating/test_allocations.py::"
    "test_more_than_one_share_is_refused_only_where_that_is_configured",
    "NDP#732 the label of replicas": "device_plugin/publishing/test_gfd.py::"
    "test_shares_show_in_replicas_and_in_the_product_unless_renamed",
    "NDP#1668 an example configuration that fails": "e2e/test_examples.py::"
    "test_an_example_does_on_steps_what_its_scenario_says",
    "nos#57, #16 a missing configuration": "device_plugin/test_reloading.py::"
    "test_what_cannot_be_used_is_said_and_the_last_good_one_stays",
    "NDP#1462 1g+me is counted as 1g": "gpuyard/test_vocabulary.py::"
    "test_a_mig_resource_is_named_as_nvidia_names_it",
    "NDP#397 and GO#479 strategy single on unlike GPUs": "device_plugin/devices/test_node_inventory.py::"
    "test_strategy_single_wants_all_alike",
    "nos#25 an empty MIG GPU blocks its node": "device_plugin/devices/test_node_inventory.py::"
    "test_an_empty_mig_gpu_does_not_block_the_others",
    "NDP#738, #1501 mixed: gpu.count": "device_plugin/publishing/test_gfd.py::"
    "test_mixed_counts_physical_gpus_beside_one_group_for_each_profile",
    "NDP#738, #1501 single: gpu.count": "device_plugin/publishing/test_gfd.py::test_single_counts_mig_devices",
    "gpu-feature-discovery#7 a profile's name by rounding": "gpuyard/hardware/test_boards.py::"
    "test_managed_resources_name_every_profile_sorted_and_legally",
    "FGO#177 MIG is never allocatable": "e2e/test_examples.py::"
    "test_an_example_ends_every_step_on_embedded_with_just_what_was_seen_on_steps",
    "FGO#108, #191, #206 nvidia-smi fails without a variable": "device_plugin/containers/test_smi.py::"
    "test_a_container_without_gpus_has_none",
    "FGO#93 a right is missing": "manifests/test_deployment.py::"
    "test_a_pod_can_change_nothing_but_what_it_is_for",
    "k8s-test-infra#370 no metrics of an exporter": "device_plugin/test_dcgm.py::"
    "test_a_scraper_finds_them_with_the_exporters_labels",
}
"""The report -> the test."""

ON_A_REAL_KUBELET = {
    "k/k#62773, #63118, #125579, #128043": "a_plugin_that_is_killed_comes_back_with_the_same_devices",
    "k/k#121994, #139338": "a_second_plugin_takes_over_and_hands_back",
    "k/k#52510, #92396": "a_plugin_that_is_sent_away_leaves_a_count_of_zero_and_no_socket",
    "NDP#189, #1014": "a_gpu_that_fails_under_a_pod_is_told_in_its_status_and_recovers",
    "k/k#59629, NDP#61": "a_container_sees_just_the_devices_that_were_planned_and_one_that_asks_for_none_sees_none",
    "k/k#118559, #124345, #138446": "pods_keep_their_devices_when_the_kubelet_restarts_and_new_ones_are_served",
}
"""The report -> the story that is played on the embedded kubelet, and by `make e2e` on a real one."""

NOT_OURS = {
    "NDP#448, go-gpuallocator#80": "links of one direction: a GPU names its NVLink domain, there is no matrix",
    "GO#351, nos#51": "7g.79gb, as some drivers name 7g.80gb: no driver names profiles here, the tables do",
    "FGO#195": "Helm: there is no chart",
    "FGO#189, k8s-test-infra#265": "ResourceSlices: devices are not offered by DRA",
}
"""The report -> why it cannot happen here."""


@pytest.mark.parametrize("report", COVERED)
def test_a_report_is_held_by_a_test_that_is_there(report: str) -> None:
    file, _, name = COVERED[report].partition("::")
    assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), COVERED[report]


def test_a_report_about_the_kubelet_is_a_story_that_is_played() -> None:
    assert {story.__name__ for story in STORIES} >= set(ON_A_REAL_KUBELET.values())


def test_no_report_is_both_held_and_not_ours() -> None:
    numbers = [set(re.findall(r"[\w-]+#\d+", " ".join(table))) for table in (COVERED, NOT_OURS)]
    assert numbers[0].isdisjoint(numbers[1])
