from typing import Any

from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.wire.delete_options import DeleteOptions, delete_options


def options(body: dict[str, Any] | None = None, **query: str) -> DeleteOptions:
    return delete_options(Request("DELETE", "/", query), body or {})


def test_query_and_body_say_the_same_and_the_query_wins() -> None:
    assert options({"gracePeriodSeconds": 5}) == options(gracePeriodSeconds="5") == DeleteOptions(grace=5)
    assert options({"gracePeriodSeconds": 5}, gracePeriodSeconds="0").grace == 0
    assert options({"propagationPolicy": "Orphan"}).propagation == "Orphan"
    assert options({"dryRun": ["All"]}) == options(dryRun="All") == DeleteOptions(dry_run=True)


def test_the_older_way_to_orphan_is_understood() -> None:
    assert options(orphanDependents="true").propagation == "Orphan"
    assert options({"orphanDependents": False}).propagation == "Background"
