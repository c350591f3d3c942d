from gpuyard.writes import PatchType, Reply


def test_a_reply_says_whether_and_why_not() -> None:
    assert Reply(201, {}).ok
    assert Reply(201, {"message": "created"}).reason == ""
    assert not Reply(409, {}).ok
    assert Reply(409, {"message": "the object has been modified"}).reason == "the object has been modified"
    assert Reply(503, {}).reason == "HTTP 503"


def test_patch_types_are_content_types() -> None:
    assert {str(kind) for kind in PatchType} == {
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/json-patch+json",
    }
