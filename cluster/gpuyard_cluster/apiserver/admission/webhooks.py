"""MutatingWebhookConfiguration and ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1.

Stands for the dispatchers of `k8s.io/apiserver/pkg/admission/plugin/webhook`. Laws:
- Mutating webhooks are called one after the other, in the order of their configurations' names; validating ones all
  at once.
- A webhook that cannot be called, or answers nonsense, counts as its failurePolicy says; one that refuses, refuses.
- After a change, a webhook with reinvocationPolicy IfNeeded that was called before it is called once more.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gpuyard.writes import JSON, PatchType
from gpuyard_cluster.apiserver.admission import webhook_reviews, webhook_services
from gpuyard_cluster.apiserver.admission.cel import Failure
from gpuyard_cluster.apiserver.admission.consultation import Answer, Call, Failed
from gpuyard_cluster.apiserver.admission.policy_matching import (
    Attributes,
    matches,
    meets_conditions,
    variables_for,
)
from gpuyard_cluster.apiserver.admission.webhook_reviews import Verdict
from gpuyard_cluster.apiserver.backend import Backend, internal_error
from gpuyard_cluster.apiserver.changes import patches
from gpuyard_cluster.apiserver.errors import ApiError, forbidden
from gpuyard_cluster.apiserver.storage.views import converted
from gpuyard_cluster.apiserver.wire import bodies
from gpuyard_cluster.apiserver.wire.options import WriteOptions

_GROUP = "admissionregistration.k8s.io"
MUTATING, VALIDATING = f"mutatingwebhookconfigurations.{_GROUP}", f"validatingwebhookconfigurations.{_GROUP}"


@dataclass(frozen=True, slots=True)
class _Question:
    """One call to make: the webhook as configured, its call, and the write in the version of its rule."""

    hook: JSON
    call: Call
    uid: str
    asked: Attributes


@dataclass(slots=True)
class Round:
    """Mutating webhooks called so far on behalf of one write. `again` are those to call once more."""

    called: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)


def configured(backend: Backend, collection: str) -> list[tuple[str, JSON]]:
    """The webhooks of all configurations of a kind, each with a key, in the order in which they are called."""
    return [
        (f"{stored.key}/{index}", hook)
        for stored in backend.store.scan(collection)
        for index, hook in enumerate(stored.obj.get("webhooks", ()))
    ]


def mutate(backend: Backend, attributes: Attributes, obj: JSON, past: Round, *, again: bool = False) -> JSON:
    """The object as the webhooks want it. With `again`, only those of `past.again` are called."""
    for key, hook in configured(backend, MUTATING):
        question = _question(backend, hook, attributes, obj)
        if question is None or (again and key not in past.again):
            continue
        changed = _patched(backend, question, attributes, obj)
        if changed != obj:
            past.again |= past.called
            past.called.clear()
            obj = changed
        if hook.get("reinvocationPolicy") == "IfNeeded":
            past.called.add(key)
    return obj


def announce(backend: Backend, attributes: Attributes) -> None:
    """ApiError when a mutating webhook refuses a deletion."""
    for _, hook in configured(backend, MUTATING):
        if (question := _question(backend, hook, attributes, None)) is not None:
            _verdict(backend, question, backend.ask([question.call])[0])


def validate(backend: Backend, attributes: Attributes, obj: JSON | None) -> None:
    """ApiError when a webhook refuses the write; `obj` is None for a deletion."""
    hooks = [hook for _, hook in configured(backend, VALIDATING)]
    questions = [found for hook in hooks if (found := _question(backend, hook, attributes, obj)) is not None]
    for question, answer in zip(questions, backend.ask([found.call for found in questions]), strict=True):
        _verdict(backend, question, answer)


def _question(backend: Backend, hook: JSON, attributes: Attributes, obj: JSON | None) -> _Question | None:
    """What to ask a webhook about a write; None when it is not to be asked."""
    found = next(_concerned(backend, hook, attributes, obj), None)
    if found is None:
        return None
    asked, shown = found
    if not _meets_conditions(hook, asked, shown):
        return None
    uid = backend.uid()
    review = webhook_reviews.review(asked, attributes, shown, uid)
    client, seconds = hook.get("clientConfig", {}), hook.get("timeoutSeconds", 10)
    url, address = webhook_services.reach(backend, client)
    bundle = base64.b64decode(client.get("caBundle", "")).decode("latin-1")
    return _Question(hook, Call(hook["name"], url, seconds, review, bundle, address), uid, asked)


def _concerned(
    backend: Backend, hook: JSON, attributes: Attributes, obj: JSON | None
) -> Iterator[tuple[Attributes, JSON | None]]:
    """The write in each version that a webhook's rules cover, with its object in that version."""
    if attributes.resource.group == _GROUP:  # else a webhook could keep itself from being removed
        return
    constraints = {**hook, "resourceRules": hook.get("rules", ())}
    ways = [attributes]
    if hook.get("matchPolicy") != "Exact":
        ways += _equivalents(backend, attributes)
    for asked in ways:
        if matches(constraints, asked, obj):
            shown = None if obj is None else converted(obj, attributes.resource, asked.resource)
            yield asked, shown


def _equivalents(backend: Backend, attributes: Attributes) -> Iterator[Attributes]:
    """The write as the resource's other versions have it."""
    resource, old = attributes.resource, attributes.old
    for other in backend.registry.all():
        if other.store == resource.store and other.api_version != resource.api_version:
            yield replace(
                attributes, resource=other, old=None if old is None else converted(old, resource, other)
            )


def _meets_conditions(hook: JSON, asked: Attributes, obj: JSON | None) -> bool:
    variables = variables_for({"spec": {}}, asked, obj)
    outcome = meets_conditions(hook.get("matchConditions", ()), variables)
    if not isinstance(outcome, Failure):
        return outcome
    if hook.get("failurePolicy") == "Ignore":
        return False
    raise forbidden(asked.resource.qualified, asked.name, outcome.message)


def _verdict(backend: Backend, question: _Question, answer: Answer) -> Verdict | None:
    """What a webhook said, when it allows the write; None when it said nothing and that may be ignored."""
    name = question.hook["name"]
    verdict = webhook_reviews.read(answer, question.uid)
    if isinstance(verdict, Failed):
        if question.hook.get("failurePolicy") == "Ignore":
            return None
        raise internal_error(f'failed calling webhook "{name}": {verdict.why}')
    backend.warnings.extend(verdict.warnings)
    if not verdict.allowed:
        raise webhook_reviews.denial(name, verdict.status)
    return verdict


def _patched(backend: Backend, question: _Question, attributes: Attributes, obj: JSON) -> JSON:
    """`obj` after one webhook's patch, decoded and defaulted again."""
    (answer,) = backend.ask([question.call])
    verdict = _verdict(backend, question, answer)
    if verdict is None or not verdict.patch:
        return obj
    asked, resource = question.asked.resource, attributes.resource
    try:
        shown = converted(obj, resource, asked)
        changed = patches.apply_patch(PatchType.JSON, shown, verdict.patch, asked.kind)
        changed = converted(changed, asked, resource)
        bodies.settle(changed, resource, WriteOptions(validation="Ignore"), patched=True)
    except ApiError as error:
        raise internal_error(error.message) from error
    return changed
