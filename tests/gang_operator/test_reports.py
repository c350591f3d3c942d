"""What went wrong with gang schedulers in the field, report by report, and which test holds that it does not here.

The numbers G1 to G59 are those in the docstrings of tests, and of stories, which are played on a real cluster too.
"""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

HELD: dict[int, tuple[str, ...]] = {
    1: ("test_gangs_that_want_more_than_there_is_go_one_after_the_other_and_none_in_part",),
    2: ("test_a_gang_without_room_says_who_does_not_fit_and_why_and_starts_when_a_node_appears",),
    3: ("test_a_gang_without_room_asks_seldom_while_nothing_changes",),
    4: ("test_a_large_gang_without_room_does_not_hold_up_a_small_one_that_came_later",),
    5: ("test_of_two_gangs_whose_members_come_in_turns_one_has_all_and_the_other_holds_nothing",),
    6: ("test_of_two_jobs_with_quota_for_one_one_runs_and_the_other_waits_as_a_whole",),
    7: ("test_a_submitter_does_not_count_and_starts_after_the_ray_nodes",),
    8: ("test_of_two_replicas_with_a_group_each_no_leader_starts_without_its_workers",),
    9: ("test_a_gang_that_needs_more_than_the_quota_is_told_so_and_holds_up_nobody",),
    10: ("test_no_role_takes_the_room_of_another", "test_nobody_starts_without_the_head_that_is_there"),
    11: ("test_the_second_binding_fails_and_the_first_is_undone_within_five_seconds",),
    12: ("test_nobody_goes_for_a_gang_that_does_not_fit_even_then",),
    13: ("test_a_gang_that_was_undone_starts_again_as_a_whole",),
    14: ("test_a_bind_is_as_much_work_however_many_pods_wait",),
    15: (
        "test_a_gang_that_was_undone_starts_again_as_a_whole",
        "test_a_disruption_budget_does_not_keep_a_gang_half_bound",
    ),
    16: ("test_members_that_finish_one_by_one_never_harm_the_others",),
    17: ("test_members_that_finish_do_not_make_a_gang_restart",),
    18: ("test_a_failure_beyond_the_quorum_leaves_the_group_running",),
    19: ("test_a_member_that_is_replaced_joins_alone_and_its_siblings_stay",),
    20: ("test_a_member_that_is_replaced_joins_alone_and_its_siblings_stay",),
    21: ("test_a_member_whose_node_is_lost_is_replaced_beside_its_siblings",),
    22: (
        "test_a_group_that_is_not_scheduled_in_time_has_failed_and_says_why",
        "test_nothing_of_a_group_that_has_failed_starts_whatever_its_owner_does",
    ),
    23: ("test_members_that_succeeded_count_as_ready", "test_the_phase_follows_the_pods"),
    24: ("test_members_that_come_before_their_group_start_when_it_comes",),
    25: ("test_members_that_come_before_their_group_start_when_it_comes",),
    26: ("test_members_that_come_before_their_group_start_when_it_comes",),
    27: (
        "test_the_group_that_counts_is_the_one_that_its_client_makes_however_late",
        "members_that_come_before_their_group_wait_and_start_when_it_comes",
    ),
    28: ("test_a_group_that_comes_again_is_another_group",),
    29: ("test_a_resync_finds_what_no_event_told",),
    30: ("test_a_queue_that_does_not_exist_is_named_and_waited_for",),
    31: ("test_a_reserved_member_that_is_deleted_gives_up_the_places_of_all",),
    32: (
        "a_minimum_below_one_is_refused_by_the_name_of_its_field_and_none_means_one",
        "test_a_minimum_without_sense_means_that_each_member_starts_alone",
    ),
    33: ("test_a_minimum_without_sense_means_that_each_member_starts_alone",),
    34: ("test_a_gang_with_room_is_bound_and_its_reservation_is_gone",),
    35: (
        "test_a_minimum_that_is_lowered_to_what_exists_lets_the_gang_go",
        "test_a_gang_that_is_scaled_up_takes_late_members_one_by_one",
    ),
    36: ("test_a_role_without_pods_is_forgotten",),
    37: ("test_late_members_join_as_far_as_they_fit",),
    38: ("test_what_clients_say_of_the_resources_of_a_gang_is_not_believed",),
    39: (
        "test_what_indices_say_changes_nothing",
        "test_a_role_for_each_member_is_as_good_as_none",
        "test_however_many_roles_there_are_each_has_its_turn_before_any_has_a_second",
    ),
    40: (
        "test_a_pod_that_kube_scheduler_starts_with_another_group_is_counted_and_not_waited_for_unawares",
        "test_a_pod_that_two_groups_claim_is_of_the_first_and_the_other_says_who_has_it",
        "test_the_gate_holds_just_the_pods_that_are_members",
    ),
    41: ("test_counts_are_those_of_the_pods",),
    42: ("test_a_failure_beyond_the_quorum_leaves_the_group_running",),
    43: ("test_members_of_several_schedulers_are_told_apart",),
    44: ("test_what_the_server_does_not_know_is_forgotten",),
    45: ("test_a_member_costs_two_writes_beside_its_binding",),
    46: (
        "test_missing_members_are_counted",
        "test_a_misfit_names_the_member_and_each_node_with_numbers",
        "test_each_new_reason_is_told_by_one_event_about_the_group",
    ),
    47: ("test_only_our_own_gate_is_removed_and_members_held_by_others_are_waited_for",),
    48: ("test_nothing_of_a_gang_is_kept_from_being_deleted",),
    49: (
        "test_a_gang_is_planned_anew_when_the_node_of_a_place_is_deleted",
        "test_no_gate_falls_for_a_place_that_cannot_be_used_any_more",
    ),
    50: ("test_nobody_else_is_gated",),
    51: ("test_what_waits_for_quota_stays_gated_and_nobody_is_asked_for_places",),
    52: ("members_that_were_let_go_and_lost_their_places_are_unschedulable_to_all",),
    53: (
        "test_a_definition_that_is_missing_is_named_with_the_remedy_until_it_is_there",
        "test_a_right_that_is_missing_is_named_until_it_is_given_and_a_quota_is_no_right",
    ),
    54: ("test_groups_of_one_name_in_two_namespaces_are_two_groups",),
    55: ("test_without_a_minimum_each_member_starts_alone",),
    56: ("test_the_schedule_timeout_changes_nothing",),
    57: ("test_a_group_with_all_the_luggage_that_an_object_may_carry_is_served",),
    58: ("test_a_client_that_rewrites_the_whole_group_changes_nothing",),
    59: ("test_nothing_is_written_when_the_status_says_it_already", "test_each_change_is_one_status"),
}


@pytest.fixture(scope="module")
def names() -> set[str]:
    paths = [*TESTS.rglob("test_*.py"), *(TESTS / "e2e" / "stories").glob("*.py")]
    found = (ast.walk(ast.parse(path.read_text())) for path in paths)
    return {
        node.name
        for tree in found
        for node in tree
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_of_each_report_it_is_known_which_test_holds_it() -> None:
    assert sorted(HELD) == list(range(1, 60))


def test_the_tests_that_hold_reports_are_there(names: set[str]) -> None:
    assert {name for held in HELD.values() for name in held} <= names
