from gpuyard_cluster.kubelet.agenda import Agenda


def test_a_key_is_due_once_however_often_it_was_added() -> None:
    agenda = Agenda()
    for key in ("a", "b", "a"):
        agenda.add(key)
    assert [agenda.pop(0), agenda.pop(0), agenda.pop(0)] == ["a", "b", None]


def test_a_later_key_is_due_at_the_earliest_moment_that_was_asked_for() -> None:
    agenda = Agenda()
    for when in (20, 10, 30):
        agenda.add_later(when, "a")
    assert (agenda.next_at(), agenda.pop(9), agenda.pop(10), agenda.next_at()) == (10, None, "a", None)
