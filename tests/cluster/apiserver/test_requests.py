import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request


@pytest.mark.parametrize(
    ("text", "value"),
    [("True", True), ("t", True), ("1", True), ("maybe", True), ("", True), ("FALSE", False), ("0", False)],
)
def test_a_flag_is_set_unless_it_says_that_it_is_not(text: str, value: bool) -> None:
    assert Request("GET", "/", {"watch": text}).flag("watch") is value
    assert Request("GET", "/").flag("watch") is None


def test_no_number_is_a_bad_request_that_names_the_parameter() -> None:
    with pytest.raises(ApiError, match="limit") as refusal:
        Request("GET", "/", {"limit": "many"}).number("limit")
    assert refusal.value.code == 400


def test_a_content_type_has_no_parameters() -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert Request("POST", "/", headers=headers).content_type == "application/json"
    assert Request("POST", "/").content_type == "application/json"


def test_reading_changes_nothing() -> None:
    assert [Request(method, "/").mutating for method in ("GET", "POST", "PUT", "PATCH", "DELETE")] == [
        False,
        True,
        True,
        True,
        True,
    ]
