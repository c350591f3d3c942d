import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.runs import End, History, Run, history, ignored_annotations
from tests.cluster.small_api import pod

START = 1_700_000_000.0


def made(seconds: str | None = None, code: str | None = None, policy: str = "Never") -> JSON:
    marks = {vocabulary.RUN_SECONDS: seconds, vocabulary.EXIT_CODE: code}
    annotations = {key: text for key, text in marks.items() if text is not None}
    return pod("p", annotations=annotations, restartPolicy=policy)


def ended(after: float, code: int = 0) -> History:
    return History(Run(START, End(START + after, code)))


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (made(), History(Run(START))),
        (made(code="1"), History(Run(START))),
        (made("0"), ended(0)),
        (made("5", "2"), ended(5, 2)),
        (made("5", "no"), ended(5)),
        (made("5", "256"), ended(5)),
        (made("later"), History(Run(START))),
    ],
)
def test_annotations_say_how_containers_end(found: JSON, wanted: History) -> None:
    assert history(found, START, START + 100) == wanted


def test_an_annotation_that_is_ignored_is_named() -> None:
    (line,) = ignored_annotations(made("x", "1"))
    assert line == "annotation gpuyard.io/run-seconds='x' is ignored: it must be a number, 0 or more"


@pytest.mark.parametrize(
    ("policy", "code", "again"),
    [
        ("Always", "0", True),
        ("Always", "1", True),
        ("OnFailure", "1", True),
        ("OnFailure", "0", False),
        ("Never", "1", False),
    ],
)
def test_the_restart_policy_says_whether_they_start_again(policy: str, code: str, again: bool) -> None:
    found = history(made("5", code, policy), START, START + 6)
    assert (found.restarts, found.over) == ((1, False) if again else (0, True))


def test_the_back_off_doubles_up_to_five_minutes() -> None:
    found, starts, now = made("5", "1", "Always"), [START], START
    while len(starts) < 9:
        now += 1
        since = history(found, START, now).present.since
        if since != starts[-1]:
            starts.append(since)
    waits = [later - earlier - 5 for earlier, later in zip(starts, starts[1:], strict=False)]
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]


def test_after_a_long_run_the_back_off_begins_anew() -> None:
    found = history(made("600", "1", "Always"), START, START + 6_001)
    assert (found.restarts, found.present.since) == (10, START + 6_000)


@given(st.integers(0, 100_000), st.integers(0, 2_000_000), st.sampled_from(["Always", "OnFailure", "Never"]))
def test_nothing_changes_before_it_is_said_to(milliseconds: int, later: int, policy: str) -> None:
    found, now = made(str(milliseconds / 1_000), "1", policy), START + later / 1_000
    known = history(found, START, now)
    if known.changes_at is None:
        assert history(found, START, now + 5_000) == known
    else:
        assert known.changes_at > now
        assert history(found, START, (now + known.changes_at) / 2) == known
        assert history(found, START, known.changes_at) != known
