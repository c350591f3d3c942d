from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_kube.recording import BURST, REFILL_SECONDS, SIMILAR, Recorder, Source, Told
from tests.stepping import settle

POD: JSON = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"namespace": "n", "name": "p", "uid": "u", "resourceVersion": "7"},
}
KUBELET = Source("kubelet", "node-1")


class Writes:
    def __init__(self) -> None:
        self.sent: list[Write] = []
        self.expired = False

    async def send(self, write: Write) -> Reply:
        self.sent.append(write)
        return Reply(404 if self.expired and write.method == "PATCH" else 201, {})

    async def read(self, path: str, **query: str) -> Reply:
        raise AssertionError(path)


class Desk:
    def __init__(self) -> None:
        self.api, self.steps = Writes(), Steps()
        self.recorder = Recorder(self.api, self.steps)

    def tell(self, text: str, **more: object) -> None:
        self.recorder.record(KUBELET, Told(POD, "Pulled", text, **more))  # type: ignore[arg-type]
        settle(self.steps)

    def bodies(self) -> list[JSON]:
        return [write.body for write in self.api.sent if isinstance(write.body, dict)]


def test_an_event_names_who_tells_and_what_it_is_about() -> None:
    desk = Desk()
    desk.tell("image", part="spec.containers{main}")
    (body,) = desk.bodies()
    assert desk.api.sent[0].path == "/api/v1/namespaces/n/events"
    assert body["involvedObject"] | {} == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "n",
        "name": "p",
        "uid": "u",
        "resourceVersion": "7",
        "fieldPath": "spec.containers{main}",
    }
    assert body["source"] == {"component": "kubelet", "host": "node-1"}
    assert (body["type"], body["reason"], body["message"], body["count"]) == ("Normal", "Pulled", "image", 1)


def test_the_same_words_again_are_counted() -> None:
    desk = Desk()
    for _ in range(3):
        desk.tell("image")
    first, *later = desk.api.sent
    name = desk.bodies()[0]["metadata"]["name"]
    assert [(write.method, write.path.rpartition("/")[2]) for write in later] == [("PATCH", name)] * 2
    assert [body["count"] for body in desk.bodies()] == [1, 2, 3]


def test_an_event_that_has_expired_is_written_anew_with_its_count() -> None:
    desk = Desk()
    desk.tell("image")
    desk.api.expired = True
    desk.tell("image")
    assert [write.method for write in desk.api.sent] == ["POST", "PATCH", "POST"]
    first, _, last = desk.bodies()
    assert (last["metadata"]["name"], last["count"]) == (first["metadata"]["name"], 2)
    assert last["lastTimestamp"] >= first["lastTimestamp"]
    desk.api.expired = False
    desk.tell("image")
    assert [write.method for write in desk.api.sent][3:] == ["PATCH"]


def test_many_similar_events_become_one() -> None:
    desk = Desk()
    for number in range(SIMILAR + 3):
        desk.tell(f"image {number}")
    assert [write.method for write in desk.api.sent] == ["POST"] * (SIMILAR + 1) + ["PATCH"] * 2
    last = desk.bodies()[-1]
    assert (last["message"], last["count"]) == (f"(combined from similar events): image {SIMILAR + 2}", 3)


def test_nobody_floods_an_object_with_events() -> None:
    desk = Desk()
    for _ in range(100):
        desk.tell("image")
    assert len(desk.api.sent) == BURST
    desk.steps.advance_to(desk.steps.now() + REFILL_SECONDS)
    desk.tell("image")
    assert len(desk.api.sent) == BURST + 1


def test_a_long_text_is_cut_to_what_the_server_takes() -> None:
    desk = Desk()
    desk.tell("x" * 2000)
    assert len(desk.bodies()[0]["message"]) == 1024
