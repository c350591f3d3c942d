from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED


def test_webhooks_and_claims_are_known_to_be_missing() -> None:
    assert "mutatingwebhookconfigurations" in UNSERVED["admissionregistration.k8s.io"]
    assert "persistentvolumeclaims" in UNSERVED[""]
