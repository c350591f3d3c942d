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
