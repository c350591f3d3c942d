from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.storage.storage import Change, Store
from gpuyard_cluster.apiserver.storage.subscribers import Interest

NODE = "spec.nodeName"


def pod(node: str = "") -> JSON:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {"nodeName": node} if node else {},
    }


class Told:
    """Subscribers of a store's pods by name, and who was told of what in which order."""

    def __init__(self) -> None:
        self.store, self.log = Store(), list[tuple[str, str]]()

    def add(self, name: str, node: str | None = None) -> object:
        interest = None if node is None else Interest(NODE, node)

        def hear(change: Change) -> None:
            self.log.append((name, change.kind))

        return self.store.subscribe("pods", hear, interest)

    def heard(self) -> list[str]:
        found, self.log = [name for name, _ in self.log], []
        return found


def test_only_those_whose_value_it_has_or_had_are_told_of_a_change() -> None:
    told = Told()
    told.add("one", "n1")
    told.add("two", "n2")
    told.add("unbound", "")
    told.store.put("pods", "p", pod())
    assert told.heard() == ["unbound"]
    told.store.put("pods", "p", pod("n1"))
    assert told.heard() == ["one", "unbound"]
    told.store.put("pods", "p", pod("n2"))
    assert told.heard() == ["one", "two"]
    told.store.delete("pods", "p")
    assert told.heard() == ["two"]


def test_everyone_is_told_in_the_order_in_which_they_came() -> None:
    told = Told()
    for name, node in (("a", None), ("b", "n1"), ("c", None), ("d", "n1")):
        told.add(name, node)
    told.store.put("pods", "p", pod("n1"))
    assert told.heard() == ["a", "b", "c", "d"]


def test_who_has_left_is_told_nothing() -> None:
    told = Told()
    ends = [told.add("a"), told.add("b", "n1"), told.add("c", "n1")]
    for end in ends[:2] * 2:
        assert callable(end)
        end()
    told.store.put("pods", "p", pod("n1"))
    assert told.heard() == ["c"]


NODES = st.sampled_from(["", "n1", "n2", "n3"])


@settings(deadline=None, max_examples=50)
@given(st.lists(NODES, max_size=5), st.lists(NODES, max_size=8))
def test_nobody_misses_a_change_that_concerns_him(interests: list[str], moves: list[str]) -> None:
    told = Told()
    for at, node in enumerate(interests):
        told.add(f"{at} {node}", node)
    before: str | None = None
    for node in moves:
        told.store.put("pods", "p", pod(node))
        wanted = [f"{at} {mine}" for at, mine in enumerate(interests) if mine in (before, node)]
        assert told.heard() == wanted
        before = node
