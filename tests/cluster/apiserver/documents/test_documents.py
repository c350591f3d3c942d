import pytest

from tests.cluster.apiserver.calling import DEFINITIONS, Caller, definition

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def test_discovery_follows_the_definitions(api: Caller) -> None:
    assert api.get("/apis/example.com/v1").status == 404
    api.make(DEFINITIONS, definition())
    resources = api.get("/apis/example.com/v1").body["resources"]
    assert [resource["name"] for resource in resources] == ["widgets"]
    assert "example.com" in {group["name"] for group in api.get("/apis").body["groups"]}
    assert "apis/example.com/v1" in api.get("/openapi/v3").body["paths"]


def test_the_aggregated_form_has_its_own_content_type(api: Caller) -> None:
    for path in ("/api", "/apis"):
        answer = api.get(path, accept=AGGREGATED)
        assert answer.body["kind"] == "APIGroupDiscoveryList"
        assert "as=APIGroupDiscoveryList" in dict(answer.response.headers)["content-type"]


@pytest.mark.parametrize("path", ["/openapi/v2", "/", "/openid/v1/jwks"])
def test_documents_that_are_not_served_say_so(api: Caller, path: str) -> None:
    assert api.get(path).status == 501


def test_kubectl_finds_no_schemas_of_version_2_by_which_to_refuse_a_list(api: Caller) -> None:
    """kubectl reads the document before `apply` of a List, gives up without one, and parses the media type."""
    asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    response = api.get("/openapi/v2", accept=asked).response
    assert (response.status, response.body) == (200, b"")
    assert dict(response.headers)["content-type"] == asked.replace("@", ".")


def test_other_paths_are_not_found_in_plain_text(api: Caller) -> None:
    for path in ("/nowhere", "/apis/nowhere.example.com/v1/things", "/openapi/v3/nowhere"):
        response = api.get(path).response
        assert (response.status, response.body) == (404, b"404 page not found\n")
