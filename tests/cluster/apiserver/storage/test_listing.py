import base64
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster.apiserver.calling import LEASES, Caller, lease


def fill(api: Caller, count: int) -> None:
    for number in range(count):
        api.make(LEASES, lease(f"l{number}"))


def pages(api: Caller, limit: int, **query: str) -> list[list[str]]:
    """All pages of a list; between two of them, others write."""
    found, token = [], ""
    while True:
        answer = api.get(LEASES, limit=str(limit), **query, **({"continue_": token} if token else {}))
        assert answer.status == 200, answer.body
        found.append(answer.names)
        token = answer.body["metadata"].get("continue", "")
        if not token:
            return found
        api.delete(f"{LEASES}/l0")
        api.make(LEASES, lease(f"late{len(found)}"))


def aged(token: str, **fields: Any) -> str:
    known = orjson.loads(base64.urlsafe_b64decode(token + "=="))
    return base64.urlsafe_b64encode(orjson.dumps(known | fields)).decode().rstrip("=")


@given(count=st.integers(1, 9), limit=st.integers(1, 10))
@settings(deadline=None, max_examples=15)
def test_pages_are_one_snapshot_whatever_others_write(count: int, limit: int) -> None:
    api = Caller()
    fill(api, count)
    found = pages(api, limit)
    assert [name for page in found for name in page] == [f"l{number}" for number in range(count)]
    assert all(len(page) == limit for page in found[:-1])


def test_a_page_says_how_many_are_left_unless_a_selector_hides_it(api: Caller) -> None:
    fill(api, 5)
    assert api.get(LEASES, limit="2").body["metadata"]["remainingItemCount"] == 3
    assert "remainingItemCount" not in api.get(LEASES, limit="2", labelSelector="!x").body["metadata"]


def test_an_expired_token_comes_with_a_fresh_one_that_goes_on_from_now(api: Caller) -> None:
    fill(api, 4)
    token = api.get(LEASES, limit="2").body["metadata"]["continue"]
    answer = api.get(LEASES, limit="2", continue_=aged(token, rv=1))
    assert (answer.status, answer.body["reason"]) == (410, "Expired")
    api.make(LEASES, lease("l2b"))
    fresh = api.get(LEASES, continue_=answer.body["metadata"]["continue"])
    assert fresh.names == ["l2", "l2b", "l3"]


@pytest.mark.parametrize("token", ["garbage", "e30", "WzFd"])
def test_a_token_that_is_none_is_a_bad_request(api: Caller, token: str) -> None:
    assert api.get(LEASES, continue_=token).status == 400


def test_versions_that_are_gone_or_to_come_are_refused(api: Caller) -> None:
    assert api.get(LEASES, resourceVersion="1", resourceVersionMatch="Exact").status == 410
    future = api.get(LEASES, resourceVersion="1000000")
    assert (future.status, future.causes) == (504, {(None, "ResourceVersionTooLarge")})
    assert ("retry-after", "1") in future.response.headers
