"""Descriptions are the client's own; here only that they are found, all of them and under the right names."""

import pytest

from gpuyard_cluster.apiserver.kinds import descriptions, kinds


@pytest.mark.parametrize(
    "name", ["V1PodSpec", "V1Container", "V1CSINodeDriver", "CoreV1Event", "V1PodDNSConfig"]
)
def test_a_type_and_each_of_its_plain_fields_say_what_they_are_for(name: str) -> None:
    told = descriptions.of_type(name)
    plain = {field for field, text in kinds.fields(name).items() if not text[0].isupper()}
    assert {descriptions.ITSELF, *plain} <= set(told)
    assert all(len(text) > 5 for text in told.values())


def test_a_description_belongs_to_its_field() -> None:
    assert "hostname" in descriptions.of_type("V1PodSpec")["setHostnameAsFQDN"]
    assert '"ClusterFirst"' in descriptions.of_type("V1PodSpec")["dnsPolicy"]


def test_of_a_type_that_the_client_does_not_have_nothing_is_known() -> None:
    assert not descriptions.of_type("V1Nothing")
