"""AdmissionReviews: the question to a webhook, and what its answer means.

Stands for `k8s.io/apiserver/pkg/admission/plugin/webhook/request` and `.../webhook/errors`.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.consultation import Answer, Failed
from gpuyard_cluster.apiserver.admission.policy_matching import Attributes
from gpuyard_cluster.apiserver.errors import ApiError

_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook said. `patch` is a JSON patch; `status` is why it refuses."""

    allowed: bool
    status: JSON
    patch: Any = None
    warnings: tuple[str, ...] = ()


def review(asked: Attributes, requested: Attributes, obj: JSON | None, uid: str) -> bytes:
    """The question in JSON. `asked` is the write in the version of the webhook's rule, `requested` as it came."""
    about, came = asked.request(), requested.request()
    options: JSON = {"kind": _OPTIONS[asked.operation], "apiVersion": "meta.k8s.io/v1"}
    if asked.dry_run:
        options["dryRun"] = ["All"]
    request = {
        "uid": uid,
        "kind": about["kind"],
        "resource": about["resource"],
        "requestKind": came["kind"],
        "requestResource": came["resource"],
        "name": about["name"],
        "namespace": about["namespace"],
        "operation": about["operation"],
        "userInfo": about["userInfo"],
        "object": obj,
        "oldObject": asked.old,
        "dryRun": asked.dry_run,
        "options": options,
    }
    if asked.subresource:
        request |= {"subResource": asked.subresource, "requestSubResource": came["subResource"]}
    # Like Go, leave out names that are empty.
    present = {key: value for key, value in request.items() if key not in ("name", "namespace") or value}
    return orjson.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": present})


def read(answer: Answer, uid: str) -> Verdict | Failed:
    """What an answer means; Failed where it means nothing."""
    if isinstance(answer, Failed):
        return answer
    try:
        found = orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        return Failed(f"the answer is no JSON: {error}")
    response = found.get("response") if isinstance(found, dict) else None
    if not isinstance(response, dict):
        return _invalid("webhook response was absent")
    typed = (found.get("apiVersion"), found.get("kind"))
    if typed != ("admission.k8s.io/v1", "AdmissionReview"):
        return _invalid(
            f"expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {typed}"
        )
    if response.get("uid") != uid:
        return _invalid(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    patch = _patch(response)
    if isinstance(patch, Failed):
        return patch
    status = response.get("status")
    return Verdict(
        allowed=response.get("allowed") is True,
        status=status if isinstance(status, dict) else {},
        patch=patch,
        warnings=tuple(str(text) for text in response.get("warnings") or ()),
    )


def _invalid(why: str) -> Failed:
    return Failed(f"received invalid webhook response: {why}")


def _patch(response: JSON) -> Any:
    """The operations of a JSON patch; None for no patch."""
    encoded, kind = response.get("patch"), response.get("patchType")
    if not encoded or not kind:
        if encoded:
            return _invalid("webhook returned response.patch but not response.patchType")
        return _invalid("webhook returned response.patchType but not response.patch") if kind else None
    if kind != "JSONPatch":
        return _invalid(f'webhook returned invalid response.patchType of "{kind}"')
    try:
        operations = orjson.loads(base64.b64decode(encoded, validate=True))
    except (TypeError, ValueError, binascii.Error) as error:
        return Failed(f"received undecodable patch in webhook response: {error}")
    if not isinstance(operations, list):
        return Failed("received undecodable patch in webhook response: it is no list of operations")
    return operations


def denial(webhook: str, status: JSON) -> ApiError:
    """The refusal that a webhook wants; a code below 400 is no refusal, so it becomes 400."""
    denied = f'admission webhook "{webhook}" denied the request'
    code, message, reason = (status.get(key) for key in ("code", "message", "reason"))
    explanation = message or reason
    denied += f": {explanation}" if explanation else " without explanation"
    details = status.get("details")
    return ApiError(
        code if isinstance(code, int) and code >= 400 else 400,
        str(reason or ""),
        denied,
        details if isinstance(details, dict) else None,
    )
