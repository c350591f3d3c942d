import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.wire.options import WriteOptions, write_options

APPLY = "application/apply-patch+yaml"


def options(
    method: str = "POST", kind: str = "application/json", agent: str = "", **query: str
) -> WriteOptions:
    return write_options(Request(method, "/", query, {"content-type": kind, "user-agent": agent}))


def test_the_manager_is_named_or_taken_from_the_user_agent() -> None:
    assert options(fieldManager="me").manager == "me"
    assert options(agent="kubectl/v1.36 (linux)").manager == "kubectl"
    assert options().manager == "unknown"


def test_what_is_not_said_has_the_servers_defaults() -> None:
    assert options() == WriteOptions("unknown", dry_run=False, validation="Warn", force=False, applied=False)
    assert options(dryRun="All").dry_run
    assert options("PATCH", APPLY, fieldManager="me", force="true") == WriteOptions(
        "me", force=True, applied=True
    )


@pytest.mark.parametrize(
    ("method", "kind", "query", "field"),
    [
        ("POST", "application/json", {"dryRun": "Some"}, "dryRun"),
        ("POST", "application/json", {"fieldValidation": "Loose"}, "fieldValidation"),
        ("PATCH", "application/merge-patch+json", {"force": "true"}, "force"),
        ("PATCH", APPLY, {}, "fieldManager"),
    ],
)
def test_senseless_options_are_invalid(method: str, kind: str, query: dict[str, str], field: str) -> None:
    with pytest.raises(ApiError) as refusal:
        options(method, kind, **query)
    assert refusal.value.code == 422
    assert refusal.value.details is not None
    assert [cause["field"] for cause in refusal.value.details["causes"]] == [field]
