"""What a cluster goes through, and what must be true all the same. A story knows nothing of where it is played."""

from collections.abc import Awaitable, Callable

from tests.e2e.stories import (
    crowds,
    deletions,
    gangs,
    nodes,
    owners,
    preemptions,
    questions,
    recordings,
    rejections,
    reports,
)
from tests.e2e.stories.cluster import Cluster

Story = Callable[[Cluster], Awaitable[None]]

STORIES: tuple[Story, ...] = (
    crowds.of_30_pods_on_24_gpus_24_run_and_6_say_why,
    deletions.a_pod_that_is_deleted_while_it_waits_leaves_its_turn_to_others,
    deletions.a_pod_that_is_deleted_while_it_runs_gives_its_devices_to_the_next,
    deletions.a_gang_member_that_is_deleted_while_the_others_are_held_takes_nothing_along,
    deletions.pods_that_are_deleted_while_one_is_in_allocate_leave_their_devices_free,
    gangs.members_that_come_before_their_group_wait_and_start_when_it_comes,
    gangs.a_minimum_below_one_is_refused_by_the_name_of_its_field_and_none_means_one,
    gangs.members_that_were_let_go_and_lost_their_places_are_unschedulable_to_all,
    gangs.a_pod_that_only_reserved_places_keep_out_is_tried_again_when_they_are_given_up,
    gangs.a_gang_whose_nodes_are_full_does_not_try_without_end_and_starts_when_there_is_room,
    owners.a_group_that_is_full_of_annotations_and_overwritten_meanwhile_ends_all_the_same,
    owners.a_deleted_group_is_gone_at_once_and_another_may_have_its_name,
    preemptions.a_budget_is_kept_while_another_pod_can_go_and_broken_when_none_can,
    preemptions.a_gang_loses_just_the_member_whose_place_is_needed_and_is_joined_again,
    nodes.pods_keep_their_devices_when_the_kubelet_restarts_and_new_ones_are_served,
    nodes.what_a_drained_node_held_goes_elsewhere_and_comes_back,
    questions.what_would_fit_is_told_and_comes_true_and_asking_holds_nothing,
    questions.a_gang_is_judged_by_what_its_queue_has_left,
    questions.a_pod_that_only_the_extender_refuses_is_told_why_by_one_event,
    questions.what_a_pod_may_use_of_its_gpu_stays_as_it_was_bound,
    questions.what_cannot_be_a_share_is_refused_by_the_name_of_its_annotation,
    recordings.what_ran_is_recorded_and_a_replay_places_it_again,
    recordings.who_has_which_gpu_is_shown_as_the_kubelet_says_it,
    rejections.a_pod_for_which_others_would_leave_in_vain_is_asked_about_twice,
    rejections.of_many_rejected_pods_each_is_asked_about_once_for_a_change,
    rejections.of_200_nodes_that_are_new_at_once_the_first_pod_has_one_within_seconds,
    # What users of device plugins reported in public, as far as the kubelet has a part in it.
    reports.a_plugin_that_is_killed_comes_back_with_the_same_devices,
    reports.a_plugin_that_is_sent_away_leaves_a_count_of_zero_and_no_socket,
    reports.a_second_plugin_takes_over_and_hands_back,
    reports.a_gpu_that_fails_under_a_pod_is_told_in_its_status_and_recovers,
    reports.a_container_sees_just_the_devices_that_were_planned_and_one_that_asks_for_none_sees_none,
    reports.a_pod_that_asks_for_0_gpus_runs_where_all_are_taken_and_has_none,
)
