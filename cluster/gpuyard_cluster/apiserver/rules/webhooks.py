"""Configurations of admission webhooks.

Stands for `ValidateMutatingWebhookConfiguration` and `ValidateValidatingWebhookConfiguration`.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.cel import Failure, compile_text
from gpuyard_cluster.apiserver.admission.policy_matching import VARIABLES
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.names import label_fault, qualified_fault, subdomain_fault
from gpuyard_cluster.apiserver.rules.selectors import selector_faults

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_CHOICES = {"failurePolicy": ("Fail", "Ignore"), "matchPolicy": ("Equivalent", "Exact")}
_CHOICES |= {"sideEffects": ("None", "NoneOnDryRun"), "reinvocationPolicy": ("IfNeeded", "Never")}
_PORT_RULE = "port is not valid: must be between 1 and 65535, inclusive"
_SCOPES = ("*", "Cluster", "Namespaced")
_READABLE = VARIABLES - {"variables", "namespaceObject"}
"""What a match condition of a webhook may read."""


def configuration_faults(configuration: JSON) -> Iterator[Cause]:
    """Every fault of a configuration of either kind."""
    names: set[str] = set()
    for index, hook in enumerate(configuration.get("webhooks", ())):
        path = f"webhooks[{index}]"
        if hook.get("name") in names:
            yield causes.duplicate(f"{path}.name", hook["name"])
        names.add(hook.get("name", ""))
        yield from _hook_faults(hook, path)


def _hook_faults(hook: JSON, path: str) -> Iterator[Cause]:
    yield from _name_faults(hook.get("name", ""), f"{path}.name")
    versions = hook.get("admissionReviewVersions", [])
    if not versions:
        yield causes.required(f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1")
    elif "v1" not in versions:
        detail = "must include at least one of v1, v1beta1 (the embedded API server sends v1 only)"
        yield causes.invalid(f"{path}.admissionReviewVersions", versions, detail)
    for field, supported in _CHOICES.items():
        yield from _choice_faults(hook, field, supported, path)
    seconds = hook.get("timeoutSeconds", 10)
    if not 1 <= seconds <= 30:
        yield causes.invalid(
            f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds"
        )
    for field in ("namespaceSelector", "objectSelector"):
        yield from selector_faults(hook.get(field, {}), f"{path}.{field}")
    for index, rule in enumerate(hook.get("rules", ())):
        yield from _rule_faults(rule, f"{path}.rules[{index}]")
    yield from _client_faults(hook.get("clientConfig", {}), f"{path}.clientConfig")
    for index, condition in enumerate(hook.get("matchConditions", ())):
        yield from _condition_faults(condition, f"{path}.matchConditions[{index}]")


def _choice_faults(hook: JSON, field: str, supported: tuple[str, ...], path: str) -> Iterator[Cause]:
    if field not in hook:
        if field == "sideEffects":
            yield causes.required(f"{path}.{field}", "must specify one of None, NoneOnDryRun")
    elif hook[field] not in supported:
        yield causes.unsupported(f"{path}.{field}", hook[field], supported)


def _name_faults(name: str, path: str) -> Iterator[Cause]:
    if not name:
        yield causes.required(path)
    elif fault := subdomain_fault(name):
        yield causes.invalid(path, name, fault)
    elif name.count(".") < 2:
        yield causes.invalid(path, name, "should be a domain with at least three segments separated by dots")


def _rule_faults(rule: JSON, path: str) -> Iterator[Cause]:
    for field in ("apiGroups", "apiVersions", "operations", "resources"):
        values: list[Any] = rule.get(field, [])
        if not values:
            yield causes.required(f"{path}.{field}")
        elif len(values) > 1 and "*" in values and field != "resources":
            yield causes.invalid(
                f"{path}.{field}", values, "if '*' is present, must not specify other values"
            )
        for index, value in enumerate(values):
            if field == "operations" and value not in _OPERATIONS:
                yield causes.unsupported(f"{path}.{field}[{index}]", value, _OPERATIONS)
            elif not value and field != "apiGroups":
                yield causes.required(f"{path}.{field}[{index}]")
    if rule.get("scope", "*") not in _SCOPES:
        yield causes.unsupported(f"{path}.scope", rule["scope"], _SCOPES)


def _client_faults(client: JSON, path: str) -> Iterator[Cause]:
    if ("url" in client) == ("service" in client):
        yield causes.required(path, "exactly one of url or service is required")
    elif "url" in client:
        yield from _url_faults(client["url"], f"{path}.url")
    else:
        yield from _service_faults(client["service"], f"{path}.service")


def _url_faults(url: str, path: str) -> Iterator[Cause]:
    form = "desired format: https://host[/path]"
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError as error:
        yield causes.required(path, f"url must be a valid URL: {error}; {form}")
        return
    if parts.scheme != "https":
        yield causes.invalid(path, parts.scheme, f"'https' is the only allowed URL scheme; {form}")
    if not named:
        yield causes.invalid(path, parts.hostname or "", f"host must be specified; {form}")
    if parts.username is not None:
        yield causes.invalid(path, parts.username, "user information is not permitted in the URL")
    if parts.fragment:
        yield causes.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield causes.invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service_faults(service: JSON, path: str) -> Iterator[Cause]:
    for field in ("name", "namespace"):
        if not service.get(field):
            yield causes.required(f"{path}.{field}", f"service {field} is required")
        elif fault := label_fault(service[field]):
            yield causes.invalid(f"{path}.{field}", service[field], fault)
    if not 0 < service.get("port", 443) < 1 << 16:
        yield causes.invalid(
            f"{path}.port", service["port"], "port is not valid: must be between 1 and 65535, inclusive"
        )
    if not service.get("path", "/").startswith("/"):
        yield causes.invalid(f"{path}.path", service["path"], "must start with a '/'")


def _condition_faults(condition: JSON, path: str) -> Iterator[Cause]:
    name, text = condition.get("name", ""), condition.get("expression", "")
    if not name:
        yield causes.required(f"{path}.name")
    elif fault := qualified_fault(name):
        yield causes.invalid(f"{path}.name", name, fault)
    if not text.strip():
        yield causes.required(f"{path}.expression")
    elif isinstance(found := compile_text(text, _READABLE), Failure):
        yield causes.invalid(f"{path}.expression", text, found.message)
