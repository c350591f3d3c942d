from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED


def test_claims_and_quotas_are_known_to_be_missing() -> None:
    assert {"persistentvolumeclaims", "resourcequotas"} <= UNSERVED[""]
    assert "resourceclaims" in UNSERVED["resource.k8s.io"]
