"""What users reported of other GPU schedulers, and which test holds that it does not happen here.

The cases are numbered in the order in which they were collected.
"""

HERE = "extender/test_reports"

HELD = {
    1: (
        "a pod of two GPU containers",
        "device_plugin/allocating/test_admissions",
        "test_each_container_gets_its_own_part_of_the_plan",
    ),
    2: (
        "pods of which nobody knows the devices",
        "gpuyard/auditing/test_audit",
        "test_a_pod_without_a_readable_plan_is_found",
    ),
    3: (
        "limits of another pod",
        "device_plugin/allocating/test_admissions",
        "test_limits_follow_the_pod_whoever_is_admitted_first_and_over_a_restart",
    ),
    4: ("a pod that writes its own plan", HERE, "test_a_plan_that_a_pod_brings_itself_is_worth_nothing"),
    5: (
        "a refusal that leaves the pod stuck",
        "cluster/kubelet/test_service",
        "test_a_plugins_refusal_fails_the_pod",
    ),
    6: (
        "sizes of another pod",
        "device_plugin/allocating/test_admissions",
        "test_limits_follow_the_pod_whoever_is_admitted_first_and_over_a_restart",
    ),
    7: (
        "a plugin that decides anew",
        "device_plugin/allocating/test_choice",
        "test_the_plan_is_followed_to_the_letter",
    ),
    8: ("a plan with more ids than asked", HERE, "test_a_plan_has_just_as_many_ids_as_were_asked_for"),
    9: (
        "Bind to another node than Filter chose",
        HERE,
        "test_bind_decides_anew_for_another_node_than_filter_had_in_mind",
    ),
    10: (
        "a CDI specification that is older than the devices",
        "device_plugin/test_reloading",
        "test_the_cdi_specification_follows_the_configuration",
    ),
    11: (
        "a deleted pod that keeps its GPUs",
        HERE,
        "test_what_is_deleted_is_free_whether_an_event_or_a_list_tells_it",
    ),
    12: (
        "a metric that is not counted anew",
        "extender/web/test_metrics",
        "test_what_is_free_is_counted_anew_after_each_update_of_a_pod",
    ),
    13: (
        "a terminating pod that counts as gone",
        "extender/ledger/test_ledger",
        "test_an_ended_pod_holds_nothing_and_a_terminating_one_holds_on",
    ),
    14: (
        "a replaced pod whose pair is not reused",
        HERE,
        "test_who_replaces_a_pod_gets_the_gpus_that_it_had",
    ),
    15: (
        "a restarted container that loses its GPU",
        "cluster/kubelet/test_service",
        "test_a_container_that_ends_is_started_again_and_its_last_output_is_kept",
    ),
    16: (
        "init containers that are added up",
        "gpuyard/pods/test_amounts",
        "test_a_pod_books_the_most_that_runs_at_one_time_plus_overhead",
    ),
    17: (
        "an init container that changes what counts for a quota",
        "gang_operator/queues/test_workloads",
        "test_init_containers_change_nothing_of_what_a_group_holds",
    ),
    18: ("free amounts that wrap below zero", HERE, "test_an_over_committed_node_has_nothing_left"),
    19: ("verbs and events at one time", "extender/test_conservation", "Conservation"),
    20: ("verbs and events at one time, 5,000 nodes", "extender/test_conservation", "Conservation"),
    21: (
        "binds to one node that wait for each other",
        HERE,
        "test_forty_binds_to_one_node_do_not_wait_for_each_other",
    ),
    22: (
        "a full node that is tried without end",
        "e2e/stories/gangs",
        "a_gang_whose_nodes_are_full_does_not_try_without_end_and_starts_when_there_is_room",
    ),
    23: (
        "200 nodes that are new at once",
        "e2e/stories/rejections",
        "of_200_nodes_that_are_new_at_once_the_first_pod_has_one_within_seconds",
    ),
    24: (
        "SIGTERM that is ignored",
        "extender/test_main",
        "test_sigterm_answers_the_bind_in_flight_and_ends_cleanly",
    ),
    25: (
        "a node that reboots",
        "e2e/stories/nodes",
        "who_waits_for_a_node_that_is_off_is_served_when_it_is_back",
    ),
    26: (
        "a place that nobody is woken for",
        "extender/test_waking",
        "test_a_pod_that_waits_for_an_assumption_is_woken_when_it_expires",
    ),
    27: (
        "a plugin that restarts in between",
        "device_plugin/allocating/test_admissions",
        "test_a_plugin_without_memory_still_knows_who_holds_what",
    ),
    28: (
        "a pod that asks for 0 GPUs",
        "e2e/stories/reports",
        "a_pod_that_asks_for_0_gpus_runs_where_all_are_taken_and_has_none",
    ),
    29: ("memory without a GPU", HERE, "test_memory_of_no_gpu_is_refused_by_its_annotation"),
    30: (
        "more than a whole GPU",
        "gpuyard/pods/test_limits",
        "test_an_amount_that_is_none_names_the_annotation_and_the_remedy",
    ),
    31: (
        "a GPU without a wish for its memory",
        "gpuyard/placing/test_placement",
        "test_a_container_gets_the_first_gpus_by_id",
    ),
    32: ("16 GPUs of a node with 8", HERE, "test_more_gpus_than_a_node_has_are_refused_with_both_numbers"),
    33: (
        "GPUs of unequal memory in one node",
        HERE,
        "test_shares_by_memory_are_of_a_gpu_that_has_as_much",
    ),
    34: ("a label that is missing", HERE, "test_a_node_without_the_label_is_told_what_it_lacks"),
    35: ("a question about what is not there", "extender/web/test_app", "test_a_pod_is_explained_by_name"),
    36: (
        "several GPU containers that crash",
        "gpuyard/placing/test_placement",
        "test_containers_get_different_devices",
    ),
    37: (
        "a pod without annotations that crashes",
        "device_plugin/allocating/test_node_pods",
        "test_any_object_at_all_is_read_or_left_out",
    ),
    38: (
        "older forms of MIG ids",
        HERE,
        "test_mig_ids_of_either_form_are_planned_held_and_given_back",
    ),
    39: ("a layout that nobody can see", "cli/top/test_rows", "test_instances_are_drawn_with_who_has_them"),
    40: (
        "GPUs without MIG mode that count as cut",
        "device_plugin/publishing/test_gfd",
        "test_gpus_with_mig_switched_off_have_no_mig_devices_whatever_the_strategy",
    ),
    41: (
        "instances that spoil the large holes",
        "gpuyard/placing/test_choice",
        "test_an_instance_lies_where_the_largest_hole_stays",
    ),
    42: (
        "a placement that keeps the largest hole",
        "gpuyard/hardware/test_mig",
        "test_one_instance_lies_where_it_leaves_the_largest_holes",
    ),
    43: (
        "links that differ by direction",
        "gpuyard/test_annotations",
        "test_a_link_that_one_end_has_lost_is_lost_for_both_whatever_an_inventory_says",
    ),
    44: (
        "links that are looked up for every question",
        "gpuyard/hardware/test_topology",
        "test_sixteen_gpus_are_decided_at_once",
    ),
    45: (
        "a pair without NVLink though there is one with it",
        "gpuyard/hardware/test_topology",
        "test_a_linked_pair_is_preferred_to_lower_indexes",
    ),
    46: (
        "pairs behind NVSwitches that are missed",
        "gpuyard/hardware/test_topology",
        "test_in_one_nvswitch_domain_the_lowest_indexes_win",
    ),
    47: ("a busy GPU for the sake of NUMA", HERE, "test_no_busy_gpu_is_taken_for_the_sake_of_numa"),
    48: (
        "two shares of one GPU for two GPUs",
        "gpuyard/placing/test_choice",
        "test_several_shares_come_from_distinct_gpus_as_long_as_there_are_any",
    ),
    49: (
        "a sick GPU that never recovers",
        "device_plugin/devices/test_health",
        "test_a_gpu_with_an_xid_is_sick_until_the_annotation_goes",
    ),
    50: ("topology of unknown age", HERE, "test_what_is_free_does_not_wait_for_a_new_inventory"),
    51: (
        "preemption without victims that help",
        "extender/deciding/test_preempt_verb",
        "test_victims_are_found_where_kube_scheduler_sent_none",
    ),
}
