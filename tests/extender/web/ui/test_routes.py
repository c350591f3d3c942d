"""The page over HTTP."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.ui import routes
from tests.extender.builders import Stage, gpu_node, gpu_pod
from tests.extender.web.ui.asking import Hands, ask, page

STATIC = Path(routes.__file__).parent / "static"
BUTTONS = [
    ("POST", "/ui/examples/04-gang"),
    ("DELETE", "/ui/examples/04-gang"),
    ("POST", "/ui/faults"),
    ("POST", "/ui/links"),
]
FAULT = b'{"node": "node-1", "gpu": 1, "xid": 79, "to": 2, "down": true}'


def test_every_file_of_the_page_is_served_and_may_run_nothing_but_its_own_scripts() -> None:
    app = page(Stage(gpu_node("node-1")))
    types = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    for file in STATIC.iterdir():
        answer = ask(app, f"/ui/{file.name}")
        assert (answer.status, answer.body) == (200, file.read_bytes())
        assert answer.headers["content-type"].startswith(types[file.suffix[1:]])
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "unsafe" not in policy
    assert ask(app, "/ui/").body == (STATIC / "index.html").read_bytes()
    assert ask(app, "/ui").headers["location"] == "ui/"
    assert ask(app, "/ui/../app.py").status == ask(app, "/ui/nothing.js").status == 404


def test_the_page_is_drawn_by_files_that_can_be_read_at_once_and_never_makes_markup_of_a_text() -> None:
    for file in STATIC.iterdir():
        text = file.read_text()
        assert len(text.splitlines()) <= 200, file.name
        assert not re.search(r"\.(inner|outer)HTML\s*=[^=]|insertAdjacentHTML|document\.write|eval\(", text)
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=\"|\sstyle=\"", text), "the policy forbids it"
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), "nothing comes from elsewhere"


def test_a_pods_story_says_why_it_waits_what_was_decided_and_what_it_got() -> None:
    stage = Stage(gpu_node("node-1", 2), gpu_node("node-2", 1))
    pod, big = gpu_pod("a", 2), gpu_pod("big", 3)
    stage.create(pod, big)
    stage.filter(pod)
    stage.prioritize(pod, "node-1")
    stage.bound(pod, "node-1")
    held = [{"resourceID": found} for found in stage.extender.ledger.node("node-1", 0).owners]  # type: ignore[union-attr]
    told = {"name": "nvidia.com/gpu", "resources": held}
    pod["status"]["containerStatuses"] = [{"name": "train", "allocatedResourcesStatus": [told]}]
    stage.extender.observe("pods", "MODIFIED", pod)
    app = page(stage)
    found = json.loads(ask(app, "/ui/pods/default/a").body)
    assert [(said["verb"], said["devices"]) for said in found["decisions"]] == [
        ("filter", ["0", "1"]),
        ("prioritize", ["0", "1"]),
        ("bind", ["0", "1"]),
    ]
    assert found["decisions"][1]["ranks"] == {"node-1": 151}
    assert (found["given"], found["why"]["code"]) == (["0", "1"], None)
    waits = json.loads(ask(app, "/ui/pods/default/big").body)
    assert (waits["why"]["code"], waits["decisions"]) == ("InsufficientGPUs", [])
    assert waits["change"].startswith("GPUs have to become free")
    assert ask(app, "/ui/pods/default/nobody").status == 404


def test_names_and_texts_of_the_cluster_come_as_json_and_never_as_a_page() -> None:
    stage, evil = Stage(gpu_node("node-1")), "<img src=x onerror=alert(1)>"
    stage.create(gpu_pod(evil))
    answer = ask(page(stage), f"/ui/pods/default/{evil}")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    missing = ask(page(stage), "/ui/pods/default/<script>")
    assert (missing.status, missing.headers["content-type"]) == (404, "application/json")


def test_the_stream_is_refused_where_nobody_else_may_listen() -> None:
    stage = Stage(gpu_node("node-1"))
    made = routes.Page(stage.extender, stage.clock)
    made.broadcast.close()
    assert ask(create_app(stage.extender, page=made), "/ui/events").status == 503


@pytest.mark.parametrize(("method", "path"), BUTTONS)
def test_on_a_real_cluster_there_are_no_buttons(method: str, path: str) -> None:
    app = page(Stage(gpu_node("node-1")))
    assert json.loads(ask(app, "/ui/about").body) == {"readOnly": True, "signedIn": False, "examples": []}
    assert ask(app, path, method, FAULT).status in (404, 405)


def test_on_an_embedded_cluster_examples_are_submitted_and_faults_injected() -> None:
    hands = Hands()
    app = page(Stage(gpu_node("node-1")), hands)
    examples = json.loads(ask(app, "/ui/about").body)["examples"]
    assert examples == [{"name": "04-gang", "title": "Gang"}]
    for method, path in BUTTONS:
        assert ask(app, path, method, FAULT, origin="http://127.0.0.1:8081").status == 200
    assert hands.done == [
        *(("submit", "04-gang"), ("withdraw", "04-gang")),
        *(("node-1", 1, 79), ("node-1", (1, 2), True)),
    ]
    refused = ask(app, "/ui/examples/nothing", "POST")
    assert (refused.status, json.loads(refused.body)["error"]) == (409, "there is no example nothing")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "node"),
        (b"[]", "node"),
        (b'{"node": 1}', "node"),
        (b'{"node": "a/../b", "gpu": 1}', "node"),
        (b'{"node": "a", "gpu": true}', "gpu"),
        (b'{"node": "a", "gpu": 0, "to": 1}', "down"),
        (b'{"node": "a", "gpu": 0, "to": "1", "down": true}', "to"),
        (b'{"node": "a", "gpu": -1}', "gpu"),
        (b'{"node": "a", "gpu": 0, "xid": "79"}', "xid"),
        (b'{"node": "a", "gpu": 0, "xid": 1000}', "xid"),
    ],
)
def test_a_fault_that_is_none_is_refused_with_its_field(body: bytes, field: str) -> None:
    hands = Hands()
    path = "/ui/links" if field in ("down", "to") else "/ui/faults"
    answer = ask(page(Stage(gpu_node("node-1")), hands), path, "POST", body)
    assert (answer.status, json.loads(answer.body)["error"].partition(":")[0]) == (400, field)
    assert hands.done == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"host": "rebound.example:8081", "origin": "http://rebound.example:8081"},
        {"host": "rebound.example:8081"},
    ],
)
def test_another_site_that_the_browser_has_open_can_push_no_button(headers: Any) -> None:
    hands = Hands()
    app = page(Stage(gpu_node("node-1")), hands)
    for method, path in BUTTONS:
        assert ask(app, path, method, FAULT, **headers).status == 403
    assert hands.done == []


@pytest.mark.parametrize("host", ["localhost:8081", "127.0.0.1:8081", "[::1]:8081"])
def test_the_page_itself_can(host: str) -> None:
    app = page(Stage(gpu_node("node-1")), Hands())
    headers = {"host": host, "origin": f"http://{host}", "sec_fetch_site": "same-origin"}
    assert ask(app, "/ui/examples/04-gang", "POST", **headers).status == 200
