"""Whatever a listener knows, what it is told brings it up to date."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_extender.web.ui import pieces
from gpuyard_extender.web.ui.pieces import NOTHING, SECTIONS, Pieces


class Listener:
    """What the page does with messages."""

    def __init__(self) -> None:
        self.version = NOTHING
        self.known: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}

    def hear(self, told: Pieces) -> None:
        news = told.since(self.version)
        if news is None:
            return
        message = json.loads(news)
        self.version = message["v"]
        for section, known in self.known.items():
            if message["reset"]:
                known.clear()
            for key, piece in message[section].items():
                if piece is None:
                    known.pop(key, None)
                else:
                    known[key] = piece


puts = st.tuples(st.sampled_from(("nodes", "pods")), st.sampled_from("abcde"), st.none() | st.integers(0, 3))


@settings(max_examples=60, deadline=None)
@given(changes=st.lists(st.tuples(puts, st.integers(0, 2)), max_size=40), most=st.integers(0, 3))
def test_listeners_that_hear_seldom_know_as_much_as_those_who_hear_all(
    changes: list[tuple[tuple[str, str, int | None], int]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_MOST_GONE", most)
        told, listeners = Pieces(), [Listener(), Listener(), Listener()]
        now: dict[str, dict[str, int]] = {section: {} for section in SECTIONS}
        for (section, key, content), who in changes:
            told.put(section, key, None if content is None else b"%d" % content)
            now[section] |= {key: content} if content is not None else {}
            if content is None:
                now[section].pop(key, None)
            listeners[who].hear(told)
            assert listeners[who].known == now
        late = Listener()
        for listener in (*listeners, late):
            listener.hear(told)
            assert listener.known == now


def test_one_encoding_serves_everyone_who_knows_the_same() -> None:
    told = Pieces()
    told.put("nodes", "a", b"1")
    assert told.since(NOTHING) is told.since(NOTHING)
    told.put("nodes", "a", b"1")
    assert (told.version, told.since(1)) == (1, None)


def test_a_listener_of_another_time_gets_everything_anew() -> None:
    told = Pieces()
    told.put("nodes", "a", b"1")
    assert json.loads(told.since(99) or b"")["reset"] is True


def test_what_is_dropped_is_kept_for_nobody() -> None:
    told = Pieces()
    told.put("attempts", "1", b"1")
    told.drop("attempts", "1")
    assert json.loads(told.since(NOTHING) or b"")["attempts"] == {}
