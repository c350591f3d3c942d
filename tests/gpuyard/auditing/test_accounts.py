"""What the parts say of themselves comes out as it went in, and what is no account is refused."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import NodeAccounts, Stake
from gpuyard.writes import JSON

NAMES = st.text("abc-", min_size=1, max_size=4)
IDS = st.lists(NAMES, max_size=3, unique=True).map(tuple)
HOLDERS = st.dictionaries(NAMES, st.dictionaries(NAMES, st.dictionaries(NAMES, IDS, max_size=2), max_size=2))
STAKES = st.builds(Stake, IDS.map(frozenset), st.dictionaries(NAMES, st.integers(0, 9), max_size=2))


def sent(body: JSON) -> Any:
    return orjson.loads(orjson.dumps(body))


@settings(max_examples=30)
@given(told=st.builds(NodeAccounts, HOLDERS, st.none() | HOLDERS, NAMES))
def test_the_accounts_of_a_node_arrive_as_they_were(told: NodeAccounts) -> None:
    assert accounts.node_from_json(sent(accounts.node_to_json(told))) == told


@settings(max_examples=30)
@given(ledger=st.dictionaries(NAMES, st.dictionaries(NAMES, STAKES, max_size=3), max_size=3))
def test_a_ledger_arrives_as_it_was(ledger: dict[str, dict[str, Stake]]) -> None:
    assert accounts.ledger_from_json(sent(accounts.ledger_to_json(ledger))) == ledger


@pytest.mark.parametrize(
    "body", [None, [], "ok", {}, {"v": 2}, {"v": 1}, {"v": 1, "plugin": {"u": {"main": 1}}, "kubelet": {}}]
)
def test_what_is_no_account_of_a_node_is_refused(body: object) -> None:
    with pytest.raises(ValueError, match="not an account"):
        accounts.node_from_json(body)


@pytest.mark.parametrize(
    "body", [{"v": 1}, {"v": 1, "nodes": 1}, {"v": 1, "nodes": {"n": {"u": {}}}}, {"v": 1, "nodes": {"n": 1}}]
)
def test_what_is_no_ledger_is_refused(body: object) -> None:
    with pytest.raises(ValueError, match="not a ledger"):
        accounts.ledger_from_json(body)


def test_the_truth_is_what_the_status_says_of_gpu_devices() -> None:
    told = [
        {"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1"}, {"resourceID": "GPU-2"}]},
        {"name": "example.com/fpga", "resources": [{"resourceID": "F-1"}]},
        {"name": "nvidia.com/mig-1g.5gb"},
    ]
    containers = [{"name": "main", "allocatedResourcesStatus": told}, {"name": "plain"}]
    pod = {"status": {"containerStatuses": containers, "initContainerStatuses": containers}}
    assert accounts.truth(pod) == {"main": {"nvidia.com/gpu": ("GPU-1", "GPU-2")}}
    assert accounts.truth({}) == {}
