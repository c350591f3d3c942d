import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.wire.accept import Form, negotiate

META = "v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form()),
        ("*/*", Form()),
        ("application/yaml", Form("application/yaml")),
        ("application/vnd.kubernetes.protobuf, application/json", Form()),
        (f"application/json;as=Table;{META},application/json", Form(shape="Table")),
        (f"application/json; as=PartialObjectMetadata; {META}", Form(shape="PartialObjectMetadata")),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Form()),
        ("application/json;q=0.3, application/yaml;q=0.7", Form("application/yaml")),
        ("application/json;q=0.3, application/yaml", Form("application/yaml")),
        ("application/json;q=often, application/yaml;q=0.1", Form("application/yaml")),
        (
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            Form(shape="APIGroupDiscoveryList"),
        ),
    ],
)
def test_the_form_that_is_wanted_most_and_served_is_chosen(accept: str, form: Form) -> None:
    assert negotiate(accept) == form


@pytest.mark.parametrize("accept", ["text/html", "application/vnd.kubernetes.protobuf"])
def test_nothing_that_is_served_is_406_and_names_what_is(accept: str) -> None:
    with pytest.raises(ApiError, match="application/json") as refusal:
        negotiate(accept)
    assert (refusal.value.code, refusal.value.reason) == (406, "NotAcceptable")
