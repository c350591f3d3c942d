from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.requests import Response
from gpuyard_cluster.apiserver.storage.watches import Watch
from gpuyard_cluster.logs import LogLine
from tests.cluster.apiserver.calling import PODS, Caller, pod


def printed(_pod: JSON, container: str, previous: bool) -> list[LogLine]:
    return [LogLine(0.0, f"{container} {'before' if previous else 'now'}")]


def running(state: str = "running") -> Caller:
    api = Caller(logs=printed)
    api.make(PODS, pod("a"))
    tell(api, state)
    return api


def tell(api: Caller, state: str) -> None:
    status = {
        "name": "main",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {state: {}},
    }
    if state == "terminated":
        status["state"] = {state: {"exitCode": 0}}
    assert api.patch(f"{PODS}/a/status", {"status": {"containerStatuses": [status]}}).status == 200


def followed(api: Caller, **query: str) -> Watch:
    response: Response = api.get(f"{PODS}/a/log", follow="true", **query).response
    assert response.watch is not None
    return response.watch


def output(stream: Watch) -> bytes:
    return b"".join(event.line for event in stream.take())


def test_the_stream_begins_with_what_is_printed_and_ends_with_the_container() -> None:
    api = running()
    stream = followed(api)
    assert (output(stream), stream.closed) == (b"main now\n", False)
    tell(api, "running")
    assert not stream.closed
    tell(api, "terminated")
    assert (output(stream), stream.closed) == (b"", True)


def test_the_stream_ends_with_the_pod() -> None:
    api = running()
    stream = followed(api)
    api.make(PODS, pod("b"))
    api.delete(f"{PODS}/b", gracePeriodSeconds="0")
    assert not stream.closed
    api.delete(f"{PODS}/a", gracePeriodSeconds="0")
    assert stream.closed


def test_of_what_has_ended_there_is_nothing_to_come() -> None:
    assert followed(running("terminated")).closed
    stream = followed(running(), previous="true")
    assert (output(stream), stream.closed) == (b"main before\n", True)


def test_what_cannot_be_read_cannot_be_followed() -> None:
    api = Caller()
    api.make(PODS, pod("a"))
    assert api.get(f"{PODS}/a/log", follow="true").status == 400
