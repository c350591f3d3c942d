"""How a browser shows a token, and that nobody else can."""

from urllib.parse import urlencode

import pytest

from gpuyard_extender.web.guard import Guard, Refusal
from tests.extender.builders import Stage, gpu_node
from tests.extender.web.ui.asking import Answer, ask, page

COOKIE = "gpuyard-token=good"


class Reviewer:
    """Knows one token."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    async def refusal(self, token: str, address: str, verb: str, path: str) -> Refusal | None:
        self.asked.append((token, verb, path))
        return None if token == "good" else (401, f"<b>{token}</b> is not known")


def guarded(reviewer: Reviewer | None = None) -> Guard:
    return Guard(page(Stage(gpu_node("node-1"))), reviewer or Reviewer())


def sign_in(token: str, **headers: str) -> Answer:
    headers["content_type"] = "application/x-www-form-urlencoded"
    return ask(guarded(), "/ui/session", "POST", urlencode({"token": token}).encode(), **headers)


def test_a_token_becomes_a_cookie_that_no_script_reads_and_no_other_site_sends() -> None:
    answer = sign_in(" good\n")
    assert (answer.status, answer.headers["location"]) == (303, "./")
    assert answer.headers["set-cookie"] == f"{COOKIE}; Path=/ui; HttpOnly; SameSite=Strict"
    assert "good" not in answer.headers["location"]


@pytest.mark.parametrize("path", ["/ui/", "/ui/app.js", "/ui/about", "/ui/pods/default/nobody"])
def test_the_cookie_opens_the_page_and_nothing_else(path: str) -> None:
    reviewer = Reviewer()
    assert ask(guarded(reviewer), path, cookie=f"a=b; {COOKIE}").status in (200, 404)
    assert reviewer.asked == [("good", "get", path)]
    assert ask(guarded(), "/v1/ledger", cookie=COOKIE).status == 401


@pytest.mark.parametrize("path", ["/ui", "/ui/"])
def test_who_shows_no_token_gets_the_form_and_not_the_page(path: str) -> None:
    answer = ask(guarded(), path)
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b'name="token"' in answer.body
    assert b"app.js" not in answer.body
    assert "script" not in answer.headers["content-security-policy"]
    assert ask(guarded(), "/ui/app.js").headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "token", ["bad", "a b", "good; Path=/", "good\r\nset-cookie: x=y", "x" * 9000, "x" * 99_000]
)
def test_what_is_no_token_sets_no_cookie_and_the_form_says_why(token: str) -> None:
    answer = sign_in(token)
    assert (answer.status, "set-cookie" in answer.headers) == (401, False)
    assert b"<b>" not in answer.body, "the reason is escaped"
    assert b"&lt;b&gt;bad" in answer.body if token == "bad" else b"This is no token" in answer.body


def test_signing_out_takes_the_cookie_away() -> None:
    answer = sign_in("")
    assert (answer.status, answer.headers["set-cookie"].endswith("Max-Age=0")) == (303, True)


@pytest.mark.parametrize("token", ["good", ""])
def test_another_site_can_sign_nobody_in_or_out(token: str) -> None:
    for site in ("cross-site", "same-site"):
        answer = sign_in(token, sec_fetch_site=site)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    assert sign_in(token, sec_fetch_site="same-origin", origin="null").status == 303


def test_on_ones_own_machine_nobody_is_asked() -> None:
    assert ask(Guard(page(Stage(gpu_node("node-1")))), "/ui/").status == 200
