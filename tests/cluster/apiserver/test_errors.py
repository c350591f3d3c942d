from gpuyard_cluster.apiserver import errors
from gpuyard_cluster.apiserver.errors import Cause


def test_a_refusal_is_a_status_that_names_the_object() -> None:
    status = errors.not_found("leases.coordination.k8s.io", "a").status()
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", 404)
    assert status["message"] == 'leases.coordination.k8s.io "a" not found'
    assert status["details"] == {"name": "a", "group": "coordination.k8s.io", "kind": "leases"}


def test_one_cause_is_told_as_it_is_and_more_as_a_list() -> None:
    first, second = Cause("spec.a", "FieldValueRequired", "Required value"), Cause("", "Odd", "too odd")
    one = errors.invalid("Deployment.apps", "d", [first])
    assert one.message == 'Deployment.apps "d" is invalid: spec.a: Required value'
    both = errors.invalid("Pod", "p", [first, second])
    assert both.message.endswith("[spec.a: Required value, too odd]")
    assert both.status()["details"]["causes"][1] == {"reason": "Odd", "message": "too odd"}
