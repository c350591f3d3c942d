from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import MAX_BODY, Request
from tests.cluster.apiserver.calling import CONFIGS, PODS, Caller, binding, broken, config, pod


def test_a_fault_fails_writes_and_lets_reads_pass() -> None:
    api = Caller()
    api.server.faults.append(broken)
    answer = api.post(CONFIGS, config("a"))
    assert (answer.status, answer.body["message"]) == (500, "injected")
    assert api.get(CONFIGS).names == []
    api.server.faults.clear()
    assert api.post(CONFIGS, config("a")).status == 201


def test_a_fault_can_choose_one_write() -> None:
    api, calls = Caller(), Counter[str]()

    def second_binding(request: Request) -> ApiError | None:
        if not request.path.endswith("/binding"):
            return None
        calls["bindings"] += 1
        return ApiError(403, "Forbidden", "no") if calls["bindings"] == 2 else None

    api.server.faults.append(second_binding)
    statuses = []
    for name in ("a", "b", "c"):
        api.make(PODS, pod(name))
        statuses.append(api.post(f"{PODS}/{name}/binding", binding(name, "n")).status)
    assert statuses == [201, 403, 201]


def test_a_body_can_be_too_large() -> None:
    answer = Caller().call("POST", CONFIGS, b"x" * (MAX_BODY + 1))
    assert (answer.status, answer.body["reason"]) == (413, "RequestEntityTooLarge")


def test_closing_ends_all_watches() -> None:
    api = Caller()
    watches = [api.watch(PODS), api.watch(CONFIGS)]
    api.server.close()
    assert all(watch.closed for watch in watches)


def test_collections_name_every_stored_object_once() -> None:
    found = Caller().server.collections()
    assert found["pods"] == "/api/v1/pods"
    assert found["events"] == "/api/v1/events"
    assert "tokenreviews" not in found


TEXT = st.text(alphabet="abz/%.-_ é\x00", max_size=12)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARTS = ("metadata", "spec", "status", "data", "kind", "apiVersion", "target")


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    path=st.sampled_from([PODS, f"{PODS}/a", f"{PODS}/a/binding", f"{PODS}/a/status", f"{PODS}/a/eviction"]),
    body=st.dictionaries(st.sampled_from(PARTS), ANYTHING, max_size=4) | ANYTHING,
    kind=st.sampled_from(
        ["application/json", "application/merge-patch+json", "application/strategic-merge-patch+json"]
    ),
    query=st.dictionaries(
        st.sampled_from(["labelSelector", "fieldSelector", "limit", "continue"]), TEXT, max_size=2
    ),
)
@settings(deadline=None, max_examples=150)
def test_whatever_is_sent_gets_an_answer(
    method: str, path: str, body: object, kind: str, query: dict[str, str]
) -> None:
    api = Caller()
    api.make(PODS, pod("a"))
    answer = api.call(method, path, body, kind, **query)
    assert 200 <= answer.status < 500 or "reason" not in answer.body, answer.body
