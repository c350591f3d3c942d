"""Nodes with their claims, and what counts as a change."""

from hypothesis import given
from hypothesis import strategies as st

from gpuyard_extender.ledger import nodes
from gpuyard_extender.ledger.claims import Claim
from gpuyard_extender.ledger.holdings import Holdings
from gpuyard_kube.store import Store
from tests.extender.builders import gpu_node


def claim(node: str, *held: str) -> Claim:
    return Claim(node, {"cpu": 1000}, frozenset(held), frozenset())


def holdings_of(*names: str) -> Holdings:
    found = Holdings()
    found.set_nodes(Store(nodes.read).replace([gpu_node(name) for name in names]))
    return found


def test_a_claim_moves_with_its_pod() -> None:
    found = holdings_of("n1", "n2")
    found.set_claim("a", claim("n1", "x"))
    found.set_claim("a", claim("n2", "y"))
    cluster = found.cluster(())
    assert [dict(cluster.nodes[name].owners) for name in ("n1", "n2")] == [{}, {"y": "a"}]
    assert [cluster.nodes[name].used.get("cpu", 0) for name in ("n1", "n2")] == [0, 1000]


def test_nodes_that_nothing_touched_are_not_built_anew() -> None:
    found = holdings_of("n1", "n2")
    before = found.cluster(())
    found.set_claim("a", claim("n1", "x"))
    after = found.cluster(())
    assert after.nodes["n2"] is before.nodes["n2"]
    assert before.nodes["n1"].owners == {}


def test_only_what_differs_is_a_change() -> None:
    found = holdings_of("n1", "n2")
    found.set_claim("a", claim("n1", "x"))
    change = found.changes
    found.set_claim("a", claim("n1", "x"))
    store = Store(nodes.read)
    found.set_nodes(store.observe("ADDED", gpu_node("n3")))
    assert found.changed_since(change) == {"n3"}
    change = found.changes
    found.set_nodes(store.observe("MODIFIED", gpu_node("n3")))
    assert found.changed_since(change) == set()


@given(steps=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([None, "n1", "n2"]), st.booleans())))
def test_a_node_that_is_kept_up_to_date_is_as_one_that_is_built_from_all_claims(
    steps: list[tuple[str, str | None, bool]],
) -> None:
    found, claimed = holdings_of("n1", "n2"), dict[str, Claim]()
    for uid, node, holds in steps:
        claimed.pop(uid, None)
        if node is not None:
            claimed[uid] = claim(node, uid) if holds else claim(node)
        found.set_claim(uid, claimed.get(uid))
    for besides in ((), ("a", "b")):
        anew = holdings_of("n1", "n2")
        for uid in claimed.keys() - besides:
            anew.set_claim(uid, claimed[uid])
        assert found.cluster(besides).nodes == anew.cluster(()).nodes
